/**
 * Decides when the endpoint runs the code on disk: when its process was replaced, or nothing has happened for long
 * enough.
 */
import { formatDuration } from '../../report/index.ts';
import type { EndpointWatch } from './endpoint-watch.ts';
import type { Changes } from './file-watch.ts';

/** An endpoint that does not restart for this long after a change is assumed to reload in place. */
const QUIET_MS = 2_000;
/** The quiet time for an endpoint that has restarted before, because its supervisor may only be slow. */
const QUIET_AFTER_RESTARTS_MS = 5_000;
/** The pause between the last change and the checks, because an editor may write several files. */
const DEBOUNCE_MS = 50;
/** A supervisor may detect a change this much earlier than this program. */
const EARLIER_MS = 500;

interface EndpointState {
  readonly isSettled: boolean;
  /** A message for the user; null if there is nothing new. */
  readonly notice: string | null;
  /** How long to wait before looking again, in milliseconds; absent to wait for the next event. */
  readonly waitMs?: number;
}

interface SettlingOptions {
  readonly changes: Pick<Changes, 'lastMs'>;
  readonly endpoint: Pick<EndpointWatch, 'last'>;
  /** Replaces the quiet time; null uses the default. */
  readonly settleMs: number | null;
  /** The time after which a message reports that the endpoint is still down. */
  readonly recoveryMs: number;
}

export class Settling {
  readonly #options: SettlingOptions;
  #restarts = 0;
  #noticedOutageMs: number | null = null;

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  /**
   * Returns the current state of the endpoint. `isReplaced` means that it went down or came back since the last checks
   * began.
   */
  look(isReplaced: boolean): EndpointState {
    const nowMs = performance.now();
    const { changes, endpoint, settleMs, recoveryMs } = this.#options;
    const { last } = endpoint;
    if (last !== null && last.backMs === null) {
      const leftMs = last.goneMs + recoveryMs - nowMs;
      if (leftMs > 0) return { isSettled: false, notice: null, waitMs: leftMs };
      const isNew = this.#noticedOutageMs !== last.goneMs;
      this.#noticedOutageMs = last.goneMs;
      const time = formatDuration(recoveryMs);
      const notice = `the endpoint is still down after ${time}: start your server`;
      return { isSettled: false, notice: isNew ? notice : null };
    }
    const { lastMs } = changes;
    const debounceMs = lastMs + DEBOUNCE_MS - nowMs;
    if (isReplaced && last !== null && last.backMs !== null) {
      const isAfterChange = last.goneMs >= lastMs - EARLIER_MS || last.backMs >= lastMs;
      if (isAfterChange && debounceMs > 0) return { isSettled: false, notice: null, waitMs: debounceMs };
      if (isAfterChange) {
        this.#restarts++;
        const downMs = last.backMs - last.goneMs;
        return { isSettled: true, notice: `the endpoint restarted (down ${formatDuration(downMs)})` };
      }
    }
    const quietMs = settleMs ?? (this.#restarts > 0 ? QUIET_AFTER_RESTARTS_MS : QUIET_MS);
    const leftMs = lastMs + quietMs - nowMs;
    if (leftMs > 0) return { isSettled: false, notice: null, waitMs: leftMs };
    const notice = `no restart seen within ${formatDuration(quietMs)}: the endpoint may reload in place`;
    return { isSettled: true, notice: nowMs - lastMs < 2 * quietMs + DEBOUNCE_MS ? notice : null };
  }
}
