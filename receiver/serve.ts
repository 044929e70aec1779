/** Listening: HTTP or HTTPS, with limits on how long a request may take and a graceful end. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { HookproofError } from '../contract/index.ts';
import { answerClientErrors, refuseTooManyHeaders } from './client-errors.ts';
import { limitConnections } from './connection-limit.ts';
import { type ConnectionObserver, silentConnectionObserver } from './connection-observer.ts';
import type { Receiver } from './create-receiver.ts';
import { gracefulClose } from './graceful-close.ts';
import { errorFields, type ReceiverLogger, silentLogger } from './logger.ts';
import { matchedClasses } from './matched-classes.ts';
import {
  type ResolvedServerLimits,
  resolveServerLimits,
  type ServerLimits,
  type ServerTimeouts,
} from './server-limits.ts';
import { type ServerTls, secureContextOptions } from './server-tls.ts';
import { logTlsRefusals } from './tls-refusals.ts';

export interface ServerOptions {
  /** The address to listen on. 127.0.0.1 by default: opening up to a network is a decision. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** Serves HTTPS. Without it plain HTTP, which is for local tests and for use behind a TLS terminator. */
  readonly tls?: ServerTls;
  readonly limits?: ServerLimits;
  readonly timeouts?: ServerTimeouts;
  /** Told of connections, and of requests that are refused before they become deliveries. */
  readonly connectionObserver?: ConnectionObserver;
  readonly path?: string;
  readonly logger?: ReceiverLogger;
}

export interface RunningServer {
  /** Where to deliver, path included. */
  readonly url: string;
  readonly port: number;
  /**
   * Takes new certificates into use, for the handshakes from now on; connections that are open go on with what they have. Throws
   * `HookproofError` (`RECEIVER_TLS`) when the material cannot be used, and the old stays in use. Whether clients need a certificate
   * cannot be changed. No TLS session of before can be resumed, so an authority that is gone from `ca` lets nobody in any more, except on a
   * connection that is open already.
   */
  reloadTls(tls: ServerTls): void;
  /** Stops taking connections, ends what is under way, and resolves when all is closed; never later than the time limit. */
  close(): Promise<void>;
}

/** For mutants, whose connection is wrong: options of node:https in place of the right ones, and the server before it listens. */
export interface ServerChanges {
  readonly options?: TlsOptions | undefined;
  readonly server?: (server: Server) => void;
}

/** How many connections Node lets wait to be taken in. */
const NODE_BACKLOG = 511;

/** Serves a receiver. Throws `HookproofError` (`RECEIVER_TLS`, `RECEIVER_LIMIT`, `RECEIVER_LISTEN`). */
export async function serve(
  receiver: Receiver,
  options: ServerOptions,
  changes: ServerChanges = {},
): Promise<RunningServer> {
  const {
    host = '127.0.0.1',
    port = 0,
    logger = silentLogger,
    connectionObserver: observer = silentConnectionObserver,
  } = options;
  const limits = resolveServerLimits(options.limits, options.timeouts);
  const server = createHttpServer(receiver, options, limits, observer, changes.options);
  answerClientErrors(server, observer);
  limitConnections(server, limits.maxConnections, observer);
  changes.server?.(server);
  const closeServer = gracefulClose(server, limits.closeMs);

  await listen(server, host, port, Math.max(NODE_BACKLOG, limits.maxConnections));
  server.on('error', (error) => logger.error({ event: 'server-error', error: errorFields(error) }, 'server error'));

  const address = server.address() as AddressInfo;
  const scheme = options.tls === undefined ? 'http' : 'https';
  const name = host.includes(':') ? `[${host}]` : host;
  logger.info({ event: 'listening', scheme, host, port: address.port }, 'listening');
  return {
    url: `${scheme}://${name}:${address.port}${options.path ?? '/'}`,
    port: address.port,
    reloadTls(tls) {
      reloadTls(server, options.tls, tls);
      logger.info({ event: 'tls-reloaded' }, 'certificates reloaded');
    },
    async close() {
      await closeServer();
      await receiver.stop(limits.closeMs);
    },
  };
}

function createHttpServer(
  receiver: Receiver,
  options: ServerOptions,
  limits: ResolvedServerLimits,
  observer: ConnectionObserver,
  changed: TlsOptions = {},
): Server {
  const { tls, logger = silentLogger } = options;
  const http = {
    ...matchedClasses(receiver.app),
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    // How often the first two are looked at. Node's default, 30 s, would let them run over by as much.
    connectionsCheckingInterval: 500,
    maxHeaderSize: limits.maxHeaderBytes,
  };
  const listener = refuseTooManyHeaders(limits.maxHeaders, receiver.app, observer);
  if (tls === undefined) return countingHeadersOurselves(createServer(http, listener));

  const server = createTlsServer(
    {
      ...http,
      ...secureContextOptions(tls, changed.ciphers),
      handshakeTimeout: limits.handshakeMs,
      requestCert: tls.clientCertificate !== undefined,
      rejectUnauthorized: tls.clientCertificate !== 'optional',
      ...changed,
    },
    listener,
  );
  logTlsRefusals(server, logger);
  return countingHeadersOurselves(server);
}

/** Node would leave out what is beyond its own limit, 2,000 header lines, and say nothing: a check must not miss a header. */
function countingHeadersOurselves<S extends Server>(server: S): S {
  server.maxHeadersCount = 0;
  return server;
}

function reloadTls(server: Server, current: ServerTls | undefined, next: ServerTls): void {
  if (current === undefined || next.clientCertificate !== current.clientCertificate) {
    throw new HookproofError(
      'RECEIVER_TLS',
      'Whether to serve HTTPS, and whether clients need a certificate, is decided at the start.',
      { hint: 'Start the receiver again to change it.' },
    );
  }
  // The new context comes with new keys for session tickets, so nothing is taken over from what the old one trusted.
  (server as TlsServer).setSecureContext(secureContextOptions(next));
}

function listen(server: Server, host: string, port: number, backlog: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException) => {
      reject(
        new HookproofError('RECEIVER_LISTEN', `Cannot listen on ${host} port ${port} (${cause.code}).`, {
          hint: 'Choose another port, or 0 for a free one, and an address of this machine.',
          cause,
        }),
      );
    };
    server.once('error', onError);
    // As many as may be open may also wait to be taken in. Beyond that the kernel leaves a client unanswered for a second.
    server.listen({ port, host, backlog }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}
