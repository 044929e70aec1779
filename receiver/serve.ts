/** Listening: HTTP or HTTPS, with limits on how long a request may take and a graceful end. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { HookproofError } from '../contract/index.ts';
import { answerClientErrors } from './client-errors.ts';
import type { Receiver } from './create-receiver.ts';
import { gracefulClose } from './graceful-close.ts';
import { errorFields, type ReceiverLogger, silentLogger } from './logger.ts';
import { matchedClasses } from './matched-classes.ts';
import { type ServerTls, secureContextOptions } from './server-tls.ts';
import { logTlsRefusals } from './tls-refusals.ts';

export interface ServerOptions {
  /** The address to listen on. 127.0.0.1 by default: opening up to a network is a decision. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** Serves HTTPS. Without it plain HTTP, which is for local tests and for use behind a TLS terminator. */
  readonly tls?: ServerTls;
  /** Time limits in milliseconds. Defaults: TLS handshake 10 s, headers 10 s, whole request 30 s, idle connection 65 s, close 10 s. */
  readonly timeouts?: {
    readonly handshakeMs?: number;
    readonly headersMs?: number;
    readonly requestMs?: number;
    readonly keepAliveMs?: number;
    readonly closeMs?: number;
  };
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

/** Serves a receiver. Throws `HookproofError` (`RECEIVER_TLS`, `RECEIVER_LISTEN`). */
export async function serve(
  receiver: Receiver,
  options: ServerOptions,
  changes: ServerChanges = {},
): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, timeouts = {}, logger = silentLogger } = options;
  const closeMs = timeouts.closeMs ?? 10_000;
  const server = createHttpServer(receiver, options, changes.options);
  answerClientErrors(server);
  changes.server?.(server);
  const closeServer = gracefulClose(server, closeMs);

  await listen(server, host, port);
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
      await receiver.stop(closeMs);
    },
  };
}

function createHttpServer(receiver: Receiver, options: ServerOptions, changed: TlsOptions = {}): Server {
  const { tls, timeouts = {}, logger = silentLogger } = options;
  const http = {
    ...matchedClasses(receiver.app),
    headersTimeout: timeouts.headersMs ?? 10_000,
    requestTimeout: timeouts.requestMs ?? 30_000,
    keepAliveTimeout: timeouts.keepAliveMs ?? 65_000,
    // How often the first two are looked at. Node's default, 30 s, would let them run over by as much.
    connectionsCheckingInterval: 500,
  };
  if (tls === undefined) return createServer(http, receiver.app);

  const server = createTlsServer(
    {
      ...http,
      ...secureContextOptions(tls, changed.ciphers),
      handshakeTimeout: timeouts.handshakeMs ?? 10_000,
      requestCert: tls.clientCertificate !== undefined,
      rejectUnauthorized: tls.clientCertificate !== 'optional',
      ...changed,
    },
    receiver.app,
  );
  logTlsRefusals(server, logger);
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

function listen(server: Server, host: string, port: number): Promise<void> {
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
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
}
