/** Reads the logs of a receiver while a run goes on, and reports what must not be in them. Nothing is written. */
import { constants, fstatSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { HookproofError } from '../../contract/index.ts';
import { visible } from '../../contract/visible.ts';
import { LOG_LEAKS, LOG_RUN_OVER, type LogFile, type LogFinding } from '../../scenarios/index.ts';
import { createLogValues, type Hit, type LogCredentials, type SentRequest } from './log-values.ts';

interface LogResult {
  readonly findings: readonly LogFinding[];
  readonly files: readonly LogFile[];
}

export interface LogWatch {
  /** Registers a request just before it is sent. */
  sending(request: SentRequest): void;
  /** Reads what has been written until now. */
  read(): Promise<void>;
  /** Reads the logs a last time and closes them. */
  finish(): Promise<LogResult>;
}

const READ_BYTES = 65_536;
const INTERVAL_MS = 250;
/** Renamed files that are still read, because a process may write to them until it opens the new one. */
const MAX_RENAMED = 4;
/** So much of what was read before is compared, to notice that the content of the file was replaced. */
const MARK_BYTES = 64;

/**
 * Watches log files from their present ends until the signal is aborted. A file that does not exist yet is read from
 * its beginning, and so is one that replaces a renamed or emptied file.
 *
 * @throws HookproofError LOG_NOT_A_FILE for a directory, pipe or device, LOG_UNREADABLE for a file that cannot be read
 */
export async function watchLogs(
  files: readonly string[],
  credentials: LogCredentials,
  { intervalMs = INTERVAL_MS, signal }: { readonly intervalMs?: number; readonly signal?: AbortSignal } = {},
): Promise<LogWatch> {
  const values = createLogValues(credentials);
  const logs: Log[] = [];
  try {
    for (const [at, file] of [...new Set(files)].entries()) {
      logs.push(await openLog(file, (text, offset) => values.find(text, at, offset), signal));
    }
  } catch (error) {
    await Promise.all(logs.map((log) => log.close()));
    throw error;
  }

  let reading = Promise.resolve();
  const read = () => {
    reading = reading.then(async () => {
      for (const log of logs) await log.read();
    });
    return reading;
  };
  let timer: NodeJS.Timeout | undefined;
  const schedule = () => {
    timer = setTimeout(() => void read().then(() => timer !== undefined && schedule()), intervalMs);
    timer.unref();
  };
  schedule();

  return {
    sending: (request) => {
      const ends = logs.map((log) => log.end());
      values.addRequest(request, ends);
    },
    read,
    async finish() {
      clearTimeout(timer);
      timer = undefined;
      await read();
      for (const log of logs) await log.close();
      return { findings: logs.flatMap((log) => log.findings()), files: logs.map((log) => log.state()) };
    },
  };
}

/** One log: the file at its path, and the files that were there before. */
interface Log {
  read(): Promise<void>;
  /** The offset at which the next line begins, as far as is known. */
  end(): number;
  findings(): LogFinding[];
  state(): LogFile;
  close(): Promise<void>;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly identity: string;
  position: number;
  /** The last bytes before the position. */
  mark: Buffer;
}

const identityOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }) => `${dev}:${ino}`;
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown');

/** Opens a file at a path; null when there is none. */
async function openFile(path: string, fromItsEnd: boolean): Promise<OpenFile | null> {
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw unreadable(path, error);
  });
  if (found === null) return null;
  // Opening a pipe can block, and has effects on the process that writes to it.
  if (!found.isFile()) {
    throw new HookproofError('LOG_NOT_A_FILE', `\`--log ${path}\`: not a regular file`, {
      hint: 'Name the file that the receiver writes its log to. Output on a terminal can be redirected to a file.',
    });
  }
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const status = await handle.stat();
    const position = fromItsEnd ? status.size : 0;
    const file: OpenFile = { handle, identity: identityOf(status), position, mark: Buffer.alloc(0) };
    file.mark = await bytesBefore(file);
    return file;
  } catch (error) {
    await handle.close();
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): HookproofError {
  return new HookproofError('LOG_UNREADABLE', `\`--log ${path}\`: cannot be read (${codeOf(cause)})`, {
    hint: 'Check the path and the permissions of the file and its folder.',
    cause,
  });
}

async function bytesBefore({ handle, position }: OpenFile): Promise<Buffer> {
  const length = Math.min(MARK_BYTES, position);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position - length);
  return buffer.subarray(0, bytesRead);
}

async function openLog(path: string, find: Find, signal: AbortSignal | undefined): Promise<Log> {
  let current = await openFile(path, true);
  const renamed: OpenFile[] = [];
  const scan = createScan(path, find);
  let [bytes, problem]: [number, string | null] = [0, null];
  let isMissing = current === null;

  const drain = async (file: OpenFile): Promise<void> => {
    const { size } = await file.handle.stat();
    const isOther = !(await bytesBefore(file)).equals(file.mark);
    if (size < file.position || isOther) {
      file.position = 0;
      scan.endLine();
    }
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await file.handle.read(buffer, 0, READ_BYTES, file.position);
      if (bytesRead === 0) break;
      if (signal?.aborted === true) throw Object.assign(new Error('the run is over'), { code: LOG_RUN_OVER });
      file.position += bytesRead;
      bytes += bytesRead;
      scan.add(buffer.toString('latin1', 0, bytesRead));
    }
    file.mark = await bytesBefore(file);
  };

  const readAll = async () => {
    for (const file of renamed) await drain(file);
    if (current !== null) await drain(current);
    const found = await stat(path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (found === null || (current !== null && identityOf(found) === current.identity)) return;
    const next = await openFile(path, false);
    if (next === null) return;
    scan.endLine();
    if (current !== null) renamed.push(current);
    if (renamed.length > MAX_RENAMED) await renamed.shift()?.handle.close();
    current = next;
    isMissing = false;
    await drain(next);
  };

  return {
    async read() {
      try {
        await readAll();
        problem = null;
      } catch (error) {
        problem = error instanceof HookproofError ? error.code : codeOf(error);
      }
    },
    end() {
      const left = current === null ? 0 : fstatSync(current.handle.fd).size - current.position;
      return scan.end() + Math.max(0, left);
    },
    findings: scan.findings,
    state: () => ({ file: path, bytes, isMissing, problem }),
    async close() {
      scan.finish();
      for (const file of current === null ? renamed : [...renamed, current]) await file.handle.close();
      [current, renamed.length] = [null, 0];
    },
  };
}

type Find = (text: string, offset: number) => Hit[];

/** Text is searched in pieces of whole lines; a line that is longer than this, in parts. */
const MAX_PIECE = 131_072;
/** So much of the text before a piece is searched again, for what lies across both. */
const OVERLAP = 16_384;

/** Searches a text that arrives in parts. */
function createScan(file: string, find: Find) {
  let pending = '';
  /** The end of what was searched, where it begins in the whole, and the number of its first line. */
  let [before, offset, line] = ['', 0, 1];
  const found = new Map<string, { -readonly [Key in keyof LogFinding]: LogFinding[Key] } & { last: number }>();

  const search = (piece: string) => {
    const text = before + piece;
    const hits = find(text, offset);
    let [at, number] = [0, line];
    for (const hit of hits) {
      for (let next = text.indexOf('\n', at); next !== -1 && next < hit.start; next = text.indexOf('\n', at)) {
        [at, number] = [next + 1, number + 1];
      }
      // What ends in the overlap was found with the piece before.
      if (hit.end <= before.length) continue;
      const key = `${hit.leak} ${hit.isEcho}`;
      const known = found.get(key);
      if (known === undefined) {
        const first = { line: number, text: shownLine(text, hit, hits) };
        found.set(key, { leak: hit.leak, file, lines: 1, first, isEcho: hit.isEcho, last: number });
      } else if (number > known.last) {
        known.lines += 1;
        known.last = number;
      }
    }
    const cut = Math.max(0, text.length - OVERLAP);
    line += text.slice(0, cut).split('\n').length - 1;
    offset += cut;
    before = text.slice(cut);
  };
  const searchUpTo = (end: number) => {
    for (let from = 0; from < end; from += MAX_PIECE) search(pending.slice(from, Math.min(end, from + MAX_PIECE)));
    pending = pending.slice(end);
  };

  return {
    add(text: string) {
      pending += text;
      const lines = pending.lastIndexOf('\n') + 1;
      searchUpTo(lines === 0 && pending.length >= MAX_PIECE ? pending.length : lines);
    },
    /** Ends a line that is not complete: what follows is another file. */
    endLine() {
      if (pending !== '') this.add('\n');
    },
    finish: () => searchUpTo(pending.length),
    end: () => offset + before.length + pending.length,
    findings: (): LogFinding[] => Array.from(found.values(), ({ last: _last, ...finding }) => finding),
  };
}

const MAX_SHOWN = 200;
/** So much of a line before a value is shown. */
const MAX_LEAD = 80;

/** The line of a hit, with every value masked. */
function shownLine(text: string, hit: Hit, hits: readonly Hit[]): string {
  const start = text.lastIndexOf('\n', hit.start - 1) + 1;
  const next = text.indexOf('\n', hit.start);
  const lineEnd = next === -1 ? text.length : next;
  let shown = '';
  let at = start;
  let lead = 0;
  for (const one of hits) {
    if (one.end <= at || one.start >= lineEnd) continue;
    if (one.start > at) shown += text.slice(at, one.start);
    if (one === hit) lead = shown.length;
    if (one.start >= at || one === hit) shown += `[${LOG_LEAKS[one.leak]}]`;
    // The padding of base64 is not part of the value.
    const padding = /^={0,2}/.exec(text.slice(one.end, one.end + 2))?.[0] ?? '';
    at = Math.max(at, one.end + padding.length);
    if (at >= lineEnd) break;
  }
  if (at < lineEnd) shown += text.slice(at, Math.min(lineEnd, at + MAX_SHOWN));
  const cut = lead > MAX_LEAD ? `…${shown.slice(lead - MAX_LEAD)}` : shown;
  const clean = visible(Buffer.from(cut.replace('…', ''), 'latin1').toString('utf8').trimEnd());
  const whole = cut.startsWith('…') ? `…${clean}` : clean;
  return whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}…` : whole;
}
