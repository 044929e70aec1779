/** Listening: HTTP or HTTPS, with limits on how long a request may take and a graceful end. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { HookproofError, LIMITS } from '../contract/index.ts';
import { answerClientErrors } from './client-errors.ts';
import type { Receiver } from './create-receiver.ts';
import { gracefulClose } from './graceful-close.ts';
import { errorFields, type ReceiverLogger, silentLogger } from './logger.ts';
import { matchedClasses } from './matched-classes.ts';

/** PEM material for HTTPS. Specification: TLS. */
export interface ServerTls {
  /** The certificate, with intermediates after it, and its key. */
  readonly cert: string;
  readonly key: string;
  /** The authorities that issue client certificates. */
  readonly ca?: string;
  /** Mutual TLS: refuses clients without a certificate from `ca`, which is then required. */
  readonly requestClientCert?: boolean;
}

export interface ServerOptions {
  /** The address to listen on. 127.0.0.1 by default: opening up to a network is a decision. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** Serves HTTPS. Without it plain HTTP, which is for local tests and for use behind a TLS terminator. */
  readonly tls?: ServerTls;
  /** Time limits in milliseconds. Defaults: headers 10 s, whole request 30 s, idle connection 65 s, close 10 s. */
  readonly timeouts?: {
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
  /** Stops taking connections, ends what is under way, and resolves when all is closed; never later than the time limit. */
  close(): Promise<void>;
}

/** Serves a receiver. Throws `HookproofError` (`RECEIVER_TLS`, `RECEIVER_LISTEN`). */
export async function serve(receiver: Receiver, options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, timeouts = {}, logger = silentLogger } = options;
  const closeMs = timeouts.closeMs ?? 10_000;
  const server = createHttpServer(receiver, options);
  answerClientErrors(server);
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
    async close() {
      await closeServer();
      await Promise.race([receiver.settled(), after(closeMs)]);
    },
  };
}

function createHttpServer(receiver: Receiver, options: ServerOptions): Server {
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

  if (tls.requestClientCert && tls.ca === undefined) {
    // Without our own list, Node would trust a client certificate of any public authority.
    throw new HookproofError('RECEIVER_TLS', 'Client certificates are required, but tls.ca does not say whose.', {
      hint: 'Give the certificate of the authority that issues them as tls.ca.',
    });
  }
  try {
    const server = createTlsServer(
      {
        ...http,
        cert: tls.cert,
        key: tls.key,
        minVersion: LIMITS.minimumTlsVersion,
        requestCert: tls.requestClientCert === true,
        rejectUnauthorized: true,
        ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      },
      receiver.app,
    );
    server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
      logger.info({ event: 'tls-refused', code: error.code }, 'TLS handshake refused');
    });
    return server;
  } catch (cause) {
    throw new HookproofError('RECEIVER_TLS', 'The certificate or key for HTTPS cannot be used.', {
      hint: 'Give PEM text; the key has to belong to the first certificate.',
      cause,
    });
  }
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

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
