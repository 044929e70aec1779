import { createServer, get, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isIP } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHAIN_FAULTS, type ChainFaultCode } from '../../../contract/index.ts';
import { type Authorities, analyse, codes, HOST, makeAuthorities, type Sent } from './authorities.ts';
import { CHAINS } from './chains.ts';

let made: Authorities;
beforeAll(async () => {
  made = await makeAuthorities();
});

async function serve(sent: readonly Sent[]): Promise<Server> {
  const [leaf] = sent;
  const server = createServer(
    // Security level 0 allows the server to use what a client must reject.
    { key: leaf!.key, cert: sent.map(({ cert }) => cert).join(''), ciphers: 'DEFAULT@SECLEVEL=0' },
    (_, response) => response.end('ok'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Returns the verdict of Node's client with these roots: the code of its error, or null. */
function askNode(server: Server, host: string, trusted: readonly Pick<Sent, 'cert'>[]): Promise<string | null> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => {
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const request = get({ host: '127.0.0.1', port, ...servername, ca: trusted.map(({ cert }) => cert), agent: false });
    request.on('response', (response) => {
      response.resume();
      resolve(null);
    });
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

describe('a real server, Node as the client, and the analysis', () => {
  it.each(Object.entries(CHAINS))('%s', async (_, chain) => {
    const { host = HOST } = chain;
    const sent = await chain.sent(made);
    const trusted = (await chain.trusted?.(made)) ?? [made.root];
    const server = await serve(sent);
    try {
      const oracle = await askNode(server, host, trusted);
      const asked = analyse(sent, { trusted, host, oracle });
      const alone = analyse(sent, { trusted, host });
      expect({ node: oracle, faults: codes(asked) }).toEqual({ node: chain.node, faults: chain.faults });
      // Node's verdict adds only what OpenSSL alone can know.
      expect(codes(alone)).toEqual(chain.faults.filter((fault) => fault !== 'unexplained@null'));
      for (const { text } of asked.faults) expect(text).not.toMatch(/undefined|\[object|null\b/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('show every fault at least once, except what cannot be served', () => {
    const shown = new Set(Object.values(CHAINS).flatMap(({ faults }) => faults.map((fault) => fault.split('@')[0])));
    const rest = (Object.keys(CHAIN_FAULTS) as ChainFaultCode[]).filter((code) => !shown.has(code));
    expect(rest).toEqual(['unreadable']);
    expect(Object.keys(CHAINS).length).toBeGreaterThan(50);
  });
});
