/** Reads the logs of a receiver during a run, and reports what must not be in them. Writes nothing. */
import type { LogFile, LogFinding, LogLeak } from '../../scenarios/index.ts';
import type { SentRequest } from './echoes.ts';
import { FollowedLog, openFile } from './followed-log.ts';
import type { FindHits } from './log-scan.ts';
import { type LogCredentials, LogValues } from './log-values.ts';

interface LogResult {
  readonly findings: readonly LogFinding[];
  readonly files: readonly LogFile[];
  readonly sought: ReadonlySet<LogLeak>;
}

const INTERVAL_MS = 250;

/**
 * Watches log files from their current ends. A file that does not exist yet is read from its beginning, and so is a
 * file that replaces a renamed or emptied one. Reading stops when the signal is aborted.
 *
 * @throws HookproofError LOG_NOT_A_FILE for a directory, pipe or device; LOG_UNREADABLE for a file that cannot be read
 */
export async function watchLogs(
  files: readonly string[],
  credentials: LogCredentials,
  { intervalMs = INTERVAL_MS, signal }: { readonly intervalMs?: number; readonly signal?: AbortSignal } = {},
): Promise<LogWatch> {
  const values = new LogValues(credentials);
  const logs: FollowedLog[] = [];
  try {
    for (const [at, file] of [...new Set(files)].entries()) {
      const find: FindHits = (text, offset) => values.find(text, at, offset);
      logs.push(new FollowedLog(file, await openFile(file, true), find, signal));
    }
  } catch (error) {
    await Promise.all(logs.map((log) => log.close()));
    throw error;
  }
  return new LogWatch(values, logs, intervalMs);
}

/** The watched logs of a run. */
export class LogWatch {
  readonly #values: LogValues;
  readonly #logs: readonly FollowedLog[];
  readonly #intervalMs: number;
  /** Resolves when all reads that were requested so far are done. Reads never overlap. */
  #reading = Promise.resolve();
  /** The timer for the next read. Undefined once the logs are closed. */
  #timer: NodeJS.Timeout | undefined;

  constructor(values: LogValues, logs: readonly FollowedLog[], intervalMs: number) {
    this.#values = values;
    this.#logs = logs;
    this.#intervalMs = intervalMs;
    this.#scheduleRead();
  }

  /** Registers a request. Call this just before sending it. */
  registerRequest(request: SentRequest): void {
    const ends = this.#logs.map((log) => log.end);
    this.#values.addRequest(request, ends);
  }

  /** Reads everything that has been written so far. */
  read(): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      for (const log of this.#logs) await log.read();
    });
    return this.#reading;
  }

  /** Reads the logs one last time, and closes them. */
  async finish(): Promise<LogResult> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.read();
    for (const log of this.#logs) await log.close();
    const results = this.#logs.map((log) => log.listResults());
    const findings = results.flatMap((log) => log.findings);
    return { findings, files: results.map(({ file }) => file), sought: this.#values.listSought() };
  }

  #scheduleRead(): void {
    const readAgain = () => void this.read().then(() => this.#timer !== undefined && this.#scheduleRead());
    this.#timer = setTimeout(readAgain, this.#intervalMs).unref();
  }
}
