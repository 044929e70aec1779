import https from 'node:https';
import { connect, createServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { serverFixture } from '../../../certs/index.ts';
import { connectedExchange } from '../../../harness/probe/connected-exchange.ts';
import { createIdentities } from '../../../harness/probe/identities.ts';
import { clientMaterial } from '../../certs/client-material.ts';
import { type Endpoint, listen } from '../../endpoints/listen.ts';

const open: Endpoint[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

async function listening(...args: Parameters<typeof listen>): Promise<Endpoint> {
  const endpoint = await listen(...args);
  open.push(endpoint);
  return endpoint;
}

/** Starts a server that requires the valid client certificate, and does not answer on this many connections. */
async function resumedWithout(silentConnections: number) {
  const [{ cert, key, ca }, right] = await Promise.all([serverFixture('p256'), clientMaterial('right')]);
  const asked = { ca: right.authority, requestCert: true, rejectUnauthorized: true };
  const server = https.createServer({ cert, key, ...asked }, (_, response) => response.end());
  const behind = await listening(server);
  let connections = 0;
  const front = await listening(
    createServer((socket) => {
      connections += 1;
      if (connections <= silentConnections) return void socket.resume();
      const peer = connect({ port: behind.port, host: '127.0.0.1' });
      socket.pipe(peer).pipe(socket);
      peer.on('error', () => socket.destroy());
      socket.on('close', () => peer.destroy());
    }),
  );
  const url = `https://localhost:${front.port}/hooks`;
  const partner = { url, tls: { ca, clientCert: right.cert, clientKey: right.key } };
  const prepared = {
    url,
    method: 'POST',
    target: '/hooks',
    headers: [['Host', 'localhost']],
    body: Buffer.alloc(0),
  } as const;
  const change = { label: 'resumed', version: 'TLSv1.2', clientCertificate: 'none', resumeFrom: 'none' } as const;
  const identities = createIdentities(partner, {}, true);
  const limits = { timeoutMs: silentConnections === 0 ? 10_000 : 500, bodyCapBytes: 10 };
  const { answer, error } = await connectedExchange(prepared, partner, change, identities, limits);
  return { status: answer?.status, error: error?.kind, alert: error?.alert, connections };
}

it('sends another server name, and checks the certificate against the host of the URL', async () => {
  const { cert, key, ca } = await serverFixture('p256');
  const names: unknown[] = [];
  const server = https.createServer({ cert, key }, (request, response) => {
    names.push((request.socket as TLSSocket & { servername?: unknown }).servername);
    response.end();
  });
  const { port } = await listening(server);
  const exchange = (host: string) => {
    const partner = { url: `https://${host}:${port}/hooks`, tls: { ca } };
    const lookup = {
      lookup: (_: string, __: unknown, done: (error: null, found: object[]) => void) =>
        done(null, [{ address: '127.0.0.1', family: 4 }]),
    };
    const prepared = {
      url: partner.url,
      method: 'POST',
      target: '/hooks',
      headers: [['Host', host]],
      body: Buffer.alloc(0),
    } as const;
    const change = { label: 'another name', serverName: 'another.example' };
    const limits = { timeoutMs: 10_000, bodyCapBytes: 10 };
    return connectedExchange(
      prepared,
      { ...partner, ...(lookup as object) },
      change,
      createIdentities(partner, {}, true),
      limits,
    );
  };
  expect((await exchange('localhost')).answer?.status).toBe(200);
  expect((await exchange('not-in-it.example')).error?.kind).toBe('tls-untrusted');
  expect(names).toEqual(['another.example']);
});

describe('connectedExchange with a session to resume', () => {
  it('connects without a session if the first connection is rejected', async () => {
    expect(await resumedWithout(0)).toEqual({
      status: undefined,
      error: 'tls',
      alert: 'handshake_failure',
      connections: 2,
    });
  });

  it('is not a rejection if the first connection gets no answer', async () => {
    expect(await resumedWithout(1)).toEqual({ status: undefined, error: 'timeout', alert: undefined, connections: 1 });
  });
});
