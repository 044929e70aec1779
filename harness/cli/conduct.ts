/** Conducts a run on the command line: progress, signals, reports, exit code. */
import { relative } from 'node:path';
import type { Revision } from '../certify/revision.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { readBaseline } from '../judge/index.ts';
import {
  createProgress,
  createRedactor,
  defuse,
  inActions,
  type NamedSecret,
  openEventStream,
  redactDocument,
  redactEvent,
  writeReports,
} from '../report/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { exitCodeOf } from '../report/verdict.ts';
import { type RunOptions, run } from '../run/index.ts';
import { interruptible } from './stop-signals.ts';
import { displayOf } from './terminal.ts';

type Interruption = ReturnType<typeof interruptible>;

/** A run with its progress on standard error. The document is not redacted yet. `conductor` runs it; certification watches more than the run. */
export async function perform(
  config: ResolvedConfig,
  interruption: Interruption,
  conductor: (options: RunOptions) => Promise<ResultDocument> = run,
) {
  const { run: options } = config;
  // Whatever is wrong with it is known before the first request.
  const baseline = options.baseline === null ? null : await readBaseline(options.baseline, shownPath(options.baseline));
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const progress = createProgress({ stream: progressStream(), ...displayOf(process.stderr) });
  const told = await openEventStream(config.reporters, { stdout: process.stdout, cwd: process.cwd() });
  const document = await conductor({
    ...runOptions(config),
    selection: { suites: options.suites, scenarios: options.scenarios, greps: options.greps, shard: options.shard },
    revision: await revisionFor(options),
    bail: options.bail,
    baseline,
    signal: interruption.signal,
    onSignature: (signature) => redactor.addSignature(signature),
    listener: (event) => {
      // Of passes, and of the document, only numbers are shown before the report, so those need not be searched.
      const onlyNumbers =
        event.type === 'run-finished' || (event.type === 'scenario-finished' && event.result.verdict === 'pass');
      const clean = onlyNumbers && told === null ? event : redactEvent(event, redactor);
      progress(clean);
      told?.tell(clean);
    },
  });
  return { document, redactor, told };
}

/** Standard error; in GitHub Actions nothing on it is a command. */
function progressStream(): { write(text: string): unknown } {
  if (!inActions(process.env)) return process.stderr;
  return { write: (text) => process.stderr.write(defuse(text)) };
}

/** Runs what the configuration says and gives the exit code. */
export async function conduct(config: ResolvedConfig): Promise<number> {
  const interruption = interruptible();
  try {
    const performed = await perform(config, interruption);
    await report(config, performed);
    return interruption.exitCode() ?? exitCodeOf(performed.document);
  } finally {
    interruption.dispose();
  }
}

/** Writes the reports that the configuration asks for, and says where. */
export async function report(
  { reporters }: ResolvedConfig,
  { document, redactor, told }: Awaited<ReturnType<typeof perform>>,
): Promise<void> {
  const written = await writeReports(document, reporters, {
    ...outputsHere(),
    redactor,
    streamed: told?.reporters ?? [],
  });
  // What could not be written while the run went on is an error after everything else is written.
  told?.close();
  for (const { name, path } of written) process.stderr.write(`${name} report: ${path}\n`);
}

/** A profile is scored by a revision of the catalogue; without one everything counts. */
async function revisionFor({ profile, revision }: ResolvedConfig['run']): Promise<Revision | null> {
  if (profile === null) return null;
  const { CURRENT_REVISION, loadRevision } = await import('../certify/revision.ts');
  return loadRevision(revision ?? CURRENT_REVISION);
}

/** Runs what the configuration says, writes no report, and gives the document without secrets. */
export async function runAlone(config: ResolvedConfig): Promise<ResultDocument> {
  const interruption = interruptible();
  try {
    const { document, redactor } = await perform({ ...config, reporters: [] }, interruption);
    return redactDocument(document, redactor);
  } finally {
    interruption.dispose();
  }
}

/** As the user would name it from here. */
function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** Where the reports of a command go. */

/** Where reports go from a command: standard output, and the job summary in GitHub Actions. */
export function outputsHere() {
  const { GITHUB_STEP_SUMMARY: summary = '' } = process.env;
  return {
    stdout: process.stdout,
    cwd: process.cwd(),
    terminal: displayOf(process.stdout),
    summaryFile: summary === '' ? undefined : summary,
    notice: (message: string): void => void process.stderr.write(`${message}\n`),
    actions: inActions(process.env),
  };
}

/** What every run takes from the configuration, whoever conducts it: the endpoint, the limits, and how it is judged. */
export function runOptions({ run, partner, clientFixtures, advice }: ResolvedConfig): RunOptions {
  return {
    partner,
    clientFixtures,
    limits: { concurrency: run.concurrency, timeoutMs: run.timeoutMs, recoveryMs: run.recoveryMs, maxMs: run.maxMs },
    profile: run.profile,
    ...(run.seed === null ? {} : { seed: run.seed }),
    strict: run.strict,
    stack: run.stack,
    evidence: run.evidence,
    advice,
  };
}

/** The values that redaction has to know: the secrets of a configuration, and what probes make of them by leaving a little out. */

/** Fragments of shorter values are ordinary words, or the whole value in all but name. */
const SHORTEST_CUT = 8;
const SHORTEST_HALVED = 16;

/** The value without its first or last character, and its halves: an endpoint that echoes what it got may show these. */
function fragmentsOf(value: string): string[] {
  if (value.length < SHORTEST_CUT) return [];
  const middle = Math.floor(value.length / 2);
  const halves = value.length < SHORTEST_HALVED ? [] : [value.slice(0, middle), value.slice(middle + 1)];
  return [value.slice(0, -1), value.slice(1), ...halves];
}

export function namedSecrets(values: readonly string[]): NamedSecret[] {
  return values.flatMap((value) => [value, ...fragmentsOf(value)].map((part) => ({ name: 'secret', value: part })));
}
