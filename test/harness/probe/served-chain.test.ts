import { connect as connectTcp } from 'node:net';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type IssuedCertificate, makeCertificate } from '../../../certs/index.ts';
import type { Partner } from '../../../harness/partner.ts';
import { fetchServedChain, type ServedChain } from '../../../harness/probe/index.ts';
import { flight, startScriptedTls } from '../../endpoints/scripted-tls.ts';
import { type Authority, authority, bundle, closedPort, httpsPort, leafOf, rawPort } from './servers.ts';

let test: Authority;
let unrelated: IssuedCertificate;
let client: IssuedCertificate;
let trusting: NonNullable<Partner['tls']>;

beforeAll(async () => {
  test = await authority();
  unrelated = (await authority('Unrelated')).root;
  client = await makeCertificate({ subject: 'CN=client', issuer: test.root, usages: ['clientAuth'] });
  trusting = { ca: test.root.cert };
});

function fetch(
  port: number,
  tls: Partner['tls'] = trusting,
  host = 'localhost',
  timeoutMs = 5_000,
): Promise<ServedChain> {
  const partner: Partner = { url: `https://${host}:${port}/hooks`, ...(tls !== undefined && { tls }) };
  return fetchServedChain(partner, { timeoutMs, address: '127.0.0.1' });
}

const derOf = (certificates: readonly { readonly der: Uint8Array }[]) =>
  certificates.map(({ der }) => Buffer.from(der));
const sentIn = ({ sent }: ServedChain) => sent.map((der) => Buffer.from(der));
const right = () => ({ cert: bundle(test.leaf, test.intermediate), key: test.leaf.key });

describe('over TLS 1.2', () => {
  it('returns the chain exactly as sent, in any order and with unrelated certificates', async () => {
    const { root, intermediate, leaf } = test;
    const lists = [
      [leaf],
      [leaf, intermediate],
      [leaf, intermediate, root],
      [leaf, root, intermediate],
      [leaf, unrelated, intermediate, intermediate],
    ];
    for (const list of lists) {
      const found = await fetch(await httpsPort({ cert: bundle(...list), key: leaf.key, maxVersion: 'TLSv1.2' }));
      expect(sentIn(found)).toEqual(derOf(list));
      expect(found).toMatchObject({ exact: true, error: null, clientCertificateRequested: false, authorities: [] });
    }
  });

  it('returns the same chain if the server also supports TLS 1.3', async () => {
    const found = await fetch(await httpsPort({ ...right(), ALPNProtocols: ['http/1.1'] }));
    expect(sentIn(found)).toEqual(derOf([test.leaf, test.intermediate]));
    expect(found).toEqual({
      sent: found.sent,
      exact: true,
      negotiated: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', alpn: 'http/1.1' },
      oracle: { code: null, reason: null },
      clientCertificateRequested: false,
      authorities: [],
      error: null,
    });
  });

  it('returns the chain of a TLS 1.0 server, with which the sender does not connect', async () => {
    const old = { maxVersion: 'TLSv1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const found = await fetch(await httpsPort({ ...right(), ...old }));
    expect(sentIn(found)).toEqual(derOf([test.leaf, test.intermediate]));
    expect(found).toMatchObject({ exact: true, negotiated: null, oracle: null, error: { kind: 'tls' } });
  });

  it('reports whether a client certificate is requested, and its CAs', async () => {
    const options = { ...right(), maxVersion: 'TLSv1.2', requestCert: true, rejectUnauthorized: false } as const;
    const found = await fetch(await httpsPort({ ...options, ca: bundle(test.root, unrelated) }));
    expect(found.clientCertificateRequested).toBe(true);
    expect([...found.authorities].sort()).toEqual(['CN=Test Root, O=Example', 'CN=Unrelated Root, O=Example']);
  });
});

describe('a flight that is cut off', () => {
  it('keeps the certificates, and leaves open whether a client certificate is requested', async () => {
    const certificates = [test.leaf.der, test.intermediate.der];
    const send = flight({ version: 'TLSv1.2', suite: 0xc02b, certificates, unfinished: true });
    const server = await startScriptedTls({ accept: () => ({ send, andThen: 'close' }) });
    onTestFinished(server.close);
    const found = await fetch(server.port);
    expect(sentIn(found)).toEqual(derOf([test.leaf, test.intermediate]));
    expect(found).toMatchObject({
      exact: true,
      clientCertificateRequested: null,
      oracle: null,
      error: { kind: 'tls' },
    });
  });
});

describe('over TLS 1.3 only', () => {
  const only13 = () => ({ ...right(), minVersion: 'TLSv1.3' }) as const;

  it('returns the chain exactly as sent, in any order and with unrelated certificates', async () => {
    const { root, intermediate, leaf } = test;
    const lists = [
      [leaf, intermediate],
      [leaf, intermediate, root],
      [leaf, root, intermediate],
      [leaf, unrelated, intermediate, intermediate],
    ];
    for (const list of lists) {
      const found = await fetch(await httpsPort({ cert: bundle(...list), key: leaf.key, minVersion: 'TLSv1.3' }));
      expect(sentIn(found)).toEqual(derOf(list));
      expect(found).toMatchObject({
        exact: true,
        oracle: { code: null, reason: null },
        negotiated: { version: 'TLSv1.3' },
        clientCertificateRequested: null,
        authorities: [],
        error: null,
      });
    }
  });

  it('returns an issuer that is not a CA', async () => {
    const issuer = await makeCertificate({ subject: 'CN=no authority', issuer: test.root, authority: false });
    const leaf = await leafOf(issuer);
    const found = await fetch(await httpsPort({ ...only13(), cert: bundle(leaf, issuer), key: leaf.key }));
    expect(sentIn(found)).toEqual(derOf([leaf, issuer]));
  });

  it('returns a single certificate alone', async () => {
    const found = await fetch(await httpsPort({ ...only13(), cert: test.leaf.cert }));
    expect(sentIn(found)).toEqual(derOf([test.leaf]));
    expect(found.oracle?.code).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });
});

describe('a server that requires a client certificate', () => {
  const strict = (maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
    ({
      ...right(),
      requestCert: true,
      rejectUnauthorized: true,
      ca: test.root.cert,
      maxVersion,
      minVersion: maxVersion,
    }) as const;

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: shows its chain to a client without a certificate', async (version) => {
    const found = await fetch(await httpsPort(strict(version)));
    expect(sentIn(found)).toEqual(derOf([test.leaf, test.intermediate]));
    expect(found.exact).toBe(true);
    // With TLS 1.3, the server rejects only after the client has finished.
    if (version === 'TLSv1.2') {
      expect(found).toMatchObject({ negotiated: null, oracle: null, error: { kind: 'tls' } });
      expect(found).toMatchObject({ clientCertificateRequested: true, authorities: ['CN=Test Root, O=Example'] });
    } else expect(found).toMatchObject({ error: null, oracle: { code: null }, clientCertificateRequested: null });
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: accepts a client with the correct certificate', async (version) => {
    const found = await fetch(await httpsPort(strict(version)), {
      ...trusting,
      clientCert: client.cert,
      clientKey: client.key,
    });
    expect(sentIn(found)).toEqual(derOf([test.leaf, test.intermediate]));
    expect(found).toMatchObject({ error: null, oracle: { code: null, reason: null }, negotiated: { version } });
  });
});

describe('the oracle', () => {
  it.each<[string, string, () => Promise<IssuedCertificate> | IssuedCertificate, RegExp]>([
    ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT', () => leafOf(null), /self-signed/],
    [
      'another name',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      () => leafOf(test.intermediate, ['other.example']),
      /not for the name.*other\.example/,
    ],
    ['an unknown issuer', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', () => leafOf(unrelated), /not trusted/],
  ])('%s: has a code and a reason', async (_what, code, make, sentence) => {
    const made = await make();
    for (const minVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const found = await fetch(await httpsPort({ cert: bundle(made, test.intermediate), key: made.key, minVersion }));
      expect(found.error).toBeNull();
      expect(found.oracle?.code).toBe(code);
      expect(found.oracle?.reason).toMatch(sentence);
      expect(sentIn(found)[0]).toEqual(Buffer.from(made.der));
    }
  });

  it('trusts only the roots of the system without an extra CA', async () => {
    expect((await fetch(await httpsPort(right()), {})).oracle?.code).toBe('UNABLE_TO_GET_ISSUER_CERT_LOCALLY');
  });

  it('checks the name in the URL, not the connected address', async () => {
    const made = await leafOf(test.intermediate, ['hooks.example']);
    const port = await httpsPort({ cert: bundle(made, test.intermediate), key: made.key });
    expect((await fetch(port, trusting, 'hooks.example')).oracle?.code).toBeNull();
    expect((await fetch(port, trusting, 'localhost')).oracle?.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect((await fetch(port, trusting, '127.0.0.1')).oracle?.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    const addressed = await leafOf(test.intermediate, ['127.0.0.1']);
    const other = await httpsPort({ cert: bundle(addressed, test.intermediate), key: addressed.key });
    expect((await fetch(other, trusting, '127.0.0.1')).oracle?.code).toBeNull();
    expect((await fetch(other, trusting, '127.0.0.2')).oracle?.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });
});

describe('the server name', () => {
  it('is sent for names and not for addresses', async () => {
    for (const [host, expected] of [
      ['hooks.example', 'hooks.example'],
      ['127.0.0.1', null],
    ] as const) {
      const server = await startScriptedTls({
        accept: () => ({ send: flight({ version: 'TLSv1.2', suite: 5 }), andThen: 'close' }),
      });
      onTestFinished(server.close);
      await fetch(server.port, trusting, host);
      expect(server.hellos.length).toBeGreaterThanOrEqual(2);
      expect(server.hellos.map(({ serverName }) => serverName)).toEqual(server.hellos.map(() => expected));
    }
  });
});

describe('an endpoint without certificates', () => {
  const nothing = { sent: [], exact: false, negotiated: null, oracle: null, clientCertificateRequested: null };

  it('refuses the connection', async () => {
    expect(await fetch(await closedPort())).toMatchObject({ ...nothing, error: { kind: 'refused' } });
  });

  it('speaks plain HTTP', async () => {
    const port = await rawPort((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect(await fetch(port)).toMatchObject({
      ...nothing,
      error: { kind: 'tls', message: expect.stringMatching(/not speak TLS/) },
    });
  });

  it('stays silent', async () => {
    let connections = 0;
    const port = await rawPort((socket) => {
      connections += 1;
      socket.resume();
    });
    expect(await fetch(port, trusting, 'localhost', 100)).toMatchObject({ ...nothing, error: { kind: 'timeout' } });
    expect(connections).toBe(2);
  });

  it('is abandoned when the signal is aborted', async () => {
    const stop = new AbortController();
    const port = await rawPort((socket) => socket.once('data', () => stop.abort()));
    const url = `https://localhost:${port}/`;
    const found = await fetchServedChain({ url }, { timeoutMs: 5_000, signal: stop.signal, address: '127.0.0.1' });
    expect(found).toMatchObject({ ...nothing, error: { kind: 'local' } });
  });

  it('does not resolve', async () => {
    const found = await fetchServedChain({ url: 'https://nowhere.invalid/' }, { timeoutMs: 5_000 });
    expect(found).toMatchObject({ ...nothing, error: { kind: 'dns' } });
  });

  it('never ends its flight', async () => {
    const backend = await httpsPort(right());
    const port = await rawPort((socket) => {
      const peer = connectTcp(backend, '127.0.0.1');
      peer.on('error', () => undefined);
      socket.on('close', () => peer.destroy());
      socket.pipe(peer);
    });
    expect(await fetch(port, trusting, 'localhost', 100)).toMatchObject({ ...nothing, error: { kind: 'timeout' } });
  });
});
