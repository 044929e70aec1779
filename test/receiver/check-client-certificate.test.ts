/** Headers about client certificates: believed from a declared proxy, and from nobody else. */
import { BlockList } from 'node:net';
import { describe, expect, it } from 'vitest';
import { checkForwardedCertificate, startReceiver } from '../../receiver/index.ts';
import { buy, headersFor, SECRET } from './deliveries.ts';
import { openRaw } from './raw-http.ts';
import { deliver, makeCertificates, VERSIONS } from './tls-clients.ts';

const { serverAuthority, server, authority, clients } = await makeCertificates();
const signing = { secrets: [SECRET] };
const trust = { ca: serverAuthority.cert };
const DECLARED = { from: 'proxy', proxies: ['127.0.0.1'], header: 'X-SSL-Client-Verify', value: 'SUCCESS' } as const;

const FORGED: [string, string][] = [
  ['X-SSL-Client-Verify', 'SUCCESS'],
  ['X-SSL-Client-Cert', encodeURIComponent(clients.right.cert)],
  ['X-SSL-Client-S-DN', 'CN=sender.example,O=Example'],
  ['X-Client-Verify', 'SUCCESS'],
  ['X-Client-Cert', encodeURIComponent(clients.right.cert)],
  ['ssl-client-verify', 'SUCCESS'],
  ['ssl-client-cert', encodeURIComponent(clients.right.cert)],
  ['X-Forwarded-Client-Cert', 'By=spiffe://x;Hash=00;Subject="CN=sender.example"'],
  ['X-Forwarded-Tls-Client-Cert', Buffer.from(clients.right.der).toString('base64')],
  ['X-Amzn-Mtls-Clientcert', encodeURIComponent(clients.right.cert)],
  ['X-Amzn-Mtls-Clientcert-Leaf', encodeURIComponent(clients.right.cert)],
  ['X-ARR-ClientCert', Buffer.from(clients.right.der).toString('base64')],
  ['Client-Cert', `:${Buffer.from(clients.right.der).toString('base64')}:`],
  ['X-Forwarded-For', '127.0.0.1'],
  ['Forwarded', 'for=127.0.0.1;proto=https'],
  ['X-Forwarded-Proto', 'https'],
];
const TOGETHER: [string, [string, string][]][] = [
  ...FORGED.map((line): [string, [string, string][]] => [line[0], [line]]),
  ['all of them', FORGED],
];

/** Posts over plain HTTP with these header lines as they are. */
async function plain(port: number, lines: readonly (readonly [string, string])[], host = '127.0.0.1') {
  const connection = await openRaw(port, host);
  const body = JSON.stringify(buy());
  const all = [...Object.entries(headersFor(body)), ['Content-Length', String(Buffer.byteLength(body))], ...lines];
  await connection.write(
    `POST / HTTP/1.1\r\nHost: x\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
  const { status } = await connection.answer();
  connection.socket.destroy();
  return status;
}

describe('without a declared proxy', () => {
  it.each(TOGETHER)('%s opens nothing', async (_name, lines) => {
    const tls = { cert: server.cert, key: server.key, ca: authority.cert };
    const right = { cert: clients.right.cert, key: clients.right.key };
    for (const mode of ['required', 'optional'] as const) {
      const receiver = await startReceiver({ signing, tls: { ...tls, clientCertificate: mode } });
      for (const maxVersion of VERSIONS) {
        const forged = await deliver(receiver.port, { ...trust, maxVersion }, lines);
        expect(forged.status).toBe(mode === 'required' ? null : 401);
      }
      // They do no harm either.
      expect((await deliver(receiver.port, { ...trust, ...right }, lines)).status).toBe(200);
      await receiver.close();
    }
  });

  it('over plain HTTP they are headers like any other', async () => {
    const receiver = await startReceiver({ signing });
    expect([await plain(receiver.port, FORGED), await plain(receiver.port, [])]).toEqual([200, 200]);
    await receiver.close();
  });
});

describe('with a declared proxy', () => {
  const receivers = {
    declared: () => startReceiver({ signing, clientCertificate: DECLARED }),
    other: () => startReceiver({ signing, clientCertificate: { ...DECLARED, proxies: ['127.0.0.2', '::1'] } }),
  };

  it('takes the one header with exactly the one value, once, and nothing else', async () => {
    const receiver = await receivers.declared();
    const cases: [number, [string, string][]][] = [
      [200, [['X-SSL-Client-Verify', 'SUCCESS']]],
      [200, [['x-ssl-client-verify', 'SUCCESS']]],
      [401, []],
      [401, [['X-SSL-Client-Verify', '']]],
      [401, [['X-SSL-Client-Verify', 'NONE']]],
      [401, [['X-SSL-Client-Verify', 'FAILED:certificate has expired']]],
      [401, [['X-SSL-Client-Verify', 'success']]],
      [401, [['X-SSL-Client-Verify', 'SUCCESS, SUCCESS']]],
      [401, [['X-SSL-Client-Verify', 'SUCCESSFUL']]],
      [401, [['X_SSL_Client_Verify', 'SUCCESS']]],
      [401, FORGED.filter(([name]) => name !== 'X-SSL-Client-Verify')],
      [
        401,
        [
          ['X-SSL-Client-Verify', 'SUCCESS'],
          ['X-SSL-Client-Verify', 'SUCCESS'],
        ],
      ],
      [
        401,
        [
          ['X-SSL-Client-Verify', 'NONE'],
          ['x-ssl-client-verify', 'SUCCESS'],
        ],
      ],
    ];
    for (const [status, lines] of cases) expect([status, lines]).toEqual([await plain(receiver.port, lines), lines]);
    await receiver.close();
  });

  it('refuses a second copy even of a header of which Node keeps the first only', async () => {
    const receiver = await startReceiver({ signing, clientCertificate: { ...DECLARED, header: 'From' } });
    expect(await plain(receiver.port, [['From', 'SUCCESS']])).toBe(200);
    const twice = [
      ['From', 'SUCCESS'],
      ['From', 'NONE'],
    ] as const;
    expect(await plain(receiver.port, twice)).toBe(401);
    await receiver.close();
  });

  it('believes nobody at another address, whatever the headers say', async () => {
    const receiver = await receivers.other();
    for (const [, lines] of TOGETHER) expect(await plain(receiver.port, lines)).toBe(401);
    await receiver.close();
  });

  it('knows an IPv4 address that comes as IPv6', async () => {
    const receiver = await startReceiver({ signing, clientCertificate: DECLARED, host: '::' }).catch(() => null);
    // A machine without IPv6 cannot listen there; the test below is about the same thing.
    if (receiver === null) return console.log('skipped: no IPv6 here');
    expect(await plain(receiver.port, [['X-SSL-Client-Verify', 'SUCCESS']])).toBe(200);
    expect(await plain(receiver.port, [['X-SSL-Client-Verify', 'SUCCESS']], '::1')).toBe(401);
    await receiver.close();
  });

  it('can ask for a certificate of the proxy itself', async () => {
    const tls = { cert: server.cert, key: server.key, ca: authority.cert, clientCertificate: 'required' } as const;
    const receiver = await startReceiver({ signing, tls, clientCertificate: DECLARED });
    const proxy = { ...trust, cert: clients.right.cert, key: clients.right.key };
    const verified = { 'X-SSL-Client-Verify': 'SUCCESS' };
    expect((await deliver(receiver.port, proxy, verified)).status).toBe(200);
    expect((await deliver(receiver.port, proxy)).status).toBe(401);
    expect((await deliver(receiver.port, trust, verified)).status).toBeNull();
    await receiver.close();
  });
});

describe('the address of a proxy', () => {
  const check = (declared: string, peer: string | undefined) => {
    const proxies = new BlockList();
    proxies.addAddress(declared, declared.includes(':') ? 'ipv6' : 'ipv4');
    return checkForwardedCertificate({ peer, proxies, header: 'SUCCESS', value: 'SUCCESS' }).ok;
  };

  it.each<[string, string | undefined, boolean]>([
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:c000:201', '192.0.2.1', true],
    ['2001:db8::1', '2001:db8::1', true],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1', true],
    ['192.0.2.1', '192.0.2.10', false],
    ['192.0.2.1', '::ffff:192.0.2.2', false],
    ['2001:db8::1', '2001:db8::2', false],
    ['2001:db8::1', '2001:db8::1%eth0', false],
    ['192.0.2.1', undefined, false],
    ['192.0.2.1', '', false],
    ['192.0.2.1', 'nonsense', false],
  ])('declared %s, seen %s: %s', (declared, peer, ok) => {
    expect(check(declared, peer)).toBe(ok);
  });
});
