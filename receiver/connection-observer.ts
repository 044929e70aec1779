/** What happens below the stages, told to whoever wants to know (metrics): connections, and requests that never become deliveries. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /**
   * At the limit of connections. `waiting`: one that had kept us waiting for a request was closed to make place; `full`: there was none, so the
   * new one was closed. Each is followed by `closed` where it was `opened`.
   */
  dropped(why: 'waiting' | 'full'): void;
  /** A request was answered before the stages: the status, and the fixed word in the answer. */
  refused(status: number, error: string): void;
}

export const silentConnectionObserver: ConnectionObserver = { opened() {}, closed() {}, dropped() {}, refused() {} };
