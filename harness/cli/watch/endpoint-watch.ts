/**
 * Sees when the process behind an endpoint is replaced. Two connections are held open on which nothing is sent: a
 * process that ends closes both, and a timeout closes one of them, because they are not of the same age.
 *
 * A server that serves one connection at a time would be blocked by them: then the port is only tried now and then. A
 * proxy closes nothing when the process behind it is replaced, so a replacement is not always seen.
 */
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** When the endpoint was seen to go, by `performance.now()`. `backMs` is null until it answers again. */
interface Outage {
  readonly goneMs: number;
  readonly backMs: number | null;
}

export interface EndpointWatch {
  /** How often the endpoint went down, and came back, replacements included. Differs after each of these events. */
  readonly events: number;
  /** The last outage; null before the first. */
  readonly last: Outage | null;
  /** A file has changed: from now on a closed connection is a sign, even when the port never refuses. */
  expectRestart(): void;
  close(): void;
}

/** Between attempts while the endpoint is down. On loopback a refusal costs next to nothing. */
const POLL_MS = 25;
/** After a minute, and for a port that is only tried now and then. */
const SLOW_POLL_MS = 250;
const MAX_FAST_POLL_MS = 60_000;
/** The difference in age of the two connections, so that no timeout closes both at once. */
const STAGGER_MS = 1_000;
const REOPEN_MS = 250;
/** A connection that is closed sooner says nothing: some servers wait for no first byte. */
const MIN_HELD_MS = 500;
const MAX_SHORT_LIVED = 4;
/** How long one request may wait for its answer: a supervisor may hold the port while the process starts. */
const ANSWER_MS = 30_000;
/** An answer after this time comes from another process than the one that closed the connections. */
const STARTING_MS = 100;
/** How long after a change a restart is expected without any other sign than closed connections. */
const EXPECTED_MS = 60_000;

/** Starts to watch. `onChange` is called when the endpoint goes down and when it is back. */
export async function watchEndpoint(url: string, onChange: () => void): Promise<EndpointWatch> {
  const ended = new AbortController();
  const { signal } = ended;
  const held = new Set<Socket>();
  /** The held ones, and those that are not connected yet. */
  const opened = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let events = 0;
  let last: Outage | null = null;
  let expectedUntilMs = Number.NEGATIVE_INFINITY;
  let shortLived = 0;
  let canHold = true;
  let isDown = false;

  const later = (ms: number, action: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!signal.aborted && !isDown) action();
    }, ms);
    timers.add(timer);
  };
  const release = () => {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
    const released = [...opened];
    opened.clear();
    held.clear();
    for (const socket of released) socket.destroy();
  };
  const hold = () => {
    if (!canHold) return later(SLOW_POLL_MS, tryPort);
    const socket = openTo(url);
    const openedMs = performance.now();
    let hasSpoken = false;
    opened.add(socket);
    socket.once('connect', () => held.add(socket));
    socket.once('data', () => {
      // A server that says that the request comes too late has not ended.
      hasSpoken = true;
    });
    socket.once('error', (error) => isRefusal(error) && !isDown && !signal.aborted && void goneDown(true));
    socket.once('close', () => {
      const wasHeld = held.delete(socket);
      if (!opened.delete(socket)) return;
      const heldMs = performance.now() - openedMs;
      if (wasHeld && held.size === 0 && !hasSpoken && heldMs >= MIN_HELD_MS) return void goneDown(false);
      shortLived = !wasHeld || heldMs >= MIN_HELD_MS ? 0 : shortLived + 1;
      if (shortLived > MAX_SHORT_LIVED) canHold = false;
      later(REOPEN_MS, hold);
    });
  };
  const holdBoth = () => {
    hold();
    if (canHold) later(STAGGER_MS, hold);
  };
  const tryPort = () => {
    const socket = openTo(url);
    socket.once('connect', () => socket.destroy());
    socket.once('error', (error) => isRefusal(error) && !isDown && !signal.aborted && void goneDown(true));
    socket.once('close', () => !isDown && later(SLOW_POLL_MS, tryPort));
  };
  const goneDown = async (isRefused: boolean) => {
    isDown = true;
    release();
    const goneMs = performance.now();
    const isKnown = isRefused || goneMs < expectedUntilMs;
    const report = (backMs: number | null) => {
      events++;
      last = { goneMs, backMs };
      onChange();
    };
    if (isKnown) report(null);
    const back = untilAnswered(url, signal);
    // Without a change, an endpoint that answers at once has closed idle connections, and is the same as before.
    if (!isKnown && (await isSlow(back))) report(null);
    if (!(await back)) return;
    isDown = false;
    holdBoth();
    if (last !== null && last.goneMs === goneMs) report(performance.now());
  };

  if ((await ask(url, signal, 2 * STAGGER_MS)) !== 'refused') {
    holdBoth();
    canHold = (await ask(url, signal, STAGGER_MS)) === 'answered';
    if (!canHold) {
      release();
      later(SLOW_POLL_MS, tryPort);
    }
  } else void goneDown(true);

  return {
    get events() {
      return events;
    },
    get last() {
      return last;
    },
    expectRestart: () => {
      expectedUntilMs = performance.now() + EXPECTED_MS;
    },
    close: () => {
      ended.abort();
      release();
    },
  };
}

function openTo(url: string): Socket {
  const socket = connect(placeOf(url));
  // Also those that come after the first one.
  socket.on('error', () => {});
  return socket;
}

function placeOf(url: string): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}

function isRefusal(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNREFUSED';
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

/** Waits until the endpoint answers. False when `signal` is aborted before. */
async function untilAnswered(url: string, signal: AbortSignal): Promise<boolean> {
  const startMs = performance.now();
  while (!signal.aborted) {
    if ((await ask(url, signal, ANSWER_MS)) !== 'refused') return !signal.aborted;
    const waitMs = performance.now() - startMs < MAX_FAST_POLL_MS ? POLL_MS : SLOW_POLL_MS;
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/**
 * Sends a request without credentials, which changes nothing, and waits for the first byte of any answer. `silent`: it
 * was accepted, and not answered in time.
 */
async function ask(url: string, ended: AbortSignal, timeoutMs: number): Promise<'answered' | 'silent' | 'refused'> {
  const { protocol, host, pathname } = new URL(url);
  const place = placeOf(url);
  const isSecure = protocol === 'https:';
  const name = isIP(place.host) === 0 ? { servername: place.host } : {};
  // No certificate is checked, because nothing is sent that an impostor must not see.
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
        // An alert of TLS is an answer, too: the endpoint may require a client certificate.
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
