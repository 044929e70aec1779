/** The ndjson reporter: writes each event when it happens, so that a killed run still leaves its earlier events. */
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { renderEvent } from './json.ts';
import type { Reporter } from './reporters.ts';
import type { RunEvent } from './result-document.ts';
import { notWritten, placeOf } from './write-reports.ts';

export interface EventStream {
  /** The reporters that this stream writes; they must not be written again after the run. */
  readonly reporters: readonly Reporter[];
  /** Writes an event, which must be redacted. It never throws. */
  write(event: RunEvent): void;
  /** @throws HookproofError REPORT_NOT_WRITTEN for the first event that could not be written */
  close(): void;
}

interface Sink {
  write(text: string): void;
  close(): void;
}

/** Opens the file at once, so that an unwritable file stops the run before it starts; the first event empties it. */
function fileSink(path: string): Sink {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a');
  let fresh = true;
  return {
    write(text) {
      if (fresh && fstatSync(file).isFile()) ftruncateSync(file);
      fresh = false;
      writeSync(file, text);
    },
    close: () => closeSync(file),
  };
}

function streamSink(stream: Writable, failed: (error: unknown) => void): Sink {
  stream.on('error', (error) => {
    // A reader that stops early (`| head`) is not an error.
    if (!('code' in error && error.code === 'EPIPE')) failed(error);
  });
  return { write: (text) => stream.write(text), close: () => undefined };
}

/** Returns null if no reporter needs events. @throws HookproofError REPORT_NOT_WRITTEN if a file cannot be opened */
export function openEventStream(
  all: readonly Reporter[],
  { stdout, cwd }: { readonly stdout: Writable; readonly cwd: string },
): EventStream | null {
  const reporters = all.filter(({ name }) => name === 'ndjson');
  if (reporters.length === 0) return null;
  let failure: ReturnType<typeof notWritten> | undefined;
  const sinks = reporters.map(({ name, file, base }) => {
    const path = file === null ? null : resolve(cwd, file);
    const failed = (error: unknown) => {
      failure ??= notWritten(name, path ?? 'standard output', error);
    };
    try {
      if (file !== null) placeOf({ name, file, ...(base !== undefined && { base }) }, cwd);
      return { sink: path === null ? streamSink(stdout, failed) : fileSink(path), failed };
    } catch (error) {
      throw notWritten(name, path ?? 'standard output', error);
    }
  });
  return {
    reporters,
    write(event) {
      const line = renderEvent(event);
      for (const { sink, failed } of sinks) {
        try {
          sink.write(line);
        } catch (error) {
          failed(error);
        }
      }
    },
    close() {
      for (const { sink } of sinks) sink.close();
      if (failure !== undefined) throw failure;
    },
  };
}
