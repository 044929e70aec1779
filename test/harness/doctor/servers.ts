/** Starts servers on loopback until the end of the test. */
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { serverFixture } from '../../../certs/index.ts';
import { listen } from '../../endpoints/listen.ts';

async function listenUntilTestEnds(server: Server): Promise<number> {
  const { port, close } = await listen(server);
  onTestFinished(close);
  return port;
}

const answering: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end('{}'));
};

export function plainServer(listener: RequestListener = answering): Promise<number> {
  return listenUntilTestEnds(http.createServer(listener));
}

/** Starts an HTTPS server of Node, and returns its port. */
export function tlsServer(options: https.ServerOptions, listener: RequestListener = answering): Promise<number> {
  const server = https.createServer(options, listener);
  server.on('tlsClientError', () => undefined);
  return listenUntilTestEnds(server);
}

/** Starts an HTTPS server with a valid certificate, and returns its CA. */
export async function validServer(
  listener: RequestListener = answering,
  options: https.ServerOptions = {},
): Promise<{ readonly port: number; readonly ca: string }> {
  const { cert, key, ca } = await serverFixture('p256');
  return { port: await tlsServer({ cert, key, ...options }, listener), ca };
}

export function rawServer(onSocket: (socket: Socket) => void): Promise<number> {
  return listenUntilTestEnds(createServer(onSocket));
}

/** Returns a port on which nothing is listening. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listen(createServer());
  await close();
  return port;
}
