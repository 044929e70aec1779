/** Follows one log file, including files that were renamed from its path. */
import { constants, fstatSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { HookproofError } from '../../contract/index.ts';
import { LOG_RUN_OVER, type LogFile, type LogFinding } from '../../scenarios/index.ts';
import { type FindHits, LogScan } from './log-scan.ts';

const READ_BYTES = 65_536;
/**
 * Maximum number of renamed files that are still read. A process may write to a renamed file until it opens the new
 * one.
 */
const MAX_RENAMED = 4;
/** Number of bytes before the read position that are compared to detect that the content was replaced. */
const MARK_BYTES = 64;

export class FollowedLog {
  readonly #path: string;
  readonly #scan: LogScan;
  readonly #signal: AbortSignal | undefined;
  /** The file that is now at the path. Null if there is none. */
  #current: OpenFile | null;
  readonly #renamed: OpenFile[] = [];
  #bytes = 0;
  /** The error code of the last read. Null if it succeeded. */
  #problem: string | null = null;
  #isMissing: boolean;

  /** `current` is the file at the path, opened at its end. */
  constructor(path: string, current: OpenFile | null, find: FindHits, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#current = current;
    this.#isMissing = current === null;
    this.#scan = new LogScan(path, find);
    this.#signal = signal;
  }

  async read(): Promise<void> {
    try {
      for (const file of this.#renamed) await this.#drain(file);
      if (this.#current !== null) await this.#drain(this.#current);
      await this.#followPath();
      this.#problem = null;
    } catch (error) {
      this.#problem = error instanceof HookproofError ? error.code : codeOf(error);
    }
  }

  /** The offset in the log after everything that has been written so far, including bytes that are still unread. */
  get end(): number {
    const left = this.#current === null ? 0 : fstatSync(this.#current.handle.fd).size - this.#current.position;
    return this.#scan.end + Math.max(0, left);
  }

  listResults(): { readonly findings: LogFinding[]; readonly file: LogFile } {
    const file = { file: this.#path, bytes: this.#bytes, isMissing: this.#isMissing, problem: this.#problem };
    return { findings: this.#scan.listFindings(), file };
  }

  async close(): Promise<void> {
    this.#scan.finish();
    for (const file of this.#current === null ? this.#renamed : [...this.#renamed, this.#current]) {
      await file.handle.close();
    }
    [this.#current, this.#renamed.length] = [null, 0];
  }

  /** Reads a file to its end. Starts from its beginning if its content was replaced. */
  async #drain(file: OpenFile): Promise<void> {
    const { size } = await file.handle.stat();
    const isReplaced = !(await readMark(file)).equals(file.mark);
    if (size < file.position || isReplaced) {
      file.position = 0;
      this.#scan.endLine();
    }
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await file.handle.read(buffer, 0, READ_BYTES, file.position);
      if (bytesRead === 0) break;
      if (this.#signal?.aborted === true) throw Object.assign(new Error('the run is over'), { code: LOG_RUN_OVER });
      file.position += bytesRead;
      this.#bytes += bytesRead;
      this.#scan.add(buffer.toString('latin1', 0, bytesRead));
    }
    file.mark = await readMark(file);
  }

  /** If another file is now at the path, opens and reads it. */
  async #followPath(): Promise<void> {
    const found = await stat(this.#path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (found === null || (this.#current !== null && identityOf(found) === this.#current.identity)) return;
    const next = await openFile(this.#path, false);
    if (next === null) return;
    this.#scan.endLine();
    if (this.#current !== null) this.#renamed.push(this.#current);
    if (this.#renamed.length > MAX_RENAMED) await this.#renamed.shift()?.handle.close();
    this.#current = next;
    this.#isMissing = false;
    await this.#drain(next);
  }
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly identity: string;
  position: number;
  /** The last bytes before the read position. */
  mark: Buffer;
}

const identityOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }) => `${dev}:${ino}`;
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown');

/** Opens a file. Returns null if it does not exist. */
export async function openFile(path: string, fromItsEnd: boolean): Promise<OpenFile | null> {
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw unreadable(path, error);
  });
  if (found === null) return null;
  // Opening a pipe can block, and affects the process that writes to it.
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
    file.mark = await readMark(file);
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

async function readMark({ handle, position }: OpenFile): Promise<Buffer> {
  const length = Math.min(MARK_BYTES, position);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position - length);
  return buffer.subarray(0, bytesRead);
}
