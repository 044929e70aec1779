/**
 * The part of Kubernetes that podman lacks: Jobs and Deployments become pods, and ConfigMaps, Secrets and claims become
 * folders with the links, owners and modes of a kubelet. The rest of a manifest is unchanged.
 */
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Variable, Volume, Workload } from '../../ci/manifests.ts';
import type { Pod, Podman, Ran } from './podman.ts';

/** The objects in a user's cluster, by name, and the differences from the manifests. */
export interface Cluster {
  readonly folder: string;
  readonly image: string;
  /** ConfigMaps and Secrets by name, each with its texts by key. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Variables with values other than those in the manifest. */
  readonly variables: Readonly<Record<string, string>>;
}

export const podName = (workload: string, index: number) => `${workload}-${index}`;

/** Creates the pod of a workload with this index: the completion index of a Job, or the number of a replica. */
function podOf({ kind, metadata, spec }: Workload, index: number, cluster: Cluster): Pod {
  const name = podName(metadata.name, index);
  rmSync(join(cluster.folder, name), { recursive: true, force: true });
  const { containers, volumes, ...pod } = spec.template.spec;
  const { fsGroup } = pod.securityContext;
  const env = containers[0].env?.map((variable) => givenValue(variable, cluster)) ?? [];
  const completion = kind === 'Job' ? [{ name: 'JOB_COMPLETION_INDEX', value: String(index) }] : [];
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      ...pod,
      // Partners, database and browser use the loopback interface of this machine.
      hostNetwork: true,
      restartPolicy: 'Never',
      containers: [{ ...containers[0], image: cluster.image, env: [...env, ...completion] }],
      volumes: volumes.map((volume) => {
        const path = folderOf(volume, name, fsGroup, cluster);
        return { name: volume.name, hostPath: { path, type: 'Directory' } };
      }),
    },
  };
  return { name, manifest };
}

function givenValue({ name, value, valueFrom }: Variable, { objects, variables }: Cluster): Variable {
  const secret = valueFrom?.secretKeyRef;
  const given = secret === undefined ? value : objects[secret.name]?.[secret.key];
  return { name, value: variables[name] ?? given ?? '' };
}

function folderOf(volume: Volume, pod: string, group: number, { folder, objects }: Cluster): string {
  const { configMap, secret, persistentVolumeClaim } = volume;
  if (persistentVolumeClaim !== undefined) return ownFolder(join(folder, persistentVolumeClaim.claimName), group);
  const place = ownFolder(join(folder, pod, volume.name), group);
  const source = configMap?.name ?? secret?.secretName;
  if (source === undefined) return place;
  const content = objects[source];
  if (content === undefined) throw new Error(`the manifest names ${source}, which nothing creates`);
  const version = '..2026_01_01_00_00_00.000000001';
  mkdirSync(join(place, version));
  symlinkSync(version, join(place, '..data'));
  for (const [key, text] of Object.entries(content)) {
    const file = join(place, version, key);
    writeFileSync(file, text);
    chownSync(file, 0, group);
    // With an fsGroup, the group can read every file.
    chmodSync(file, (configMap?.defaultMode ?? secret?.defaultMode ?? 0o644) | 0o440);
    symlinkSync(join('..data', key), join(place, key));
  }
  return place;
}

/** Creates a folder that belongs to root and that the group can write to. */
function ownFolder(path: string, group: number): string {
  mkdirSync(path, { recursive: true });
  chownSync(path, 0, group);
  chmodSync(path, 0o2775);
  return path;
}

/**
 * Runs the pods of a Job at the same time. Like the controller, it restarts a pod that ended for external reasons.
 * Returns the last exit code of each, with the logs of all its pods.
 */
export function runJob(podman: Podman, job: Workload, cluster: Cluster): Promise<Ran[]> {
  const { completions = 1, backoffLimitPerIndex, backoffLimit = 0, podFailurePolicy } = job.spec;
  const failures = podFailurePolicy?.rules.flatMap(({ onExitCodes }) => onExitCodes.values) ?? [];
  const container = job.spec.template.spec.containers[0].name;
  const runIndex = async (_: unknown, index: number): Promise<Ran> => {
    let stderr = '';
    for (let tries = 0; ; tries++) {
      const pod = podOf(job, index, cluster);
      await podman.play(pod);
      const ran = await podman.ended(`${pod.name}-${container}`);
      stderr += ran.stderr;
      const isLast = tries === (backoffLimitPerIndex ?? backoffLimit);
      if (ran.code === 0 || isLast || failures.includes(ran.code)) return { ...ran, stderr };
      stderr += `(exit ${ran.code}: started again)\n`;
      await podman.done(['pod', 'rm', '--force', pod.name]);
    }
  };
  return Promise.all(Array.from({ length: completions }, runIndex));
}
