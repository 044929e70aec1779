/** Mutual TLS: who is let in, in both modes and both versions, and what the others see. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../certs/index.ts';
import { HookproofError } from '../../contract/index.ts';
import { createReceiver, type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { API_KEY, buy, post, SECRET } from './deliveries.ts';
import { deliver, keepingLogger, makeCertificates, only, VERSIONS } from './tls-clients.ts';

const certificates = await makeCertificates();
const { serverAuthority, server, authority, clients } = certificates;
const trust = { ca: serverAuthority.cert };
const protectedBy = { signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] } };

/** Each client with the words of the log, of the handshake's refusal and of the stage's. */
const CLIENTS: [name: string, handshake: string | null, stage: string | null][] = [
  ['none', 'no client certificate', 'missing'],
  ['right', null, null],
  ['rsa', null, null],
  ['self-signed', 'self-signed client certificate', 'untrusted (self-signed client certificate)'],
  ['unknown authority', 'client certificate from an unknown CA', 'untrusted (client certificate from an unknown CA)'],
  ['same names', 'client certificate from an unknown CA', 'untrusted (client certificate from an unknown CA)'],
  ['expired', 'client certificate has expired', 'untrusted (client certificate has expired)'],
  ['not yet valid', 'client certificate is not valid yet', 'untrusted (client certificate is not valid yet)'],
  [
    'for servers only',
    'client certificate is not issued for client authentication',
    'untrusted (client certificate is not issued for client authentication)',
  ],
];
const CASES = VERSIONS.flatMap((version) => CLIENTS.map((row) => [version, ...row] as const));

function presenting(name: string): { cert?: string; key?: string } {
  if (name === 'none') return {};
  const { cert, key } = clients[name as keyof typeof clients];
  return { cert, key };
}

describe.each(['required', 'optional'] as const)('a client certificate that is %s', (mode) => {
  const log = keepingLogger();
  let receiver: RunningReceiver;
  let wrongKey: string | undefined;
  beforeAll(async () => {
    receiver = await startReceiver({
      ...protectedBy,
      tls: { cert: server.cert, key: server.key, ca: authority.cert, clientCertificate: mode },
      logger: log.logger,
    });
    const right = presenting('right');
    wrongKey = (await deliver(receiver.port, { ...trust, ...right }, { 'X-API-Key': 'wrong' })).answer?.text;
    await log.next('delivery');
  });
  afterAll(() => receiver.close());

  it.each(CASES)('%s, %s', async (version, name, handshake, stage) => {
    const options = { ...trust, ...only(version), ...presenting(name) };
    const { answer, status } = await deliver(receiver.port, options);
    if (handshake === null) {
      expect(status).toBe(200);
      expect(await log.next('delivery')).toMatchObject({ outcome: 'accepted' });
    } else if (mode === 'required') {
      expect(answer).toBeNull();
      expect(await log.next('tls-refused')).toMatchObject({ reason: handshake, remoteAddress: '127.0.0.1' });
    } else {
      // The same bytes as for a wrong API key: the reason is in the log only.
      expect(answer?.text).toMatch(/^HTTP\/1\.1 401 .*\r\n\r\n\{"error":"unauthorized"\}$/s);
      expect(answer?.text).toBe(wrongKey);
      expect(await log.next('delivery')).toMatchObject({ outcome: 'refused', reason: `client-certificate-${stage}` });
    }
  });

  it.each(CASES)('%s, %s, on a resumed session', async (version, name, handshake) => {
    const options = { ...trust, ...only(version), ...presenting(name) };
    const first = await deliver(receiver.port, options);
    // A client that is refused in the handshake gets no session to resume; all others do, or this would show nothing.
    if (mode === 'required' && handshake !== null) return expect(first.session).toBeUndefined();
    expect(first.session).toBeDefined();
    for (const again of [options, { ...trust, ...only(version) }]) {
      const { status, resumed } = await deliver(receiver.port, { ...again, session: first.session });
      expect({ status, resumed }).toEqual({ status: handshake === null ? 200 : 401, resumed: true });
    }
  });
});

describe('the names of clients', () => {
  it.each(VERSIONS)('with allowed, only those are let in: %s', async (version) => {
    const issue = (subject: string, hosts: string[] = []) =>
      makeCertificate({ subject, issuer: authority, hosts, usages: ['clientAuth'] });
    const log = keepingLogger();
    const receiver = await startReceiver({
      ...protectedBy,
      tls: { cert: server.cert, key: server.key, ca: authority.cert, clientCertificate: 'required' },
      clientCertificate: { from: 'connection', allowed: ['sender.example', '192.0.2.7'] },
      logger: log.logger,
    });
    const cases: [Awaited<ReturnType<typeof issue>>, number, string?][] = [
      [clients.right, 200],
      [await issue('CN=anything', ['sender.example']), 200],
      [await issue('O=No common name', ['other.example', '192.0.2.7']), 200],
      [await issue('CN=other.example', ['www.sender.example']), 401, 'other.example, www.sender.example'],
      [await issue('CN=Sender.example'), 401, 'Sender.example'],
      [await issue('O=sender.example'), 401, ''],
      // A name that reads like a list of names is one name.
      [await issue('CN=x', ['x, DNS:sender.example']), 401, 'x, x, DNS:sender.example'],
    ];
    for (const [client, status, names] of cases) {
      const given = await deliver(receiver.port, { ...trust, ...only(version), cert: client.cert, key: client.key });
      expect(given.status).toBe(status);
      const line = await log.next('delivery');
      if (status !== 200) expect(line.reason).toBe(`client-certificate-not-allowed (${names})`);
    }
    await receiver.close();
  });
});

describe('what does not go together', () => {
  const tls = { cert: server.cert, key: server.key };
  const proxy = { from: 'proxy', proxies: ['127.0.0.1'], header: 'X-SSL-Client-Verify', value: 'SUCCESS' } as const;

  it.each<[string, Parameters<typeof startReceiver>[0] | object, string]>([
    ['no authority', { tls: { ...tls, clientCertificate: 'required' } }, 'RECEIVER_TLS'],
    ['no authority, optional', { tls: { ...tls, clientCertificate: 'optional' } }, 'RECEIVER_TLS'],
    ['an empty authority', { tls: { ...tls, ca: '', clientCertificate: 'required' } }, 'RECEIVER_TLS'],
    ['an authority that is no PEM', { tls: { ...tls, ca: 'x', clientCertificate: 'required' } }, 'RECEIVER_TLS'],
    ['a key as authority', { tls: { ...tls, ca: authority.key, clientCertificate: 'required' } }, 'RECEIVER_TLS'],
    [
      'a second authority that is cut off',
      { tls: { ...tls, ca: authority.cert + authority.cert.slice(0, 200), clientCertificate: 'required' } },
      'RECEIVER_TLS',
    ],
    ['an authority without a mode', { tls: { ...tls, ca: authority.cert } }, 'RECEIVER_TLS'],
    ['a mode that is none', { tls: { ...tls, ca: authority.cert, clientCertificate: true } }, 'RECEIVER_TLS'],
    ['a check without HTTPS', { clientCertificate: { from: 'connection' } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['a check nobody asks for', { tls, clientCertificate: { from: 'connection' } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    [
      'a proxy that says it, and connections that are not checked',
      { tls: { ...tls, ca: authority.cert, clientCertificate: 'optional' }, clientCertificate: proxy },
      'RECEIVER_CLIENT_CERTIFICATE',
    ],
    ['no source', { clientCertificate: {} }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['no allowed name', { clientCertificate: { from: 'connection', allowed: [] } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['an empty name', { clientCertificate: { from: 'connection', allowed: [''] } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['no proxy', { clientCertificate: { ...proxy, proxies: [] } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['a proxy by name', { clientCertificate: { ...proxy, proxies: ['localhost'] } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['a network', { clientCertificate: { ...proxy, proxies: ['10.0.0.0/8'] } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['a zone', { clientCertificate: { ...proxy, proxies: ['fe80::1%eth0'] } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['a header that is none', { clientCertificate: { ...proxy, header: 'X Y' } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['a header of HTTP', { clientCertificate: { ...proxy, header: 'Host' } }, 'RECEIVER_CLIENT_CERTIFICATE'],
    ['no value', { clientCertificate: { ...proxy, value: '' } }, 'RECEIVER_CLIENT_CERTIFICATE'],
  ])('%s', async (_name, options, code) => {
    const error = await startReceiver({ ...protectedBy, ...(options as object) }).then(
      (running) => running.close(),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(HookproofError);
    expect((error as HookproofError).code).toBe(code);
  });

  it('a client certificate is protection enough, and open: true does not take it away', async () => {
    for (const open of [{}, { open: true as const }]) {
      const log = keepingLogger();
      const receiver = await startReceiver({
        ...open,
        tls: { ...tls, ca: authority.cert, clientCertificate: 'optional' },
        logger: log.logger,
      });
      const { cert, key } = clients.right;
      expect((await deliver(receiver.port, { ...trust, cert, key })).status).toBe(200);
      expect((await deliver(receiver.port, trust)).status).toBe(401);
      expect(log.lines.filter(({ event }) => event === 'configuration')).toEqual([]);
      await receiver.close();
    }
  });

  it('an app whose check is on refuses what comes without TLS', async () => {
    const receiver = createReceiver({ ...protectedBy, clientCertificate: { from: 'connection' } });
    expect((await post(receiver, JSON.stringify(buy()))).status).toBe(401);
    expect((await post(createReceiver(protectedBy), JSON.stringify(buy()))).status).toBe(200);
  });
});
