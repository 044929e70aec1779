/**
 * `npm run proofs -- executable`: builds the program for Linux that needs no Node, and uses it with an empty PATH and
 * environment. Prints its size and the processor time of its start. Fails if a command does not end as expected.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { writeBundle } from '../../bundle.ts';
import { filesOf, recipeOf } from '../../contract/stacks.ts';
import { writeExecutable } from '../../executable.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const SECRET = 'made-for-this-proof-and-nothing-else-0001';
const folder = mkdtempSync(join(tmpdir(), 'hookproof-executable-'));
const problems: string[] = [];
const children: ChildProcess[] = [];
let program = '';

function expectThat(is: boolean, otherwise: string): void {
  if (!is) problems.push(otherwise);
}

/** Runs a command without any variable of this shell, and checks its exit code and a part of what it prints. */
function expectRun(args: readonly string[], code: number, prints: RegExp, env: NodeJS.ProcessEnv = {}): string {
  const begun = performance.now();
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' });
  const output = stdout + stderr;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const line = output.split('\n').find((one) => prints.test(one));
  console.log(
    `exit ${status}  ${seconds.padStart(5)} s  hookproof ${args.slice(0, 3).join(' ')}: ${line?.trim() ?? '-'}`,
  );
  expectThat(status === code && line !== undefined, `${args.join(' ')}: exit ${status}, expected ${code}\n${output}`);
  return output;
}

/** Starts a receiver with the executable, and returns its URL. */
function receiver(...args: string[]): Promise<string> {
  const env = { HOOKPROOF_SECRET: SECRET };
  const child = spawn(program, ['receiver', '--port', '0', ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stderr.on('data', (text) => {
      printed += text;
      const [, url] = /^listening at (\S+)/m.exec(printed) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`the receiver ended with ${code}: ${printed}`)));
  });
}

/** Returns the lowest processor time of several starts, in milliseconds. */
function startUp(command: string): number {
  const times = Array.from({ length: 5 }, () => {
    const printed = execFileSync('/bin/sh', ['-c', `${command} >/dev/null; times`], { env: {}, encoding: 'utf8' });
    const [, children = ''] = printed.trim().split('\n');
    return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
  });
  return Math.round(Math.min(...times) * 1000);
}

function measure(bundle: string): void {
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const packed = gzipSync(readFileSync(program)).length;
  console.log(`size: ${megabytes(statSync(program).size)}, ${megabytes(packed)} with gzip`);
  console.log(`the bundle alone: ${megabytes(statSync(bundle).size)}`);
  const [own, script] = [startUp(`${program} --version`), startUp(`${process.execPath} ${bundle} --version`)];
  console.log(`processor time of --version: ${own} ms; of the bundle with Node ${process.versions.node}: ${script} ms`);
}

async function prove(): Promise<void> {
  const bundle = await writeBundle(join(folder, 'bundle'));
  program = writeExecutable(bundle);
  measure(bundle);
  // Only the executable itself is used from here on.
  rmSync(bundle);

  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expectThat(expectRun(['--version'], 0, /./) === `${version}\n`, '--version differs from package.json');
  expectRun(['nothing'], 2, /unknown command 'nothing'/);
  expectRun(['init', '--stack', 'express', 'app'], 0, /^wrote app\/receiver/);
  for (const { from, to } of filesOf(recipeOf('express'))) {
    const [ours, theirs] = [join(ROOT, 'recipes', from), join(folder, 'app', to)].map((path) =>
      readFileSync(path, 'utf8'),
    );
    expectThat(ours === theirs, `${to} differs from recipes/${from}`);
  }
  expectRun(['demo', '--output-dir', 'demo'], 0, /✓ CONFORMANT/);

  const env = { HOOKPROOF_SECRET: SECRET };
  expectRun(['run', await receiver(), '--output-dir', 'right'], 0, /✓ CONFORMANT/, env);
  expectThat(readFileSync(join(folder, 'right/report.html'), 'utf8').includes('</html>'), 'the report is incomplete');
  expectRun(['run', await receiver('--fault', 'compares-first-8')], 1, /✗ NOT CONFORMANT/, env);
  expectRun(['run', 'http://127.0.0.1:1/'], 3, /Nothing is listening/i, env);
  writeFileSync(join(folder, 'handlers.mjs'), 'export const handlers = {};\n');
  await receiver('--inbox', 'file:inbox.db', '--handlers', './handlers.mjs');
  await certifyPartner();
  await findPackages();
}

/** Checks that the workers of `certify --partners` are processes of the same executable. */
async function certifyPartner(): Promise<void> {
  const url = await receiver('--tls-quick-start', '--tls-quick-start-ca', join(folder, 'ca.pem'));
  mkdirSync(join(folder, 'partners', 'acme'), { recursive: true });
  writeFileSync(join(folder, 'partners', 'acme', 'ca.pem'), readFileSync(join(folder, 'ca.pem')));
  writeFileSync(join(folder, 'partners', 'acme', 'secret'), SECRET);
  const file = ['profile: staging', 'hmac:', `  secret: \${file:acme/secret}`, 'tls:', '  ca: acme/ca.pem'];
  writeFileSync(join(folder, 'partners', 'acme.yaml'), [`url: ${url}`, ...file].join('\n'));
  expectRun(['certify', 'keygen'], 0, /^wrote hookproof-certify\.pem/);
  const key = ['--key', 'hookproof-certify.pem'];
  expectRun(['certify', '--partners', 'partners', ...key, '--allow-private', '127.0.0.1'], 0, /✓ acme +certified/);
}

/** Checks that optional packages are found next to the executable. */
async function findPackages(): Promise<void> {
  const args = ['inbox', 'list', '--inbox', 'postgres://127.0.0.1:1/x'];
  expectRun(args, 2, /PostgreSQL needs the package pg/);
  const place = join(dirname(program), 'node_modules', 'pg');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'index.js'), "throw new Error('found next to the executable');");
  expectRun(args, 4, /found next to the executable/);
}

try {
  await prove();
} finally {
  for (const child of children.filter(({ exitCode }) => exitCode === null)) {
    child.kill();
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(`WRONG: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
