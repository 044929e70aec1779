/** Rejected TLS handshakes, their log lines, and keys with a passphrase. */
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { SECRET } from '../deliveries.ts';
import { collectLogs } from '../logs.ts';
import { receiverForTest } from '../raw-http.ts';
import { closed, deliver, makeCertificates, openTls, presenting } from '../tls-clients.ts';

const { server, clientCa, clients, trust, material } = await makeCertificates();
const signing = { secrets: [SECRET] };

describe('the protocol', () => {
  const { logger, next } = collectLogs();
  let receiver: RunningReceiver;
  beforeAll(async () => {
    receiver = await startReceiver({ signing, tls: material, logger });
  });
  afterAll(() => receiver.close());
  const oldest = { ciphers: 'ALL:@SECLEVEL=0', minVersion: 'TLSv1' } as const;

  it.each<[string, ConnectionOptions, string]>([
    ['TLS 1.0', { ...oldest, maxVersion: 'TLSv1' }, 'client does not offer TLS 1.2 or later'],
    ['TLS 1.1', { ...oldest, maxVersion: 'TLSv1.1' }, 'client does not offer TLS 1.2 or later'],
    ['HTTP/2 only', { ALPNProtocols: ['h2'] }, 'client does not offer http/1.1'],
    ['a weak cipher', { ciphers: 'AES128-SHA', maxVersion: 'TLSv1.2' }, 'no cipher suite in common'],
  ])('%s is refused', async (_name, options, reason) => {
    expect((await deliver(receiver.port, { ...trust, ...options })).status).toBeNull();
    expect(await next('tls-refused')).toMatchObject({ reason, remoteAddress: '127.0.0.1' });
  });

  it.each(['AES256-GCM-SHA384', 'AES128-SHA256', 'ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA384'])(
    'has no suite that gives up forward secrecy or is CBC, also with an RSA key: %s',
    async (ciphers) => {
      const pair = await generate([{ name: 'commonName', value: 'localhost' }], { algorithm: 'sha256' });
      const rsa = await startReceiver({ signing, tls: { cert: pair.cert, key: pair.private } });
      const options = { ca: pair.cert, servername: 'localhost', maxVersion: 'TLSv1.2' } as const;
      expect((await deliver(rsa.port, { ...options, ciphers })).status).toBeNull();
      expect((await deliver(rsa.port, { ...options, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' })).status).toBe(200);
      await rsa.close();
    },
  );

  it('is http/1.1 for clients that offer more', async () => {
    const client = openTls(receiver.port, { ...trust, ALPNProtocols: ['h2', 'http/1.1'] });
    expect((await client.post())?.status).toBe(200);
    expect(client.socket.alpnProtocol).toBe('http/1.1');
    await client.end();
  });

  it('does not allow renegotiation', async () => {
    const client = openTls(receiver.port, { ...trust, maxVersion: 'TLSv1.2' });
    expect((await client.post())?.status).toBe(200);
    client.socket.renegotiate({}, () => {});
    const [error] = await once(client.socket, 'error');
    expect((error as NodeJS.ErrnoException).code).toBe('ERR_SSL_NO_RENEGOTIATION');
    client.socket.destroy();
    await closed(client.socket);
  });
});

describe('a client that does not finish the handshake is disconnected in time when it', () => {
  it.each([
    ['sends nothing', ''],
    ['sends half a ClientHello', '1603010200010001fc0303'],
  ])('%s', async (_name, hex) => {
    // The time limit is long enough for the handshake of the delivery, even on a busy machine.
    const { logger, next } = collectLogs();
    const receiver = await receiverForTest({ signing, tls: material, logger, timeouts: { handshakeMs: 2_000 } });
    const socket = connectTcp(receiver.port, '127.0.0.1').on('error', () => {});
    socket.resume().write(Buffer.from(hex, 'hex'));
    await once(socket, 'close');
    expect(await next('tls-refused')).toMatchObject({
      code: 'ERR_TLS_HANDSHAKE_TIMEOUT',
      reason: 'handshake timed out',
      remoteAddress: '127.0.0.1',
    });
    expect((await deliver(receiver.port, trust)).status).toBe(200);
  });

  it('sends a byte from time to time', async () => {
    const receiver = await receiverForTest({ signing, tls: material, timeouts: { handshakeMs: 150 } });
    const socket = connectTcp(receiver.port, '127.0.0.1').on('error', () => {});
    const bytes = Buffer.from(`1603010200010001fc0303${'00'.repeat(200)}`, 'hex');
    let sent = 0;
    const timer = setInterval(() => {
      if (socket.writable) socket.write(bytes.subarray(sent, sent + 1));
      sent += 1;
    }, 20);
    // `once` would reject, because a byte that is sent after the end causes a reset, and thus an error before the
    // close.
    await new Promise((resolve) => socket.resume().on('close', resolve));
    clearInterval(timer);
    expect(sent).toBeLessThan(bytes.length);
  });
});

it.each(['required', 'optional'] as const)(
  'serves valid clients after connections that break off, with a certificate that is %s',
  async (mode) => {
    const receiver = await receiverForTest({
      signing,
      tls: { ...material, ca: clientCa.cert, clientCertificate: mode },
    });
    const hello = Buffer.from(`1603010200010001fc0303${'00'.repeat(600)}`, 'hex');
    const broken = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.alloc(2000, 0xff),
      hello,
      Buffer.from([0x15, 3, 3, 0, 2, 2, 0]),
    ];
    await Promise.all(
      broken.flatMap((bytes) =>
        [true, false].map(async (reset) => {
          const socket = connectTcp(receiver.port, '127.0.0.1').on('error', () => {});
          await once(socket.resume(), 'connect');
          await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
          if (reset) socket.resetAndDestroy();
          else socket.end();
          await closed(socket);
        }),
      ),
    );
    // The clients disconnect as soon as their side of the handshake is complete.
    for (const client of [clients.valid, clients.expired]) {
      const options = { port: receiver.port, host: '127.0.0.1', ...trust, ...presenting(client) };
      const socket = connect(options).on('error', () => {});
      await Promise.race([once(socket, 'secureConnect'), closed(socket)]);
      socket.destroy();
    }
    expect((await deliver(receiver.port, { ...trust, ...presenting(clients.valid) })).status).toBe(200);
  },
);

describe('a key with a passphrase', () => {
  const passphrase = 'correct horse';
  const key = createPrivateKey(server.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase })
    .toString();

  it('is loaded with the correct passphrase', async () => {
    const receiver = await receiverForTest({ signing, tls: { cert: server.cert, key, passphrase } });
    expect((await deliver(receiver.port, trust)).status).toBe(200);
    receiver.reloadTls(material);
    receiver.reloadTls({ cert: server.cert, key, passphrase });
    expect((await deliver(receiver.port, trust)).status).toBe(200);
  });

  it.each([
    ['no passphrase', undefined],
    ['an empty passphrase', ''],
    ['another passphrase', 'wrong'],
  ])('is rejected with %s', async (_name, given) => {
    const tls = { cert: server.cert, key, ...(given === undefined ? {} : { passphrase: given }) };
    await expect(startReceiver({ signing, tls })).rejects.toMatchObject({
      code: 'RECEIVER_TLS',
      hint: 'The key is encrypted: give the correct passphrase.',
    });
  });
});
