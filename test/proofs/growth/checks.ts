/**
 * Measures how a run, its reports and a fleet grow with the number of checks: each check once, twice and four times.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type ResultDocument, renderHtml, renderHuman, renderJson, renderJunit } from '../../../harness/index.ts';
import { CREDENTIALS, startReceiver } from '../bench/processes.ts';
import { interleaved, median } from '../bench/rounds.ts';
import { RIGHT } from '../fleet/kinds.ts';
import { startFleet } from '../fleet/start-fleet.ts';
import { type Cost, cpuMsOf, measureProgram, medianCost } from './process-cost.ts';
import { note } from './progress.ts';
import { compileRepeated, removeRepeated } from './repeated-program.ts';

const TIMES = [1, 2, 4] as const;
type Times = (typeof TIMES)[number];

/**
 * The receivers. The faulty one accepts forgeries, which leads to a report with many failures, each with its exchanges.
 */
const SUBJECTS = { conformant: [], faulty: ['--fault', 'signature-not-checked'] } as const;
export type Subject = keyof typeof SUBJECTS;
const SUBJECT_NAMES = Object.keys(SUBJECTS) as Subject[];

const RENDERINGS = {
  human: (document: ResultDocument) => renderHuman(document, { columns: 80, color: false, unicode: true }),
  HTML: renderHtml,
  JSON: renderJson,
  JUnit: renderJunit,
} as const;
export type Rendering = keyof typeof RENDERINGS;
const RENDERING_ROUNDS = 5;

interface Rendered {
  readonly bytes: number;
  readonly ms: number;
}

export interface RunsAt {
  readonly times: number;
  readonly subject: Subject;
  readonly planned: number;
  readonly evaluated: number;
  readonly requests: number;
  readonly failures: number;
  readonly run: Cost;
  readonly renderings: Readonly<Record<Rendering, Rendered>>;
}

interface FleetAt {
  readonly times: number;
  readonly partners: number;
  readonly fleet: Cost;
  readonly receiversCpuMs: number;
}

export interface ChecksMeasured {
  readonly runs: readonly RunsAt[];
  readonly fleets: readonly FleetAt[];
}

interface Settings {
  readonly rounds: number;
  /** Number of partners in the fleets. */
  readonly partners: number;
}

export async function measureChecks({ rounds, partners }: Settings): Promise<ChecksMeasured> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-growth-'));
  const programs = new Map<Times, string>();
  try {
    for (const times of TIMES) programs.set(times, await compileRepeated(times));
    const runs: RunsAt[] = [];
    for (const subject of SUBJECT_NAMES) runs.push(...(await measureRuns(folder, programs, subject, rounds)));
    return { runs, fleets: await measureFleets(folder, programs, partners) };
  } finally {
    for (const times of TIMES) removeRepeated(times);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureRuns(
  folder: string,
  programs: ReadonlyMap<Times, string>,
  subject: Subject,
  rounds: number,
): Promise<RunsAt[]> {
  const receiver = await startReceiver(SUBJECTS[subject], CREDENTIALS);
  const fileOf = (times: Times) => join(folder, `${subject}-${times}.json`);
  const run = async (times: Times) => {
    note(`checks x${times}, ${subject} receiver`);
    const args = [programs.get(times) ?? '', 'run', receiver.url, '--reporter', `json=${fileOf(times)}`];
    return await measureProgram(args, CREDENTIALS, [0, 1]);
  };
  try {
    await run(1); // warms up the receiver
    const costs = await interleaved(TIMES, rounds, run);
    const rows: RunsAt[] = [];
    for (const times of TIMES) {
      const document = JSON.parse(readFileSync(fileOf(times), 'utf8')) as ResultDocument;
      rows.push({
        times,
        subject,
        planned: document.planned,
        evaluated: document.results.filter(({ verdict }) => verdict !== 'not-applicable').length,
        requests: document.requests,
        failures: document.results.filter(({ verdict }) => verdict === 'fail').length,
        run: medianCost(costs.get(times) ?? []),
        renderings: await renderAll(document),
      });
    }
    return rows;
  } finally {
    receiver.close();
  }
}

async function renderAll(document: ResultDocument): Promise<Record<Rendering, Rendered>> {
  const entries: [string, Rendered][] = [];
  for (const [name, render] of Object.entries(RENDERINGS)) {
    const took: number[] = [];
    let bytes = 0;
    for (let round = 0; round < RENDERING_ROUNDS; round++) {
      const startedAt = performance.now();
      const text = await render(document);
      took.push(performance.now() - startedAt);
      bytes = Buffer.byteLength(text);
    }
    entries.push([name, { bytes, ms: median(took) }]);
  }
  return Object.fromEntries(entries) as Record<Rendering, Rendered>;
}

async function measureFleets(
  folder: string,
  programs: ReadonlyMap<Times, string>,
  partners: number,
): Promise<FleetAt[]> {
  const fleet = await startFleet(
    join(folder, 'fleet'),
    Array.from({ length: partners }, () => RIGHT),
    1,
  );
  try {
    const rows: FleetAt[] = [];
    for (const [times, program] of programs) {
      note(`checks x${times}, ${partners} partners`);
      const output = join(folder, `certified-${times}`);
      const before = cpuMsOf(fleet.pids[0] ?? 0);
      const cost = await measureProgram(
        [
          ...[program, 'certify', '--partners', fleet.partners, '--key', fleet.key, '--output-dir', output],
          ...['--allow-private', 'localhost', '--per-host', '64'],
        ],
        process.env,
      );
      rows.push({ times, partners, fleet: cost, receiversCpuMs: cpuMsOf(fleet.pids[0] ?? 0) - before });
    }
    return rows;
  } finally {
    fleet.close();
  }
}
