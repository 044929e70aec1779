/**
 * The raw HTTP entrance of the receiver: bytes on a socket. Well-formed requests in any framing and any pieces get
 * exactly the expected answers; however their bytes are changed, nothing is accepted without its credentials.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { memoryInbox, type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { API_KEY, buy, headersFor, SECRET, sign } from '../../receiver/deliveries.ts';
import { edited, type FuzzTarget, fuzzTarget, must, printable } from './target.ts';

const BODY_LIMIT = 4096;
/** A time, in milliseconds, that is far beyond every time limit of the receivers below. */
const MAX_WAIT_MS = 60_000;

interface Rig {
  readonly receiver: RunningReceiver;
  /** The bodies that were stored from the latest connections, in Base64. */
  readonly stored: Set<string>;
  /** The requests that were answered 200. */
  readonly accepted: IncomingMessage[];
  forget(): void;
  stop(): Promise<void>;
}

/** Starts a receiver, and observes its inbox and answers independently of its stages. */
async function startRig(timeouts: { headersMs: number; requestMs: number; keepAliveMs: number }): Promise<Rig> {
  const stored = new Set<string>();
  const accepted: IncomingMessage[] = [];
  const inbox = memoryInbox();
  const receiver = await startReceiver({
    signing: { secrets: [SECRET] },
    apiKey: { keys: [API_KEY] },
    bodyLimit: BODY_LIMIT,
    timeouts,
    inbox: {
      ...inbox,
      put(delivery) {
        stored.add(delivery.rawBody.toString('base64'));
        return inbox.put(delivery);
      },
    },
  });
  const onFinish = (message: unknown) => {
    const { request, response, socket } = message as {
      request: IncomingMessage;
      response: ServerResponse;
      socket: { localPort?: number };
    };
    if (response.statusCode === 200 && socket.localPort === receiver.port) accepted.push(request);
  };
  subscribe('http.server.response.finish', onFinish);
  return {
    receiver,
    stored,
    accepted,
    forget() {
      stored.clear();
      accepted.length = 0;
    },
    async stop() {
      unsubscribe('http.server.response.finish', onFinish);
      await receiver.close();
      await inbox.close();
    },
  };
}

/**
 * How a client ends: with a FIN or a reset after its last byte, with a FIN after this many answers, or not at all. Node
 * abandons the requests of a connection when it receives a FIN.
 */
type End = 'fin' | 'reset' | 'wait' | number;

/** The client stops waiting for an answer after this many turns of the event loop. */
const QUIET_TURNS = 40;

/** Sends the pieces, one write each. Resolves with everything that was received when the connection has ended. */
async function converse(port: number, pieces: readonly Uint8Array[], end: End): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  let received = '';
  let quiet = 0;
  socket.on('data', (chunk) => {
    quiet = 0;
    received += chunk.toString('latin1');
    if (typeof end === 'number' && statusesIn(received).length >= end) socket.end();
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  // The receiver has ended the connection, so this side ends it, too.
  socket.on('end', () => socket.end());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the connection is still open')), MAX_WAIT_MS);
  });
  try {
    const written = async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        await Promise.race([new Promise((resolve) => socket.write(piece, resolve)), closed]);
      }
      for (quiet = 0; end === 'fin' && quiet < QUIET_TURNS && !socket.destroyed; quiet += 1) await nextTurn();
      if (end === 'fin') socket.end();
      if (end === 'reset') socket.resetAndDestroy();
      await closed;
    };
    await Promise.race([written(), late]);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
  return received;
}

function split(bytes: Uint8Array, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, at) => Buffer.from(bytes.subarray(from, cuts[at] ?? bytes.length)));
}

/** Creates a delivery with these header lines and a Content-Length. */
function delivery(body: Buffer, headers: Readonly<Record<string, string>>, first = 'POST / HTTP/1.1'): Buffer {
  const lines = Object.entries({ Host: 'localhost', 'Content-Length': String(body.length), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${first}\r\n${head}\r\n`, 'latin1'), body]);
}

/**
 * Returns the statuses in the received bytes. Answers follow one another without a line break, and none repeats what
 * was sent.
 */
const statusesIn = (received: string) =>
  Array.from(received.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));

async function expectAlive({ receiver }: Rig): Promise<void> {
  const body = Buffer.from(JSON.stringify(buy()));
  const [status] = statusesIn(await converse(receiver.port, [delivery(body, headersFor(body))], 1));
  must(status === 200, `a valid delivery afterwards is answered ${status}`);
}

interface Sent {
  readonly bytes: Buffer;
  readonly status: number;
}

/** The framings in which HTTP can carry a body. */
const framing = fc.oneof(
  fc.constant(null),
  fc.record({
    sizes: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }),
    upper: fc.boolean(),
    zeros: fc.nat(3),
    extension: fc.constantFrom('', ';a', ';a=b', ';a="b c"'),
    trailers: fc.constantFrom('', 'X-Trailer: 1\r\n', 'X-API-Key: wrong\r\nX-Service-Signature: wrong\r\n'),
  }),
);

type Framing = typeof framing extends fc.Arbitrary<infer T> ? T : never;

function framed(body: Buffer, how: Framing): { header: readonly [string, string]; payload: Buffer } {
  if (how === null) return { header: ['Content-Length', String(body.length)], payload: body };
  const { sizes, upper, zeros, extension, trailers } = how;
  const parts: Buffer[] = [];
  for (let place = 0, turn = 0; place < body.length; turn += 1) {
    const piece = body.subarray(place, place + (sizes[turn % sizes.length] ?? 1));
    const size = `${'0'.repeat(zeros)}${piece.length.toString(16)}`;
    parts.push(Buffer.from(`${upper ? size.toUpperCase() : size}${extension}\r\n`), piece, Buffer.from('\r\n'));
    place += piece.length;
  }
  parts.push(Buffer.from(`0${extension}\r\n${trailers}\r\n`));
  return { header: ['Transfer-Encoding', 'chunked'], payload: Buffer.concat(parts) };
}

const valid = Buffer.from(JSON.stringify(buy('7e57ca5e-0000-4000-8000-000000000001')));

/** Changes to the headers of a valid delivery, and the expected answer. */
const CREDENTIALS: readonly (readonly [status: number, changes: Readonly<Record<string, string | undefined>>])[] = [
  [200, {}],
  [200, { 'Content-Type': 'application/json; charset=utf-8' }],
  [200, { Expect: undefined, 'X-Forwarded-For': '::1', 'X-HTTP-Method-Override': 'GET' }],
  [401, { 'X-API-Key': undefined }],
  [401, { 'X-API-Key': `${API_KEY}x` }],
  [401, { 'X-Service-Signature': undefined }],
  [401, { 'X-Service-Signature': '' }],
  [401, { 'X-Service-Signature': sign('another body') }],
  [401, { 'X-Service-Signature': sign(valid, 'another secret') }],
  [415, { 'Content-Type': 'text/plain' }],
  [415, { 'Content-Encoding': 'gzip' }],
];

/** Bodies by name, so that a counterexample is short. The last one is a whole valid request inside another body. */
const BODIES: readonly (readonly [status: number, body: Buffer])[] = [
  [200, valid],
  [200, Buffer.from(JSON.stringify(buy('7e57ca5e-0000-4000-8000-000000000002', { providerId: 'é😀'.repeat(200) })))],
  [400, Buffer.from('not JSON')],
  [400, Buffer.alloc(0)],
  [400, Buffer.from([0xff, 0xfe, 0])],
  [400, delivery(valid, headersFor(valid))],
  [413, Buffer.alloc(BODY_LIMIT + 1, ' ')],
];

const request = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'OPTIONS'),
    target: fc.constantFrom('/', '/hooks?a=b', '//', '/%2e%2e/x', 'http://other.example/', '/%00'),
    credentials: fc.constantFrom(...CREDENTIALS),
    body: fc.constantFrom(...BODIES),
    framing,
  })
  .map(({ method, target, credentials: [byHeaders, changes], body: [byBody, body], framing: how }): Sent => {
    const { header, payload } = framed(body, how);
    const headers = Object.entries({ Host: 'localhost', [header[0]]: header[1], ...headersFor(body, changes) });
    const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const bytes = Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}\r\n`, 'latin1'), payload]);
    return { bytes: printable(bytes), status: method === 'POST' ? expectedStatus(byHeaders, byBody) : 405 };
  });

/** Returns the status of the first rejection, according to the order of the stages. */
function expectedStatus(byHeaders: number, byBody: number): number {
  if (byHeaders === 401) return byBody === 413 ? 413 : 401;
  if (byBody === 413) return 413;
  return byHeaders === 200 ? byBody : byHeaders;
}

const wellFormed = fuzzTarget(
  {
    name: 'http-valid',
    shows: 'well-formed requests, pipelined, in any framing and any pieces: exactly the expected answers, in order',
    shortRuns: 60,
  },
  async () => {
    const rig = await startRig({ headersMs: 30_000, requestMs: 30_000, keepAliveMs: 30_000 });
    return {
      input: fc.record({
        requests: fc.array(request, { minLength: 1, maxLength: 4 }),
        cuts: fc.array(fc.nat(0xffff), { maxLength: 6 }),
      }),
      async check({ requests, cuts }) {
        const pieces = split(Buffer.concat(requests.map(({ bytes }) => bytes)), cuts);
        const seen = statusesIn(await converse(rig.receiver.port, pieces, requests.length));
        // A body that is too large gets a 401 if the head has no credentials.
        const expected = requests.map(({ status }) => status);
        const same = seen.length === expected.length && seen.every((status, at) => isExpected(status, expected[at]));
        must(same, `answered ${seen.join(' ')}, expected ${expected.join(' ')}`);
        rig.forget();
      },
      stop: rig.stop,
    };
  },
);

/** Returns whether a status is as expected. Credentials may be checked before or after the size. */
function isExpected(status: number, expected: number | undefined): boolean {
  return status === expected || (expected === 413 && status === 401);
}

/** Texts about which HTTP implementations disagree. */
const WORDS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  ';',
  '0\r\n\r\n',
  'ffffffffffffffff\r\n',
  '-1\r\n',
  '0x10\r\n',
  '1;ext="\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Transfer-Encoding: chunked, identity\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 5, 5\r\n',
  'Content-Length: +5\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Expect: 100-continue\r\n',
  'Expect: 200-ok\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade\r\n',
  'Connection: close\r\n',
  'Connection: X-API-Key, X-Service-Signature\r\n',
  'Content-Encoding: gzip\r\n',
  'Host: x\r\n',
  ' folded\r\n',
  `X-API-Key: ${API_KEY}\r\n`,
  'X-API-Key: wrong\r\n',
  'X-Service-Signature: AAAA\r\n',
  'X_API_Key: x\r\n',
  'GET ',
  'HEAD ',
  'CONNECT ',
  'TRACE ',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/1.0',
  'HTTP/2.0',
  'HTTP/1.1',
  ' * ',
  'http://[::1',
  '/../',
  '%',
  '\xff\xfe',
  '__proto__: 1\r\n',
  'X: 1\r\n',
].map((word) => Buffer.from(word, 'latin1'));

/** The statuses of HTTP itself: a method, an expectation or a version that is not supported. */
const ALLOWED_5XX = [501, 505];

const mutated = fuzzTarget(
  {
    name: 'http-edited',
    shows: 'edited requests: no 200 without the credentials of exactly these bytes, no 5xx, every connection ends',
    shortRuns: 150,
  },
  async () => {
    const rig = await startRig({ headersMs: 300, requestMs: 500, keepAliveMs: 300 });
    const requests = fc
      .array(request, { minLength: 1, maxLength: 3 })
      .map((all) => Buffer.concat(all.map(({ bytes }) => bytes)));
    return {
      input: fc.record({
        bytes: fc.oneof(
          { weight: 9, arbitrary: edited(requests, WORDS) },
          { weight: 1, arbitrary: edited(fc.uint8Array({ maxLength: 200 }), WORDS, 12) },
        ),
        cuts: fc.array(fc.nat(0xffff), { maxLength: 4 }),
        end: fc.oneof(
          { weight: 270, arbitrary: fc.constant('fin' as const) },
          { weight: 29, arbitrary: fc.constant('reset' as const) },
          // Waits until the receiver's time limits end the connection.
          { weight: 1, arbitrary: fc.constant('wait' as const) },
        ),
      }),
      async check({ bytes, cuts, end }) {
        const received = await converse(rig.receiver.port, split(bytes, cuts), end);
        const statuses = statusesIn(received);
        const server = statuses.find((status) => status >= 500 && !ALLOWED_5XX.includes(status));
        must(server === undefined, `answered ${server}`);
        must(!/\bat (?:\/|file:|node:)|HPE_|Error:/.test(received), 'an answer shows the inside of the receiver');
        for (const answered of rig.accepted) expectCredentials(answered, rig.stored);
        for (const body of rig.stored) {
          must(bytes.includes(sign(Buffer.from(body, 'base64'))), 'stored a body without its signature');
        }
        await expectAlive(rig);
        rig.forget();
      },
      stop: rig.stop,
    };
  },
);

/** Expects one signature of a stored body and one API key in the header lines, as Node parsed them. */
function expectCredentials({ method, rawHeaders }: IncomingMessage, stored: ReadonlySet<string>): void {
  const values = (wanted: string) =>
    rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === wanted);
  const signatures = values('x-service-signature');
  const keys = values('x-api-key');
  const signed = [...stored].some((body) => sign(Buffer.from(body, 'base64')) === signatures[0]);
  const right = method === 'POST' && signatures.length === 1 && signed && keys.length === 1 && keys[0] === API_KEY;
  must(right, `accepted (200) without valid credentials: ${method} ${JSON.stringify(rawHeaders)}`);
}

export const HTTP_TARGETS: readonly FuzzTarget[] = [wellFormed, mutated];
