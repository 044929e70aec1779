import { createPrivateKey, X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeCertificate } from '../../../certs/index.ts';
import type { Partner } from '../../../harness/partner.ts';
import { createSender, deliver, type Sender } from '../../../harness/sender/index.ts';
import {
  type Attempt,
  type Connections,
  checkTlsMaterial,
  createConnections,
  exchange,
  tlsOptionsFor,
} from '../../../harness/transport/index.ts';
import { LOADS_SHA1, REFUSES_WEAK_KEYS } from '../../setup/node-openssl.ts';
import { certificate, httpsServer, ok, type Pair, replying, request } from './servers.ts';

const DAY = 86_400_000;
const daysFromNow = (days: number) => new Date(Date.now() + days * DAY);

let root: Pair;
let leaf: Pair;
let clientCa: Pair;
let client: Pair;

beforeAll(async () => {
  root = await certificate('test root', { isCa: true });
  leaf = await certificate('localhost', { ca: root });
  clientCa = await certificate('client root', { isCa: true });
  client = await certificate('client', { ca: clientCa });
});

async function attempt(port: number, tls?: Partner['tls']): Promise<Attempt> {
  return await deliver(request(`https://localhost:${port}/`), tls === undefined ? {} : { tls });
}

it('offers HTTP/1.1 and no other protocol, on kept and on raw connections alike', async () => {
  expect(tlsOptionsFor({}).ALPNProtocols).toEqual(['http/1.1']);
  const offered = httpsServer({ ...leaf, ALPNProtocols: ['h2'] });
  const { error } = await attempt(await offered, { ca: root.cert });
  expect(error).toMatchObject({ kind: 'tls', alert: 'no_application_protocol' });
});

it('names the host to the server, unless the URL has an address', async () => {
  const names: string[] = [];
  const port = await httpsServer({
    ...leaf,
    SNICallback: (name, done) => {
      names.push(name);
      done(null);
    },
  });
  await attempt(port, { ca: root.cert });
  await deliver(request(`https://127.0.0.1:${port}/`), { tls: { ca: root.cert } });
  expect(names).toEqual(['localhost']);
});

describe('the certificate of the endpoint', () => {
  it('is trusted through the extra CA, in addition to the roots of the system', async () => {
    const { answer, timings } = await attempt(await httpsServer(leaf), { ca: root.cert });
    expect(answer?.status).toBe(200);
    expect(timings.tlsMs).toBeGreaterThan(timings.connectMs ?? Number.NaN);
    expect(timings.firstByteMs).toBeGreaterThan(timings.tlsMs ?? Number.NaN);
  });

  it.each([
    ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT', () => certificate('localhost'), /self-signed/],
    ['of an unknown authority', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', async () => leaf, /intermediate.*not trusted/],
    [
      'of an unknown CA that is sent along',
      'SELF_SIGNED_CERT_IN_CHAIN',
      async () => ({ ...leaf, cert: `${leaf.cert}\n${root.cert}` }),
      /root CA/,
    ],
  ])('is not trusted: %s', async (_what, code, make, sentence) => {
    const { answer, error, timings } = await attempt(await httpsServer(await make()));
    expect({ answer, error }).toMatchObject({ answer: null, error: { kind: 'tls-untrusted', phase: 'tls', code } });
    expect(error?.message).toMatch(sentence);
    expect([timings.connectMs === null, timings.firstByteMs]).toEqual([false, null]);
  });

  it.each([
    [
      'has expired',
      'CERT_HAS_EXPIRED',
      () => certificate('localhost', { ca: root, from: daysFromNow(-9), to: daysFromNow(-1) }),
      /has expired/,
    ],
    [
      'is not valid yet',
      'CERT_NOT_YET_VALID',
      () => certificate('localhost', { ca: root, from: daysFromNow(2), to: daysFromNow(9) }),
      /not valid yet/,
    ],
    [
      'is for another host',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      () => certificate('other.example', { ca: root, names: ['other.example'] }),
      /not for the name.*other\.example/,
    ],
  ])('is issued by a trusted CA and %s', async (_what, code, make, sentence) => {
    const { error } = await attempt(await httpsServer(await make()), { ca: root.cert });
    expect(error).toMatchObject({ kind: 'tls-untrusted', phase: 'tls', code });
    expect(error?.message).toMatch(sentence);
  });

  it('is verified even when the environment says otherwise', async () => {
    const port = await httpsServer(leaf);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      expect((await attempt(port)).error?.kind).toBe('tls-untrusted');
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

/** All the ways in which the transport opens a connection: kept, new, and with the agent of Node's client. */
const WAYS: readonly [string, (port: number, tls: Partner['tls']) => Promise<Attempt>][] = [
  ['of a sender that keeps connections', (port, tls) => sendWith(createSender({ tls }), port)],
  ['of a sender that does not', (port, tls) => sendWith(createSender({ tls, keepAlive: false }), port)],
  ['of an agent', (port, tls) => exchangeWith(createConnections({ tls, keepAlive: false }), port)],
];

async function sendWith(sender: Sender, port: number): Promise<Attempt> {
  onTestFinished(() => sender.close());
  return await sender.deliver(request(`https://localhost:${port}/`));
}

async function exchangeWith(connections: Connections, port: number): Promise<Attempt> {
  onTestFinished(() => connections.close());
  const prepared = request(`https://localhost:${port}/`);
  return await exchange(prepared, { agent: connections.agentFor(prepared.url) });
}

describe.each(WAYS)('a connection %s', (_way, attemptAt) => {
  it('is verified again after others to the same name, and each leaf by what it contains', async () => {
    const tls = { ca: root.cert };
    const other = await certificate('other.example', { ca: root, names: ['other.example'] });
    const expired = await certificate('localhost', { ca: root, from: daysFromNow(-9), to: daysFromNow(-1) });
    const outcomes: unknown[] = [];
    for (const pair of [leaf, other, leaf, expired, await certificate('localhost'), leaf]) {
      const { answer, error } = await attemptAt(await httpsServer(pair), tls);
      outcomes.push(answer?.status ?? error?.code);
    }
    expect(outcomes).toEqual([
      200,
      'ERR_TLS_CERT_ALTNAME_INVALID',
      200,
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      200,
    ]);
  });

  it('is refused for the name of an issuer that the endpoint sends along', async () => {
    const issuer = await certificate('localhost', { isCa: true, ca: root, names: ['localhost'] });
    const other = await certificate('other.example', { ca: issuer, names: ['other.example'] });
    const server = httpsServer({ ...other, cert: `${other.cert}\n${issuer.cert}` });
    const { error } = await attemptAt(await server, { ca: root.cert });
    expect(error).toMatchObject({ kind: 'tls-untrusted', code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('translates the leaf alone', async () => {
    const detailed = vi.spyOn(TLSSocket.prototype, 'getPeerCertificate');
    onTestFinished(() => detailed.mockRestore());
    expect((await attemptAt(await httpsServer(leaf), { ca: root.cert })).answer?.status).toBe(200);
    expect(detailed.mock.calls).toEqual([[false]]);
  });
});

describe('the handshake', () => {
  it('fails at a port that speaks plain HTTP', async () => {
    const url = await replying('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect((await deliver(request(url.replace('http:', 'https:')))).error).toMatchObject({
      kind: 'tls',
      phase: 'tls',
      message: 'The endpoint does not speak TLS on this port.',
    });
  });

  it('fails at a server that has only TLS 1.1, and works with 1.2', async () => {
    const old = { ...leaf, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect((await attempt(await httpsServer(old), { ca: root.cert })).error).toMatchObject({
      kind: 'tls',
      phase: 'tls',
    });
    const enough = { ...leaf, maxVersion: 'TLSv1.2' } as const;
    expect((await attempt(await httpsServer(enough), { ca: root.cert })).answer?.status).toBe(200);
  });
});

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a client certificate over %s', (version) => {
  const mutual = () =>
    httpsServer(
      {
        ...leaf,
        ca: clientCa.cert,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: version,
        maxVersion: version,
      },
      ok,
    );

  it('is presented', async () => {
    const tls = { ca: root.cert, clientCert: client.cert, clientKey: client.key };
    expect((await attempt(await mutual(), tls)).answer?.status).toBe(200);
  });

  it('is missing, which the endpoint refuses with an alert', async () => {
    const { error } = await attempt(await mutual(), { ca: root.cert });
    expect(error).toMatchObject({ kind: 'tls', phase: 'tls' });
    expect(error?.message).toMatch(/client certificate/);
  });

  it('is of another authority, which a Node server refuses by closing', async () => {
    const other = await certificate('other client');
    const { answer, error } = await attempt(await mutual(), {
      ca: root.cert,
      clientCert: other.cert,
      clientKey: other.key,
    });
    expect(answer).toBeNull();
    expect(error?.kind).toBe(version === 'TLSv1.2' ? 'tls' : 'reset');
  });
});

const encrypted = (key: string, passphrase: string) =>
  createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString();

describe('TLS material', () => {
  it('may have an encrypted key with its passphrase', async () => {
    const port = await httpsServer({ ...leaf, ca: clientCa.cert, requestCert: true, rejectUnauthorized: true });
    const clientKey = encrypted(client.key, 'open');
    const tls = { ca: root.cert, clientCert: client.cert, clientKey, passphrase: 'open' };
    expect((await attempt(port, tls)).answer?.status).toBe(200);
  });

  it('may have an encrypted key only with its passphrase', () => {
    const clientKey = encrypted(client.key, 'open');
    for (const passphrase of [undefined, 'other']) {
      const make = () =>
        createSender({ tls: { clientCert: client.cert, clientKey, ...(passphrase && { passphrase }) } });
      expect(make).toThrow('The client key is encrypted and cannot be decrypted.');
    }
  });

  it('may have a client certificate up to the time when it expires', async () => {
    const { cert, key } = await certificate('client', { from: daysFromNow(-2), to: daysFromNow(1) });
    const end = Date.parse(new X509Certificate(cert).validTo);
    const advice = () => checkTlsMaterial({ clientCert: cert, clientKey: key });
    vi.useFakeTimers({ toFake: ['Date'], now: end });
    try {
      expect(advice()).toEqual([]);
      vi.setSystemTime(end + 1);
      expect(advice()).toEqual([expect.stringMatching(/^The client certificate expired on /)]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('makes one context for a partner, however often it is used', () => {
    const tls = { ca: root.cert };
    expect(tlsOptionsFor({ tls })).toBe(tlsOptionsFor({ tls }));
    expect(tlsOptionsFor({})).toBe(tlsOptionsFor({}));
    expect(tlsOptionsFor({ tls })).not.toBe(tlsOptionsFor({}));
  });

  it('that cannot be used stops the sender from being made', () => {
    const make = () => createSender({ tls: { clientCert: client.cert, clientKey: 'nonsense' } });
    expect(make).toThrow(expect.objectContaining({ code: 'PARTNER_TLS', kind: 'usage' }));
  });

  // Some builds of Node 22 accept every certificate that these tests create.
  it.skipIf(LOADS_SHA1 && !REFUSES_WEAK_KEYS)('that OpenSSL does not accept is rejected with its reason', async () => {
    const issuer = await makeCertificate({ subject: 'CN=authority', authority: true });
    const weak = REFUSES_WEAK_KEYS ? ({ key: 'rsa1024' } as const) : ({ hash: 'SHA-1' } as const);
    const { cert, key } = await makeCertificate({ subject: 'CN=client', issuer, ...weak });
    const make = () => tlsOptionsFor({ tls: { clientCert: cert, clientKey: key } });
    expect(make).toThrow(
      expect.objectContaining({
        code: 'PARTNER_TLS',
        message: 'OpenSSL does not accept the client certificate or the extra CA.',
        hint: 'Use certificates for RSA with 2048 bits or more, or ECDSA on P-256, signed with SHA-256.',
        cause: expect.objectContaining({ message: expect.stringMatching(/md too weak|key too small/) }),
      }),
    );
  });

  it('is used on a fresh connection for each exchange when none is kept', async () => {
    let sessions = 0;
    const port = await httpsServer(leaf, (incoming, response) => {
      if ('isSessionReused' in incoming.socket && (incoming.socket as { isSessionReused(): boolean }).isSessionReused())
        sessions += 1;
      ok(incoming, response);
    });
    const connections = createConnections({ keepAlive: false, tls: { ca: root.cert } });
    const prepared = request(`https://localhost:${port}/`);
    for (let turn = 0; turn < 3; turn++) {
      const { answer, timings } = await exchange(prepared, { agent: connections.agentFor(prepared.url) });
      expect([answer?.status, timings.reused, timings.tlsMs === null]).toEqual([200, false, false]);
    }
    expect(sessions).toBe(0);
  });
});
