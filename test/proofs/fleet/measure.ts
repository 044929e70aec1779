/**
 * `npm run proofs -- fleet`: certifies 300 partners on loopback, first in one process and then in 4 shards that are
 * joined. Prints wall time and memory, and fails if an outcome is unexpected, or if the joined document differs.
 * `--keep DIR` keeps all files in that folder.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetDocument } from '../../../harness/fleet.ts';
import { MAIN } from '../../cli/hookproof.ts';
import { DEAD, FAULTY, HANGING, HOSTILE, type Kind, LATE, RIGHT, surprises, WARNED, withoutTimes } from './kinds.ts';
import { startFleet } from './start-fleet.ts';

/** The program, which may be another build. */
const PROGRAM = process.env.FLEET_PROGRAM ?? MAIN;
const SHARDS = 4;
const PARTNER_TIMEOUT = '60s';
const AT_A_HOST = '4';

const cycle = (kinds: readonly Kind[], count: number) =>
  Array.from({ length: count }, (_, at) => kinds[at % kinds.length]!);

/** Returns 300 partners, with every kind spread over the whole list. */
function mix(): Kind[] {
  const groups = [
    cycle([RIGHT], 172),
    cycle(FAULTY, 66),
    cycle([WARNED], 6),
    cycle([DEAD], 20),
    cycle(HANGING, 12),
    cycle([LATE], 4),
    cycle(HOSTILE, 20),
  ];
  return groups
    .flatMap((group) => group.map((kind, at) => ({ kind, place: (at + 0.5) / group.length })))
    .toSorted((a, b) => a.place - b.place)
    .map(({ kind }) => kind);
}

/** Returns the resident memory of a process, alone and with its children, in bytes. */
async function residentOf(pid: number): Promise<{ own: number; all: number; processes: number }> {
  const statusOf = (id: string) => readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
  const rss = (text: string) => Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024;
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(ids.map(statusOf));
  const children = texts.filter((text) => Number(/PPid:\s+(\d+)/.exec(text)?.[1]) === pid);
  const own = rss(await statusOf(String(pid)));
  return { own, all: own + children.reduce((sum, text) => sum + rss(text), 0), processes: 1 + children.length };
}

async function certify(label: string, args: readonly string[]): Promise<number | null> {
  const started = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'certify', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data) => {
    errors = (errors + data).slice(-4000);
  });
  const peak = { own: 0, all: 0, processes: 0 };
  let going = true;
  const watch = (async () => {
    while (going) {
      const now = await residentOf(child.pid ?? 0);
      peak.own = Math.max(peak.own, now.own);
      peak.all = Math.max(peak.all, now.all);
      peak.processes = Math.max(peak.processes, now.processes);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  })();
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  going = false;
  await watch;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  console.log(
    `${label}: ${seconds} s, exit ${code}, peak ${megabytes(peak.all)} in ${peak.processes} processes, ` +
      `the parent ${megabytes(peak.own)}`,
  );
  if (code === null || code === 2 || code === 4) console.log(errors);
  return code;
}

const keep = process.argv[2] === '--keep' ? process.argv[3] : undefined;
const folder = keep ?? (await mkdtemp(join(tmpdir(), 'hookproof-fleet-')));
await mkdir(folder, { recursive: true });
const fleet = await startFleet(folder, mix(), 3);
const documentIn = async (name: string): Promise<FleetDocument> =>
  JSON.parse(await readFile(join(folder, name, 'fleet.json'), 'utf8'));
const flags = (name: string) => [
  ...['--partners', fleet.partners, '--key', fleet.key, '--output-dir', join(folder, name)],
  ...['--allow-private', 'localhost', '--partner-timeout', PARTNER_TIMEOUT, '--per-host', AT_A_HOST],
];
try {
  console.log(`${fleet.kindOf.size} partners, ${cpus().length} processors`);
  await certify('in one go', flags('whole'));
  const whole = await documentIn('whole');
  console.log(JSON.stringify(whole.totals));
  const wrong = surprises(whole, fleet.kindOf);
  console.log(`${wrong.length} unexpected outcomes${wrong.map((line) => `\n  ${line}`).join('')}`);
  const sizes = await Promise.all(
    ['fleet.json', 'fleet.csv', 'fleet.html'].map(
      async (name) => `${name} ${Math.round((await stat(join(folder, 'whole', name))).size / 1000)} kB`,
    ),
  );
  console.log(sizes.join(', '));

  const names: string[] = [];
  for (let index = 1; index <= SHARDS; index++) {
    const name = `shard-${index}`;
    names.push(join(folder, name));
    await certify(name, [...flags(name), '--shard', `${index}/${SHARDS}`]);
  }
  await certify('joined', [
    'merge',
    ...names,
    '--key',
    join(folder, 'operator.pub.pem'),
    '--output-dir',
    join(folder, 'joined'),
  ]);
  const joined = withoutTimes(await documentIn('joined')).split('\n');
  const differing = withoutTimes(whole)
    .split('\n')
    .flatMap((line, at) =>
      line === joined[at] ? [] : [`  line ${at + 1}: ${line.trim()} in one go, ${joined[at]?.trim()} joined`],
    );
  const same = differing.length === 0;
  console.log(`the joined document is ${same ? 'the same' : 'DIFFERENT'} except for times`);
  for (const line of differing.slice(0, 10)) console.log(line);
  if (wrong.length > 0 || !same) process.exitCode = 1;
} finally {
  fleet.close();
  if (keep === undefined) await rm(folder, { recursive: true, force: true });
}
