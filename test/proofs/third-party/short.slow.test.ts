import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startReceiver } from '../../../receiver/index.ts';
import { type Facts, isBypass, stateOf } from './facts.ts';
import { probe } from './prober.ts';

const CREDENTIALS = { secret: 'a secret of thirty-two characters', apiKey: 'an-api-key-of-the-partner' };
const DEFAULTS = { signatureHeader: 'X-Service-Signature', headers: {}, revive: async () => false, ...CREDENTIALS };

function broken(facts: Facts): string[] {
  return [...facts].filter(([fact, outcome]) => stateOf(fact, outcome, facts) === 'broken').map(([fact]) => fact);
}

// The prober waits between requests, which takes longer on a busy machine.
describe('the prober', () => {
  it('finds nothing wrong with the reference receiver', async () => {
    const { secret, apiKey } = CREDENTIALS;
    const receiver = await startReceiver({ signing: { secrets: [secret] }, apiKey: { keys: [apiKey] } });
    const { port, pathname } = new URL(receiver.url);
    const facts = await probe({ ...DEFAULTS, port: Number(port), path: pathname });
    await receiver.close();
    expect(broken(facts)).toEqual([]);
    expect(facts.get('unsigned/json')).toEqual({ result: 'rejected', how: '401' });
  });

  it('finds every forgery that a server accepts', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const facts = await probe({ ...DEFAULTS, port: (server.address() as AddressInfo).port, path: '/hooks' });
    server.close();
    const bypasses = [...facts].filter(([fact, outcome]) => isBypass(fact, outcome, facts)).map(([fact]) => fact);
    expect(bypasses).toEqual(
      expect.arrayContaining(['unsigned/json', 'forged/random', 'keyless/json', 'wrong-key/short']),
    );
    expect(bypasses).toEqual(expect.arrayContaining(['unsigned/type-text', 'forged/gzip', 'keyless/put']));
  });
});
