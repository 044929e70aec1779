/**
 * `npm run proofs -- containers`: builds the image on a base that it creates, and runs the manifests of docs/fleet with
 * podman, as a cluster would: an indexed Job certifies five partners in four pods, and a second Job merges. Fails if an
 * outcome, a privilege or a log differs from what the documents say. It is skipped without podman.
 */
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeKeyPair } from '../../../harness/certify/index.ts';
import type { FleetDocument } from '../../../harness/fleet.ts';
import { type Workload, workload } from '../../ci/manifests.ts';
import { BASE_CONTENT, baseArchive } from './base-image.ts';
import { HARDENED, USER } from './hardened.ts';
import { type Cluster, podName, runJob } from './kubelet.ts';
import { KINDS, startPartners } from './partners.ts';
import { Podman, type Ran, whyNoPodman } from './podman.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;
const [BASE, IMAGE] = ['localhost/hookproof-base:proof', 'localhost/hookproof:proof'];

const problems: string[] = [];
const started = performance.now();

/** Prints a step with the time it took. */
async function step<T>(what: string, work: () => Promise<T>, describe: (value: T) => string): Promise<T> {
  const begun = performance.now();
  const value = await work();
  console.log(
    `${what.padEnd(12)} ${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${describe(value)}`,
  );
  return value;
}

function expectThat(is: boolean, otherwise: string): void {
  if (is) return;
  problems.push(otherwise);
  console.log(`  WRONG: ${otherwise}`);
}

const print = (text: string) => console.log(text.trim().replaceAll(/^/gm, '    '));

/** Builds the image as the Dockerfile says. */
async function buildImage(podman: Podman): Promise<string> {
  const args = ['build', '--network=host', '--build-arg', `BASE=${BASE}`, '--tag', IMAGE, ROOT];
  const { code, stdout, stderr } = await podman.run(args);
  if (code !== 0) throw new Error(`the image cannot be built:\n${(stdout + stderr).slice(-3000)}`);
  const warnings = stderr.split('\n').filter((line) => /warn|HEALTHCHECK/i.test(line) && !line.startsWith('npm '));
  expectThat(warnings.length === 0, `the build warns: ${warnings.join('; ')}`);
  const sizes = await podman.done(['images', '--format', '{{.Repository}} {{.Size}}', '--filter', 'dangling=false']);
  return sizes.split('\n').join(', ');
}

/**
 * Checks what the documents say about the image: only a volume is writable, and everything that the commands need is
 * there.
 */
async function checkImage(podman: Podman, folder: string): Promise<void> {
  const image = (args: readonly string[], ...options: string[]) =>
    podman.run(['run', '--rm', ...HARDENED, ...options, IMAGE, ...args]);
  const volume = ['--volume', `${ownedFolder(folder, 'data')}:/data`];

  const alone = await image(['demo']);
  print(alone.stderr);
  const named = /\/data is on a read-only file system\s+In a container, mount a volume at \/data/;
  expectThat(alone.code === 2 && named.test(alone.stderr), 'demo without a volume does not name /data and the fix');
  expectThat(!/\d+ checks/.test(alone.stderr), 'demo without a volume runs before it finds that it cannot write');
  const demo = await image(['demo'], ...volume);
  print(demo.stdout.split('\n')[0] ?? '');
  expectThat(demo.code === 0 && /CONFORMANT/.test(demo.stdout), `demo with a volume ends with ${demo.code}`);
  const init = await image(['init', '--stack', 'go', 'go'], ...volume);
  expectThat(init.code === 0 && readdirSync(join(folder, 'data/go')).includes('main.go'), 'init --stack go fails');
}

/** Creates a folder that belongs to the user of the image. */
function ownedFolder(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  chownSync(path, USER, USER);
  return path;
}

/** Certifies once, with the indexed Job and the Job that joins the shards. */
async function certifyOnce(podman: Podman, cluster: Cluster): Promise<void> {
  const job = workload('hookproof-certify');
  const run = join(cluster.folder, 'hookproof-out/2026-q4');
  const over = new AbortController();
  // The partners of the first pod have the same host, and are certified one after the other.
  const evicted = found(join(run, 'shard-0', 'acme', 'outcome.json'), over.signal).then(() =>
    podman.done(['kill', '--signal=KILL', `${podName(job.metadata.name, 0)}-hookproof`]),
  );
  const shards = await step(
    'Job',
    () => runJob(podman, job, cluster),
    (ran) => exitCodes(job, ran),
  );
  over.abort();
  await evicted;
  for (const { stdout, stderr } of shards) print(stderr + stdout);
  expectThat(/started again[\s\S]*1 already finished/.test(shards[0]?.stderr ?? ''), 'index 0 does not go on');
  for (const [index, ran] of shards.entries()) {
    expectThat(ran.code === 0, `index ${index} ends with ${ran.code}, though each of its partners was judged`);
    expectNoAdvice(`index ${index}`, ran);
    await expectFewPrivileges(podman, `${podName(job.metadata.name, index)}-hookproof`);
  }
  const merge = workload('hookproof-merge');
  const [merged] = await step(
    'merge Job',
    () => runJob(podman, merge, cluster),
    (ran) => exitCodes(merge, ran),
  );
  if (merged === undefined) throw new Error('the merge Job has no pod');
  print(merged.stderr + merged.stdout);
  expectThat(merged.code === 0, `the merge ends with ${merged.code}`);
  expectNoAdvice('the merge', merged);
  await expectFewPrivileges(podman, `${podName(merge.metadata.name, 0)}-hookproof`);
  const whole = join(run, 'whole');
  const { partners }: FleetDocument = JSON.parse(readFileSync(join(whole, 'fleet.json'), 'utf8'));
  console.log(`    ${partners.map(({ name, outcome }) => `${name} ${outcome}`).join(', ')}`);
  for (const { name, outcome } of KINDS) {
    const found = partners.find((partner) => partner.name === name)?.outcome;
    expectThat(found === outcome, `${name} is ${found}, expected ${outcome}`);
  }
  const records = readFileSync(join(whole, 'register.ndjson'), 'utf8').trim().split('\n').length;
  expectThat(records === KINDS.length, `the joined register has ${records} records, expected ${KINDS.length}`);
}

/** Resolves when the file exists, and rejects when it can no longer appear. */
async function found(path: string, over: AbortSignal): Promise<void> {
  while (!existsSync(path)) await pause(50, undefined, { signal: over });
}

function exitCodes({ metadata }: Workload, ran: readonly Ran[]): string {
  const pods = ran.length === 1 ? '1 pod' : `${ran.length} pods`;
  return `${metadata.name}: ${pods}, exit ${ran.map(({ code }) => code).join(' ')}`;
}

/** Expects no advice, because the operator cannot change what the manifest itself decides. */
function expectNoAdvice(what: string, { stderr }: Ran): void {
  expectThat(!/chmod|can read|warning/i.test(stderr), `${what} prints advice: ${stderr}`);
}

async function expectFewPrivileges(podman: Podman, container: string): Promise<void> {
  const { readOnlyRoot, user, capabilities } = await podman.privilegesOf(container);
  const is = readOnlyRoot && user.startsWith(String(USER)) && capabilities.length === 0;
  expectThat(is, `${container}: root read-only ${readOnlyRoot}, user ${user}, capabilities ${capabilities}`);
}

async function prove(podman: Podman, folder: string): Promise<void> {
  const base = await step(
    'base',
    baseArchive,
    ({ kept, archive }) => `${BASE_CONTENT}${kept ? ', kept from an earlier proof' : ''}: ${archive}`,
  );
  await podman.done(['import', base.archive, BASE]);
  const obstacle = await podman.chooseRuntime(BASE);
  if (obstacle !== null) {
    console.log(`Skipped: podman runs no container here (${obstacle}).`);
    return;
  }
  console.log(`${await podman.done(['--version'])} with ${podman.runtime}`);
  await step(
    'image',
    () => buildImage(podman),
    (sizes) => sizes,
  );
  await step(
    'commands',
    () => checkImage(podman, folder),
    () => 'demo, init',
  );
  const files = await step(
    'partners',
    () => startPartners(podman, IMAGE, folder),
    ({ secrets }) => `${KINDS.length} partners with ${Object.keys(secrets).length} secrets`,
  );
  const pair = makeKeyPair();
  const cluster: Cluster = {
    folder: join(folder, 'volumes'),
    image: IMAGE,
    objects: {
      'hookproof-partners': files.partners,
      'hookproof-partner-secrets': files.secrets,
      'hookproof-certify-key': { 'key.pem': pair.privatePem },
      'hookproof-certify-public-key': { 'key.pub.pem': pair.publicPem },
    },
    variables: { FLEET_OPTIONS: '--allow-private localhost' },
  };
  await certifyOnce(podman, cluster);
}

const missing = whyNoPodman();
if (missing !== null) console.log(`Skipped: ${missing}.`);
else {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-containers-'));
  const podman = new Podman(join(folder, 'podman'));
  try {
    await prove(podman, folder);
  } finally {
    await podman.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${problems.length} problems, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  if (problems.length > 0) process.exitCode = 1;
}
