/** The Kubernetes manifests under docs/fleet. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const FOLDER = new URL('../../docs/fleet/', import.meta.url).pathname;

export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

export interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string; readonly defaultMode?: number };
  readonly secret?: { readonly secretName: string; readonly defaultMode?: number };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly env?: readonly Variable[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly securityContext: object;
}

interface PodSpec {
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup: number };
  readonly containers: readonly [Container];
  readonly volumes: readonly Volume[];
}

/** The fields of a Job or a Deployment that tests use. */
export interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly completions?: number;
    readonly backoffLimitPerIndex?: number;
    readonly backoffLimit?: number;
    readonly podFailurePolicy?: { readonly rules: readonly { onExitCodes: { values: readonly number[] } }[] };
    readonly replicas?: number;
    readonly template: { readonly spec: PodSpec };
  };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: object;
}

/** Every object in the manifests. Kubernetes reads YAML 1.1, where 0440 is octal. */
export const MANIFESTS: readonly Manifest[] = readdirSync(FOLDER)
  .filter((name) => name.startsWith('kubernetes-'))
  .flatMap((name) => parseAllDocuments(readFileSync(join(FOLDER, name), 'utf8'), { version: '1.1' }))
  .map((document) => document.toJS());

export const WORKLOADS = MANIFESTS.filter(({ kind }) => kind === 'Job' || kind === 'Deployment') as Workload[];

/** Returns the Job or Deployment with this name. Throws if there is none. */
export function workload(name: string): Workload {
  const found = WORKLOADS.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`docs/fleet has no Job or Deployment ${name}`);
  return found;
}
