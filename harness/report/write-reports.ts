/** Writes reports: redacts once, renders, and replaces each file atomically. */
import { randomUUID } from 'node:crypto';
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { appendFile, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { Writable } from 'node:stream';
import { HookproofError } from '../../contract/index.ts';
import { INHERITED } from '../config/read-file.ts';
import { whyNotWritable } from '../writable.ts';
import { defuse } from './github.ts';
import type { ReportOptions } from './layout.ts';
import { redactDocument } from './redaction.ts';
import type { Redactor } from './redactor.ts';
import { type Reporter, render } from './reporters.ts';
import type { ResultDocument } from './result-document.ts';

export interface WriteOptions {
  readonly stdout: Writable;
  /** The folder against which relative paths are resolved. */
  readonly cwd: string;
  readonly redactor: Redactor;
  /** The capabilities of standard output. Default: 80 columns, no colour, Unicode. Files never contain colour. */
  readonly terminal?: ReportOptions;
  /** Reporters that wrote events during the run and are finished. */
  readonly streamed?: readonly Reporter[];
  /** The file of the GitHub Actions job summary, to which the `github` reporter appends. */
  readonly summaryFile?: string | undefined;
  /** Called with a sentence for standard error about a report that is not written. */
  readonly notice?: (message: string) => void;
  /** An earlier run against the endpoint, redacted. The terminal and HTML reports show what has changed since. */
  readonly earlier?: ResultDocument | null;
  /** Whether standard output is a GitHub Actions log. Lines of the terminal report are then never workflow commands. */
  readonly actions?: boolean;
}

/** A report that was written to a file, with its absolute path. */
export interface WrittenReport {
  readonly name: Reporter['name'];
  readonly path: string;
}

const PLAIN: ReportOptions = { columns: 80, color: false, unicode: true };

/**
 * Returns the path. Throws if it is in `folder` and a symbolic link leads out of the folder: a repository may contain
 * such links.
 */
export function withinFolder(path: string, folder: string): string {
  if (!isInside(path, folder)) return path;
  const start = realpathSync(folder);
  for (let at = path; ; at = dirname(at)) {
    let real: string | null;
    try {
      real = realpathSync(at);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Writing to a dangling link would create its target.
      real = lstatSync(at, { throwIfNoEntry: false }) === undefined ? null : '/';
    }
    if (real === null) continue;
    if (isInside(real, start)) return path;
    throw new Error(`a symbolic link leads out of ${folder}`);
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way.split(sep)[0] !== '..';
}

/**
 * Returns the absolute path of a report. Throws for a named pipe, and for a link that leads out of the folder that
 * names it.
 */
export function placeOf({ file, base }: Reporter & { readonly file: string }, cwd: string): string {
  const place = withinFolder(resolve(cwd, file), base ?? cwd);
  // Writing to a named pipe at the end of the run would wait for a reader. A shell's pipe, `>(command)`, already has a
  // reader.
  if (!INHERITED.test(place) && statSync(place, { throwIfNoEntry: false })?.isFIFO() === true) {
    throw new Error('it is a named pipe, expected a file');
  }
  return place;
}

/**
 * Checks the places of the reports before a run.
 *
 * @throws HookproofError REPORT_NOT_WRITTEN if a symbolic link leads out of the folder, or no file can be created there
 */
export function checkReportPlaces(reporters: readonly Reporter[], cwd: string): void {
  for (const { file, ...reporter } of reporters) {
    if (file === null) continue;
    let place: string;
    try {
      place = placeOf({ ...reporter, file }, cwd);
    } catch (error) {
      throw notWritten(reporter.name, resolve(cwd, file), error);
    }
    // Files are replaced, which needs a writable folder; devices and pipes are written to.
    const existing = statSync(place, { throwIfNoEntry: false });
    const obstacle = existing === undefined || existing.isFile() ? whyNotWritable(dirname(place)) : null;
    if (obstacle !== null) {
      const hint = `${obstacle.fix} Or give a file in a writable folder (\`--output-dir\`, \`--reporter NAME=FILE\`).`;
      throw notWritten(reporter.name, place, obstacle.reason, hint);
    }
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Writes a temporary file and renames it, so that no reader sees half a report. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeTarget(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  let existing: Awaited<ReturnType<typeof stat>> | undefined;
  try {
    existing = await stat(path);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  if (existing === undefined) return replaceFile(path, text);
  if (existing.isDirectory()) throw new Error('it is a directory');
  // If the file is a link within the folder, its target is replaced. Pipes and devices are written to.
  return existing.isFile() ? replaceFile(await realpath(path), text) : writeFile(path, text);
}

function writeStream(stream: Writable, text: string): Promise<void> {
  return new Promise((done, failed) => {
    // A failing stream reports its error to the callback and also as an event, which needs a listener.
    const ignore = (): void => undefined;
    stream.on('error', ignore);
    stream.write(text, (error) => {
      if (!error) stream.off('error', ignore);
      // A reader that stops early (`| head`) is not an error.
      if (!error || ('code' in error && error.code === 'EPIPE')) done();
      else failed(error);
    });
  });
}

/** Appends to the job summary. The size limit applies to the whole summary of a step. */
async function addSummary(path: string, document: ResultDocument): Promise<void> {
  const { MAX_SUMMARY_BYTES, renderSummary } = await import('./github-summary.ts');
  const before = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  await appendFile(path, renderSummary(document, MAX_SUMMARY_BYTES - before));
}

export function notWritten(
  name: string,
  path: string,
  error: unknown,
  hint = 'Give a file in a writable folder. To write to the target of a link, give the target itself.',
): HookproofError {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The ${name} report cannot be written to ${path}: ${reason}`;
  return new HookproofError('REPORT_NOT_WRITTEN', message, { hint, cause: error });
}

/**
 * Writes the document with each reporter, files first, and returns the files in the order of the reporters. Missing
 * folders are created. A report that cannot be written does not prevent the others.
 *
 * @throws HookproofError REPORT_NOT_WRITTEN, after everything else is written
 */
export async function writeReports(
  document: ResultDocument,
  reporters: readonly Reporter[],
  options: WriteOptions,
): Promise<WrittenReport[]> {
  const { earlier, redactor, summaryFile } = options;
  const redacted = redactDocument(document, redactor);
  const compared = earlier == null ? {} : { comparison: (await import('./compare.ts')).compareRuns(earlier, redacted) };
  const isSkipped = ({ name }: Reporter): boolean => name === 'badge' && document.partial;
  if (reporters.some(isSkipped)) options.notice?.('No badge is written: a partial run has no verdict.');
  const failures: HookproofError[] = [];
  if (summaryFile !== undefined && reporters.some(({ name }) => name === 'github')) {
    await addSummary(summaryFile, redacted).catch((error) => {
      failures.push(notWritten('github', summaryFile, error));
    });
  }
  const wanted = reporters.filter((reporter) => !isSkipped(reporter));
  const text = ({ name }: Reporter, shown: ReportOptions) => render(name, redacted, { ...shown, ...compared });
  return writeTexts(wanted, text, options, failures);
}

/**
 * Writes the text for each reporter, files first, as {@link writeReports} does. `failures` are earlier failures to
 * add to the error.
 *
 * @throws HookproofError REPORT_NOT_WRITTEN, after everything else is written
 */
export async function writeTexts(
  reporters: readonly Reporter[],
  textFor: (reporter: Reporter, shown: ReportOptions) => Promise<string>,
  options: Omit<WriteOptions, 'redactor' | 'earlier'>,
  failures: HookproofError[] = [],
): Promise<WrittenReport[]> {
  const { cwd, stdout, streamed = [] } = options;
  const written: WrittenReport[] = [];
  for (const reporter of reporters) {
    const { name, file } = reporter;
    if (file === null) continue;
    const path = resolve(cwd, file);
    try {
      placeOf({ ...reporter, file }, cwd);
      if (!streamed.includes(reporter)) await writeTarget(path, await textFor(reporter, PLAIN));
      written.push({ name, path });
    } catch (error) {
      if (reporter.isOptional !== true) failures.push(notWritten(name, path, error));
    }
  }
  for (const reporter of reporters) {
    const { name, file } = reporter;
    if (file !== null || streamed.includes(reporter)) continue;
    try {
      const text = await textFor(reporter, { ...(options.terminal ?? PLAIN), files: written });
      await writeStream(stdout, options.actions === true && name === 'human' ? defuse(text) : text);
    } catch (error) {
      failures.push(notWritten(name, 'standard output', error));
    }
  }
  const [first] = failures;
  if (first !== undefined) throw first;
  return written;
}
