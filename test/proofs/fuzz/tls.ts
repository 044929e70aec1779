/** The answers of a hostile endpoint: the first flight of a TLS server, and an HTTP answer on a raw connection. */
import fc from 'fast-check';
import { AnswerReader } from '../../../harness/probe/answer-reader.ts';
import { encodeClientHello } from '../../../harness/probe/client-hello.ts';
import { ServerFlight } from '../../../harness/probe/server-flight.ts';
import { flight as flightBytes } from '../../endpoints/scripted-tls.ts';
import { message, record, records, serverHello } from '../../endpoints/tls-bytes.ts';
import { edited, type FuzzTarget, fuzzTarget, must } from './target.ts';

const HELLO = { version: 'TLSv1.2', suite: 0xc02f, alpn: 'http/1.1', secureRenegotiation: true } as const;
const FLIGHTS = [
  flightBytes({
    ...HELLO,
    certificates: [Buffer.alloc(700, 1), Buffer.alloc(1_300, 2), Buffer.alloc(3, 3)],
    authorities: [Buffer.from('name one'), Buffer.from('name two')],
    stapled: true,
    recordSize: 900,
  }),
  flightBytes({ version: 'TLSv1.3', suite: 0x1301 }),
  flightBytes({ version: 'TLSv1.3', suite: 0x1301, retry: true }),
  flightBytes({ version: 'SSLv3', suite: 5, certificates: [Buffer.alloc(9, 1)], warnings: [112] }),
].map((pieces) => Buffer.concat(pieces));

/** Alerts, empty records, messages of each type, and lengths that announce too much. */
const TLS_WORDS = [
  record(21, Buffer.of(1, 112)),
  record(21, Buffer.of(2, 40)),
  record(21, Buffer.of(2)),
  record(20, Buffer.of(1)),
  record(23, Buffer.alloc(5)),
  record(22, Buffer.alloc(0)),
  ...[0, 2, 11, 12, 13, 14, 22, 99].map((type) => record(22, message(type, Buffer.of(0, 0, 1, 7)))),
  record(22, message(11, Buffer.of(0, 0, 3, 0, 0, 0))),
  record(22, message(11, Buffer.of(0, 0, 7, 0, 0, 0, 0, 0, 1, 7))),
  Buffer.of(22, 3, 3, 0xff, 0xff),
  Buffer.of(0xff, 0xff, 0xff),
  Buffer.of(0, 0),
];

const records22 = fc
  .array(fc.tuple(fc.constantFrom(20, 21, 22, 22, 22, 23), fc.uint8Array({ maxLength: 300 })), { maxLength: 20 })
  .map((all) => Buffer.concat(all.map(([type, payload]) => record(type, payload))));
const messages = fc
  .array(fc.tuple(fc.constantFrom(2, 11, 12, 13, 14, 22), fc.uint8Array({ maxLength: 200 })), { maxLength: 8 })
  .map((all) => Buffer.concat(records([serverHello(HELLO), ...all.map(([type, body]) => message(type, body))])));

const randomBytes = fc.uint8Array({ maxLength: 4_000 });
const pieceSize = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 4_000 }));

function* piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let place = 0; place < bytes.length; place += size) yield bytes.subarray(place, place + size);
}

const flight = fuzzTarget(
  {
    name: 'tls-flight',
    shows: 'the first flight of a TLS server: never throws, the same result in any pieces, and a limited amount',
    shortRuns: 400,
  },
  () => ({
    input: fc.record({
      bytes: fc.oneof(
        edited(fc.constantFrom(...FLIGHTS), TLS_WORDS),
        edited(records22, TLS_WORDS, 2),
        messages,
        randomBytes,
      ),
      size: pieceSize,
    }),
    check({ bytes, size }) {
      const [whole, parts] = [new ServerFlight(), new ServerFlight()];
      whole.read(bytes);
      for (const piece of piecesOf(bytes, size)) parts.read(piece);
      for (const one of [whole, parts]) {
        must(!(one.broken && one.hello !== null), 'a broken flight has a result');
        must(!one.complete || one.done, 'a complete flight is not done');
        must(
          one.certificates.every(({ length }) => length > 0) && one.certificates.length <= 100,
          'empty certificates, or too many',
        );
      }
      const seen = ({ hello, certificates, stapled, alert, warning, complete, done, broken }: ServerFlight) =>
        JSON.stringify([hello, certificates, stapled, alert, warning, complete, done, broken]);
      must(seen(whole) === seen(parts), 'the result depends on the pieces');
    },
  }),
);

const hello = fuzzTarget(
  { name: 'client-hello', shows: 'the hello of a probe: lengths agree for every name of a host', shortRuns: 100 },
  () => ({
    input: fc.record({
      version: fc.constantFrom('SSLv3', 'TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'),
      suites: fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 200 }),
      compression: fc.boolean(),
      serverName: fc.option(fc.string({ maxLength: 255 })),
      alpn: fc.array(fc.string({ minLength: 1, maxLength: 60 }), { maxLength: 3 }),
      ocsp: fc.boolean(),
    }),
    check(given) {
      const bytes = Buffer.from(encodeClientHello(given));
      must(bytes.readUInt16BE(3) === bytes.length - 5 && bytes.readUIntBE(6, 3) === bytes.length - 9, 'lengths differ');
    },
  }),
);

const CAP = 1000;
const HTTP_WORDS = [
  '\r\n',
  '\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 200 OK\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 1e9\r\n',
  'Content-Length: x\r\n',
  ': \r\n',
  'X-A: b\r\n',
  '0\r\n\r\n',
  '\0',
  'x',
];

const answer = fuzzTarget(
  {
    name: 'http-answer',
    shows: 'an HTTP answer of an endpoint: read or refused, within the limits, at the cost of its length',
    shortRuns: 300,
  },
  () => ({
    input: fc.record({
      bytes: edited(
        fc.constantFrom(
          Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'),
          Buffer.from(
            'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
          ),
        ),
        HTTP_WORDS,
      ),
      size: pieceSize,
    }),
    check({ bytes, size }) {
      const reader = new AnswerReader(CAP);
      for (const piece of piecesOf(bytes, size)) {
        const reading = reader.read(piece);
        if (reading === null) continue;
        must(typeof reading === 'string' || reading.body.length <= CAP, 'more of the body than the limit');
        return;
      }
      reader.end();
    },
  }),
);

export const TLS_TARGETS: readonly FuzzTarget[] = [flight, hello, answer];
