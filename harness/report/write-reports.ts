/** Writes reports: redacted once, rendered, and replaced as a whole. */
import { randomUUID } from 'node:crypto';
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { appendFile, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { Writable } from 'node:stream';
import { HookproofError } from '../../contract/index.ts';
import { INHERITED } from '../config/read-file.ts';
import { defuse } from './github.ts';
import type { ReportOptions } from './layout.ts';
import { redactDocument } from './redaction.ts';
import type { Redactor } from './redactor.ts';
import { type Reporter, render } from './reporters.ts';
import type { ResultDocument } from './result-document.ts';

export interface WriteOptions {
  readonly stdout: Writable;
  /** Relative files are taken from here. */
  readonly cwd: string;
  readonly redactor: Redactor;
  /** What standard output can show. Without it: 80 columns, no colour, Unicode. Files never hold colour. */
  readonly terminal?: ReportOptions;
  /** Reporters that wrote events during the run, and are done. */
  readonly streamed?: readonly Reporter[];
  /** The file of the job summary of GitHub Actions, to which the `github` reporter appends. */
  readonly summaryFile?: string | undefined;
  /** Takes a sentence about a report that is not written, for standard error. */
  readonly notice?: (message: string) => void;
  /** Whether a runner of GitHub Actions reads standard output: then no line of the terminal report is a command. */
  readonly actions?: boolean;
}

/** A report that was written to a file, by its absolute path. */
export interface WrittenReport {
  readonly name: Reporter['name'];
  readonly path: string;
}

const PLAIN: ReportOptions = { columns: 80, color: false, unicode: true };

/** The path itself. Throws if it is in `folder` and a symbolic link leads out of it: links come with a repository. */
export function withinFolder(path: string, folder: string): string {
  if (!isInside(path, folder)) return path;
  const start = realpathSync(folder);
  for (let at = path; ; at = dirname(at)) {
    let real: string | null;
    try {
      real = realpathSync(at);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // A link to nothing is there itself, and what is written to it appears where it leads.
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

/** The absolute path of a report. Throws for a link that leads out of the folder that names it, and a named pipe. */
export function placeOf({ file, base }: Reporter & { readonly file: string }, cwd: string): string {
  const place = withinFolder(resolve(cwd, file), base ?? cwd);
  // It would wait at the end of the run until somebody reads. A pipe of the shell, `>(command)`, has its reader.
  if (!INHERITED.test(place) && statSync(place, { throwIfNoEntry: false })?.isFIFO() === true) {
    throw new Error('it is a named pipe, expected a file');
  }
  return place;
}

/**
 * Checks where the reports go before a run, which would be in vain.
 *
 * @throws HookproofError REPORT_NOT_WRITTEN if a symbolic link leads out of the folder
 */
export function checkReportPlaces(reporters: readonly Reporter[], cwd: string): void {
  for (const { file, ...reporter } of reporters) {
    if (file === null) continue;
    try {
      placeOf({ ...reporter, file }, cwd);
    } catch (error) {
      throw notWritten(reporter.name, resolve(cwd, file), error);
    }
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Written to a temporary file and renamed, so that no reader sees half a report. */
async function replaceFile(path: string, text: string): Promise<void> {
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
  // Of a link within the folder the target is replaced; a pipe or a device is written to and never replaced.
  return existing.isFile() ? replaceFile(await realpath(path), text) : writeFile(path, text);
}

function writeStream(stream: Writable, text: string): Promise<void> {
  return new Promise((done, failed) => {
    // A failing stream reports it twice, to the callback and as an event, which must have a listener.
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

/** The size limit holds for the whole summary of a step. */
async function addSummary(path: string, document: ResultDocument): Promise<void> {
  const { MAX_SUMMARY_BYTES, renderSummary } = await import('./github-summary.ts');
  const before = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  await appendFile(path, renderSummary(document, MAX_SUMMARY_BYTES - before));
}

export function notWritten(name: string, path: string, error: unknown): HookproofError {
  const reason = error instanceof Error ? error.message : String(error);
  return new HookproofError('REPORT_NOT_WRITTEN', `The ${name} report cannot be written to ${path}: ${reason}`, {
    hint: 'Name a file in a writable folder. If a link is meant, name the place that it leads to.',
    cause: error,
  });
}

/**
 * Writes the document with each reporter, files first, and returns the files in the order of the reporters. Missing
 * folders are made. A report that cannot be written does not keep the others from being written.
 *
 * @throws HookproofError REPORT_NOT_WRITTEN, after everything else is written
 */
export async function writeReports(
  document: ResultDocument,
  reporters: readonly Reporter[],
  options: WriteOptions,
): Promise<WrittenReport[]> {
  const { cwd, redactor, stdout, streamed = [], summaryFile } = options;
  const redacted = redactDocument(document, redactor);
  const isSkipped = ({ name }: Reporter): boolean => name === 'badge' && document.partial;
  if (reporters.some(isSkipped)) options.notice?.('No badge is written: a partial run has no verdict.');
  const written: WrittenReport[] = [];
  const failures: HookproofError[] = [];
  if (summaryFile !== undefined && reporters.some(({ name }) => name === 'github')) {
    await addSummary(summaryFile, redacted).catch((error) => {
      failures.push(notWritten('github', summaryFile, error));
    });
  }
  for (const reporter of reporters) {
    const { name, file } = reporter;
    if (file === null || isSkipped(reporter)) continue;
    const path = resolve(cwd, file);
    try {
      placeOf({ ...reporter, file }, cwd);
      if (!streamed.includes(reporter)) await writeTarget(path, await render(name, redacted, PLAIN));
      written.push({ name, path });
    } catch (error) {
      if (reporter.isOptional !== true) failures.push(notWritten(name, path, error));
    }
  }
  for (const reporter of reporters) {
    const { name, file } = reporter;
    if (file !== null || streamed.includes(reporter) || isSkipped(reporter)) continue;
    try {
      const text = await render(name, redacted, { ...(options.terminal ?? PLAIN), files: written });
      await writeStream(stdout, options.actions === true && name === 'human' ? defuse(text) : text);
    } catch (error) {
      failures.push(notWritten(name, 'standard output', error));
    }
  }
  const [first] = failures;
  if (first !== undefined) throw first;
  return written;
}
