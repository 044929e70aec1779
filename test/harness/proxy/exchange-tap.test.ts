import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ForwardedExchange } from '../../../contract/index.ts';
import { createTap } from '../../../harness/proxy/index.ts';

interface Budget {
  used: number;
  max: number;
}

function tapped({ maxRequestBytes = 1e6, max = 1e7 } = {}) {
  const seen: ForwardedExchange[] = [];
  const budget: Budget = { used: 0, max };
  const tap = createTap({
    budget: {
      take(bytes) {
        if (budget.used + bytes > budget.max) return false;
        budget.used += bytes;
        return true;
      },
      release(bytes) {
        budget.used -= bytes;
      },
    },
    maxRequestBytes,
    report: (exchange) => seen.push(exchange),
  })({ remoteAddress: '127.0.0.1' });
  return { tap, seen, budget };
}

/** Returns what the tap reports when each direction arrives in pieces of these sizes. */
function exchanges(requests: string, answers: string, sizes: readonly number[] = [Number.POSITIVE_INFINITY]) {
  const { tap, seen, budget } = tapped();
  const feed = (text: string, read: (piece: Buffer) => void) => {
    const all = Buffer.from(text, 'latin1');
    for (let at = 0, turn = 0; at < all.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      read(all.subarray(at, at + size));
      at += size;
    }
  };
  feed(requests, (piece) => tap.fromClient(piece));
  feed(answers, (piece) => tap.fromServer(piece));
  tap.clientEnded();
  tap.serverEnded();
  tap.closed();
  expect(budget.used).toBe(0);
  return seen.map(({ request, answer }) => ({
    line: `${request.method} ${request.target}`,
    headers: request.headers,
    raw: request.raw?.toString('latin1'),
    body: request.body?.toString('latin1'),
    complete: request.complete,
    status: answer?.status,
    answer: answer?.body.toString('latin1'),
  }));
}

const PLAIN = 'POST /a HTTP/1.1\r\nhost: x\r\nX-A: \t1\t \r\nx-a:2\r\nContent-Length: 3\r\n\r\nabc';
const CHUNKED = 'POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n';
const EMPTY = 'GET /c HTTP/1.1\r\nHost: x\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\n';
const REFUSED = 'HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n';
const TO_THE_END = 'HTTP/1.1 500 Oh\r\n\r\nthe end';

describe('the tap', () => {
  it('pairs pipelined requests with their answers, however the bytes are split', () => {
    const requests = PLAIN + CHUNKED + EMPTY;
    const answers = OK + INTERIM + REFUSED + TO_THE_END;
    const whole = exchanges(requests, answers);
    expect(whole.map(({ line, body, status, answer }) => [line, body, status, answer])).toEqual([
      ['POST /a', 'abc', 200, 'ok'],
      ['POST /b', 'abcde', 401, 'no'],
      ['GET /c', '', 500, 'the end'],
    ]);
    expect(whole.map(({ raw }) => raw)).toEqual([PLAIN, CHUNKED, EMPTY]);
    expect(whole[0]?.headers).toEqual([
      ['host', 'x'],
      ['X-A', '1'],
      ['x-a', '2'],
      ['Content-Length', '3'],
    ]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        expect(exchanges(requests, answers, sizes)).toEqual(whole);
      }),
    );
  });

  it('reports a request whose answer came early, or that is not complete, when the connection ends', () => {
    const cut = PLAIN.slice(0, -1);
    expect(exchanges(cut, OK)).toMatchObject([{ line: 'POST /a', complete: false, status: 200, body: undefined }]);
    expect(exchanges(cut, '')).toMatchObject([{ line: 'POST /a', complete: false, status: undefined }]);
    expect(exchanges('POST /a HTTP/1.1\r\nHos', REFUSED)).toMatchObject([{ complete: false, status: 401 }]);
  });

  it('shows bytes that are not HTTP as one request, and never fails on any bytes', () => {
    expect(exchanges('\x16\x03\x01\x02\n\n more', 'junk')).toMatchObject([{ line: ' ', status: 0 }]);
    const withoutColon = 'GET /x HTTP/1.1\r\nno colon\r\n\r\n';
    expect(exchanges(withoutColon, OK)).toMatchObject([{ headers: [['no colon', '']], status: 200 }]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        exchanges(Buffer.from(a).toString('latin1'), Buffer.from(b).toString('latin1'), [7]);
        exchanges(`POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${Buffer.from(a).toString('latin1')}`, '', [3]);
      }),
    );
  });

  it('stops at an upgrade, and shows a HEAD request and its answer without a body', () => {
    const upgrade = 'GET /w HTTP/1.1\r\nUpgrade: x\r\n\r\n';
    expect(exchanges(`${upgrade}\x01\x02`, 'HTTP/1.1 101 Yes\r\n\r\n\x03')).toMatchObject([
      { status: 101, raw: upgrade },
    ]);
    const head = 'HEAD /h HTTP/1.1\r\n\r\n';
    expect(exchanges(head + EMPTY, `HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n${OK}`)).toMatchObject([
      { line: 'HEAD /h', status: 200, answer: '' },
      { line: 'GET /c', status: 200, answer: 'ok' },
    ]);
  });

  it('keeps no more than it may: of one request, of all together, and of requests that wait', () => {
    const large = `POST / HTTP/1.1\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`;
    const small = tapped({ maxRequestBytes: 100_000 });
    small.tap.fromClient(Buffer.from(large));
    small.tap.fromServer(Buffer.from(OK));
    expect(small.seen).toMatchObject([{ request: { raw: undefined, body: undefined, bodyLength: 200_000 } }]);

    const full = tapped({ max: 1000 });
    for (let sent = 0; sent < 100; sent += 1) full.tap.fromClient(Buffer.alloc(10_000, 'x'));
    expect(full.budget.used).toBeLessThanOrEqual(1000);

    const waiting = tapped();
    for (let sent = 0; sent < 1000; sent += 1) waiting.tap.fromClient(Buffer.from(EMPTY));
    expect(waiting.budget.used).toBe(0);
    expect(waiting.seen.length).toBe(101);
  });
});
