import { connect } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { TlsVersion } from '../../../contract/index.ts';
import { matchHello, type ProbeOffer, probeHello } from '../../../harness/probe/index.ts';
import type { SuiteGroup } from '../../../scenarios/index.ts';
import type { ParsedHello } from '../../endpoints/client-hello.ts';
import {
  flight,
  grants,
  grantsSuite,
  refuses,
  type ScriptedReply,
  startRightTlsThatAlso,
  startScriptedTls,
} from '../../endpoints/scripted-tls.ts';
import { alertRecord, record, records, serverHello, serverHelloDone } from '../../endpoints/tls-bytes.ts';
import { type Authority, authority, bundle, helloIn, httpsPort, match, OFFERS, probe } from './servers.ts';

let test: Authority;

beforeAll(async () => {
  test = await authority();
});

async function scripted(accept: (hello: ParsedHello) => ScriptedReply): Promise<number> {
  const server = await startScriptedTls({ accept });
  onTestFinished(server.close);
  return server.port;
}

const chain = () => [test.leaf.der, test.intermediate.der];
const weak = (group: SuiteGroup, version: TlsVersion = 'TLSv1.2'): ProbeOffer => ({ version, suites: [group] });

describe('a grant that OpenSSL no longer supports is detected', () => {
  it.each<[string, ProbeOffer, number, string]>([
    ['RC4', weak('rc4'), 0x0005, 'TLS_RSA_WITH_RC4_128_SHA'],
    ['3DES', weak('3des'), 0xc012, 'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA'],
    ['EXPORT', weak('export'), 0x0008, 'TLS_RSA_EXPORT_WITH_DES40_CBC_SHA'],
    ['NULL', weak('null'), 0x003b, 'TLS_RSA_WITH_NULL_SHA256'],
    ['anonymous', weak('anonymous'), 0x00a6, 'TLS_DH_anon_WITH_AES_128_GCM_SHA256'],
    ['static RSA', weak('static-rsa'), 0x009c, 'TLS_RSA_WITH_AES_128_GCM_SHA256'],
    ['SSLv3', OFFERS.sslv3, 0x0035, 'TLS_RSA_WITH_AES_256_CBC_SHA'],
    ['TLS 1.0', OFFERS.tls10, 0x0035, 'TLS_RSA_WITH_AES_256_CBC_SHA'],
    ['TLS 1.1', OFFERS.tls11, 0x0035, 'TLS_RSA_WITH_AES_256_CBC_SHA'],
  ])('%s', async (_what, offer, suite, name) => {
    const port = await scripted(() => grants({ version: offer.version, suite, certificates: chain() }));
    const outcome = helloIn(await probe(port, offer));
    expect(outcome).toMatchObject({
      version: offer.version,
      suite: { id: suite, name },
      suiteOffered: true,
      complete: true,
    });
    expect(matchHello(outcome, offer)).toBe('granted');
    const refusing = await scripted(() => refuses(40, offer.version));
    expect(await match(refusing, offer)).toBe('alert');
  });

  it('DEFLATE', async () => {
    const offer: ProbeOffer = { ...OFFERS.tls12, compression: true };
    const grant = { version: 'TLSv1.2', suite: 0xc02f, certificates: chain() } as const;
    const port = await scripted(({ compressions }) =>
      grants({ ...grant, compression: compressions.includes(1) ? 1 : 0 }),
    );
    expect([await match(port, offer), await match(port, OFFERS.tls12)]).toEqual(['granted', 'granted']);
    expect(helloIn(await probe(port, offer)).compressed).toBe(true);
    expect(helloIn(await probe(port, OFFERS.tls12)).compressed).toBe(false);
  });

  it('a weak suite at a lower version than offered', async () => {
    const port = await scripted(() => grants({ version: 'TLSv1', suite: 5 }));
    expect([await match(port, weak('rc4')), await match(port, OFFERS.tls12)]).toEqual(['granted', 'declined']);
  });
});

describe('not a grant', () => {
  it('is another version or a suite that was not offered', async () => {
    const higher = await scripted(() => grants({ version: 'TLSv1.2', suite: 0xc013 }));
    const lower = await scripted(() => grants({ version: 'TLSv1', suite: 0x0035 }));
    const other = await scripted(() => grants({ version: 'TLSv1.2', suite: 0xc02f }));
    expect([
      await match(higher, OFFERS.tls10),
      await match(lower, OFFERS.tls11),
      await match(other, weak('rc4')),
    ]).toEqual(['declined', 'declined', 'declined']);
    expect(helloIn(await probe(other, weak('rc4')))).toMatchObject({ suiteOffered: false });
  });

  it('is a handshake that the server aborts, nor is it a rejection', async () => {
    const start = records([serverHello({ version: 'TLSv1', suite: 0x0035 })], 'TLSv1');
    const port = await scripted(() => ({ send: [...start, alertRecord(80)], andThen: 'close' }));
    const outcome = helloIn(await probe(port, OFFERS.tls10));
    expect(outcome).toMatchObject({ alertAfter: 'internal_error', complete: false });
    expect(matchHello(outcome, OFFERS.tls10)).toBeNull();
  });
});

describe('an answer is read', () => {
  const grant = () => ({ version: 'TLSv1.2', suite: 0xc02f, certificates: chain(), stapled: true }) as const;
  const certificatesOf = async (port: number) =>
    helloIn(await probe(port, OFFERS.tls12)).certificates.map((der) => Buffer.from(der));
  const expected = () => chain().map((der) => Buffer.from(der));

  it.each([1, 7, 100, 2 ** 14])('in records of %i bytes, each in its own packet', async (recordSize) => {
    const port = await scripted(() => grants({ ...grant(), recordSize }));
    expect(await certificatesOf(port)).toEqual(expected());
  });

  it('in packets that end anywhere', async () => {
    const bytes = Buffer.concat(flight(grant()));
    const cuts = [1, 4, 6, 90, 91, 300, 301, bytes.length];
    const send = cuts.map((cut, index) => bytes.subarray(index === 0 ? 0 : cuts[index - 1], cut));
    const port = await scripted(() => ({ send }));
    expect(await certificatesOf(port)).toEqual(expected());
  });

  it('after a warning', async () => {
    const port = await scripted(() => grants({ ...grant(), warnings: [112] }));
    expect(await match(port, OFFERS.tls12)).toBe('granted');
  });

  it('as a rejection if the connection ends after a warning', async () => {
    const closing = await scripted(() => ({ send: [alertRecord(112, 1)], andThen: 'close' }));
    expect(await probe(closing, OFFERS.tls12)).toMatchObject({
      kind: 'alert',
      alert: 'unrecognized_name',
      level: 'warning',
    });
    const open = await scripted(() => ({ send: [alertRecord(112, 1)] }));
    expect(await probe(open, OFFERS.tls12, 80)).toMatchObject({ kind: 'timeout', bytesReceived: 7 });
  });

  it('with the names of CAs', async () => {
    const authorities = [Buffer.from('one'), Buffer.from('another')];
    const port = await scripted(() => grants({ ...grant(), authorities }));
    expect(
      helloIn(await probe(port, OFFERS.tls12)).certificateRequest?.authorities.map((der) => Buffer.from(der)),
    ).toEqual(authorities);
  });

  it('from a HelloRetryRequest', async () => {
    const port = await scripted(() => grants({ version: 'TLSv1.3', suite: 0x1301, retry: true }));
    expect(await match(port, OFFERS.tls13)).toBe('granted');
  });

  it.each(['close', 'reset'] as const)('up to the ServerHello if the flight is cut off (%s)', async (andThen) => {
    const send = records([serverHello({ version: 'TLSv1', suite: 0x0035 })], 'TLSv1');
    const port = await scripted(() => ({ send, andThen }));
    const outcome = helloIn(await probe(port, OFFERS.tls10));
    expect(outcome).toMatchObject({ complete: false, certificates: [] });
    expect(matchHello(outcome, OFFERS.tls10)).toBe('granted');
  });

  it('up to the ServerHello if the flight never ends', async () => {
    const port = await scripted(() => grants({ version: 'TLSv1', suite: 0x0035, unfinished: true }));
    const outcome = helloIn(await probe(port, OFFERS.tls10, 80));
    expect([outcome.complete, matchHello(outcome, OFFERS.tls10)]).toEqual([false, 'granted']);
  });

  it.each([3, 5, 20])('as not-tls, not a rejection, if it is cut off after %i bytes', async (length) => {
    const bytes = Buffer.concat(flight({ version: 'TLSv1', suite: 0x0035 })).subarray(0, length);
    for (const andThen of ['close', 'reset'] as const) {
      const port = await scripted(() => ({ send: [bytes], andThen }));
      expect(await match(port, OFFERS.tls10)).toBeNull();
    }
  });

  it('even with invalid lengths or without an end', async () => {
    const garbage = await scripted(() => ({ send: [record(22, Buffer.of(2, 0xff, 0xff, 0xff))] }));
    expect(await probe(garbage, OFFERS.tls12)).toMatchObject({ kind: 'not-tls' });
    const many = Array.from({ length: 40 }, () => Buffer.concat(Array<Buffer>(3_000).fill(alertRecord(112, 1))));
    const endless = await probe(await scripted(() => ({ send: many })), OFFERS.tls12);
    expect(endless).toMatchObject({ kind: 'not-tls' });
    expect(endless.bytesReceived).toBeLessThan(700_000);
    const endlessHandshake = await scripted(() => ({
      send: [
        ...records([serverHello({ version: 'TLSv1.2', suite: 0xc02f })]),
        ...Array<Buffer>(80).fill(record(22, Buffer.alloc(16_000))),
      ],
    }));
    expect(await match(endlessHandshake, OFFERS.tls12)).toBe('granted');
  });
});

describe('the server name', () => {
  it('is sent for a name, and not for an address or if it is omitted', async () => {
    const names: (string | null)[] = [];
    const port = await scripted(({ serverName }) => {
      names.push(serverName);
      return refuses(40);
    });
    const limits = { timeoutMs: 5_000 };
    await probeHello({ host: '127.0.0.1', port, serverName: 'hooks.example' }, OFFERS.tls12, limits);
    await probeHello({ host: '127.0.0.1', port, serverName: null }, OFFERS.tls12, limits);
    await probeHello(
      { host: '127.0.0.1', port, serverName: 'hooks.example' },
      { ...OFFERS.tls12, serverName: false },
      limits,
    );
    expect(names).toEqual(['hooks.example', null, null]);
  });
});

describe('a correct endpoint that also grants something', () => {
  it('serves correct clients with the real server and grants the rest', async () => {
    const backend = await httpsPort({ cert: bundle(test.leaf, test.intermediate), key: test.leaf.key });
    const server = await startRightTlsThatAlso(
      backend,
      grantsSuite([5], { version: 'TLSv1.2', certificates: chain() }),
    );
    onTestFinished(server.close);

    const socket = connect({ port: server.port, host: '127.0.0.1', servername: 'localhost', ca: test.root.cert });
    const answer = await new Promise<string>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('data', (data) => resolve(data.toString()));
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    });
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 200/);

    const offers = [OFFERS.tls10, OFFERS.tls12, OFFERS.tls13, weak('rc4'), weak('3des')] as const;
    const found = [];
    for (const offer of offers) found.push(await match(server.port, offer));
    expect(found).toEqual(['alert', 'granted', 'granted', 'granted', 'alert']);
    expect(server.hellos).toHaveLength(offers.length + 1);
  });

  it('ends its flight as TLS requires', () => {
    const bytes = flight({ version: 'TLSv1.2', suite: 5 });
    expect(Buffer.concat(bytes).subarray(-4)).toEqual(serverHelloDone());
  });
});
