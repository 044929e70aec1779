/** Servers to look at, on loopback until the test is over. */
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { serverFixture } from '../../../certs/index.ts';
import { listen } from '../../endpoints/listen.ts';

async function untilTheEnd(server: Server): Promise<number> {
  const { port, close } = await listen(server);
  onTestFinished(close);
  return port;
}

const answering: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end('{}'));
};

export function plainServer(listener: RequestListener = answering): Promise<number> {
  return untilTheEnd(http.createServer(listener));
}

/** An https server of Node. Gives its port. */
export function tlsServer(options: https.ServerOptions, listener: RequestListener = answering): Promise<number> {
  const server = https.createServer(options, listener);
  server.on('tlsClientError', () => undefined);
  return untilTheEnd(server);
}

/** An https server with a right certificate, and the file of what to trust. */
export async function rightServer(
  listener: RequestListener = answering,
  options: https.ServerOptions = {},
): Promise<{ readonly port: number; readonly ca: string }> {
  const { cert, key, ca } = await serverFixture('p256');
  return { port: await tlsServer({ cert, key, ...options }, listener), ca };
}

export function rawServer(onSocket: (socket: Socket) => void): Promise<number> {
  return untilTheEnd(createServer(onSocket));
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listen(createServer());
  await close();
  return port;
}
