import { headerLineAdded, headerLines, requestLine, withBody } from '../changes/transmitting.ts';
import { rejectedHttp, rejectedOrRead } from '../expectations.ts';
import type { Change, Delivery, Expectation, FlowScenario, Scenario, Transmission } from '../scenario.ts';
import { family } from './family.ts';

/** Changes the value of the Content-Length line. */
const contentLength = (label: string, value: (length: number) => string) =>
  headerLines(label, 'Content-Length', (line) => [`Content-Length: ${value(Number(line.split(':')[1]))}`]);

/**
 * A length that exceeds 32 bits, but for which malloc still succeeds. If the allocation failed, PHP's development
 * server would exit.
 */
const HUGE = '4294967312';

/** Closes the sending side of the connection after the last byte. */
function ended(transmission: Transmission): Transmission {
  return transmission.kind === 'raw' ? { ...transmission, end: true } : transmission;
}

/** Announces a longer body than it sends, and then closes the sending side of the connection. */
const announcing = (length: string): Change => ({
  transmit: ended(contentLength(`Content-Length: ${length}, and the end of the connection`, () => length)),
});

const rejectedOrOldHttp: Expectation = {
  ...rejectedOrRead,
  text:
    'any 4xx, 501, 505 or a closed connection (200, or an answer without a status as in HTTP/0.9: recorded; ' +
    'anything else: warning)',
  note: [200, 'unreadable'],
};

const rejectedOrUnread: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection (2xx: recorded)',
  authentic: true,
  pass: ['4xx', 501, 505, 'closed'],
  note: ['2xx', 'none'],
  isBrief: true,
};

const chunkedInstead = (head: readonly string[]) =>
  head.map((line) => (/^content-length:/i.test(line) ? 'Transfer-Encoding: chunked' : line));

/** Malformed HTTP requests, written on a plain socket. Scanners send such requests every day. */
export const httpHostile: readonly Scenario[] = family(
  {
    suite: 'http',
    verb: 'Rejects',
    level: 'must',
    requirements: ['delivery-hostile-http'],
    expect: rejectedHttp,
    mistake: 'own-http-parser',
  },
  {
    'garbage-request-line': [
      'a malformed request line',
      (label) => ({ transmit: requestLine(label, () => '%%% this is no request line %%% HTTP/1.1') }),
      'malformed-http-error',
    ],
    'version-unknown': [
      'an unknown HTTP version',
      { transmit: requestLine('the version HTTP/9.9', (line) => line.replace(/HTTP\/1\.1$/, 'HTTP/9.9')) },
      {
        expect: rejectedOrOldHttp,
        note: 'A custom server may ignore the version and guess where the message ends.',
      },
    ],
    'two-content-lengths': [
      'two different Content-Length headers',
      (label) => ({ transmit: headerLines(label, 'Content-Length', (line) => [line, 'Content-Length: 5']) }),
    ],
    'content-length-and-chunked': [
      'Content-Length together with Transfer-Encoding',
      {
        transmit: withBody(
          'Transfer-Encoding: chunked and Content-Length, the body in one chunk',
          (head) => [...head, 'Transfer-Encoding: chunked'],
          (body) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
        ),
      },
      { expect: rejectedOrRead },
    ],
    'content-length-words': [
      'a Content-Length that is not a number',
      { transmit: contentLength('Content-Length that ends in letters', (length) => `${length}abc`) },
      'trusted-content-length',
      { note: '`parseInt` reads the digits and ignores the rest; another server on the path may not.' },
    ],
    'content-length-negative': [
      'a negative Content-Length',
      { transmit: contentLength('Content-Length: -5', () => '-5') },
      'trusted-content-length',
      { note: '`read(-5)` means "read to the end" in several languages, so the worker waits forever.' },
    ],
    'content-length-short': [
      'a body that is longer than its Content-Length',
      { transmit: contentLength('Content-Length 10 bytes too small', (length) => String(length - 10)) },
      { note: 'The bytes after Content-Length belong to the next request.' },
    ],
    'chunk-size-broken': [
      'a chunk size that is not a number',
      { transmit: withBody('a chunk whose size is "zz"', chunkedInstead, (body) => `zz\r\n${body}\r\n0\r\n\r\n`) },
      'malformed-http-error',
    ],
    'null-in-header': [
      'a NUL character in a header',
      (label) => ({ transmit: headerLineAdded(label, () => 'X-Test: a\u0000b') }),
      {
        expect: rejectedOrRead,
        note: 'C code ends the value at the NUL, so two components see different headers.',
      },
    ],
    'header-without-colon': [
      'a header line without a colon',
      (label) => ({ transmit: headerLineAdded(label, () => 'this line has no colon') }),
      { expect: rejectedOrRead },
    ],
    'space-before-colon': [
      'a space between a header name and its colon',
      (label) => ({ transmit: headerLineAdded(label, () => 'X-Test : a') }),
    ],
    'host-missing': [
      'a request without a Host header',
      (label) => ({ transmit: headerLines(label, 'Host', () => []) }),
      'request-target-unguarded',
      { expect: rejectedOrRead },
    ],
    'content-length-huge': [
      'a Content-Length over 4 GiB, with a connection that ends early',
      announcing(HUGE),
      'trusted-content-length',
      {
        level: 'should',
        expect: rejectedOrUnread,
        followUps: [{ role: 'compares', label: 'a small Content-Length', change: announcing('10000') }],
        note: 'The number does not fit into 32 bits.',
      },
    ],
  },
);

/** No endpoint is registered for these targets, so only a receiver that stops answering fails. */
const answeredSomehow: Expectation = {
  text: 'any 2xx, 3xx, 4xx, 501, 505 or a closed connection (another 5xx: recorded)',
  authentic: true,
  pass: ['2xx', '3xx', '4xx', 501, 505, 'closed'],
  note: ['5xx'],
};

const atTarget = (target: string): Delivery => ({
  label: `the target ${target}`,
  change: { transmit: requestLine(`the target ${target}`, (line) => line.replace(/ \S+ /, ` ${target} `)) },
  expect: answeredSomehow,
});

/** Request targets that make URL parsers and decoders throw. */
export const httpTargets: FlowScenario = {
  id: 'http/targets-unparsable',
  title: 'Handles unparsable request targets',
  defect: 'Fails on a request target that is not a valid URL',
  level: 'must',
  requirements: ['delivery-hostile-http'],
  flow: () => ['//', '//[', '/%', '/%zz%ff', '/?%', '/\\'].map((target) => [atTarget(target)]),
  mistake: 'request-target-unguarded',
};
