/**
 * Sends one ClientHello and reads what comes back. The handshake is never finished, no TLS library takes part, and a probe that
 * could not be sent is told apart from every answer. Specification: TLS.
 */
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { HelloOffer } from '../../../scenarios/index.ts';
import { classifyTransportError } from '../../sender/index.ts';
import { firstPhase, type LookLimits, type Supervision, superviseSocket } from '../supervise-socket.ts';
import { suiteName, suitesOf } from './cipher-suites.ts';
import { encodeClientHello } from './client-hello.ts';
import type { HelloEndpoint } from './hello-endpoint.ts';
import type { HelloOutcome } from './hello-outcome.ts';
import { ServerFlight } from './server-flight.ts';

export type ProbeOffer = HelloOffer & {
  /** Leaves out the server name. */
  readonly serverName?: false;
  /** Asks for a stapled OCSP answer. */
  readonly ocsp?: true;
};

/** Breaking a probe off makes the outcome a `connect-error` of kind `local`. */
export type ProbeLimits = LookLimits;

/** How the reading ended when the flight did not end by itself. */
type Ending = 'closed' | 'reset' | 'timeout';

/** Milliseconds for each address of a name but the last, as the sender has it. */
const ADDRESS_TIMEOUT_MS = 1_000;
/** What is kept of an answer that is not TLS. */
const EVIDENCE_BYTES = 40;
/** After the hello is out, these mean that the other side ended the connection. Any other failure is one of the way, or ours. */
const RESET_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/** @returns an outcome, always: it never rejects */
export function probeHello(endpoint: HelloEndpoint, offer: ProbeOffer, limits: ProbeLimits): Promise<HelloOutcome> {
  const { promise, resolve } = withResolvers<HelloOutcome>();
  const { host, port, lookup } = endpoint;
  const suites = suitesOf(offer.suites);
  const flight = new ServerFlight();
  const start = performance.now();
  let head: Uint8Array = new Uint8Array(0);
  let bytesReceived = 0;
  let sent = false;
  let supervision: Supervision | undefined;

  const settle = (outcome: Unmeasured) => {
    supervision?.end();
    resolve({ ...outcome, bytesReceived, ms: performance.now() - start });
  };
  const finish = (ending: Ending) => settle(outcomeOf(flight, suites, ending, head));
  const fail = (error: unknown) => {
    const phase = supervision?.phase() ?? firstPhase(host);
    settle({ kind: 'connect-error', error: classifyTransportError(error, phase) });
  };
  const finishOr = (ending: Ending, error: unknown) => (sent ? finish(ending) : fail(error));

  try {
    limits.signal?.throwIfAborted();
    const hello = encodeClientHello({
      ...offer,
      suites,
      serverName: offer.serverName === false ? null : endpoint.serverName,
    });
    const socket = connect({
      host,
      port,
      noDelay: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      ...(lookup !== undefined && { lookup }),
    });
    supervision = superviseSocket(socket, host, limits, {
      onTimeout: (error) => finishOr('timeout', error),
      onAbort: fail,
    });
    socket.on('connect', () => {
      socket.write(hello, (error) => {
        if (error === null || error === undefined) sent = true;
      });
    });
    socket.on('data', (piece: Buffer) => {
      // An answer that comes before the hello is one all the same: whoever greets first is no TLS server.
      sent = true;
      bytesReceived += piece.length;
      if (head.length < EVIDENCE_BYTES) head = Buffer.concat([head, piece]).subarray(0, EVIDENCE_BYTES);
      flight.read(piece);
      if (flight.done) finish('closed');
    });
    socket.on('end', () => finishOr('closed', { code: 'ECONNRESET' }));
    socket.on('close', () => finishOr('closed', { code: 'ECONNRESET' }));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (sent && error.code === 'ETIMEDOUT') finish('timeout');
      else if (sent && (RESET_CODES.has(error.code) || flight.hello !== null)) finish('reset');
      else fail(error);
    });
  } catch (error) {
    fail(error);
  }
  return promise;
}

type Unmeasured = DistributiveOmit<HelloOutcome, 'bytesReceived' | 'ms'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function outcomeOf(flight: ServerFlight, suites: readonly number[], ending: Ending, head: Uint8Array): Unmeasured {
  const { hello, alert, warning } = flight;
  if (hello !== null) {
    const { version, suite, compressed, secureRenegotiation, alpn } = hello;
    return {
      kind: 'server-hello',
      version,
      suite: { id: suite, name: suiteName(suite) },
      suiteOffered: suites.includes(suite),
      compressed,
      certificates: flight.certificates,
      stapled: flight.stapled,
      secureRenegotiation,
      certificateRequest: flight.certificateRequest,
      whole: flight.whole,
      ...(alert !== null && { alertAfter: alert.name }),
      ...(alpn !== null && { alpn }),
    };
  }
  if (alert !== null) return { kind: 'alert', alert: alert.name, level: alert.level };
  if (flight.broken) return { kind: 'not-tls', received: Uint8Array.from(head) };
  if (ending === 'timeout') return { kind: 'timeout' };
  // Whoever began to answer did not refuse: the rest may have been lost on the way.
  if (flight.unfinished) return { kind: 'not-tls', received: Uint8Array.from(head) };
  return warning === null ? { kind: ending } : { kind: 'alert', alert: warning.name, level: warning.level };
}

/** Promise.withResolvers, which Node 20 lacks. Resolving more than once does nothing. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}
