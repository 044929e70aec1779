/** Mutual TLS: which clients are accepted in both modes and both versions, and how the others are rejected. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../certs/index.ts';
import { checkClientCertificate, createReceiver, type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { API_KEY, buy, post, SECRET } from './deliveries.ts';
import { collectLogs } from './logs.ts';
import { receiverForTest } from './raw-http.ts';
import { deliver, makeCertificates, only, presenting, VERSIONS } from './tls-clients.ts';

const { clientCa, clients, trust, material } = await makeCertificates();
const credentials = { signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] } };

/** Each client with the reason that is logged if its handshake is rejected. Null for accepted clients. */
const CLIENTS: [client: keyof typeof clients | 'none', reason: string | null][] = [
  ['none', 'no client certificate'],
  ['valid', null],
  ['rsa', null],
  ['self-signed', 'self-signed client certificate'],
  ['unknown CA', 'client certificate from an unknown CA'],
  ['CA of the same name', 'client certificate from an unknown CA'],
  ['expired', 'client certificate has expired'],
  ['not yet valid', 'client certificate is not valid yet'],
  ['for servers only', 'client certificate is not issued for client authentication'],
];
const CASES = VERSIONS.flatMap((version) => CLIENTS.map((row) => [version, ...row] as const));

describe.each(['required', 'optional'] as const)('a client certificate that is %s', (mode) => {
  const { logger, next } = collectLogs();
  let receiver: RunningReceiver;
  let wrongKey: unknown;
  beforeAll(async () => {
    const tls = { ...material, ca: clientCa.cert, clientCertificate: mode };
    receiver = await startReceiver({ ...credentials, tls, logger });
    wrongKey = await answerTo({ ...trust, ...presenting(clients.valid) }, { 'X-API-Key': 'wrong' });
    await next('delivery');
  });
  afterAll(() => receiver.close());

  async function answerTo(...given: [Parameters<typeof deliver>[1], Parameters<typeof deliver>[2]?]) {
    const { answer } = await deliver(receiver.port, ...given);
    return answer && { ...answer, headers: answer.headers.filter((line) => !line.startsWith('Date: ')) };
  }

  it.each(CASES)('%s, %s', async (version, client, reason) => {
    const answer = await answerTo({
      ...trust,
      ...only(version),
      ...(client !== 'none' && presenting(clients[client])),
    });
    if (reason === null) {
      expect(answer?.status).toBe(200);
      expect(await next('delivery')).toMatchObject({ outcome: 'accepted' });
    } else if (mode === 'required') {
      expect(answer).toBeNull();
      expect(await next('tls-refused')).toMatchObject({ reason, remoteAddress: '127.0.0.1' });
    } else {
      // The response is the same as to an invalid API key. Only the log contains the reason.
      expect(answer).toMatchObject({ status: 401, body: '{"error":"unauthorized"}' });
      expect(answer).toEqual(wrongKey);
      const logged = `client-certificate-${client === 'none' ? 'missing' : `untrusted (${reason})`}`;
      expect(await next('delivery')).toMatchObject({ outcome: 'refused', reason: logged });
    }
  });

  it.each(CASES)('%s, %s, on a resumed session', async (version, client, reason) => {
    const without = { ...trust, ...only(version) };
    const options = { ...without, ...(client !== 'none' && presenting(clients[client])) };
    const { session } = await deliver(receiver.port, options);
    // A client whose handshake is rejected gets no session. All others must get one, or this test would prove nothing.
    if (mode === 'required' && reason !== null) return expect(session).toBeUndefined();
    expect(session).toBeDefined();
    for (const again of [options, without]) {
      const { status, resumed } = await deliver(receiver.port, { ...again, session });
      expect({ status, resumed }).toEqual({ status: reason === null ? 200 : 401, resumed: true });
    }
  });
});

it.each(VERSIONS)('accepts only the allowed client names: %s', async (version) => {
  const issue = (subject: string, hosts: string[] = []) =>
    makeCertificate({ subject, issuer: clientCa, hosts, usages: ['clientAuth'] });
  const { logger, next } = collectLogs();
  const receiver = await receiverForTest({
    ...credentials,
    tls: { ...material, ca: clientCa.cert, clientCertificate: 'required' },
    clientCertificate: { from: 'connection', allowed: ['sender.example', '192.0.2.7'] },
    logger,
  });
  const cases: [Awaited<ReturnType<typeof issue>>, rejectedNames?: string][] = [
    [clients.valid],
    [await issue('CN=anything', ['sender.example'])],
    [await issue('O=No common name', ['other.example', '192.0.2.7'])],
    [await issue('CN=other.example', ['www.sender.example']), 'other.example, www.sender.example'],
    [await issue('CN=Sender.example'), 'Sender.example'],
    [await issue('O=sender.example'), ''],
    // A name that looks like a list of names is one name.
    [await issue('CN=x', ['x, DNS:sender.example']), 'x, x, DNS:sender.example'],
  ];
  for (const [client, names] of cases) {
    const { status } = await deliver(receiver.port, { ...trust, ...only(version), ...presenting(client) });
    expect(status).toBe(names === undefined ? 200 : 401);
    const { reason } = await next('delivery');
    expect(reason).toBe(names === undefined ? undefined : `client-certificate-not-allowed (${names})`);
  }
});

describe('an allowed name', () => {
  const allowed = ['sender.example', '192.0.2.7'];
  const check = (subjectaltname: string) => {
    const certificate = { raw: Buffer.of(0), subject: { CN: 'other' }, subjectaltname };
    return checkClientCertificate({ connection: { authorized: true, certificate } as never, allowed });
  };

  it.each([['DNS:sender.example'], ['DNS:other, IP Address:192.0.2.7']])(
    'is a host name or an address: %s',
    (names) => {
      expect(check(names)).toEqual({ ok: true });
    },
  );

  it.each([
    ['URI:sender.example'],
    ['email:sender.example'],
    ['Registered ID:192.0.2.7'],
    ['DirName:sender.example'],
    ['othername:sender.example'],
    ['DNS:other, URI:sender.example'],
    ['URI:"x, DNS:sender.example"'],
    ['email:"x, DNS:sender.example"'],
  ])('is no name of another form: %s', (names) => {
    expect(check(names)).toMatchObject({ ok: false, reason: 'not-allowed' });
  });
});

describe('the options', () => {
  const ca = clientCa.cert;
  const proxy = { from: 'proxy', proxies: ['127.0.0.1'], header: 'X-SSL-Client-Verify', value: 'SUCCESS' } as const;

  it.each<[string, object]>([
    ['no CA', { clientCertificate: 'required' }],
    ['no CA, optional', { clientCertificate: 'optional' }],
    ['an empty CA', { ca: '', clientCertificate: 'required' }],
    ['a CA that is not PEM', { ca: 'x', clientCertificate: 'required' }],
    ['a key instead of a CA', { ca: clientCa.key, clientCertificate: 'required' }],
    ['a second CA that is cut off', { ca: ca + ca.slice(0, 200), clientCertificate: 'required' }],
    ['a CA without a mode', { ca }],
    ['an unknown mode', { ca, clientCertificate: true }],
  ])('of TLS are rejected with %s', async (_case, tls) => {
    const options = { ...credentials, tls: { ...material, ...tls } } as Parameters<typeof startReceiver>[0];
    await expect(startReceiver(options)).rejects.toMatchObject({ code: 'RECEIVER_TLS', kind: 'usage' });
  });

  it.each<[string, object, object?]>([
    ['no HTTPS', { from: 'connection' }],
    ['TLS that requests no certificate', { from: 'connection' }, material],
    ['a proxy, and an optional certificate', proxy, { ...material, ca, clientCertificate: 'optional' }],
    ['no source', {}],
    ['no allowed name', { from: 'connection', allowed: [] }],
    ['an empty name', { from: 'connection', allowed: [''] }],
    ['no proxy', { ...proxy, proxies: [] }],
    ['a host name as proxy', { ...proxy, proxies: ['localhost'] }],
    ['a network as proxy', { ...proxy, proxies: ['10.0.0.0/8'] }],
    ['an address with a zone as proxy', { ...proxy, proxies: ['fe80::1%eth0'] }],
    ['an invalid header name', { ...proxy, header: 'X Y' }],
    ['a header of HTTP itself', { ...proxy, header: 'Host' }],
    ['no value', { ...proxy, value: '' }],
  ])('of the check are rejected with %s', async (_case, clientCertificate, tls) => {
    const options = { ...credentials, clientCertificate, ...(tls && { tls }) } as Parameters<typeof startReceiver>[0];
    const code = 'RECEIVER_CLIENT_CERTIFICATE';
    await expect(startReceiver(options)).rejects.toMatchObject({ code, kind: 'usage' });
  });

  it('need no other credential than a client certificate', async () => {
    const { logger, events } = collectLogs();
    const tls = { ...material, ca, clientCertificate: 'optional' as const };
    const receiver = await receiverForTest({ tls, logger });
    expect((await deliver(receiver.port, { ...trust, ...presenting(clients.valid) })).status).toBe(200);
    expect((await deliver(receiver.port, trust)).status).toBe(401);
    expect(events('configuration')).toEqual([]);
  });

  it('can require a certificate in an app, which then rejects requests without TLS', async () => {
    const { logger, next } = collectLogs();
    const receiver = createReceiver({ ...credentials, clientCertificate: { from: 'connection' }, logger });
    expect((await post(receiver, JSON.stringify(buy()))).status).toBe(401);
    expect((await next('delivery')).reason).toBe('client-certificate-missing (no TLS connection)');
  });
});
