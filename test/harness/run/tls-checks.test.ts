import https from 'node:https';
import { afterAll, expect, it } from 'vitest';
import { serverFixture } from '../../../certs/index.ts';
import { isSending, planScenarios } from '../../../harness/run/plan.ts';
import { inspectWhenNeeded } from '../../../harness/run/tls-checks.ts';
import { findScenario } from '../../../scenarios/index.ts';
import { type Endpoint, listen } from '../../endpoints/listen.ts';
import { contextOf } from './parts.ts';

const open: Endpoint[] = [];
afterAll(() => Promise.all(open.map((endpoint) => endpoint.close())));

const ID = 'mtls/other-server-names';

/** Returns the other names of an endpoint with this host. The certificate is for localhost and 127.0.0.1. */
async function otherNames(host: string) {
  const { cert, key, ca } = await serverFixture('p256');
  const endpoint = await listen(https.createServer({ cert, key }));
  open.push(endpoint);
  const context = contextOf({
    url: `https://${host}:${endpoint.port}/hooks`,
    tls: { ca },
    lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const selection = { suites: [], scenarios: [ID], greps: [], shard: null };
  const planned = planScenarios({ features: ['https', 'mtls'], isExposed: false }, selection).filter(isSending);
  const tls = await inspectWhenNeeded(context, planned, {});
  return { context, names: tls?.otherServerNames };
}

it.each([
  ['127.0.0.1', ['localhost']],
  ['localhost', []],
  ['hooks.partner.example', ['hookproof-test.partner.example', 'localhost']],
])('the other server names of %s are a sibling and those of its certificate', async (host, expected) => {
  expect((await otherNames(host)).names).toEqual(expected);
});

it('each is tried without a client certificate, and a random one last', () => {
  const scenario = findScenario(ID);
  const kit = { otherServerNames: ['www.partner.example'], nonce: () => 'random' };
  const deliveries = scenario !== undefined && 'flow' in scenario ? scenario.flow(kit as never).flat() : [];
  expect(deliveries.map(({ label }) => label)).toEqual([
    'the server name www.partner.example (SNI)',
    'a random server name (SNI)',
  ]);
  expect(deliveries.map(({ change }) => change.connect)).toMatchObject([
    { serverName: 'www.partner.example', clientCertificate: 'none' },
    { serverName: 'random.example', clientCertificate: 'none' },
  ]);
});
