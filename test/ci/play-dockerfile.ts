/**
 * Plays a Dockerfile by hand, where no engine is: each stage is a folder that is its root, with this machine's /usr and /etc read-only in the place of the
 * base image. So the base is not what it will be, and everything that the file itself does is. It needs root, or sudo without a password.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { filesOfContext } from './docker-context.ts';
import type { BuildStage, Instruction } from './dockerfile.ts';

/** How a command becomes root's. */
const ROOT = process.getuid?.() === 0 ? [] : ['sudo', '-n', '--preserve-env'];

/** A stage after it is built. */
export interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
}

export function asRoot(program: string, args: readonly string[], env = process.env): SpawnSyncReturns<string> {
  const [first = program, ...rest] = [...ROOT, program, ...args];
  return spawnSync(first, rest, { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 });
}

/** Where Node is, when it is not under /usr. */
const PREFIX = dirname(dirname(realpathSync(process.execPath)));
const BASE = ['/usr', '/etc', ...(PREFIX.startsWith('/usr') ? [] : [PREFIX])];

/** What the base image has beside /usr: links into it, as on this machine. */
function furnish(root: string): void {
  for (const folder of [...BASE, '/proc', '/dev', '/tmp']) mkdirSync(join(root, folder), { recursive: true });
  // As everywhere: all may write here, and remove only what is theirs.
  chmodSync(join(root, 'tmp'), 0o1777);
  for (const name of ['/bin', '/sbin', '/lib', '/lib64']) {
    if (existsSync(name) && lstatSync(name).isSymbolicLink() && !existsSync(join(root, name)))
      symlinkSync(readlinkSync(name), join(root, name));
  }
}

export interface Start {
  readonly image: Pick<Image, 'root' | 'env' | 'folder' | 'user'>;
  readonly command: readonly string[];
  /** Folders of this machine by where they are seen. */
  readonly mounts?: Readonly<Record<string, string>>;
  readonly readOnly?: boolean;
}

const MOUNT = `
set -e
root=$1; shift
mount --bind "$root" "$root"
[ "$READ_ONLY" != 1 ] || mount -o remount,bind,ro "$root"
for one in $BASE; do mount --bind "$one" "$root$one"; mount -o remount,bind,ro "$root$one"; done
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
exec chroot "$root" "$@"`;

/** Starts a command in an image, and waits for it. */
export function start({ command, image, mounts = {}, readOnly = false }: Start): SpawnSyncReturns<string> {
  const { env, folder, root, user } = image;
  const [uid = '0', gid = uid] = user.split(':');
  // Who is root in a build has all that root has; who is not has nothing.
  const drop =
    uid === '0'
      ? []
      : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all'];
  const path = PREFIX.startsWith('/usr') ? env.PATH : `${PREFIX}/bin:${env.PATH}`;
  const variables = Object.entries({ ...env, PATH: path }).map(([name, value]) => `${name}=${value}`);
  const there = ['env', '-i', '-C', folder, ...variables, ...command];
  const seen = Object.entries(mounts).flatMap(([place, source]) => [source, place]);
  const args = ['--mount', 'bash', '-c', MOUNT, 'mount', root, ...seen, '--', ...drop, ...there];
  return asRoot('unshare', args, { ...process.env, BASE: BASE.join(' '), READ_ONLY: readOnly ? '1' : '' });
}

/** What is the same for every stage of one build. */
export interface Build {
  /** The folder that is sent to the engine. */
  readonly context: string;
  /** Where the roots of the stages are made. */
  readonly place: string;
  /** Variables for RUN alone, and folders that it sees: the cache of npm. */
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: Readonly<Record<string, string>>;
  readonly tell: (line: string) => void;
}

function copy({ flags, words }: Instruction, image: Image, built: ReadonlyMap<string, Image>, build: Build): void {
  const sources = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  const target = join(image.root, resolve(image.folder, last));
  const unknown = Object.keys(flags).find((flag) => flag !== 'from' && flag !== 'chown');
  if (unknown !== undefined) throw new Error(`COPY --${unknown} is not played`);
  if (flags.from === undefined) {
    const files = filesOfContext(build.context, readFileSync(join(build.context, '.dockerignore'), 'utf8'));
    for (const source of sources) {
      const wanted = source === '.' ? files : files.filter((file) => file === source);
      if (wanted.length === 0) throw new Error(`COPY ${source}: the build does not see it`);
      for (const file of wanted) cpSync(join(build.context, file), join(target, file));
    }
    return;
  }
  const from = built.get(flags.from);
  if (from === undefined || sources.length !== 1) throw new Error(`COPY ${words.join(' ')} is not played`);
  asRoot('mkdir', ['-p', target]);
  const copied = asRoot('cp', ['-a', `${join(from.root, sources[0] ?? '')}/.`, target]);
  const owned = asRoot('chown', ['-R', flags.chown ?? '0:0', target]);
  if (copied.status !== 0 || owned.status !== 0)
    throw new Error(`COPY ${words.join(' ')}: ${copied.stderr}${owned.stderr}`);
}

function runStep({ exec, text, words }: Instruction, image: Image, build: Build): void {
  build.tell(`RUN ${text}`);
  const { status, stderr, stdout } = start({
    image: { ...image, env: { ...image.env, ...build.env } },
    command: exec ? words : ['/bin/sh', '-c', text],
    mounts: build.mounts,
  });
  if (status !== 0) throw new Error(`RUN ${text} ended with ${status}:\n${stdout}${stderr}`);
}

/** `NAME=value` pairs, of which a value may stand in quotes. */
function pairs(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, plain = '']) => [
      name,
      quoted ?? plain,
    ]),
  );
}

function playStage(stage: BuildStage, built: ReadonlyMap<string, Image>, build: Build): Image {
  const root = join(build.place, stage.name);
  furnish(root);
  let image: Image = {
    ...{ root, folder: '/', user: '0', entrypoint: [], cmd: [] },
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  };
  for (const one of stage.instructions) {
    switch (one.keyword) {
      case 'COPY':
        copy(one, image, built, build);
        break;
      case 'RUN':
        runStep(one, image, build);
        break;
      case 'WORKDIR':
        image = { ...image, folder: resolve(image.folder, one.text) };
        mkdirSync(join(root, image.folder), { recursive: true });
        break;
      case 'ENV':
        image = { ...image, env: { ...image.env, ...pairs(one.text) } };
        break;
      case 'USER':
        image = { ...image, user: one.text };
        break;
      case 'ENTRYPOINT':
        image = { ...image, entrypoint: one.words };
        break;
      case 'CMD':
        image = { ...image, cmd: one.words };
        break;
      case 'LABEL':
      case 'HEALTHCHECK':
        break;
      default:
        throw new Error(`${one.keyword} is not played`);
    }
  }
  return image;
}

/** Builds all stages, and gives the last one. */
export function playDockerfile(stages: readonly BuildStage[], build: Build): Image {
  const built = new Map<string, Image>();
  for (const stage of stages) {
    build.tell(`FROM ${stage.image}: in its place /usr of this machine, Node ${process.versions.node}`);
    built.set(stage.name, playStage(stage, built, build));
  }
  const last = [...built.values()].at(-1);
  if (last === undefined) throw new Error('there is no stage');
  return last;
}
