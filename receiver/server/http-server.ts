/** Creates the Node server for the Express app: HTTP or HTTPS, with limits on connections, headers and time. */
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Express, Response } from 'express';
import { HookproofError } from '../../contract/index.ts';
import { type ConnectionObserver, resolveLimits, type ServerLimits, silentConnectionObserver } from '../budget.ts';
import { type ReceiverLogger, silentLogger } from '../logger.ts';
import { answerClientErrors, rejectTooManyHeaders } from './client-errors.ts';
import { ConnectionLimiter } from './connections.ts';
import { resolveTimeouts, type ServerTimeouts } from './timeouts.ts';
import { logFailedHandshakes, type ServerTls, secureContextOptions, verifySecureContext } from './tls.ts';

export interface HttpServerOptions {
  /** Serves HTTPS. Without this option, the server speaks plain HTTP, for local tests or behind a TLS terminator. */
  readonly tls?: ServerTls;
  readonly limits?: ServerLimits;
  readonly timeouts?: ServerTimeouts;
  /** Receives events about connections, and about requests that are rejected before the first stage. */
  readonly connectionObserver?: ConnectionObserver;
  readonly logger?: ReceiverLogger;
}

/**
 * Creates a server for an app. The server is not listening yet. Throws {@link HookproofError} (`RECEIVER_TLS`,
 * `RECEIVER_LIMIT`).
 *
 * For a server with other options, call {@link httpsOptions}, {@link requestListener} and {@link protectServer}
 * separately.
 */
export function createHttpServer(app: Express, options: HttpServerOptions = {}): Server {
  const { tls } = options;
  const listener = requestListener(app, options);
  if (tls === undefined) return protectServer(createServer(httpOptions(app, options), listener), options);
  verifySecureContext(secureContextOptions(tls));
  return protectServer(createTlsServer(httpsOptions(app, tls, options), listener), options);
}

/** Returns the options of `node:http` for an app. */
function httpOptions(app: Express, options: HttpServerOptions) {
  const timeouts = resolveTimeouts(options.timeouts);
  return {
    ...matchedClasses(app),
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    // Interval at which Node checks `headersTimeout` and `requestTimeout`, in milliseconds. With the default of 30 s,
    // requests could exceed them by that much.
    connectionsCheckingInterval: 500,
    maxHeaderSize: resolveLimits(options.limits).maxHeaderBytes,
  };
}

/** Returns the options of `node:https` for an app. Throws {@link HookproofError} `RECEIVER_TLS`. */
export function httpsOptions(app: Express, tls: ServerTls, options: HttpServerOptions): TlsOptions {
  return {
    ...httpOptions(app, options),
    ...secureContextOptions(tls),
    handshakeTimeout: resolveTimeouts(options.timeouts).handshakeMs,
    requestCert: tls.clientCertificate !== undefined,
    rejectUnauthorized: tls.clientCertificate !== 'optional',
  };
}

/** Returns the request listener, which limits the number of header lines and then runs the app. */
export function requestListener(app: Express, options: HttpServerOptions): RequestListener {
  const { maxHeaders } = resolveLimits(options.limits);
  return rejectTooManyHeaders(maxHeaders, app, options.connectionObserver ?? silentConnectionObserver);
}

/** Adds to a server what its options cannot express: answers to broken requests, limits on connections, and logging. */
export function protectServer<S extends Server>(server: S, options: HttpServerOptions): S {
  const { tls, logger = silentLogger, connectionObserver: observer = silentConnectionObserver } = options;
  const limits = { ...resolveLimits(options.limits), ...resolveTimeouts(options.timeouts) };
  // Node silently drops header lines beyond its default limit of 2,000. A check must not miss any.
  server.maxHeadersCount = 0;
  if (tls !== undefined) logFailedHandshakes(server, logger);
  const limiter = new ConnectionLimiter(server, limits, observer);
  answerClientErrors(server, (socket) => limiter.openExchanges(socket), observer);
  return server;
}

/** Resolves when the server is listening. Rejects with a {@link HookproofError} that has this code. */
export function listen(
  server: Server,
  { host, port, backlog }: { host: string; port: number; backlog?: number },
  { code, purpose = '' }: { code: string; purpose?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException) => {
      reject(
        new HookproofError(code, `Cannot listen on ${host} port ${port}${purpose} (${cause.code}).`, {
          hint: 'Choose another port, or 0 for a free one, and an address of this machine.',
          cause,
        }),
      );
    };
    server.once('error', onError);
    server.listen({ port, host, ...(backlog === undefined ? {} : { backlog }) }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

/**
 * An object without the properties of `Object`, like the `res.locals` of Express, which V8 stores as a hash table. An
 * instance of this class is faster.
 */
class Locals {
  [name: string]: unknown;
}
Object.setPrototypeOf(Locals.prototype, null);
Reflect.deleteProperty(Locals.prototype, 'constructor');

/**
 * Makes Express fast on Node 20 and 22. Express replaces the prototype of every request and response, which makes the
 * objects slow. The classes that this function returns create objects with the prototype of the app from the start;
 * setting the prototype that an object already has costs nothing. A delivery then takes a third of the processor time.
 *
 * Returns no classes where Node does not allow it. The receiver then works the same, but more slowly.
 */
export function matchedClasses(
  app: Express,
): Pick<NonNullable<Parameters<typeof createServer>[0]>, 'IncomingMessage' | 'ServerResponse'> {
  // Functions instead of classes: the prototype of a class cannot be replaced, and Node's own constructors can be
  // called without `new`.
  function MatchedRequest(this: IncomingMessage, socket: Socket) {
    callable(IncomingMessage).call(this, socket);
  }
  function MatchedResponse(this: ServerResponse, request: IncomingMessage, options: unknown) {
    callable(ServerResponse).call(this, request, options);
    (this as Response).locals = new Locals();
  }
  MatchedRequest.prototype = app.request;
  skipAfterClose(app.request);
  MatchedResponse.prototype = app.response;
  // Does the same as `extends`, and lets V8 predict the number of fields. Without it, the objects outgrow their first
  // allocation and become hash tables, and a delivery takes 50% longer.
  Object.setPrototypeOf(MatchedRequest, IncomingMessage);
  Object.setPrototypeOf(MatchedResponse, ServerResponse);
  const classes = {
    IncomingMessage: MatchedRequest as unknown as typeof IncomingMessage,
    ServerResponse: MatchedResponse as unknown as typeof ServerResponse,
  };
  try {
    new classes.ServerResponse(new classes.IncomingMessage(new Socket()));
    return classes;
  } catch {
    return {};
  }
}

/**
 * Makes the parser skip what it has already read from a connection that was closed at a limit. One read can contain
 * thousands of requests, and Node would create several objects and an error with a stack for each of them. The parser
 * stops only at an upgrade request, so on a closed connection every request reports that it is one. Nothing listens for
 * upgrades here.
 */
function skipAfterClose(prototype: object): void {
  const ASKED = Symbol('upgrade');
  Object.defineProperty(prototype, 'upgrade', {
    configurable: true,
    get(this: IncomingMessage & { [ASKED]?: boolean | null }) {
      return this.socket.destroyed || this[ASKED];
    },
    set(this: IncomingMessage & { [ASKED]?: boolean | null }, asked: boolean | null) {
      this[ASKED] = asked;
    },
  });
}

/** Node's constructors are functions that can be called, although their types do not say so. */
function callable(nodeClass: object): (this: object, ...args: unknown[]) => void {
  return nodeClass as (this: object, ...args: unknown[]) => void;
}
