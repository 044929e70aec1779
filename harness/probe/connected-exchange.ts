/** Sends a delivery whose connect stage is changed: on a connection of its own, made as the change says. */
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import type { ClientCertificate, ConnectChange } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import {
  type Attempt,
  classifyTransportError,
  type Prepared,
  TIMEOUT_CODE,
  type TransportError,
} from '../transport/index.ts';
import type { Identities } from './identities.ts';
import { addressOf, type RawOptions, rawExchange } from './raw-exchange.ts';
import { requestBytes } from './transmissions.ts';

/**
 * How long a session is waited for once the handshake is done: 500 ms, in steps, so that a time in which this process itself stood still
 * counts as one step. Most endpoints send one with the handshake or right after it; some never do.
 */
const SESSION_STEP_MS = 50;
const SESSION_STEPS = 10;

function optionsFor(
  url: string,
  { version, alpn = ['http/1.1'], serverName }: ConnectChange,
  certificate: 'own' | ClientCertificate,
  identities: Identities,
): ConnectionOptions {
  return {
    secureContext: identities.contextFor(certificate, version),
    rejectUnauthorized: true,
    ALPNProtocols: [...alpn],
    ...(serverName === false && withoutName(new URL(url))),
  };
}

/** The certificate is still checked against the name in the URL, though the endpoint is not told it. */
function withoutName(url: URL): ConnectionOptions {
  const { host } = addressOf(url);
  return { servername: '', checkServerIdentity: (_asked, certificate) => checkServerIdentity(host, certificate) };
}

/**
 * Makes a connection as the change says for the first one, sends nothing on it, and gives the session that the endpoint offers, if any.
 * Null when the endpoint did not say within the time limit whether it takes the connection: then nothing can be resumed, and a refusal of
 * the next connection says nothing of sessions.
 */
function takeSession(
  { url, lookup }: Pick<Partner, 'url' | 'lookup'>,
  tls: ConnectionOptions,
  { timeoutMs, signal }: Pick<RawOptions, 'timeoutMs' | 'signal'>,
): Promise<Buffer | undefined | null> {
  const { host, port, serverName } = addressOf(new URL(url));
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({
      host,
      port,
      servername: serverName,
      ...(lookup !== undefined && { lookup }),
      ...tls,
    });
    const settle = (session?: Buffer | null) => {
      clearTimeout(limit);
      clearInterval(waiting);
      signal?.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(session);
    };
    const onAbort = () => settle();
    const limit = setTimeout(() => settle(null), timeoutMs);
    let waiting: NodeJS.Timeout | undefined;
    socket.on('secureConnect', () => {
      let steps = 0;
      waiting = setInterval(() => {
        steps += 1;
        if (steps === SESSION_STEPS) settle();
      }, SESSION_STEP_MS);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.on('session', (session: Buffer) => settle(session));
    socket.on('error', () => settle());
    socket.on('close', () => settle());
    // A ticket of TLS 1.3 comes after the handshake, and is seen only by who reads.
    socket.resume();
  });
}

/** Never rejects: what goes wrong is in the attempt. */
export async function connectedExchange(
  prepared: Prepared,
  partner: Partner,
  change: ConnectChange,
  identities: Identities,
  options: Omit<RawOptions, 'tls'>,
): Promise<Attempt> {
  const bytes = requestBytes(prepared);
  if (change.plain === true) return rawExchange(prepared.url, partner, bytes, { ...options, tls: 'plain' });
  try {
    const { clientCertificate = 'own', resumeFrom } = change;
    const tls = optionsFor(prepared.url, change, clientCertificate, identities);
    const session =
      resumeFrom === undefined
        ? undefined
        : await takeSession(partner, optionsFor(prepared.url, change, resumeFrom, identities), options);
    if (session === null) return notSent(classifyTransportError({ code: TIMEOUT_CODE }, 'tls'));
    return await rawExchange(prepared.url, partner, bytes, {
      ...options,
      tls: { ...tls, ...(session && { session }) },
    });
  } catch (cause) {
    return notConnected(cause);
  }
}

/** The material or the context could not be made: our own fault, never the endpoint's. */
function notConnected(cause: unknown): Attempt {
  const what = cause instanceof Error ? cause.message : String(cause);
  const message = `The connection could not be set up: ${what}`;
  return notSent({ kind: 'local', phase: 'connect', code: 'HOOKPROOF_NOT_CONNECTED', message });
}

function notSent(error: TransportError): Attempt {
  return {
    startedAt: new Date().toISOString(),
    timings: { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0, reused: false },
    answer: null,
    error,
  };
}
