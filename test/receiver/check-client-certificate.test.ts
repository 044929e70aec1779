/** Headers about client certificates, which are trusted only from a declared proxy. */
import { BlockList } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkForwardedCertificate, type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { buy, headersFor, SECRET } from './deliveries.ts';
import { exchange, rawPost, receiverForTest } from './raw-http.ts';
import { deliver, makeCertificates, presenting, VERSIONS } from './tls-clients.ts';

const { clientCa, clients, trust, material } = await makeCertificates();
const signing = { secrets: [SECRET] };
const PROXY = { from: 'proxy', proxies: ['127.0.0.1'], header: 'X-SSL-Client-Verify', value: 'SUCCESS' } as const;

type Lines = [name: string, value: string][];
const pem = encodeURIComponent(clients.valid.cert);
const der = Buffer.from(clients.valid.der).toString('base64');
const FORGED: Lines = [
  ['X-SSL-Client-Verify', 'SUCCESS'],
  ['X-SSL-Client-Cert', pem],
  ['X-SSL-Client-S-DN', 'CN=sender.example,O=Example'],
  ['X-Client-Verify', 'SUCCESS'],
  ['X-Client-Cert', pem],
  ['ssl-client-verify', 'SUCCESS'],
  ['ssl-client-cert', pem],
  ['X-Forwarded-Client-Cert', 'By=spiffe://x;Hash=00;Subject="CN=sender.example"'],
  ['X-Forwarded-Tls-Client-Cert', der],
  ['X-Amzn-Mtls-Clientcert', pem],
  ['X-Amzn-Mtls-Clientcert-Leaf', pem],
  ['X-ARR-ClientCert', der],
  ['Client-Cert', `:${der}:`],
  ['X-Forwarded-For', '127.0.0.1'],
  ['Forwarded', 'for=127.0.0.1;proto=https'],
  ['X-Forwarded-Proto', 'https'],
];
const FORGERIES: [name: string, lines: Lines][] = [
  ...FORGED.map((line): [string, Lines] => [line[0], [line]]),
  ['all of them', FORGED],
];

/** Posts over plain HTTP with these additional header lines. */
async function plain(port: number, lines: Lines, host?: string) {
  const body = JSON.stringify(buy());
  return (await exchange(port, rawPost(body, [...Object.entries(headersFor(body)), ...lines]), host)).status;
}

describe.each(['required', 'optional'] as const)('without a proxy, when a certificate is %s', (mode) => {
  let receiver: RunningReceiver;
  beforeAll(async () => {
    const tls = { ...material, ca: clientCa.cert, clientCertificate: mode };
    receiver = await startReceiver({ signing, tls });
  });
  afterAll(() => receiver.close());

  it.each(FORGERIES)('a forged header has no effect: %s', async (_name, lines) => {
    for (const maxVersion of VERSIONS) {
      const { status } = await deliver(receiver.port, { ...trust, maxVersion }, lines);
      expect(status).toBe(mode === 'required' ? null : 401);
    }
    expect((await deliver(receiver.port, { ...trust, ...presenting(clients.valid) }, lines)).status).toBe(200);
  });
});

describe('behind a declared proxy', () => {
  it('accepts exactly one header with exactly the value', async () => {
    const { port } = await receiverForTest({ signing, clientCertificate: PROXY });
    const name = 'X-SSL-Client-Verify';
    const cases: [number, Lines][] = [
      [200, [[name, 'SUCCESS']]],
      [200, [['x-ssl-client-verify', 'SUCCESS']]],
      [401, []],
      ...['', 'NONE', 'FAILED:certificate has expired', 'success', 'SUCCESS, SUCCESS', 'SUCCESSFUL'].map(
        (value): [number, Lines] => [401, [[name, value]]],
      ),
      [401, [['X_SSL_Client_Verify', 'SUCCESS']]],
      [401, FORGED.filter(([forged]) => forged !== name)],
      ...['SUCCESS', 'NONE'].map((value): [number, Lines] => [
        401,
        [
          [name, value],
          ['x-ssl-client-verify', 'SUCCESS'],
        ],
      ]),
    ];
    for (const [status, lines] of cases) expect([status, lines]).toEqual([await plain(port, lines), lines]);
  });

  it('rejects a repeated header, even one of which Node keeps the first only', async () => {
    const { port } = await receiverForTest({ signing, clientCertificate: { ...PROXY, header: 'From' } });
    const line: Lines[number] = ['From', 'SUCCESS'];
    expect([await plain(port, [line]), await plain(port, [line, ['From', 'NONE']])]).toEqual([200, 401]);
  });

  it('trusts no other address', async () => {
    const clientCertificate = { ...PROXY, proxies: ['127.0.0.2', '::1'] };
    const { port } = await receiverForTest({ signing, clientCertificate });
    for (const [, lines] of FORGERIES) expect(await plain(port, lines)).toBe(401);
  });

  it('can also require a certificate of the proxy', async () => {
    const tls = { ...material, ca: clientCa.cert, clientCertificate: 'required' } as const;
    const { port } = await receiverForTest({ signing, tls, clientCertificate: PROXY });
    const proxy = { ...trust, ...presenting(clients.valid) };
    const verified = { 'X-SSL-Client-Verify': 'SUCCESS' };
    expect((await deliver(port, proxy, verified)).status).toBe(200);
    expect((await deliver(port, proxy)).status).toBe(401);
    expect((await deliver(port, trust, verified)).status).toBeNull();
  });
});

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
])('compares the declared proxy %s with the peer %s: %s', (declared, peer, ok) => {
  const proxies = new BlockList();
  proxies.addAddress(declared, declared.includes(':') ? 'ipv6' : 'ipv4');
  expect(checkForwardedCertificate({ peer, proxies, header: 'SUCCESS', value: 'SUCCESS' }).ok).toBe(ok);
});
