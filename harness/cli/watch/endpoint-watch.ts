/**
 * Detects when the process behind an endpoint is replaced. Two idle connections are held open. When the process ends,
 * both are closed; a timeout closes only one of them, because they were opened at different times.
 *
 * Idle connections would block a server that serves one connection at a time, so the port of such a server is only
 * tried periodically. A proxy keeps its connections when the process behind it is replaced, so a replacement is not
 * always detected.
 */
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** The time at which the endpoint went down, by `performance.now()`. `backMs` is null until it answers again. */
interface EndpointOutage {
  readonly goneMs: number;
  readonly backMs: number | null;
}

/** The pause between attempts while the endpoint is down. On loopback, a refused connection costs almost nothing. */
const POLL_MS = 25;
/** The pause after {@link MAX_FAST_POLL_MS}, and for a port that is only tried periodically. */
const SLOW_POLL_MS = 250;
const MAX_FAST_POLL_MS = 60_000;
/** The difference in age of the two connections, so that no timeout closes both at the same time. */
const STAGGER_MS = 1_000;
const REOPEN_MS = 250;
/** A connection that is closed sooner is not a sign of a restart: some servers do not wait for a first byte. */
const MIN_HELD_MS = 500;
const MAX_SHORT_LIVED = 4;
/** How long a request may wait for its answer: a supervisor may hold the port while the process starts. */
const ANSWER_MS = 30_000;
/** If the endpoint takes longer than this to answer again, its process was replaced. */
const STARTING_MS = 100;
/** For this long after a change, closed connections alone count as a restart. */
const EXPECTED_MS = 60_000;

export class EndpointWatch {
  readonly #url: string;
  readonly #onEvent: () => void;
  readonly #closing = new AbortController();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The connections that are open or not connected yet. */
  readonly #opened = new Set<Socket>();
  /** The connections that are open. */
  readonly #held = new Set<Socket>();
  /**
   * Consecutive connections that were closed too soon. Above {@link MAX_SHORT_LIVED}, no connections are held any more.
   */
  #shortLived = 0;
  #canHold = true;
  #isDown = false;
  #expectedUntilMs = Number.NEGATIVE_INFINITY;
  #events = 0;
  #last: EndpointOutage | null = null;

  /** `onEvent` is called when the endpoint goes down and when it comes back. */
  constructor(url: string, onEvent: () => void) {
    this.#url = url;
    this.#onEvent = onEvent;
  }

  /** How many times the endpoint went down or came back. A replacement counts as two events. */
  get events(): number {
    return this.#events;
  }

  /** The last outage; null before the first. */
  get last(): EndpointOutage | null {
    return this.#last;
  }

  /** Starts watching, and resolves when it is known whether the endpoint is up. */
  async open(): Promise<void> {
    if ((await this.#askEndpoint(2 * STAGGER_MS)) === 'refused') {
      void this.#waitForReturn(true);
      return;
    }
    this.#holdBothConnections();
    this.#canHold = (await this.#askEndpoint(STAGGER_MS)) === 'answered';
    if (this.#canHold) return;
    this.#releaseConnections();
    this.#tryPortLater();
  }

  /**
   * Expects a restart because a file has changed: from now on, closed connections count as one, even if the port never
   * refuses.
   */
  expectRestart(): void {
    this.#expectedUntilMs = performance.now() + EXPECTED_MS;
  }

  close(): void {
    this.#closing.abort();
    this.#releaseConnections();
  }

  #schedule(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#closing.signal.aborted && !this.#isDown) act();
    }, ms);
    this.#timers.add(timer);
  }

  #releaseConnections(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    const released = [...this.#opened];
    this.#opened.clear();
    this.#held.clear();
    for (const socket of released) socket.destroy();
  }

  #holdBothConnections(): void {
    this.#holdConnection();
    if (this.#canHold) this.#schedule(STAGGER_MS, () => this.#holdConnection());
  }

  /** Holds one connection, and opens another one if it is closed while the endpoint stays up. */
  #holdConnection(): void {
    if (!this.#canHold) {
      this.#tryPortLater();
      return;
    }
    const socket = this.#openConnection();
    const openedMs = performance.now();
    let hasSpoken = false;
    this.#opened.add(socket);
    socket.once('connect', () => this.#held.add(socket));
    socket.once('data', () => {
      // A server that answers before it closes, for example with 408, has not ended.
      hasSpoken = true;
    });
    socket.once('close', () => {
      const wasHeld = this.#held.delete(socket);
      if (!this.#opened.delete(socket)) return;
      const isLongLived = performance.now() - openedMs >= MIN_HELD_MS;
      if (wasHeld && this.#held.size === 0 && !hasSpoken && isLongLived) return void this.#waitForReturn(false);
      this.#shortLived = !wasHeld || isLongLived ? 0 : this.#shortLived + 1;
      if (this.#shortLived > MAX_SHORT_LIVED) this.#canHold = false;
      this.#schedule(REOPEN_MS, () => this.#holdConnection());
    });
  }

  /** Periodically opens and closes a connection, for an endpoint whose connections cannot be held. */
  #tryPortLater(): void {
    this.#schedule(SLOW_POLL_MS, () => {
      const socket = this.#openConnection();
      socket.once('connect', () => socket.destroy());
      socket.once('close', () => this.#isDown || this.#tryPortLater());
    });
  }

  /** Opens a connection on which nothing is sent. If it is refused, the endpoint is down. */
  #openConnection(): Socket {
    const socket = connect(placeOf(this.#url));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const isRefused = error.code === 'ECONNREFUSED';
      if (isRefused && !this.#isDown && !this.#closing.signal.aborted) void this.#waitForReturn(true);
    });
    return socket;
  }

  /** Reports the outage, waits until the endpoint answers, and holds connections again. */
  async #waitForReturn(isRefused: boolean): Promise<void> {
    this.#isDown = true;
    this.#releaseConnections();
    const goneMs = performance.now();
    const isKnown = isRefused || goneMs < this.#expectedUntilMs;
    if (isKnown) this.#reportOutage({ goneMs, backMs: null });
    const back = this.#pollUntilAnswered();
    // Without a file change, an endpoint that answers at once has only closed idle connections and was not replaced.
    if (!isKnown && (await isSlow(back))) this.#reportOutage({ goneMs, backMs: null });
    if (!(await back)) return;
    this.#isDown = false;
    this.#holdBothConnections();
    if (this.#last?.goneMs === goneMs) this.#reportOutage({ goneMs, backMs: performance.now() });
  }

  #reportOutage(outage: EndpointOutage): void {
    this.#events++;
    this.#last = outage;
    this.#onEvent();
  }

  /** Resolves to true when the endpoint answers; false if the watch is closed first. */
  async #pollUntilAnswered(): Promise<boolean> {
    const { signal } = this.#closing;
    const startMs = performance.now();
    while (!signal.aborted) {
      if ((await this.#askEndpoint(ANSWER_MS)) !== 'refused') return !signal.aborted;
      const waitMs = performance.now() - startMs < MAX_FAST_POLL_MS ? POLL_MS : SLOW_POLL_MS;
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
    }
    return false;
  }

  #askEndpoint(timeoutMs: number): ReturnType<typeof ask> {
    return ask(this.#url, this.#closing.signal, timeoutMs);
  }
}

function placeOf(url: string): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}

async function isSlow(back: Promise<boolean>): Promise<boolean> {
  const waited = new AbortController();
  const slow = await Promise.race([
    back.then(() => false),
    pause(STARTING_MS, true, { signal: waited.signal }).catch(() => true),
  ]);
  waited.abort();
  return slow;
}

/**
 * Sends a request without credentials, which changes nothing, and waits for the first byte of an answer. `silent` means
 * that the connection was accepted, but no answer arrived in time.
 */
async function ask(url: string, ended: AbortSignal, timeoutMs: number): Promise<'answered' | 'silent' | 'refused'> {
  const { protocol, host, pathname } = new URL(url);
  const place = placeOf(url);
  const isSecure = protocol === 'https:';
  const name = isIP(place.host) === 0 ? { servername: place.host } : {};
  // The certificate is not verified, because nothing confidential is sent.
  const socket = isSecure ? connectTls({ ...place, ...name, rejectUnauthorized: false }) : connect(place);
  try {
    return await new Promise((resolve) => {
      let isOpen = false;
      const stop = () => resolve('refused');
      const timer = setTimeout(() => resolve(isOpen ? 'silent' : 'refused'), timeoutMs);
      ended.addEventListener('abort', stop, { once: true });
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        isOpen = true;
        socket.write(`OPTIONS ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      });
      socket.once('data', () => resolve('answered'));
      socket.on('error', (error: NodeJS.ErrnoException) => {
        // A TLS alert is also an answer: the endpoint may require a client certificate.
        resolve(error.code?.startsWith('ERR_SSL_') === true ? 'answered' : 'refused');
      });
      socket.once('close', () => {
        clearTimeout(timer);
        ended.removeEventListener('abort', stop);
        stop();
      });
    });
  } finally {
    socket.destroy();
  }
}
