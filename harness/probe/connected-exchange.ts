/** Sends a delivery with a changed connect stage, on a new connection. */

import { type ConnectionOptions, checkServerIdentity, type TLSSocket } from 'node:tls';
import type { ClientCertificate, ConnectChange } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import {
  type Attempt,
  classifyTransportError,
  connectTls,
  endpointOf,
  type Prepared,
  TIMEOUT_CODE,
  type TransportError,
} from '../transport/index.ts';
import type { Identities } from './identities.ts';
import { type RawOptions, rawExchange } from './raw-exchange.ts';
import { serverNameFor } from './tls-handshake.ts';
import { requestBytes } from './transmissions.ts';

/**
 * How long to wait for a session after the handshake: 500 ms, counted in steps, so that a pause of this process counts
 * as one step. Most endpoints send a session with the handshake or right after it; some never do.
 */
const SESSION_STEP_MS = 50;
const SESSION_STEPS = 10;

/** Sends a delivery on a new connection. Never rejects: a failure is in the attempt. */
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
        : await fetchSession(partner, optionsFor(prepared.url, change, resumeFrom, identities), options);
    if (session === null) return notSent(classifyTransportError({ code: TIMEOUT_CODE }, 'tls'));
    return await rawExchange(prepared.url, partner, bytes, {
      ...options,
      tls: { ...tls, ...(session && { session }) },
    });
  } catch (cause) {
    return localFailure(cause);
  }
}

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
    ...(serverName !== undefined && withServerName(serverName || '', url)),
  };
}

/**
 * Returns options that send this server name, or none. The certificate is still checked against the name in the URL.
 */
function withServerName(servername: string, url: string): ConnectionOptions {
  const { hostname } = endpointOf(url);
  return { servername, checkServerIdentity: (_name, certificate) => checkServerIdentity(hostname, certificate) };
}

/**
 * Opens a connection without sending a request, and returns the session that the endpoint offers, if any. Returns null
 * if the endpoint neither accepts nor rejects the connection in time: then there is nothing to resume, and a rejected
 * second connection proves nothing about sessions.
 */
function fetchSession(
  { url, lookup }: Pick<Partner, 'url' | 'lookup'>,
  tls: ConnectionOptions,
  { timeoutMs, signal }: Pick<RawOptions, 'timeoutMs' | 'signal'>,
): Promise<Buffer | undefined | null> {
  const { hostname, port } = endpointOf(url);
  return new Promise((resolve) => {
    const socket: TLSSocket = connectTls({
      host: hostname,
      port,
      servername: serverNameFor(hostname),
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
    // A TLS 1.3 ticket arrives after the handshake, and only a socket that reads receives it.
    socket.resume();
  });
}

/** Returns an attempt that failed locally, because the TLS material or context cannot be used. */
function localFailure(cause: unknown): Attempt {
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
