/** The reader takes pieces, possibly without end, until one completes a result, and reports how many it took. */
import { describe, expect, it } from 'vitest';
import { AnswerReader, type AnswerReading } from '../../../harness/probe/answer-reader.ts';

function reading(pieces: Iterable<string>, cap = 100): { got: AnswerReading; taken: number } {
  const reader = new AnswerReader(cap);
  let taken = 0;
  for (const piece of pieces) {
    taken += 1;
    const got = reader.read(Buffer.from(piece, 'latin1'));
    if (got !== null || taken === 100_000) return { got, taken };
  }
  return { got: reader.end(), taken };
}

function* forever(first: string, piece: string): Generator<string> {
  yield first;
  for (;;) yield piece;
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
const statusOf = ({ got }: { got: AnswerReading }) => (got === null || typeof got === 'string' ? got : got.status);

describe('an endless answer', () => {
  it.each([
    ['header lines', HEAD, 'X-A: b\r\n', 'too-large'],
    ['one header', `${HEAD}X-A: `, 'a', 'too-large'],
    ['interim answers', '', 'HTTP/1.1 100 Continue\r\n\r\n', 'too-large'],
    ['large interim answers', '', `HTTP/1.1 103 Hints\r\nLink: ${'l'.repeat(5_000)}\r\n\r\n`, 'too-large'],
    ['a reason', 'HTTP/1.1 200 ', 'x', 'too-large'],
    ['blank lines', '', '\r\n', 'invalid'],
    ['noise', '', '\xaa', 'invalid'],
    ['a body', `${HEAD}\r\n`, 'x', 200],
    ['chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n', 200],
  ])('%s: is ended', (_, first, piece, expected) => {
    const read = reading(forever(first, piece));
    expect(statusOf(read)).toBe(expected);
    expect(read.taken).toBeLessThan(20_000);
  });

  it.each([
    ['a header line without a colon', `${HEAD}X-Ab\r\n\r\n`],
    ['lines that end without a carriage return', 'HTTP/1.1 200 OK\nX-A: b\n\n'],
  ])('with %s is not HTTP', (_, bytes) => {
    expect(reading([bytes]).got).toBe('invalid');
  });

  it('with many interim answers in one piece is ended', () => {
    expect(statusOf(reading(['HTTP/1.1 100 Continue\r\n\r\n'.repeat(100_000)]))).toBe('too-large');
  });
});

describe('the end of an answer', () => {
  it.each([
    ['at its last chunk', [`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'more'], 1],
    [
      'at a last chunk in pieces',
      [`${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n`, 'ok\r\n0', '\r\n', '\r\n', 'more'],
      4,
    ],
    ['without a body when there can be none', ['HTTP/1.1 204 No\r\n\r\n', 'more'], 1],
    ['at a change of protocol', ['HTTP/1.1 101 Switching\r\n\r\n', 'more'], 1],
    ['after its length', [`${HEAD}Content-Length: 2\r\n\r\n`, 'ok', 'more'], 2],
    ['with the connection, when the length is none', [`${HEAD}Content-Length: x\r\n\r\n`, 'ok'], 2],
  ])('%s', (_, pieces, taken) => {
    const read = reading(pieces);
    expect({ ...read, got: typeof read.got }).toEqual({ got: 'object', taken });
  });

  it('is none if nothing was received', () => {
    expect(reading([]).got).toBeNull();
  });

  it('is not inside a chunk size that ends in 0', () => {
    expect(reading([`${HEAD}Transfer-Encoding: chunked\r\n\r\n10\r\n\r\n`]).taken).toBe(1);
    const reader = new AnswerReader(100);
    expect(reader.read(Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n10\r\n\r\n`))).toBeNull();
  });
});
