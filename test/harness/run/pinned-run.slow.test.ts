/** A run resolves the name of the endpoint only once, and uses that address throughout. */
import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeWorkingSet } from '../../../certs/index.ts';
import { run } from '../../../harness/run/index.ts';
import type { Resolve } from '../../../harness/transport/index.ts';
import { startReceiver } from '../../../receiver/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';

const secret = randomBytes(32).toString('base64');

/** Listens until the end of the test. Returns a URL with a host name and the port. */
async function urlOf(listener: RequestListener): Promise<string> {
  const { port, close } = await serve(listener);
  onTestFinished(close);
  return `http://partner.example:${port}/hooks`;
}

/** Resolves to this machine the first time, and then to an address that must not be reached. */
function rebinding(): Resolve & { calls(): number } {
  let calls = 0;
  const resolve: Resolve = async () => {
    calls += 1;
    return [{ address: calls === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }];
  };
  return Object.assign(resolve, { calls: () => calls });
}

describe('a run against a name', () => {
  it('resolves it once, and sends it as Host', async () => {
    const hosts = new Set<string | undefined>();
    const verify = verifying((body) => hmacOf(secret, body).toString('base64'));
    const url = await urlOf((request, response) => {
      hosts.add(request.headers.host);
      verify(request, response);
    });
    const resolve = rebinding();
    const { results, counts } = await run({
      partner: { url, signing: { secret } },
      selection: { suites: ['signature', 'http'] },
      resolve,
      limits: { timeoutMs: 2_000, recoveryMs: 500 },
    });
    expect(resolve.calls()).toBe(1);
    expect(results.filter(({ reason }) => /resolve|route|169\.254/.test(reason))).toEqual([]);
    expect(counts.pass).toBeGreaterThan(100);
    expect([...hosts]).toContain(new URL(url).host);
  });

  it('uses the same address for every connection over TLS, and the name for SNI and the certificate', async () => {
    const set = {
      directory: '.',
      hosts: ['partner.example'],
      days: 60,
      key: 'p256',
      clientName: 'pinned',
      keepCaKeys: false,
    } as const;
    const { files } = await makeWorkingSet(set);
    const pem = (name: string) => files.find((file) => file.name === name)?.text ?? '';
    const receiver = await startReceiver({
      signing: { secrets: [secret] },
      tls: {
        cert: pem('server.pem'),
        key: pem('server-key.pem'),
        ca: pem('client-ca.pem'),
        clientCertificate: 'required',
      },
      clientCertificate: { from: 'connection', allowed: ['pinned'] },
      host: '127.0.0.1',
      port: 0,
    });
    onTestFinished(() => receiver.close());
    const resolve = rebinding();
    const document = await run({
      partner: {
        url: `https://partner.example:${new URL(receiver.url).port}/hooks`,
        signing: { secret },
        tls: { ca: pem('ca.pem'), clientCert: pem('client.pem'), clientKey: pem('client-key.pem') },
      },
      selection: { suites: ['tls', 'mtls', 'http'] },
      resolve,
      limits: { timeoutMs: 5_000 },
    });
    const bad = document.results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
    expect(bad.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([]);
    expect({ verdict: document.verdict, calls: resolve.calls() }).toEqual({ verdict: 'conformant', calls: 1 });
  });

  it('sends nothing to an address that is not allowed', async () => {
    const partner = { url: 'http://partner.example/hooks', signing: { secret } };
    const resolve: Resolve = async () => [{ address: '10.0.0.1', family: 4 }];
    const begun = run({ partner, resolve, addresses: { reach: 'public-only' } });
    await expect(begun).rejects.toMatchObject({ code: 'ENDPOINT_ADDRESS_REFUSED', kind: 'usage' });
  });

  it('has no verdict when the name does not resolve', async () => {
    const resolve: Resolve = async () => {
      throw Object.assign(new Error(), { code: 'ENOTFOUND' });
    };
    const { verdict, results } = await run({
      partner: { url: 'http://partner.example/hooks', signing: { secret } },
      resolve,
    });
    expect(verdict).toBe('inconclusive');
    expect(results.find(({ id }) => id === 'valid/plain')?.reason).toContain(
      'the host name partner.example does not resolve',
    );
  });

  it('lists the addresses of the name that deliveries are not allowed to go to', async () => {
    const url = await urlOf((_request, response) => response.end());
    const resolve: Resolve = async () => ['127.0.0.1', '169.254.169.254'].map((address) => ({ address, family: 4 }));
    const { advice } = await run({
      partner: { url, signing: { secret } },
      selection: { scenarios: ['valid/plain'] },
      resolve,
    });
    expect(advice).toEqual([
      'partner.example also has addresses to which no deliveries may go (169.254.169.254); ' +
        'the run used 127.0.0.1.',
    ]);
  });
});
