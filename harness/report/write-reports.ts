/** Writing reports: redacted once, rendered, and put in place whole. */
import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { HookproofError } from '../../contract/index.ts';
import type { ResultDocument } from '../result/result-document.ts';
import type { RunEvent } from '../result/run-event.ts';
import type { TerminalOptions } from './layout.ts';
import { redactDocument, redactEvent } from './redact-document.ts';
import type { Redactor } from './redactor.ts';
import { type Reporter, render } from './reporters.ts';

export interface WriteOptions {
  readonly stdout: Writable;
  /** Relative files are taken from here. */
  readonly cwd: string;
  readonly redactor: Redactor;
  /** What standard output can show. Without it: 80 columns, no colour, Unicode. Files never hold colour. */
  readonly terminal?: TerminalOptions;
  /** The events of the run as they were told, for ndjson; without them the document's own are given, which lack the notices. */
  readonly events?: readonly RunEvent[];
}

/** A report that was written to a file, by its absolute path. */
export interface WrittenReport {
  readonly name: Reporter['name'];
  readonly path: string;
}

const PLAIN: TerminalOptions = { columns: 80, color: false, unicode: true };

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Written beside its place and renamed, so that nobody ever reads half a report. */
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
  // Behind a link the file itself is replaced and not the link; a pipe or a device is written to and never replaced.
  return existing.isFile() ? replaceFile(await realpath(path), text) : writeFile(path, text);
}

function writeStream(stream: Writable, text: string): Promise<void> {
  return new Promise((done, failed) => {
    // A stream that fails tells it twice, by the callback and then by the event: somebody has to listen to that as well.
    const ignore = (): void => undefined;
    stream.on('error', ignore);
    stream.write(text, (error) => {
      if (!error) stream.off('error', ignore);
      // A reader that has seen enough (`| head`) is no error of ours.
      if (!error || ('code' in error && error.code === 'EPIPE')) done();
      else failed(error);
    });
  });
}

function notWritten(name: Reporter['name'], path: string, error: unknown): HookproofError {
  const reason = error instanceof Error ? error.message : String(error);
  return new HookproofError('REPORT_NOT_WRITTEN', `The ${name} report cannot be written to ${path}: ${reason}`, {
    hint: 'Name a file in a folder that can be written to.',
    cause: error,
  });
}

/** Results and the document are not redacted, nor kept, a second time. */
function redactEvents(events: readonly RunEvent[], document: ResultDocument, redactor: Redactor): RunEvent[] {
  const results = new Map(document.results.map((result) => [result.id, result]));
  return events.map((event) => {
    if (event.type === 'run-finished') return { ...event, document };
    const result = event.type === 'scenario-finished' ? results.get(event.result.id) : undefined;
    return event.type === 'scenario-finished' && result !== undefined
      ? { ...event, result }
      : redactEvent(event, redactor);
  });
}

/**
 * Writes the document with each reporter, files first, and returns the files in the order of the reporters. Missing folders
 * are made. A report that cannot be written does not keep the others from being written.
 *
 * @throws HookproofError REPORT_NOT_WRITTEN, after everything else is written
 */
export async function writeReports(
  document: ResultDocument,
  reporters: readonly Reporter[],
  options: WriteOptions,
): Promise<WrittenReport[]> {
  const { cwd, events, redactor, stdout } = options;
  const redacted = redactDocument(document, redactor);
  const report = { document: redacted, events: events && redactEvents(events, redacted, redactor) };
  const written: WrittenReport[] = [];
  const failures: HookproofError[] = [];
  for (const { name, file } of reporters) {
    if (file === null) continue;
    const path = resolve(cwd, file);
    try {
      await writeTarget(path, await render(name, report, PLAIN));
      written.push({ name, path });
    } catch (error) {
      failures.push(notWritten(name, path, error));
    }
  }
  for (const { name, file } of reporters) {
    if (file !== null) continue;
    try {
      await writeStream(stdout, await render(name, report, options.terminal ?? PLAIN));
    } catch (error) {
      failures.push(notWritten(name, 'standard output', error));
    }
  }
  const [first] = failures;
  if (first !== undefined) throw first;
  return written;
}
