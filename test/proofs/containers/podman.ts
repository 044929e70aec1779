/** Podman with separate storage in one folder, so that a proof leaves nothing on the machine. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A pod, as `podman kube play` reads it. */
export interface Pod {
  readonly name: string;
  readonly manifest: object;
}

/** The properties of a container that determine its privileges. */
export interface Privileges {
  readonly readOnlyRoot: boolean;
  readonly user: string;
  readonly capabilities: readonly string[];
}

/**
 * Limits that an ordinary process can set on every machine, because podman's defaults exceed what a sandbox allows.
 * Without systemd, podman needs another cgroup manager and another event log.
 */
const configurationIn = (folder: string) => `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
[network]
network_config_dir = "${folder}/networks"
`;

/** The runtimes to try. crun rejects the hybrid cgroup hierarchy, which runc supports. */
const RUNTIMES = ['crun', 'runc'];

const OUTPUT_BYTES = 64 * 1024 * 1024;

export class Podman {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #runtime = '';
  #starting: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    const configuration = join(folder, 'containers.conf');
    writeFileSync(configuration, configurationIn(folder));
    this.#env = { ...process.env, CONTAINERS_CONF: configuration };
  }

  /** Runs podman, and resolves with what it printed. */
  run(args: readonly string[]): Promise<Ran> {
    const places = ['--root', 'layers', '--runroot', 'run', '--tmpdir', 'tmp'].map((word) =>
      word.startsWith('-') ? word : join(this.#folder, word),
    );
    const runtime = this.#runtime === '' ? [] : ['--runtime', this.#runtime];
    return new Promise((resolve) => {
      const child = execFile(
        'podman',
        [...places, ...runtime, ...args],
        { env: this.#env, maxBuffer: OUTPUT_BYTES },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : (child.exitCode ?? -1), stdout, stderr }),
      );
    });
  }

  /** Runs podman, and rejects if it fails. Resolves with its standard output. */
  async done(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`podman ${args[0]} failed (${code}): ${lastLines(stderr)}`);
    return stdout.trim();
  }

  /** Chooses a runtime that works here. Returns why none does. Null if one does. */
  async chooseRuntime(image: string): Promise<string | null> {
    const problems: string[] = [];
    for (const runtime of RUNTIMES) {
      this.#runtime = runtime;
      const { code, stderr } = await this.run(['run', '--rm', '--network=host', '--read-only', image, 'true']);
      if (code === 0) return null;
      problems.push(`${runtime}: ${lastLines(stderr, 1)}`);
    }
    return problems.join('; ');
  }

  get runtime(): string {
    return this.#runtime;
  }

  /**
   * Starts the pod after any pods that are being started, because podman locks its storage. The names of its containers
   * begin with the name of the pod.
   */
  play({ name, manifest }: Pod): Promise<unknown> {
    const file = join(this.#folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(manifest), { mode: 0o600 });
    const started = this.#starting.then(() => this.done(['kube', 'play', file]));
    this.#starting = started.catch(() => {});
    return started;
  }

  /** Waits until the container has ended, and resolves with its exit code and log. */
  async ended(container: string): Promise<Ran> {
    const code = Number(await this.done(['wait', container]));
    return { ...(await this.logs(container)), code };
  }

  /** Sends SIGTERM, and SIGKILL after the grace period. Resolves with the exit code and the log. */
  async stop(container: string, graceSeconds: number): Promise<Ran> {
    await this.done(['stop', '--time', String(graceSeconds), container]);
    return this.ended(container);
  }

  logs(container: string): Promise<Ran> {
    return this.run(['logs', container]);
  }

  async privilegesOf(container: string): Promise<Privileges> {
    const [{ HostConfig, EffectiveCaps, Config }] = JSON.parse(await this.done(['inspect', container]));
    return { readOnlyRoot: HostConfig.ReadonlyRootfs, user: Config.User, capabilities: EffectiveCaps ?? [] };
  }

  /** Ends every container, and removes all layers. */
  async remove(): Promise<void> {
    await this.run(['pod', 'rm', '--all', '--force', '--time', '2']);
    await this.run(['rm', '--all', '--force', '--time', '2']);
    await this.run(['rmi', '--all', '--force']);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns why podman cannot be used. Null if it can. Podman and debootstrap need root here. */
export function whyNoPodman(): string | null {
  if (process.getuid?.() !== 0) return 'it needs root: debootstrap creates devices, and the pods share the network';
  const missing = ['podman', 'debootstrap'].filter((program) => spawnSync(program, ['--version']).status !== 0);
  return missing.length === 0 ? null : `${missing.join(' and ')} not installed (apt-get install podman debootstrap)`;
}

const lastLines = (text: string, count = 5) => text.trim().split('\n').slice(-count).join('\n');
