/**
 * Measures the processor time that a worker of `certify --partners` needs for another partner: `npm run proofs --
 * warm-worker`. One worker certifies 10 conformant receivers on loopback HTTPS, one after another (`--partners N` for
 * another number). With `--old FOLDER`, the folder of another built checkout, a worker of each checkout certifies every
 * receiver, in alternating order.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readPartners } from '../../../harness/cli/certify/partner-files.ts';
import type { Order, Reply } from '../../../harness/cli/certify/worker-process.ts';
import { ask, CLI, OLD, stop } from '../bench/processes.ts';
import { interleaved, median } from '../bench/rounds.ts';
import { cpuMsOf } from '../growth/process-cost.ts';
import { RIGHT } from './kinds.ts';
import { startFleet } from './start-fleet.ts';

/** Number of partners until the processor time stops falling. Until then, V8 still compiles most functions. */
const COLD = 4;

const { values } = parseArgs({ options: { partners: { type: 'string', default: '10' }, old: { type: 'string' } } });
const count = Number(values.partners);
if (!Number.isInteger(count) || count <= COLD) throw new Error(`--partners ${values.partners}: not above ${COLD}`);

/** Certifies one partner, and returns the processor time that the worker took, in milliseconds. */
async function certify(worker: ChildProcess, order: Extract<Order, { kind: 'run' }>): Promise<number> {
  const pid = worker.pid ?? 0;
  await mkdir(order.folder);
  const before = cpuMsOf(pid);
  const reply = await ask<Reply>(worker, order);
  const cpuMs = cpuMsOf(pid) - before;
  if (reply.kind !== 'done' || reply.refusals.length > 0) throw new Error(JSON.stringify(reply));
  await rm(order.folder, { recursive: true });
  return cpuMs;
}

const folder = await mkdtemp(join(tmpdir(), 'hookproof-warm-worker-'));
const kinds = Array.from({ length: count }, () => RIGHT);
const fleet = await startFleet(folder, kinds, 1);
const programs = [CLI, ...(OLD === undefined ? [] : [resolve(OLD, CLI)])];
const workers = new Map(
  programs.map((program) => [program, fork(program, ['--fleet-worker'], { serialization: 'advanced' })]),
);
try {
  const { members } = await readPartners(fleet.partners, { allowPrivate: ['localhost'] }, []);
  const served = new Map(programs.map((program) => [program, 0]));
  const series = await interleaved(programs, members.length, async (program) => {
    const at = served.get(program)!;
    served.set(program, at + 1);
    const order = { kind: 'run', config: members[at]!.config, folder: join(folder, 'output') } as const;
    return certify(workers.get(program)!, order);
  });
  for (const [program, cpuMs] of series) {
    const warm = cpuMs.slice(COLD);
    console.log(`${program}: ${cpuMs.join(', ')} ms`);
    console.log(`  from partner ${COLD + 1}: median ${median(warm)} ms, least ${Math.min(...warm)} ms`);
  }
  const [ours = [], old] = [...series.values()];
  if (old !== undefined) {
    const ratios = ours.map((ms, at) => ms / old[at]!).slice(COLD);
    console.log(`  ratio to the old program, median: ${median(ratios).toFixed(3)}`);
  }
} finally {
  for (const worker of workers.values()) await stop(worker);
  fleet.close();
  await rm(folder, { recursive: true });
}
