import { describe, expect, it } from 'vitest';
import { ServerFlight } from '../../../harness/probe/server-flight.ts';
import { flight as flightBytes, type Grant } from '../../endpoints/scripted-tls.ts';
import { alertRecord, message, record, records, serverHello, serverHelloDone } from '../../endpoints/tls-bytes.ts';

const CERTIFICATES = [Buffer.alloc(700, 1), Buffer.alloc(1_300, 2), Buffer.alloc(3, 3)];
const NAMES = [Buffer.from('name one'), Buffer.from('name two')];
const FULL: Grant = {
  version: 'TLSv1.2',
  suite: 0xc02f,
  alpn: 'http/1.1',
  secureRenegotiation: true,
  certificates: CERTIFICATES,
  authorities: NAMES,
  stapled: true,
};

/** Reads these bytes in pieces of at most `size` bytes. */
function read(bytes: Uint8Array, size = bytes.length): ServerFlight {
  const flight = new ServerFlight();
  for (let place = 0; place < bytes.length; place += size) flight.read(bytes.subarray(place, place + size));
  return flight;
}

const seen = ({
  hello,
  certificates,
  stapled,
  certificateRequest,
  alert,
  warning,
  complete,
  done,
  broken,
}: ServerFlight) => ({
  hello,
  certificates: certificates.map((certificate) => Buffer.from(certificate)),
  stapled,
  authorities: certificateRequest?.authorities.map((name) => Buffer.from(name)) ?? null,
  alert,
  warning,
  complete,
  done,
  broken,
});

const WHOLE = {
  hello: { version: 'TLSv1.2', suite: 0xc02f, compressed: false, secureRenegotiation: true, alpn: 'http/1.1' },
  certificates: CERTIFICATES,
  stapled: true,
  authorities: NAMES,
  alert: null,
  warning: null,
  complete: true,
  done: true,
  broken: false,
};

describe('a flight', () => {
  it('is read to its end', () => {
    expect(seen(read(Buffer.concat(flightBytes(FULL))))).toEqual(WHOLE);
  });

  it.each([
    [1, 2 ** 14],
    [3, 1],
    [7, 5],
    [2 ** 14, 100],
    [6, 2 ** 14],
  ])('is read from packets of %i and records of %i bytes', (packet, recordSize) => {
    expect(seen(read(Buffer.concat(flightBytes({ ...FULL, recordSize })), packet))).toEqual(WHOLE);
  });

  it.each(['SSLv3', 'TLSv1', 'TLSv1.1'] as const)('of %s has the older form of a certificate request', (version) => {
    const found = read(
      Buffer.concat(flightBytes({ version, suite: 5, certificates: CERTIFICATES, authorities: NAMES })),
    );
    expect(seen(found)).toMatchObject({ hello: { version, suite: 5 }, authorities: NAMES, complete: true });
  });

  it('shows compression', () => {
    expect(read(Buffer.concat(flightBytes({ ...FULL, compression: 1 }))).hello?.compressed).toBe(true);
  });

  it.each([false, true])('of TLS 1.3 ends with its first message (as a HelloRetryRequest: %s)', (retry) => {
    const found = read(Buffer.concat(flightBytes({ version: 'TLSv1.3', suite: 0x1301, retry })));
    expect(seen(found)).toMatchObject({
      hello: { version: 'TLSv1.3', suite: 0x1301 },
      complete: true,
      certificates: [],
    });
  });

  it('continues after warnings and ends with a fatal alert', () => {
    const warned = read(Buffer.concat(flightBytes({ ...FULL, warnings: [112, 90] })));
    expect(seen(warned)).toEqual({ ...WHOLE, warning: { level: 'warning', name: 'user_canceled' } });
    const both = read(record(21, Buffer.of(1, 112, 2, 40)));
    expect(seen(both)).toMatchObject({ done: true, hello: null, alert: { level: 'fatal', name: 'handshake_failure' } });
    const late = read(
      Buffer.concat([...records([serverHello(FULL)]), alertRecord(80), ...records([serverHelloDone()])]),
    );
    expect(seen(late)).toMatchObject({
      done: true,
      complete: false,
      hello: { suite: 0xc02f },
      alert: { name: 'internal_error' },
    });
  });

  it('keeps its unencrypted part when it switches to encrypted records', () => {
    const bytes = Buffer.concat([
      ...records([serverHello(FULL)]),
      record(20, Buffer.of(1)),
      record(22, Buffer.alloc(40, 9)),
    ]);
    expect(seen(read(bytes))).toMatchObject({ done: true, broken: false, complete: false, hello: { suite: 0xc02f } });
  });
});

describe('an invalid flight', () => {
  const hello = serverHello(FULL);
  it.each([
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a single byte of something else', Buffer.from('S')],
    ['the right type and a wrong major version', Buffer.of(22, 2)],
    ['sealed data at once', record(23, Buffer.alloc(20))],
    ['a change of cipher at once', record(20, Buffer.of(1))],
    ['a record that is too long', Buffer.of(22, 3, 3, 0xff, 0xff)],
    ['a message that is too long', record(22, Buffer.of(2, 0xff, 0xff, 0xff))],
    ['an alert of one byte', record(21, Buffer.of(2))],
    ['an empty alert', record(21, Buffer.alloc(0))],
    ['an alert of an unknown level', record(21, Buffer.of(3, 40))],
    ['a Certificate before the ServerHello', record(22, message(11, Buffer.alloc(3)))],
    ['a ServerHello that is cut off', record(22, message(2, hello.subarray(4, 60)))],
    ['a ServerHello with extensions that are cut off', record(22, message(2, hello.subarray(4, -3)))],
    [
      'a ServerHello of an unknown version',
      record(22, message(2, Buffer.concat([Buffer.of(3, 9), hello.subarray(6)]))),
    ],
    [
      'a ServerHello that claims 1.3 in the old place',
      record(22, message(2, Buffer.concat([Buffer.of(3, 4), hello.subarray(6)]))),
    ],
  ])('is broken: %s', (_what, bytes) => {
    for (const size of [1, bytes.length]) {
      expect(seen(read(bytes, size))).toMatchObject({ hello: null, done: true, broken: true });
    }
  });

  it.each([
    ['a list longer than the message', message(11, Buffer.of(0, 0, 9, 0, 0, 1, 7))],
    ['a list shorter than the message', message(11, Buffer.of(0, 0, 4, 0, 0, 1, 7, 7))],
    ['an empty certificate', message(11, Buffer.of(0, 0, 3, 0, 0, 0))],
    ['a certificate longer than the list', message(11, Buffer.of(0, 0, 4, 0, 0, 9, 7))],
    ['nothing at all', message(11, Buffer.alloc(0))],
    [
      'thousands of certificates',
      message(11, Buffer.concat([Buffer.of(0, 0x9c, 0x40), Buffer.alloc(40_000, Buffer.of(0, 0, 1, 7))])),
    ],
  ])('yields no certificates, but everything else: %s', (_what, bad) => {
    const found = read(Buffer.concat(records([serverHello(FULL), bad, serverHelloDone()])));
    expect(seen(found)).toMatchObject({ certificates: [], hello: { suite: 0xc02f }, complete: true, broken: false });
  });

  it('counts as a certificate request even if the CA names cannot be read', () => {
    const found = read(Buffer.concat(records([serverHello(FULL), message(13, Buffer.of(9)), serverHelloDone()])));
    expect(found.certificateRequest).toEqual({ authorities: [] });
  });

  const endless = {
    warnings: alertRecord(112, 1),
    'empty records': record(22, Buffer.alloc(0)),
    'hello requests': record(22, message(0, Buffer.alloc(0))),
    'unknown messages': record(22, message(99, Buffer.alloc(50))),
  };
  it.each(Object.entries(endless))('ends even if it is endless: %s', (name, bytes) => {
    const begun = name === 'unknown messages';
    const flight = read(Buffer.concat(begun ? records([serverHello(FULL)]) : []));
    let turns = 0;
    for (; !flight.done && turns < 200_000; turns += 1) flight.read(bytes);
    expect({ done: flight.done, broken: flight.broken }).toEqual({ done: true, broken: !begun });
    expect(turns * bytes.length).toBeLessThan(600_000);
  });

  it('reads a message of 80,000 bytes in records of one byte', () => {
    const bytes = Buffer.concat(
      records([serverHello(FULL), message(99, Buffer.alloc(80_000)), serverHelloDone()], 'TLSv1.2', 1),
    );
    const start = performance.now();
    expect(seen(read(bytes, 11))).toMatchObject({ complete: true });
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

// test/proofs/fuzz/tls.ts tries other input.
it('any prefix of a real flight is unfinished', () => {
  const real = Buffer.concat(flightBytes({ ...FULL, recordSize: 900 }));
  for (let length = 0; length < real.length; length += 1) {
    const { broken, done } = read(real.subarray(0, length), 997);
    expect(done || broken).toBe(false);
  }
  expect(read(real, 997).complete).toBe(true);
});
