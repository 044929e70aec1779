import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { clientMaterial, serverFixture } from '../../../certs/index.ts';
import { run } from '../../../harness/run/index.ts';

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

type Check = (socket: TLSSocket, headers: Record<string, unknown>) => boolean;

/** Runs the suites of TLS against a server of Node's own that answers 200 where `check` says so and 401 elsewhere. */
async function diagnosisOf(options: ServerOptions, check: Check, fixture: 'p256' | 'expired' = 'p256') {
  const served = await serverFixture(fixture);
  const client = await clientMaterial('right');
  const server = createServer(
    { cert: served.cert, key: served.key, ca: client.authority, ...options },
    (request, response) => {
      response.statusCode = check(request.socket as TLSSocket, request.headers) ? 200 : 401;
      request.resume().on('end', () => response.end());
    },
  );
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const document = await run({
    partner: {
      url: `https://localhost:${(server.address() as AddressInfo).port}/`,
      tls: { ca: served.ca, clientCert: client.cert, clientKey: client.key },
    },
    selection: { suites: ['tls', 'mtls'] },
    limits: { timeoutMs: 3000 },
  });
  // What else comes near is said too (`or`).
  const said = document.diagnosis.filter(({ relation }) => relation !== 'or');
  return { verdict: document.verdict, faults: said.map(({ fault }) => fault) };
}

/** Before Node 24, a server has `authorized` true for a resumed session, with or without a certificate. */
const TRUSTS_RESUMED = Number(process.versions.node.split('.')[0]) < 24;

const asks = { requestCert: true, rejectUnauthorized: false };
const hasCertificate = (socket: TLSSocket) => Object.keys(socket.getPeerCertificate()).length > 0;

describe('what the endpoint behaves like over mutual TLS', () => {
  it.each<[string, ServerOptions, Check, string[]]>([
    ['a right one', { requestCert: true, rejectUnauthorized: true }, () => true, []],
    ['one that never asks', {}, () => true, ['client-certificate-never-asked-for']],
    ['one that asks and does not look', asks, () => true, ['client-certificate-asked-for-only']],
    ['one that takes any', asks, hasCertificate, ['client-certificate-presence-is-enough']],
    [
      'one that believes a header',
      asks,
      (socket, headers) => socket.authorized || headers['x-ssl-client-verify'] === 'SUCCESS',
      ['x-ssl-client-headers-trusted', ...(TRUSTS_RESUMED ? ['authorized-flag-believed'] : [])],
    ],
  ])('%s', async (_name, options, check, faults) => {
    const found = await diagnosisOf(options, check);
    expect(found).toEqual({ verdict: faults.length === 0 ? 'conformant' : 'nonconformant', faults });
  });

  it('names the fault of a certificate that is not trusted', async () => {
    const found = await diagnosisOf({ requestCert: true }, () => true, 'expired');
    expect(found).toEqual({ verdict: 'nonconformant', faults: ['serves-expired-certificate'] });
  });
});

describe('an endpoint that turns away the first delivery', () => {
  const versions = [undefined, 'TLSv1.2', 'TLSv1.3'] as const;

  async function firstFault(version: (typeof versions)[number], name: 'none' | 'unknown-authority' | 'expired') {
    const served = await serverFixture('p256');
    const { authority } = await clientMaterial('right');
    const limits = version === undefined ? {} : { minVersion: version, maxVersion: version };
    const server = createServer(
      { cert: served.cert, key: served.key, ca: authority, requestCert: true, rejectUnauthorized: true, ...limits },
      (request, response) => request.resume().on('end', () => response.end()),
    );
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = name === 'none' ? undefined : await clientMaterial(name);
    const document = await run({
      partner: {
        url: `https://localhost:${(server.address() as AddressInfo).port}/`,
        tls: { ca: served.ca, ...(client && { clientCert: client.cert, clientKey: client.key }) },
      },
      selection: { suites: ['tls', 'valid'] },
      limits: { timeoutMs: 3000 },
    });
    return document.diagnosis.map(({ fault }) => fault);
  }

  it.each(versions)('for want of a certificate, over %s', async (version) => {
    expect(await firstFault(version, 'none')).toEqual(['client-certificate-wanted']);
  });

  it.each([undefined, 'TLSv1.2'] as const)('for a wrong certificate, over %s', async (version) => {
    expect(await firstFault(version, 'unknown-authority')).toEqual(['client-certificate-refused']);
    expect(await firstFault(version, 'expired')).toEqual(['client-certificate-refused']);
  });

  it('for a reason that TLS 1.3 alone does not show', async () => {
    expect(await firstFault('TLSv1.3', 'unknown-authority')).toEqual(['closes-without-answer']);
  });
});
