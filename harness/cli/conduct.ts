/** Conducts a run for the command line: progress, signals, reports, exit code. */
import { relative } from 'node:path';
import type { Revision } from '../certify/revision.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { readBaseline } from '../config/read-baseline.ts';
import type { SourceOptions } from '../effects/index.ts';
import {
  checkReportPlaces,
  createProgress,
  createRedactor,
  defuse,
  type EventStream,
  inActions,
  type NamedSecret,
  openEventStream,
  type Redactor,
  type Reporter,
  redactDocument,
  redactEvent,
  type WrittenReport,
  writeReports,
} from '../report/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { exitCodeOf } from '../report/verdict.ts';
import { type RunOptions, run } from '../run/index.ts';
import { keepComparedRun, keptReportPath, readComparedRun, readLastRun, rememberRun } from './last-run.ts';
import { interruptible } from './stop-signals.ts';
import { displayOf, isCi, isOnTerminal, lineOnTerminal, shownPath } from './terminal.ts';

/**
 * Performs the configured run, writes the reports, and returns the exit code. The commands in the reports repeat
 * `flags`. With `remembers`, the run is stored, a partial run also shows the last full one, and on a terminal an HTML
 * report of a full run that does not pass is saved.
 */
export async function conduct(
  config: ResolvedConfig,
  { remembers = false, verbose = false, flags = '' } = {},
): Promise<number> {
  const interruption = interruptible();
  try {
    const { options, ...outputs } = await prepareRun(config, interruption.signal);
    const evidenceSources = askingOnTerminal(options.evidenceSources);
    const judged = await run({ ...options, flags, evidenceSources });
    const { code } = config.run;
    // In a report, a path has slashes on every platform.
    const document = code === null ? judged : { ...judged, code: relative(process.cwd(), code).replaceAll('\\', '/') };
    const performed = { ...outputs, document, isStored: remembers };
    const remembered = remembers ? await remember(config, performed) : performed;
    const { partner, reporters } = config;
    const kept = remembers && !document.partial ? keptReport(remembered.document, partner.url, reporters) : [];
    await report({ reporters: [...reporters, ...kept] }, { ...performed, ...remembered }, verbose);
    return interruption.exitCode() ?? exitCodeOf(remembered.document);
  } finally {
    interruption.dispose();
  }
}

/** Lets `run` ask the person at the terminal to rotate the receiver's secrets, if a rotation is configured. */
export function askingOnTerminal(sources: SourceOptions = {}): SourceOptions {
  if (sources.rotation === undefined || !isOnTerminal()) return sources;
  // The request ends its line, so that it remains on the screen when progress output overwrites the prompt.
  const ask = async (request: string, signal: AbortSignal) =>
    (await lineOnTerminal(`${request}:\n> `, signal)) !== null;
  return { ...sources, rotation: { ...sources.rotation, ask } };
}

/**
 * Stores the run. Returns its document, which contains the last full run if this one is partial, and the full run to
 * compare with.
 */
export async function remember(
  { partner: { url } }: ResolvedConfig,
  { document: given, redactor }: Pick<Performed, 'document' | 'redactor'>,
): Promise<Pick<Performed, 'document' | 'earlier'>> {
  // In CI, earlier runs on the machine belong to other jobs.
  const isKnown = !isCi();
  const full = isKnown && given.partial ? (await readLastRun(url))?.full : null;
  const earlier = isKnown ? await readComparedRun(url) : null;
  const document = full == null ? given : { ...given, lastFullRun: full };
  await rememberRun(document, url);
  await keepComparedRun(document, url, redactor);
  return { document, earlier };
}

/** Performs the configured run without reports, and returns the redacted document. */
export async function runAlone(config: ResolvedConfig): Promise<ResultDocument> {
  const interruption = interruptible();
  try {
    const { document, redactor } = await perform({ ...config, reporters: [] }, interruption.signal);
    return redactDocument(document, redactor);
  } finally {
    interruption.dispose();
  }
}

interface Performed {
  readonly document: ResultDocument;
  readonly redactor: Redactor;
  readonly events: EventStream | null;
  /** Whether the run is stored on this machine. Default: false. */
  readonly isStored?: boolean;
  /** The previous full run, redacted; absent or null if none is stored. */
  readonly earlier?: ResultDocument | null;
}

/** Performs a run, and writes progress to standard error or `progressTo`. The document is not redacted yet. */
export async function perform(
  config: ResolvedConfig,
  signal: AbortSignal,
  progressTo = progressStream(),
): Promise<Performed> {
  const { options, ...outputs } = await prepareRun(config, signal, progressTo);
  return { ...outputs, document: await run(options) };
}

/**
 * Returns the options of a run, which writes progress to standard error or `progressTo`, and what its reports need: the
 * redactor, which learns the signatures of the run, and the reports that are written during the run.
 */
export async function prepareRun(config: ResolvedConfig, signal: AbortSignal, progressTo = progressStream()) {
  const { baseline: file, bail } = config.run;
  // Read before the first request, so that an invalid baseline does not waste a run.
  const baseline = file === null ? null : await readBaseline(file, shownPath(file));
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const progress = createProgress({ stream: progressTo, ...displayOf(process.stderr) });
  checkReportPlaces(config.reporters, process.cwd());
  const events = await openEventStream(config.reporters, { stdout: process.stdout, cwd: process.cwd() });
  const options: RunOptions = {
    ...runOptions(config),
    revision: await revisionFor(config.run),
    bail,
    baseline,
    signal,
    onSignature: (signature) => redactor.addSignature(signature),
    listener: (event) => {
      // Progress shows only the numbers of these events, which need no redaction.
      const onlyNumbers =
        event.type === 'run-finished' ||
        (event.type === 'scenario-finished' && ['pass', 'not-applicable'].includes(event.result.verdict));
      const clean = onlyNumbers && events === null ? event : redactEvent(event, redactor);
      progress(clean);
      events?.write(clean);
    },
  };
  return { options, redactor, events };
}

/** Writes the configured reports, and prints their paths. */
export async function report(
  { reporters }: Pick<ResolvedConfig, 'reporters'>,
  { document, earlier, redactor, events, isStored = false }: Performed,
  verbose = false,
): Promise<void> {
  const outputs = reportOutputs(verbose);
  const written = await writeReports(document, reporters, {
    ...outputs,
    terminal: { ...outputs.terminal, isStored },
    redactor,
    earlier: earlier ?? null,
    streamed: events?.reporters ?? [],
  });
  // An event that could not be written during the run is reported after the other reports are written.
  events?.close();
  printPaths(written, reporters);
}

/** Whether a reporter writes the terminal report to standard output. */
export const isTerminalReport = ({ name, file }: Reporter): boolean =>
  (name === 'human' || name === 'github') && file === null;

/** Prints the paths of the reports on standard error, unless the terminal report already contains them. */
export function printPaths(written: readonly WrittenReport[], reporters: readonly Reporter[]): void {
  if (reporters.some(isTerminalReport)) return;
  for (const { name, path } of written) process.stderr.write(`${name} report: ${path}\n`);
}

/** Returns the reporter for the HTML report of a run that did not pass; none if no person reads the terminal report. */
function keptReport(document: ResultDocument, url: string, reporters: readonly Reporter[]): Reporter[] {
  const isRead = reporters.some(isTerminalReport);
  const passed = document.counts.pass + document.counts.notApplicable === document.results.length;
  if (!isRead || passed || process.stdout.isTTY !== true || reporters.some(({ name }) => name === 'html')) return [];
  return [{ name: 'html', file: keptReportPath(url), isOptional: true }];
}

/** Returns the destinations of reports: standard output, and the job summary in GitHub Actions. */
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

/** Returns the options that all kinds of runs take from the configuration: endpoint, selection, limits, judgement. */
export function runOptions({ run, partner, clientFixtures, advice, evidenceSources }: ResolvedConfig): RunOptions {
  return {
    partner,
    clientFixtures,
    selection: run,
    limits: run,
    profile: run.profile,
    seed: run.seed,
    strict: run.strict,
    stack: run.stack,
    evidence: run.evidence,
    evidenceSources,
    advice,
  };
}

/** Minimum length of a value that is cut into fragments. Fragments of shorter values could be ordinary words. */
const MIN_LENGTH_TO_CUT = 8;
const MIN_LENGTH_TO_HALVE = 16;

/**
 * Returns the values that redaction searches for: the secrets of a configuration, and the fragments of them that probes
 * send.
 */
export function namedSecrets(values: readonly string[]): NamedSecret[] {
  return values.flatMap((value) => [value, ...fragmentsOf(value)].map((part) => ({ name: 'secret', value: part })));
}

/** Returns the value without its first or last character, and its halves: an endpoint may echo these. */
function fragmentsOf(value: string): string[] {
  if (value.length < MIN_LENGTH_TO_CUT) return [];
  const middle = Math.floor(value.length / 2);
  const halves = value.length < MIN_LENGTH_TO_HALVE ? [] : [value.slice(0, middle), value.slice(middle + 1)];
  return [value.slice(0, -1), value.slice(1), ...halves];
}

interface ProgressStream {
  write(text: string): unknown;
}

/** Returns standard error. In GitHub Actions, lines that would be workflow commands are escaped. */
function progressStream(): ProgressStream {
  if (!inActions(process.env)) return process.stderr;
  return { write: (text) => process.stderr.write(defuse(text)) };
}

/** Returns the revision of the catalogue to score against; null without a profile, when every check counts. */
async function revisionFor({ profile, revision }: ResolvedConfig['run']): Promise<Revision | null> {
  if (profile === null) return null;
  const { CURRENT_REVISION, loadRevision } = await import('../certify/revision.ts');
  return loadRevision(revision ?? CURRENT_REVISION);
}
