/**
 * Runs the compiled program against the receivers of a blind set. Each has one fault; their authors knew the
 * specification, but not the catalogue. Run by `npm run proofs -- blind`. Options: --set NAME (one to eight; default:
 * one); --corpus FOLDER measures a folder with faulty-receivers.mjs and correct-receivers.mjs instead; --truth FILE
 * prints how often the diagnosis is correct (the file is JSON: for each receiver, the acceptable names of the
 * dictionary, which may be none); --only NAME (repeatable); --program FILE uses another build of the program; --jobs
 * N; --out FILE writes the results as JSON. Exits with 1 if a run does not fail a forbidden and visible fault, or
 * fails a correct receiver.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadDictionary } from '../../../harness/diagnose/index.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { accepting, freePort } from '../../endpoints/listen.ts';
import { lacks } from '../../setup/programs.ts';
import { DIAGNOSIS_VERDICTS, equality, verdictOn } from '../held-out/figures.ts';
import { type HeldOutRun, namesIn } from '../held-out/play.ts';

/** `must`: forbidden and visible from outside; `should`: visible and tolerable; `blind`: not visible. */
type Label = 'must' | 'should' | 'blind' | 'correct';

interface Subject {
  readonly name: string;
  readonly label: Label;
  readonly what: string;
  readonly program: readonly string[];
}

interface Measured extends Omit<Subject, 'program'>, Pick<HeldOutRun, 'diagnosed' | 'mistake'> {
  readonly exitCode: number | null;
  readonly seconds: number;
  readonly requests: number;
  /** Checks that failed here and pass with the correct receiver of the same program. */
  readonly failed: readonly string[];
  readonly warned: readonly string[];
  readonly undecided: number;
  readonly verdict: 'failed' | 'warned' | 'no verdict' | 'silent';
  readonly diagnosis: readonly string[];
}

const { values } = parseArgs({
  options: {
    set: { type: 'string', default: 'one' },
    corpus: { type: 'string' },
    truth: { type: 'string' },
    only: { type: 'string', multiple: true },
    program: { type: 'string', default: new URL('../../../dist/bin/hookproof.js', import.meta.url).pathname },
    jobs: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});

const SECRET = randomBytes(24).toString('base64url');
const API_KEY = randomBytes(24).toString('base64url');
const MAX_RUN_MS = 600_000;

/** Returns the programs of a set whose languages are installed, and prints the others. */
async function programsOf(set: string): Promise<readonly (readonly string[])[]> {
  const folder = new URL(`${set}/`, import.meta.url).pathname;
  const built = await mkdtemp(join(tmpdir(), 'hookproof-blind-'));
  const compile = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'inherit' });
  const known: readonly {
    readonly file: string;
    readonly needs: 'go' | 'java' | 'php' | 'python3' | 'ruby' | null;
    readonly program: (path: string) => string[];
  }[] = [
    { file: 'receivers.mjs', needs: null, program: (path) => [process.execPath, path] },
    { file: 'receivers.py', needs: 'python3', program: (path) => ['python3', path] },
    { file: 'receivers-php.sh', needs: 'php', program: (path) => ['sh', path] },
    { file: 'receivers.rb', needs: 'ruby', program: (path) => ['ruby', path] },
    {
      file: 'receivers.go',
      needs: 'go',
      program: (path) => {
        compile('go', 'build', '-o', join(built, 'receivers'), path);
        return [join(built, 'receivers')];
      },
    },
    {
      file: 'Receivers.java',
      needs: 'java',
      program: (path) => {
        compile('javac', '-d', built, path);
        return ['java', '-cp', built, 'Receivers'];
      },
    },
  ];
  const programs: string[][] = [];
  for (const { file, needs, program } of known) {
    const path = join(folder, file);
    if (!(await readFile(path).catch(() => null))) continue;
    if (needs !== null && lacks(needs)) {
      process.stderr.write(`left out: ${file}, because ${needs} is not installed\n`);
      continue;
    }
    programs.push(program(path));
  }
  return programs;
}

function listOf(program: readonly string[]): readonly Subject[] {
  const text = execFileSync(program[0]!, [...program.slice(1), '--list'], { encoding: 'utf8' });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', label = '', what = ''] = line.split('\t');
      return { name, label: label as Label, what, program };
    });
}

async function subjectsOf(set: string): Promise<readonly Subject[]> {
  const programs = await programsOf(set);
  return programs.flatMap((program) => [
    { name: 'none', label: 'correct' as const, what: 'The correct receiver.', program },
    ...listOf(program),
  ]);
}

function subjectsIn(folder: string): readonly Subject[] {
  return ['correct-receivers.mjs', 'faulty-receivers.mjs'].flatMap((file) =>
    listOf([process.execPath, join(folder, file)]).map((one) =>
      file.startsWith('correct') ? { ...one, label: 'correct' as const } : one,
    ),
  );
}

interface Run {
  readonly exitCode: number | null;
  readonly document: ResultDocument | null;
}

async function runAgainst({ name, program }: Subject): Promise<Run> {
  const port = await freePort();
  const own = values.corpus === undefined ? [] : ['--secret', SECRET, '--api-key', API_KEY];
  const [command = '', ...args] = [...program, '--fault', name, '--port', String(port), ...own];
  const { PATH, HOME } = process.env;
  // The process gets its own group, so that programs that the receiver starts are also ended.
  const receiver = spawn(command, args, {
    env: { PATH, HOME, BLIND_SECRET: SECRET, BLIND_API_KEY: API_KEY },
    stdio: 'ignore',
    detached: true,
  });
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-blind-'));
  try {
    await accepting(port, receiver);
    const harness = spawn(process.execPath, [values.program, 'run', `http://127.0.0.1:${port}/hooks`, '-o', folder], {
      env: { PATH, HOME, HOOKPROOF_SECRET: SECRET, HOOKPROOF_API_KEY: API_KEY },
      stdio: 'ignore',
      timeout: MAX_RUN_MS,
    });
    const [exitCode] = await once(harness, 'close');
    const text = await readFile(join(folder, 'run.json'), 'utf8').catch(() => null);
    return { exitCode, document: text === null ? null : JSON.parse(text) };
  } finally {
    if (receiver.pid !== undefined && receiver.exitCode === null) {
      // The receiver may already have ended.
      try {
        process.kill(-receiver.pid, 'SIGTERM');
      } catch {}
      const ended = await Promise.race([
        once(receiver, 'close').then(() => true),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 2000)),
      ]);
      if (!ended) process.kill(-receiver.pid, 'SIGKILL');
    }
    await rm(folder, { recursive: true, force: true });
  }
}

const withVerdict = (document: ResultDocument | null, verdict: string): string[] =>
  document?.results.filter((result) => result.verdict === verdict).map(({ id }) => id) ?? [];

/**
 * By program, the checks that do not pass with its correct receiver. They are not evidence against the other receivers.
 */
const known = new Map<string, ReadonlySet<string>>();

async function measure(subject: Subject): Promise<Measured> {
  const startedAt = performance.now();
  const { exitCode, document } = await runAgainst(subject);
  const key = subject.program.join(' ');
  if (subject.name === 'none') {
    known.set(key, new Set([...withVerdict(document, 'fail'), ...withVerdict(document, 'warn')]));
  }
  const usual = subject.label === 'correct' ? new Set<string>() : (known.get(key) ?? new Set());
  const own = (verdict: string) => withVerdict(document, verdict).filter((id) => !usual.has(id));
  const failed = own('fail');
  const warned = own('warn');
  const undecided = withVerdict(document, 'inconclusive').length;
  const { program: _, ...told } = subject;
  const reported = failed.length > 0 ? 'failed' : warned.length > 0 ? 'warned' : 'silent';
  return {
    ...told,
    exitCode,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    requests: document?.requests ?? 0,
    failed,
    warned,
    undecided,
    verdict: failed.length === 0 && (exitCode === 3 || document === null) ? 'no verdict' : reported,
    ...namesIn(document ?? { diagnosis: [] }),
    diagnosis:
      document?.diagnosis.map(
        ({ relation, fault, title, agreement, outcomes, alike }) =>
          `${relation} ${fault} (${agreement} of ${outcomes}): ${title}${alike.length > 0 ? `; alike: ${alike}` : ''}`,
      ) ?? [],
  };
}

/** Returns Wilson's 95 % confidence interval for a proportion. */
function interval(hits: number, of: number): string {
  if (of === 0) return '-';
  const z = 1.96;
  const p = hits / of;
  const centre = (p + (z * z) / (2 * of)) / (1 + (z * z) / of);
  const half = (z * Math.sqrt((p * (1 - p)) / of + (z * z) / (4 * of * of))) / (1 + (z * z) / of);
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  return `${hits} of ${of} (${percent(p)}, 95 % interval ${percent(centre - half)} to ${percent(centre + half)})`;
}

function summary(all: readonly Measured[]): string {
  const lines: string[] = [];
  for (const label of ['must', 'should', 'blind', 'correct'] as const) {
    const some = all.filter((one) => one.label === label);
    if (some.length === 0) continue;
    lines.push(`${label}: ${some.length} receivers`);
    for (const verdict of ['failed', 'warned', 'no verdict', 'silent'] as const) {
      const hits = some.filter((one) => one.verdict === verdict);
      if (hits.length > 0) lines.push(`  ${verdict}: ${interval(hits.length, some.length)}`);
    }
    const listed = some.filter(({ verdict }) => (label === 'correct' ? verdict !== 'silent' : verdict !== 'failed'));
    if (label === 'must' || label === 'correct') {
      for (const { name, verdict, what, failed, warned } of listed) {
        lines.push(`    ${verdict}: ${name}: ${label === 'must' ? what : [...failed, ...warned].join(', ')}`);
      }
    }
  }
  return lines.join('\n');
}

/** Returns how often the diagnosis of a failed or warned receiver is correct. */
async function diagnosisSummary(all: readonly Measured[], truthFile: string): Promise<string> {
  const truth = JSON.parse(await readFile(truthFile, 'utf8')) as Readonly<Record<string, readonly string[]>>;
  const same = equality(await loadDictionary());
  const measured = all.flatMap((one) => {
    const acceptable = truth[one.name];
    if (acceptable === undefined || one.failed.length + one.warned.length === 0) return [];
    const text = `${one.name}: ${one.diagnosed[0]?.[0] ?? 'nothing'}`;
    return [{ verdict: verdictOn(one, acceptable, same), text }];
  });
  const lines = DIAGNOSIS_VERDICTS.flatMap((wanted) => {
    const some = measured.filter(({ verdict }) => verdict === wanted);
    const header = `diagnosis ${wanted}: ${interval(some.length, measured.length)}`;
    return [header, ...some.map(({ text }) => `  ${text}`)];
  });
  return lines.join('\n');
}

const subjects = (values.corpus === undefined ? await subjectsOf(values.set) : subjectsIn(values.corpus)).filter(
  ({ name, label }) => values.only === undefined || label === 'correct' || values.only.includes(name),
);
const correct = subjects.filter(({ label }) => label === 'correct');
const waiting = subjects.filter(({ label }) => label !== 'correct');
const results: Measured[] = [];

async function work(queue: Subject[]): Promise<void> {
  for (let subject = queue.shift(); subject !== undefined; subject = queue.shift()) {
    const one = await measure(subject).catch((error: unknown): Measured => {
      process.stderr.write(`${subject.name}: ${error}\n`);
      const { program: _, ...told } = subject;
      const none = { exitCode: null, seconds: 0, requests: 0, failed: [], warned: [], undecided: 0, diagnosis: [] };
      return { ...told, ...none, verdict: 'no verdict', ...namesIn({ diagnosis: [] }) };
    });
    results.push(one);
    process.stderr.write(`${results.length} of ${subjects.length}: ${one.verdict}, ${one.seconds} s, ${one.name}\n`);
    if (values.out !== undefined) await writeFile(values.out, `${JSON.stringify(results, null, 1)}\n`);
  }
}

// The correct receivers run first, because the results of the others are compared with theirs.
for (const queue of [correct, waiting]) {
  await Promise.all(Array.from({ length: Number(values.jobs) }, () => work(queue)));
}
console.log(summary(results));
if (values.truth !== undefined) console.log(`\n${await diagnosisSummary(results, values.truth)}`);
const misses = results.filter(({ label, verdict }) =>
  label === 'must' ? verdict !== 'failed' : label === 'correct' && verdict === 'failed',
);
process.exitCode = misses.length > 0 ? 1 : 0;
