/** Runs the compiled program against one hostile endpoint, and checks what the run did. */
import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { runBoundMs } from '../../../harness/run/context.ts';
import { MAIN } from '../../cli/hookproof.ts';
import type { Behaviour, Material } from './behaviour.ts';
import { checkPrinted, documentOf, RENDERINGS } from './renderings.ts';

/** The limits of each run. */
export const LIMITS = { timeoutMs: 400, recoveryMs: 400, concurrency: 8 };
/** Time for the start of the program, the diagnosis and the reports, on a busy machine, in milliseconds. */
const OVERHEAD_MS = 15_000;
/** Maximum peak memory of a run. Most of it is garbage that V8 has not collected yet, and about 80 MB are in use. */
export const MAX_MEMORY_KB = 448 * 1024;

export interface Outcome {
  readonly behaviour: Behaviour;
  readonly exitCode: number | null;
  readonly document: ResultDocument | null;
  readonly wallMs: number;
  /** Maximum duration of the run, in milliseconds. */
  readonly boundMs: number;
  readonly peakKb: number;
  /** Size of each report in bytes, by reporter. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The violated rules, as sentences. */
  readonly complaints: readonly string[];
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly wallMs: number;
}

function spawnRun(
  [program, ...args]: readonly [program: string, ...string[]],
  env: NodeJS.ProcessEnv,
  cwd: string,
  killAfterMs: number,
): Promise<Ended> {
  const { PATH, HOME } = process.env;
  const began = performance.now();
  const preload = new URL('./measure-peak.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--import', preload, program, ...args], { env: { PATH, HOME, ...env }, cwd });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => out.push(piece));
  child.stderr.on('data', (piece: Buffer) => err.push(piece));
  const guard = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(guard);
      const text = (pieces: Buffer[]) => Buffer.concat(pieces).toString('utf8');
      resolve({ code, stdout: text(out), stderr: text(err), wallMs: performance.now() - began });
    });
  });
}

/** Returns `--max-time`, or the bound that follows from the limits and the number of checks. */
function boundOf(document: ResultDocument | null, flags: readonly string[]): number {
  const maxTime = flags[flags.indexOf('--max-time') + 1];
  const maxMs = flags.includes('--max-time') ? Number.parseInt(maxTime ?? '', 10) * 1000 : null;
  const checks = document === null ? 700 : document.planned - document.counts.notApplicable;
  return runBoundMs({ ...LIMITS, maxMs }, checks);
}

export async function runAgainst(
  behaviour: Behaviour,
  material: Material,
  selection: readonly string[] = [],
  program = MAIN,
): Promise<Outcome> {
  const endpoint = await behaviour.start(material);
  const { folder, secret, apiKey } = material;
  const fileOf = (name: string) => join(folder, `${behaviour.name}.${name}`);
  const flags = [...(behaviour.flags ?? []), ...selection];
  const args = [
    'run',
    endpoint.url,
    ...['--timeout', `${LIMITS.timeoutMs}ms`, '--recovery', `${LIMITS.recoveryMs}ms`, '--seed', 'hostile'],
    ...(endpoint.url.startsWith('https:') ? ['--ca', join(folder, 'ca.pem')] : []),
    ...RENDERINGS.flatMap(({ reporter }) => ['--reporter', `${reporter}=${fileOf(reporter)}`]),
    ...flags,
  ];
  const env = { HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: apiKey, HOOKPROOF_TEST_PEAK_FILE: fileOf('peak') };
  const ended = await spawnRun([program, ...args], env, folder, boundOf(null, flags) + OVERHEAD_MS);
  const complaints = [endpoint.complaint?.() ?? null].filter((text) => text !== null);
  await endpoint.close();

  const sizes = new Map<string, number>();
  let document: ResultDocument | null = null;
  for (const { reporter, check } of RENDERINGS) {
    const file = fileOf(reporter);
    try {
      const text = await readFile(file, 'utf8');
      sizes.set(reporter, (await stat(file)).size);
      if (reporter === 'json') document = documentOf(text);
      complaints.push(...(await check(text)).map((what) => `${reporter} ${what}`));
      complaints.push(
        ...[secret, apiKey].filter((word) => text.includes(word)).map(() => `${reporter} holds a credential`),
      );
    } catch (error) {
      complaints.push(`${reporter} cannot be read: ${String(error).slice(0, 200)}`);
    }
  }
  const peakKb = Number(await readFile(fileOf('peak'), 'utf8').catch(() => Number.NaN));
  const boundMs = boundOf(document, flags);
  complaints.push(...complaintsAbout(ended, document, boundMs, peakKb));
  return { behaviour, exitCode: ended.code, document, wallMs: ended.wallMs, boundMs, peakKb, sizes, complaints };
}

function complaintsAbout(
  { code, stdout, stderr, wallMs }: Ended,
  document: ResultDocument | null,
  boundMs: number,
  peakKb: number,
): string[] {
  const complaints = [...checkPrinted(stdout), ...checkPrinted(stderr)].map((what) => `the terminal ${what}`);
  const rule = (holds: boolean, otherwise: string) => {
    if (!holds) complaints.push(otherwise);
  };
  rule(
    code === 1 || code === 3,
    `the exit code is ${code}; standard error ends with ${JSON.stringify(stderr.slice(-300))}`,
  );
  rule(!/unhandled|internal error|Warning:/i.test(stderr), `standard error: ${JSON.stringify(stderr.slice(0, 500))}`);
  rule(
    document?.verdict === 'nonconformant' || document?.verdict === 'inconclusive',
    `the verdict is ${document?.verdict}`,
  );
  rule(document?.judged === document?.planned, `${document?.judged} of ${document?.planned} checks are judged`);
  rule(
    (document?.durationMs ?? 0) <= boundMs + 2_000,
    `the run took ${document?.durationMs} ms; its bound is ${boundMs} ms`,
  );
  rule(
    wallMs <= boundMs + OVERHEAD_MS,
    `the program took ${Math.round(wallMs)} ms; the bound of the run is ${boundMs} ms`,
  );
  rule(peakKb <= MAX_MEMORY_KB, `the program used ${Math.round(peakKb / 1024)} MB of memory`);
  return complaints;
}
