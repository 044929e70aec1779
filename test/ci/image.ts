/**
 * Builds the image by hand from the Dockerfile, looks at what is in it, and runs it as it is meant to be run: as user 65532, without capabilities, from a
 * root that cannot be written to, in an environment that is empty. It fetches the dependencies from the registry or from the cache of npm.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStages, wrongWithDockerfile } from './dockerfile.ts';
import { asRoot, type Image, playDockerfile, type Start, start } from './play-dockerfile.ts';

const context = new URL('../..', import.meta.url).pathname;
const text = readFileSync(join(context, 'Dockerfile'), 'utf8');
const place = mkdtempSync(join(tmpdir(), 'hookproof-image-'));
const wrong = wrongWithDockerfile(text);

function check(good: boolean, what: string, detail = ''): void {
  console.log(`${good ? 'ok   ' : 'WRONG'} ${what}`);
  if (!good) wrong.push(`${what}\n${detail}`);
}

/** The image with these arguments in the place of its own. */
function run(image: Image, args: readonly string[], options: Partial<Start> = {}) {
  const { status, stderr, stdout } = start({
    image,
    command: [...image.entrypoint, ...args],
    readOnly: true,
    ...options,
  });
  return { status, stdout, all: stdout + stderr };
}

function lookInside({ root }: Image): void {
  const program = join(root, 'opt/hookproof');
  const files = execFileSync('find', [program, '-type', 'f', '-printf', '%P\t%s\n'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const found = files
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t') as [string, string]);
  const bytes = found.reduce((sum, [, size]) => sum + Number(size), 0);
  const { packages } = JSON.parse(readFileSync(join(context, 'package-lock.json'), 'utf8'));
  const inside = new Set(found.map(([path]) => /^(?:.*node_modules\/(?:@[^/]+\/)?[^/]+)(?=\/)/.exec(path)?.[0] ?? ''));
  inside.delete('');
  const foreign = [...inside].filter((path) => packages[path] === undefined || packages[path].dev === true);
  check(foreign.length === 0, `${inside.size} dependencies, none of development`, foreign.join(', '));
  const own = found.map(([path]) => path).filter((path) => !path.startsWith('node_modules/'));
  const odd = own.filter(
    (path) =>
      !/^(?:dist\/|scenarios\/|package\.json$|LICENSE$|README\.md$)/.test(path) ||
      /\.test\.|\.(?:pem|key|env)$/.test(path),
  );
  check(
    odd.length === 0,
    `${own.length} files of its own, ${(bytes / 1e6).toFixed(0)} MB in all, no tests, no keys`,
    odd.join(', '),
  );
  const writable = execFileSync('find', [program, '-perm', '/022', '!', '-type', 'l'], { encoding: 'utf8' });
  check(writable === '', 'nothing in it that others could change', writable);
}

function runInside(image: Image): void {
  const volume = join(place, 'volume');
  mkdirSync(volume);
  chmodSync(volume, 0o755);
  asRoot('chown', [image.user, volume]);
  const { version } = JSON.parse(readFileSync(join(context, 'package.json'), 'utf8'));
  const said = run(image, ['--version']);
  check(said.status === 0 && said.stdout.trim() === version, `--version says ${version}`, said.all);
  const help = run(image, image.cmd);
  check(help.status === 0 && help.stdout.includes('Usage: hookproof'), 'without arguments it shows its help', help.all);
  const shell = { ...image, entrypoint: ['/bin/sh', '-c'] };
  const who = run(shell, ['id -u; id -g; grep CapEff /proc/self/status; echo "home=$HOME"']);
  check(/^65532\n65532\nCapEff:\s+0+\nhome=\n$/.test(who.stdout), 'user 65532, no capabilities, no HOME', who.all);
  const touched = ['/', '/opt/hookproof/', '/data/', '/tmp/'].filter(
    (folder) => run(shell, [`touch ${folder}x`]).status === 0,
  );
  check(touched.length === 0, 'no folder can be written to', touched.join(', '));
  const silent = run(image, ['run', 'http://127.0.0.1:9/']);
  check(
    silent.status === 3 && silent.stdout.includes('NO VERDICT'),
    'a run with its report on the terminal needs no folder',
    silent.all,
  );
  const whole = run(image, ['demo', '--output-dir', 'out'], { mounts: { '/data': volume } });
  const written = asRoot('cat', [join(volume, 'out', 'run.json')]).stdout;
  const { counts, judged, planned, verdict } = JSON.parse(written === '' ? '{}' : written);
  check(
    whole.status === 0 && verdict === 'conformant' && judged === planned,
    `the whole catalogue into a volume: ${verdict}, ${counts?.pass} of ${planned} passed, ${counts?.fail} failed`,
    whole.all,
  );
  const lost = run(image, ['demo', '--suite', 'signature', '--output-dir', 'out']);
  check(
    lost.status !== 0 && lost.all.includes('REPORT_NOT_WRITTEN'),
    'without a volume it says that it cannot write',
    lost.all,
  );
  const sqlite = `import('@photostructure/sqlite').then(({ DatabaseSync }) => new DatabaseSync('/data/inbox.db').exec('CREATE TABLE x (y)'))`;
  const inbox = run(shell, [`cd /opt/hookproof && node -e "${sqlite}"`], { mounts: { '/data': volume } });
  check(
    inbox.status === 0,
    'the inbox of the receiver has its SQLite, though no script of a dependency was run',
    inbox.all,
  );
  const job = run(shell, ['exec hookproof certify --help'], { mounts: { '/out': volume } });
  check(job.status === 0, 'a shell finds it, as the Kubernetes Job does', job.all);
}

try {
  // With sudo the files in it would belong to root afterwards.
  const cache =
    process.getuid?.() === 0
      ? execFileSync('npm', ['config', 'get', 'cache', '--loglevel=error'], { encoding: 'utf8' }).trim()
      : '';
  if (cache !== '') mkdirSync(cache, { recursive: true });
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
  const image = playDockerfile(readStages(text), {
    context,
    place,
    mounts: cache === '' ? {} : { '/tmp': cache },
    env: {
      ...{
        HOME: '/build',
        npm_config_cache: '/tmp',
        npm_config_prefer_offline: 'true',
        npm_config_update_notifier: 'false',
      },
      ...(authorities !== undefined && { NODE_EXTRA_CA_CERTS: authorities }),
    },
    tell: (line) => console.log(line),
  });
  mkdirSync(join(image.root, 'out'), { recursive: true });
  lookInside(image);
  runInside(image);
} finally {
  asRoot('rm', ['-rf', '--one-file-system', place]);
}
for (const line of wrong) console.error(`the image: ${line}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
