import { createServer, type ServerOptions } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serverFixture } from '../../../certs/index.ts';
import { run } from '../../../harness/run/index.ts';
import { type ClientMaterialName, clientMaterial } from '../../certs/client-material.ts';
import { listen } from '../../endpoints/listen.ts';

type Check = (socket: TLSSocket, headers: Record<string, unknown>) => boolean;

interface Setup {
  readonly options: ServerOptions;
  /** Decides whether the server answers 200 (400 to a body that is not JSON) or 401. */
  readonly check?: Check;
  readonly server?: 'p256' | 'expired';
  readonly client?: ClientMaterialName | null;
  readonly suites: readonly string[];
}

/** Returns the faults that a run finds in an HTTPS server of Node. */
async function faultsOf({ options, check = () => true, server = 'p256', client = 'right', suites }: Setup) {
  const served = await serverFixture(server);
  const { authority } = await clientMaterial('right');
  const https = createServer({ cert: served.cert, key: served.key, ca: authority, ...options }, (request, response) => {
    // The certificate is read before the body arrives, because the connection may be closed by then.
    const accepts = check(request.socket as TLSSocket, request.headers);
    json(request).then(
      () => response.writeHead(accepts ? 200 : 401).end(),
      () => response.writeHead(accepts ? 400 : 401).end(),
    );
  });
  const { port, close } = await listen(https);
  onTestFinished(close);
  const pair = client === null ? null : await clientMaterial(client);
  const { diagnosis } = await run({
    partner: {
      url: `https://localhost:${port}/`,
      tls: { ca: served.ca, ...(pair && { clientCert: pair.cert, clientKey: pair.key }) },
    },
    selection: { suites: [...suites] },
    limits: { timeoutMs: 3000 },
  });
  return diagnosis.map(({ fault }) => fault);
}

/** The type of the TLS record with which a handshake begins. */
const TLS_HANDSHAKE = 0x16;

const asks = { requestCert: true, rejectUnauthorized: false };
const requires = { requestCert: true, rejectUnauthorized: true };
const hasCertificate: Check = (socket) => Object.keys(socket.getPeerCertificate()).length > 0;
const trustsHeader: Check = (socket, headers) => socket.authorized || headers['x-ssl-client-verify'] === 'SUCCESS';

describe('the diagnosis over mutual TLS', () => {
  it.each<[string, Omit<Setup, 'suites'>, string[]]>([
    ['verifies the certificate', { options: requires }, []],
    // Only some suites run, so mistakes are named, but no mutants.
    ['never asks', { options: {} }, ['client-without-certificate-accepted']],
    ['asks and ignores the certificate', { options: asks }, ['client-without-certificate-accepted']],
    ['accepts any certificate', { options: asks, check: hasCertificate }, ['client-certificate-not-verified']],
    // Node reports a resumed session as authorized.
    [
      'trusts a header',
      { options: asks, check: trustsHeader },
      ['resumed-session-unverified', 'certificate-header-unprotected'],
    ],
    [
      'has an expired certificate',
      { options: { requestCert: true }, server: 'expired' },
      ['serves-expired-certificate'],
    ],
  ])('of an endpoint that %s', async (_, setup, faults) => {
    expect(await faultsOf({ ...setup, suites: ['tls', 'mtls'] })).toEqual(faults);
  });

  it.each<['TLSv1.2' | 'TLSv1.3' | null, ClientMaterialName | null, string]>([
    [null, null, 'client-certificate-wanted'],
    ['TLSv1.2', null, 'client-certificate-wanted'],
    ['TLSv1.3', null, 'client-certificate-wanted'],
    [null, 'unknown-authority', 'client-certificate-refused'],
    ['TLSv1.2', 'unknown-authority', 'client-certificate-refused'],
    [null, 'expired', 'client-certificate-refused'],
    ['TLSv1.2', 'expired', 'client-certificate-refused'],
    // TLS 1.3 alone does not show the reason.
    ['TLSv1.3', 'unknown-authority', 'closes-without-answer'],
  ])('of a first delivery that is rejected over %s with the certificate %s', async (version, client, fault) => {
    const options = { ...requires, ...(version && { minVersion: version, maxVersion: version }) };
    expect(await faultsOf({ options, client, suites: ['tls', 'valid'] })).toEqual([fault]);
  });

  it('of a TLS port in a URL with http, which answers plain HTTP with 400 as nginx does', async () => {
    const { cert, key } = await serverFixture('p256');
    const tls = await listen(createServer({ cert, key }));
    onTestFinished(tls.close);
    const front = createTcpServer((socket) => {
      socket.once('data', (data) => {
        if (data[0] !== TLS_HANDSHAKE) {
          socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
          return;
        }
        const behind = connect(tls.port, '127.0.0.1').on('error', () => socket.destroy());
        behind.write(data);
        socket.pipe(behind).pipe(socket);
      });
    });
    const { url, close } = await listen(front);
    onTestFinished(close);
    const { diagnosis } = await run({ partner: { url }, selection: { scenarios: ['valid/plain'] } });
    expect(diagnosis.map(({ fault }) => fault)).toEqual(['tls-on-port']);
  });
});
