/** Starts a receiver that listens on HTTP or HTTPS and shuts down gracefully. */
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { HookproofError } from '../contract/index.ts';
import { resolveLimits } from './budget.ts';
import { createReceiver, type Receiver } from './create-receiver.ts';
import { errorFields, silentLogger } from './logger.ts';
import type { ClientCertificateOption, ReceiverOptions } from './options.ts';
import { gracefulClose } from './server/connections.ts';
import { createHttpServer, type HttpServerOptions, listen } from './server/http-server.ts';
import { resolveTimeouts } from './server/timeouts.ts';
import { type ServerTls, secureContextOptions, verifySecureContext } from './server/tls.ts';

export interface ServerOptions extends HttpServerOptions {
  /** Address to listen on. Default: 127.0.0.1, so that the receiver is exposed to a network only on purpose. */
  readonly host?: string;
  /** Port to listen on. Default: 0, which picks a free port. */
  readonly port?: number;
  /** Path of `url`, for example `/webhooks`. */
  readonly path?: string;
}

/** A receiver that is listening. */
export interface RunningReceiver {
  /** URL for deliveries, including the path. */
  readonly url: string;
  readonly port: number;
  /** Resolves when no handler is running and no notification is due. */
  settled(): Promise<void>;
  /**
   * Uses new certificates for every handshake from now on. Open connections keep the old ones, but TLS sessions cannot
   * be resumed, so a CA that was removed from `ca` is no longer trusted on new connections. Throws `HookproofError`
   * (`RECEIVER_TLS`) and keeps the old certificates when the new ones cannot be used. Whether clients need a
   * certificate cannot be changed.
   */
  reloadTls(tls: ServerTls): void;
  /** Uses these secrets from now on. See {@link Receiver.reloadSecrets}. */
  reloadSecrets(secrets: readonly string[]): void;
  /** Accepts no more connections, waits for open requests, and then for handlers: each at most `timeouts.closeMs`. */
  close(): Promise<void>;
}

/** Default number of connections that Node queues before it accepts them. */
const NODE_BACKLOG = 511;

/**
 * Creates a receiver and serves it over HTTP, or HTTPS when `tls` is given. Throws `HookproofError` (`RECEIVER_*`) when
 * the configuration is incomplete or the address cannot be used.
 *
 * @example
 * const receiver = await startReceiver({ signing: { secrets: [secret] }, path: '/webhooks', port: 8080, handlers });
 * process.once('SIGTERM', () => receiver.close());
 */
export async function startReceiver(given: ReceiverOptions & ServerOptions): Promise<RunningReceiver> {
  const options = withClientCertificateCheck(given);
  const receiver = createReceiver(options);
  return serve(receiver, createHttpServer(receiver.app, options), options);
}

/**
 * Serves a receiver on a server that is not listening yet. Throws `HookproofError` (`RECEIVER_LISTEN`,
 * `RECEIVER_LIMIT`).
 */
export async function serve(receiver: Receiver, server: Server, options: ServerOptions = {}): Promise<RunningReceiver> {
  const { host = '127.0.0.1', port = 0, tls, logger = silentLogger } = options;
  const { closeMs } = resolveTimeouts(options.timeouts);
  const { maxConnections } = resolveLimits(options.limits);
  const closeServer = gracefulClose(server, closeMs);
  // As many connections may queue as may be open. When the queue is full, a client has to wait a second for its retry.
  const backlog = Math.max(NODE_BACKLOG, maxConnections);
  await listen(server, { host, port, backlog }, { code: 'RECEIVER_LISTEN' });
  server.on('error', (error) => logger.error({ event: 'server-error', error: errorFields(error) }, 'server error'));

  const address = server.address() as AddressInfo;
  const scheme = tls === undefined ? 'http' : 'https';
  const name = host.includes(':') ? `[${host}]` : host;
  logger.info({ event: 'listening', scheme, host, port: address.port }, 'listening');
  return {
    url: `${scheme}://${name}:${address.port}${options.path ?? '/'}`,
    port: address.port,
    settled: () => receiver.settled(),
    reloadTls(next) {
      reloadTls(server, tls, next);
      logger.info({ event: 'tls-reloaded' }, 'certificates reloaded');
    },
    reloadSecrets(secrets) {
      receiver.reloadSecrets(secrets);
      logger.info({ event: 'secrets-reloaded', count: secrets.length }, 'secrets reloaded');
    },
    async close() {
      await closeServer();
      await receiver.stop(closeMs);
    },
  };
}

function reloadTls(server: Server, current: ServerTls | undefined, next: ServerTls): void {
  if (current === undefined || next.clientCertificate !== current.clientCertificate) {
    throw new HookproofError(
      'RECEIVER_TLS',
      'Whether to serve HTTPS, and whether clients need a certificate, cannot be changed while the receiver runs.',
      { hint: 'Restart the receiver to change it.' },
    );
  }
  const options = secureContextOptions(next);
  verifySecureContext(options);
  // The new context has new keys for session tickets, so sessions of the old one cannot be resumed.
  (server as TlsServer).setSecureContext(options);
}

/** Adds the check of client certificates that `tls` implies. Throws `HookproofError` `RECEIVER_CLIENT_CERTIFICATE`. */
export function withClientCertificateCheck<Options extends ReceiverOptions & ServerOptions>(options: Options): Options {
  return { ...options, ...impliedClientCertificate(options) };
}

/** Throws for combinations that would reject every client or accept any client. */
function impliedClientCertificate({ tls, clientCertificate }: ReceiverOptions & ServerOptions): {
  clientCertificate?: ClientCertificateOption;
} {
  const requested = tls?.clientCertificate;
  if (clientCertificate === undefined) {
    return requested === undefined ? {} : { clientCertificate: { from: 'connection' } };
  }
  if (clientCertificate.from === 'connection' && requested === undefined) {
    throw conflict(
      "`clientCertificate.from` is 'connection', but `tls.clientCertificate` does not request a certificate.",
      "Set `tls.clientCertificate` to 'required' or 'optional'. Behind a proxy that terminates TLS, use `from: " +
        "'proxy'`.",
    );
  }
  if (clientCertificate.from === 'proxy' && requested === 'optional') {
    throw conflict(
      "`clientCertificate.from` is 'proxy' and `tls.clientCertificate` 'optional': nothing would check the connection.",
      "Set `tls.clientCertificate` to 'required', which then concerns the proxy's own certificate, or leave it out.",
    );
  }
  return { clientCertificate };
}

function conflict(message: string, hint: string): HookproofError {
  return new HookproofError('RECEIVER_CLIENT_CERTIFICATE', message, { hint });
}
