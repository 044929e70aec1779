/**
 * `npm run proofs -- fuzz [--minutes N] [--seed N] [--only NAME] [--path PATH]`: tests the properties of every parser
 * for minutes, half of the time with a fixed seed and half with a new one, or all of the time with the given one. Each
 * parser runs in a separate process with limited memory. A process that stops, or an input that takes too long, is a
 * finding. Prints the figures, and each finding with a shrunk counterexample; exits with 1 after a finding.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { FUZZ_TARGETS } from './index.ts';
import type { FuzzTarget } from './target.ts';

const FIXED_SEED = 20_260_101;
/** A finding is repeated with the seed of its batch, so batches are short. */
const BATCH = 500;
const HEAP_MB = 512;
/** Maximum time without a finished batch, including shrinking, in milliseconds. */
const STALLED_MS = 120_000;

/** What the process of a parser reports. */
type Progress =
  | { readonly kind: 'batch'; readonly seed: number }
  | { readonly kind: 'tried'; readonly inputs: number; readonly finding: string | null };

interface Figures {
  readonly inputs: number;
  readonly seconds: number;
  readonly peakMb: number;
  readonly findings: readonly string[];
}

/** Plays batches until the time is over or a property fails. */
async function play({ start }: FuzzTarget, seed: number, ms: number, path: string | undefined): Promise<void> {
  const { property, stop } = await start();
  const end = performance.now() + ms;
  for (let batch = seed; batch === seed || performance.now() < end; batch += 1) {
    report({ kind: 'batch', seed: batch });
    const details = await fc.check(property, {
      seed: batch,
      numRuns: BATCH,
      interruptAfterTimeLimit: Math.max(1000, end - performance.now()),
      ...(path !== undefined && { path }),
    });
    // A batch that was interrupted before its first input also counts as failed.
    const finding = details.counterexample === null ? null : describeFailure(details);
    report({ kind: 'tried', inputs: details.numRuns, finding });
    if (finding !== null || path !== undefined) break;
  }
  await stop();
}

function describeFailure(details: fc.RunDetails<[unknown]>): string {
  const { counterexamplePath, errorInstance, seed, numShrinks } = details;
  const shown = fc.stringify(details.counterexample).slice(0, 4000);
  const error = errorInstance instanceof Error ? errorInstance : new Error(String(errorInstance));
  const cause = error.cause instanceof Error ? `\n  because of ${error.cause.stack?.slice(0, 800)}` : '';
  const repeat = `--seed ${seed} --path ${counterexamplePath}`;
  return `${error.message}${cause}\n  input, shrunk ${numShrinks} times: ${shown}\n  repeat: ${repeat}`;
}

function report(progress: Progress): void {
  process.send?.(progress);
}

/** Runs a parser in a separate process. */
function fuzz(target: FuzzTarget, seed: number, ms: number, path: string | undefined): Promise<Figures> {
  const args = ['--run', target.name, String(seed), String(ms), ...(path === undefined ? [] : [path])];
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), args, {
    execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const started = performance.now();
  const findings: string[] = [];
  let inputs = 0;
  let peakMb = 0;
  let batch = seed;
  let stderr = '';
  let watch: NodeJS.Timeout | undefined;
  child.stderr?.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-2000);
  });
  const restartWatch = () => {
    clearTimeout(watch);
    watch = setTimeout(() => {
      findings.push(`an input takes longer than ${STALLED_MS / 1000} s\n  in the batch: --seed ${batch}`);
      child.kill('SIGKILL');
    }, STALLED_MS + ms);
  };
  restartWatch();
  child.on('message', (message: Progress | { readonly kind: 'peak'; readonly mb: number }) => {
    restartWatch();
    if (message.kind === 'batch') batch = message.seed;
    if (message.kind === 'peak') peakMb = message.mb;
    if (message.kind !== 'tried') return;
    inputs += message.inputs;
    if (message.finding !== null) findings.push(`${message.finding} --only ${target.name}`);
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(watch);
      if (code !== 0 && findings.length === 0) {
        findings.push(`the process ended (${signal ?? code})\n  in the batch: --seed ${batch}\n${stderr}`);
      }
      resolve({ inputs, seconds: (performance.now() - started) / 1000, peakMb, findings });
    });
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      path: { type: 'string' },
    },
  });
  const targets = FUZZ_TARGETS.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
  const minutes = Number(values.minutes);
  const seeds = values.seed === undefined ? [FIXED_SEED, randomInt(2 ** 30)] : [Number(values.seed)];
  if (targets.length === 0 || !(minutes > 0) || !seeds.every(Number.isSafeInteger)) {
    const names = FUZZ_TARGETS.map(({ name }) => name).join(', ');
    process.stderr.write(`--minutes and --seed are numbers; --only is one of ${names}\n`);
    return 2;
  }
  const ms = (minutes * 60_000) / targets.length / seeds.length;
  const found: string[] = [];
  process.stdout.write(
    '| parser | inputs | seconds | peak memory | seed | findings |\n| --- | ---: | ---: | ---: | ---: | ---: |\n',
  );
  for (const target of targets) {
    for (const seed of seeds) {
      const { inputs, seconds, peakMb, findings } = await fuzz(target, seed, ms, values.path);
      const figures = [inputs, seconds.toFixed(1), `${peakMb} MB`, seed, findings.length].join(' | ');
      process.stdout.write(`| ${target.name} | ${figures} |\n`);
      found.push(...findings.map((finding) => `${target.name}: ${finding}`));
    }
  }
  for (const finding of found) process.stdout.write(`\nFOUND ${finding}\n`);
  return found.length === 0 ? 0 : 1;
}

const [mode, name, seed, ms, path] = process.argv.slice(2);
if (mode === '--run') {
  const target = FUZZ_TARGETS.find((one) => one.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  await play(target, Number(seed), Number(ms), path);
  process.send?.({ kind: 'peak', mb: Math.round(process.resourceUsage().maxRSS / 1024) }, () => process.exit(0));
} else process.exitCode = await main();
