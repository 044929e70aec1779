/** Conducts a run on the command line: progress, signals, reports, exit code. */
import type { Revision } from '../certify/revision.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { readBaseline } from '../judge/index.ts';
import {
  checkReportPlaces,
  createProgress,
  createRedactor,
  defuse,
  inActions,
  type NamedSecret,
  openEventStream,
  type Reporter,
  redactDocument,
  redactEvent,
  type WrittenReport,
  writeReports,
} from '../report/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { exitCodeOf } from '../report/verdict.ts';
import { type RunOptions, run } from '../run/index.ts';
import { keptReportPath, readLastRun, rememberRun } from './last-run.ts';
import { type Interruption, interruptible } from './stop-signals.ts';
import { displayOf, isCi, shownPath } from './terminal.ts';

/**
 * Runs what the configuration says, writes the reports, and returns the exit code. With `remembers`, the run is
 * remembered, a partial run shows the last full one, and a run that did not pass leaves an HTML report for reading. The
 * commands of the reports repeat `flags`.
 */
export async function conduct(
  config: ResolvedConfig,
  { remembers = false, verbose = false, flags = '' } = {},
): Promise<number> {
  const interruption = interruptible();
  try {
    const performed = await perform(config, interruption, (options) => run({ ...options, flags }));
    const document = remembers ? await remember(config, performed.document) : performed.document;
    const { partner, reporters } = config;
    const kept = remembers && !document.partial ? keptReport(document, partner.url, reporters) : [];
    await report({ reporters: [...reporters, ...kept] }, { ...performed, document }, verbose);
    return interruption.exitCode() ?? exitCodeOf(document);
  } finally {
    interruption.dispose();
  }
}

/** Remembers the run, and returns its document; that of a partial run with the last full one. */
export async function remember({ partner: { url } }: ResolvedConfig, given: ResultDocument): Promise<ResultDocument> {
  // In CI the memory of a machine is that of other jobs.
  const isKnown = given.partial && !isCi();
  const full = isKnown ? (await readLastRun(url))?.full : null;
  const document = full == null ? given : { ...given, lastFullRun: full };
  await rememberRun(document, url);
  return document;
}

/** Runs what the configuration says, writes no report, and returns the redacted document. */
export async function runAlone(config: ResolvedConfig): Promise<ResultDocument> {
  const interruption = interruptible();
  try {
    const { document, redactor } = await perform({ ...config, reporters: [] }, interruption);
    return redactDocument(document, redactor);
  } finally {
    interruption.dispose();
  }
}

/**
 * A run with its progress on standard error. The document is not redacted yet. `runner` replaces the plain run:
 * certification observes more than it does. `progressTo` takes the progress instead of standard error.
 */
export async function perform(
  config: ResolvedConfig,
  interruption: Pick<Interruption, 'signal'>,
  runner: (options: RunOptions) => Promise<ResultDocument> = run,
  progressTo: { write(text: string): unknown } = progressStream(),
) {
  const { run: options } = config;
  // Read before the first request, so that an invalid baseline costs no run.
  const baseline = options.baseline === null ? null : await readBaseline(options.baseline, shownPath(options.baseline));
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const progress = createProgress({ stream: progressTo, ...displayOf(process.stderr) });
  checkReportPlaces(config.reporters, process.cwd());
  const events = await openEventStream(config.reporters, { stdout: process.stdout, cwd: process.cwd() });
  const document = await runner({
    ...runOptions(config),
    selection: { suites: options.suites, scenarios: options.scenarios, greps: options.greps, shard: options.shard },
    revision: await revisionFor(options),
    bail: options.bail,
    baseline,
    signal: interruption.signal,
    onSignature: (signature) => redactor.addSignature(signature),
    listener: (event) => {
      // Progress shows only numbers of these: nothing in them needs redaction.
      const onlyNumbers =
        event.type === 'run-finished' ||
        (event.type === 'scenario-finished' && ['pass', 'not-applicable'].includes(event.result.verdict));
      const clean = onlyNumbers && events === null ? event : redactEvent(event, redactor);
      progress(clean);
      events?.tell(clean);
    },
  });
  return { document, redactor, events };
}

/** Writes the reports that the configuration asks for, and prints their paths. */
export async function report(
  { reporters }: Pick<ResolvedConfig, 'reporters'>,
  { document, redactor, events }: Awaited<ReturnType<typeof perform>>,
  verbose = false,
): Promise<void> {
  const written = await writeReports(document, reporters, {
    ...reportOutputs(verbose),
    redactor,
    streamed: events?.reporters ?? [],
  });
  // Reports an event that could not be written during the run, after everything else is written.
  events?.close();
  printPaths(written, reporters);
}

/** Whether a reporter writes the terminal report to standard output. */
export const isTerminalReport = ({ name, file }: Reporter): boolean =>
  (name === 'human' || name === 'github') && file === null;

/** The paths of the reports, on standard error: the terminal report contains them. */
export function printPaths(written: readonly WrittenReport[], reporters: readonly Reporter[]): void {
  if (reporters.some(isTerminalReport)) return;
  for (const { name, path } of written) process.stderr.write(`${name} report: ${path}\n`);
}

/** The HTML report that is kept of a run that did not pass, for its details: only where a person reads the terminal. */
function keptReport(document: ResultDocument, url: string, reporters: readonly Reporter[]): Reporter[] {
  const isRead = reporters.some(isTerminalReport);
  const passed = document.counts.pass + document.counts.notApplicable === document.results.length;
  if (!isRead || passed || process.stdout.isTTY !== true || reporters.some(({ name }) => name === 'html')) return [];
  return [{ name: 'html', file: keptReportPath(url), isOptional: true }];
}

/** Where reports go: standard output, and the job summary in GitHub Actions. */
export function reportOutputs(verbose = false) {
  const { GITHUB_STEP_SUMMARY: summary = '' } = process.env;
  return {
    stdout: process.stdout,
    cwd: process.cwd(),
    terminal: { ...displayOf(process.stdout), verbose },
    summaryFile: summary === '' ? undefined : summary,
    notice: (message: string): void => void process.stderr.write(`${message}\n`),
    actions: inActions(process.env),
  };
}

/** What every kind of run takes from the configuration: the endpoint, the limits, and how the run is judged. */
export function runOptions({ run, partner, clientFixtures, advice, evidenceSources }: ResolvedConfig): RunOptions {
  return {
    partner,
    clientFixtures,
    limits: { concurrency: run.concurrency, timeoutMs: run.timeoutMs, recoveryMs: run.recoveryMs, maxMs: run.maxMs },
    profile: run.profile,
    ...(run.seed === null ? {} : { seed: run.seed }),
    strict: run.strict,
    stack: run.stack,
    evidence: run.evidence,
    evidenceSources,
    advice,
  };
}

/** Fragments of shorter values are ordinary words. */
const MIN_LENGTH_TO_CUT = 8;
const MIN_LENGTH_TO_HALVE = 16;

/**
 * The values that redaction searches for: the secrets of a configuration, and the fragments of them that probes send.
 */
export function namedSecrets(values: readonly string[]): NamedSecret[] {
  return values.flatMap((value) => [value, ...fragmentsOf(value)].map((part) => ({ name: 'secret', value: part })));
}

/** The value without its first or last character, and its halves: an endpoint may echo these. */
function fragmentsOf(value: string): string[] {
  if (value.length < MIN_LENGTH_TO_CUT) return [];
  const middle = Math.floor(value.length / 2);
  const halves = value.length < MIN_LENGTH_TO_HALVE ? [] : [value.slice(0, middle), value.slice(middle + 1)];
  return [value.slice(0, -1), value.slice(1), ...halves];
}

/** Standard error. In GitHub Actions, lines that would be workflow commands are escaped. */
function progressStream(): { write(text: string): unknown } {
  if (!inActions(process.env)) return process.stderr;
  return { write: (text) => process.stderr.write(defuse(text)) };
}

/** The revision of the catalogue that scores a profile; without a profile, every check counts. */
async function revisionFor({ profile, revision }: ResolvedConfig['run']): Promise<Revision | null> {
  if (profile === null) return null;
  const { CURRENT_REVISION, loadRevision } = await import('../certify/revision.ts');
  return loadRevision(revision ?? CURRENT_REVISION);
}
