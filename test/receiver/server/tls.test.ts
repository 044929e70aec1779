/** Handshakes that are refused, what the log says of them, and that none of them does any harm. */
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { SECRET } from '../deliveries.ts';
import { deliver, ended, keepingLogger, makeCertificates, openTls } from '../tls-clients.ts';

const { serverAuthority, server, authority, clients } = await makeCertificates();
const signing = { secrets: [SECRET] };
const trust = { ca: serverAuthority.cert };
const material = { cert: server.cert, key: server.key };

describe('the protocol', () => {
  const log = keepingLogger();
  let receiver: RunningReceiver;
  beforeAll(async () => {
    receiver = await startReceiver({ signing, tls: material, logger: log.logger });
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
    expect(await log.next('tls-refused')).toMatchObject({ reason, remoteAddress: '127.0.0.1' });
  });

  it('speaks http/1.1 to those who offer more', async () => {
    const client = openTls(receiver.port, { ...trust, ALPNProtocols: ['h2', 'http/1.1'] });
    expect((await client.post())?.status).toBe(200);
    expect(client.socket.alpnProtocol).toBe('http/1.1');
    await client.end();
  });

  it('does not renegotiate', async () => {
    const client = openTls(receiver.port, { ...trust, maxVersion: 'TLSv1.2' });
    expect((await client.post())?.status).toBe(200);
    client.socket.renegotiate({}, () => {});
    const [error] = await once(client.socket, 'error');
    expect((error as NodeJS.ErrnoException).code).toBe('ERR_SSL_NO_RENEGOTIATION');
    client.socket.destroy();
    await ended(client.socket);
  });
});

describe('a client that does not finish the handshake', () => {
  it.each([
    ['sends nothing', ''],
    ['sends half a ClientHello', '1603010200010001fc0303'],
  ])('%s: is dropped in time', async (_name, hex) => {
    const log = keepingLogger();
    const receiver = await startReceiver({
      signing,
      tls: material,
      logger: log.logger,
      timeouts: { handshakeMs: 100 },
    });
    const socket = connectTcp(receiver.port, '127.0.0.1').on('error', () => {});
    socket.resume().write(Buffer.from(hex, 'hex'));
    await once(socket, 'close');
    expect(await log.next('tls-refused')).toMatchObject({
      code: 'ERR_TLS_HANDSHAKE_TIMEOUT',
      reason: 'handshake timed out',
      remoteAddress: '127.0.0.1',
    });
    expect((await deliver(receiver.port, trust)).status).toBe(200);
    await receiver.close();
  });

  it('sends a byte now and then: is dropped all the same', async () => {
    const receiver = await startReceiver({ signing, tls: material, timeouts: { handshakeMs: 150 } });
    const socket = connectTcp(receiver.port, '127.0.0.1').on('error', () => {});
    const bytes = Buffer.from(`1603010200010001fc0303${'00'.repeat(200)}`, 'hex');
    let sent = 0;
    const dripping = setInterval(() => {
      if (socket.writable) socket.write(bytes.subarray(sent, sent + 1));
      sent += 1;
    }, 20);
    // Not `once`: a byte that crosses the end is answered with a reset, which is an error first.
    await new Promise((resolve) => socket.resume().on('close', resolve));
    clearInterval(dripping);
    expect(sent).toBeLessThan(bytes.length);
    await receiver.close();
  });
});

describe('whatever is thrown at the port', () => {
  it.each(['required', 'optional'] as const)('it goes on: %s', async (mode) => {
    const receiver = await startReceiver({
      signing,
      tls: { ...material, ca: authority.cert, clientCertificate: mode },
    });
    const hello = Buffer.from(`1603010200010001fc0303${'00'.repeat(600)}`, 'hex');
    const thrown = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.alloc(2000, 0xff),
      hello,
      Buffer.from([0x15, 3, 3, 0, 2, 2, 0]),
    ];
    await Promise.all(
      thrown.flatMap((bytes) =>
        [true, false].map(async (reset) => {
          const socket = connectTcp(receiver.port, '127.0.0.1').on('error', () => {});
          await once(socket.resume(), 'connect');
          await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
          if (reset) socket.resetAndDestroy();
          else socket.end();
          await ended(socket);
        }),
      ),
    );
    // Clients that go away as soon as their side of the handshake is done.
    for (const { cert, key } of [clients.right, clients.expired]) {
      const socket = connect({ port: receiver.port, host: '127.0.0.1', ...trust, cert, key }).on('error', () => {});
      await Promise.race([once(socket, 'secureConnect'), ended(socket)]);
      socket.destroy();
    }
    const { cert, key } = clients.right;
    expect((await deliver(receiver.port, { ...trust, cert, key })).status).toBe(200);
    await receiver.close();
  });
});

describe('a key with a passphrase', () => {
  const passphrase = 'correct horse';
  const key = createPrivateKey(server.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase })
    .toString();

  it('is used with the right one', async () => {
    const receiver = await startReceiver({ signing, tls: { cert: server.cert, key, passphrase } });
    expect((await deliver(receiver.port, trust)).status).toBe(200);
    receiver.reloadTls(material);
    receiver.reloadTls({ cert: server.cert, key, passphrase });
    expect((await deliver(receiver.port, trust)).status).toBe(200);
    await receiver.close();
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['a wrong one', 'wrong'],
  ])('is refused with %s', async (_name, given) => {
    const tls = { cert: server.cert, key, ...(given === undefined ? {} : { passphrase: given }) };
    await expect(startReceiver({ signing, tls })).rejects.toMatchObject({
      code: 'RECEIVER_TLS',
      hint: 'The key is encrypted: give the correct passphrase.',
    });
  });
});
