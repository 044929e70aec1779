/** Starts a mutant: the reference receiver with one stage replaced. */
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Express } from 'express';
import { createApp, createPipeline } from '../create-receiver.ts';
import { createHandling } from '../handling/handling.ts';
import { type ReceiverOptions, resolveOptions } from '../options.ts';
import { createHttpServer, httpsOptions, protectServer, requestListener } from '../server/http-server.ts';
import { type RunningReceiver, type ServerOptions, serve, withClientCertificateCheck } from '../start-receiver.ts';
import type { Fault, FaultParts } from './fault.ts';

/** Tracks the connections of a server, so that a crash can close them. */
function connectionsOf(server: Server): Set<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/** Serves a mutant. Takes the options of `startReceiver`, and throws the same errors. */
export async function startFaultyReceiver(
  fault: Fault,
  given: ReceiverOptions & ServerOptions,
): Promise<RunningReceiver> {
  const options = withClientCertificateCheck(given);
  // A fault may need the body of a delivery that the correct receiver rejects by its head.
  const config = { ...resolveOptions(options), keepsRejectedBodies: true };
  const handling = createHandling(config);
  const correct = createPipeline(config, handling);
  let server: Server | null = null;
  let connections = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const crash = (downMs: number) => {
    const listening = server;
    if (listening === null || !listening.listening) return;
    const { port, address } = listening.address() as AddressInfo;
    listening.close();
    for (const socket of connections) socket.destroy();
    if (!Number.isFinite(downMs)) return;
    timer = setTimeout(() => {
      if (!closed) listening.listen(port, address);
    }, downMs);
  };
  const parts: FaultParts = { correct, config, handling, tls: options.tls, crash };
  const pipeline = fault.stage === 'connection' ? correct : { ...correct, [fault.stage]: fault.replace(parts) };
  const receiver = {
    app: createApp(pipeline, config),
    settled: () => handling.settled(),
    stop: (timeoutMs: number) => handling.stop(timeoutMs),
  };
  server = createFaultyServer(receiver.app, options, fault.options);
  connections = connectionsOf(server);
  if (fault.stage === 'connection') fault.server?.(server, parts);
  const running = await serve(receiver, server, options);
  return {
    ...running,
    settled: () => handling.settled(),
    close() {
      closed = true;
      clearTimeout(timer);
      return running.close();
    },
  };
}

/** The server of the reference receiver; with the options of the fault where it has some and HTTPS is served. */
function createFaultyServer(app: Express, options: ServerOptions, changes: TlsOptions | undefined): Server {
  const { tls } = options;
  if (tls === undefined || changes === undefined) return createHttpServer(app, options);
  const settings = { ...httpsOptions(app, tls, options), ...changes };
  return protectServer(createTlsServer(settings, requestListener(app, options)), options);
}
