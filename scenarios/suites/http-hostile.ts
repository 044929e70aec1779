import { headerLineAdded, headerLines, requestLine, withBody } from '../changes/transmitting.ts';
import { rejectedHttp, rejectedOrRead } from '../expectations.ts';
import type { Delivery, Expectation, FlowScenario, ProbeScenario, Transmission } from '../scenario.ts';

function hostile(
  slug: string,
  what: string,
  transmit: Transmission,
  why: string,
  fix: string,
  expect: Expectation = rejectedHttp,
): ProbeScenario {
  return {
    id: `http/${slug}`,
    title: `Rejects ${what}`,
    level: 'must',
    requirements: ['delivery-hostile-http'],
    change: { transmit },
    expect,
    why,
    fix,
  };
}

/** The Content-Length line with another value, made from the original one. */
const contentLength = (label: string, value: (length: number) => string) =>
  headerLines(label, 'Content-Length', (line) => [`Content-Length: ${value(Number(line.split(':')[1]))}`]);

/** Exceeds 32 bits, but malloc still grants it: PHP's development server would exit if this allocation failed. */
const HUGE = '4294967312';

/** Closes the sending side of the connection after the last byte. */
function ended(transmission: Transmission): Transmission {
  return transmission.kind === 'raw' ? { ...transmission, end: true } : transmission;
}

/** Malformed HTTP requests on a plain connection. Scanners send them every day. */
export const httpHostile: readonly ProbeScenario[] = [
  hostile(
    'garbage-request-line',
    'a malformed request line',
    requestLine('a malformed request line', () => '%%% this is no request line %%% HTTP/1.1'),
    'The parser error has no request, and a handler that expects one fails.',
    'Handle errors below the request (clientError in Node) with a plain 400.',
  ),
  hostile(
    'version-unknown',
    'an unknown HTTP version',
    requestLine('the version HTTP/9.9', (line) => line.replace(/HTTP\/1\.1$/, 'HTTP/9.9')),
    'A custom server may ignore the version and guess where the message ends.',
    'Use a maintained server: it answers 505 or 400.',
    {
      ...rejectedOrRead,
      text:
        'any 4xx, 501, 505 or a closed connection; 200, or an answer in the way of HTTP/0.9, is recorded ' +
        '(anything else warns)',
      note: [200, 'unreadable'],
    },
  ),
  hostile(
    'two-content-lengths',
    'two different Content-Length headers',
    headerLines('Content-Length twice, with different values', 'Content-Length', (line) => [line, 'Content-Length: 5']),
    'If proxy and receiver use different lengths, the rest is read as the next request (request smuggling).',
    'Keep server and proxy up to date, and turn off their lenient parsing options.',
  ),
  hostile(
    'content-length-and-chunked',
    'Content-Length together with Transfer-Encoding',
    withBody(
      'Transfer-Encoding: chunked and Content-Length, the body in one chunk',
      (head) => [...head, 'Transfer-Encoding: chunked'],
      (body) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ),
    'Proxy and receiver may disagree about where the body ends (request smuggling).',
    'Let the proxy reject such requests, and never remove one of the two headers silently.',
    rejectedOrRead,
  ),
  hostile(
    'content-length-words',
    'a Content-Length that is not a number',
    contentLength('Content-Length that ends in letters', (length) => `${length}abc`),
    'parseInt reads the digits and ignores the rest. Another server on the path may not do so.',
    'Do not read Content-Length yourself: leave it to the server.',
  ),
  hostile(
    'content-length-negative',
    'a negative Content-Length',
    contentLength('Content-Length: -5', () => '-5'),
    'read(-5) means "read to the end" in several languages, so the worker waits forever.',
    'Reject a negative length with 400 before you read.',
  ),
  hostile(
    'content-length-short',
    'a body that is longer than its Content-Length',
    contentLength('Content-Length 10 bytes too small', (length) => String(length - 10)),
    'The bytes after Content-Length belong to the next request and must not be verified with this one.',
    'Read and verify exactly Content-Length bytes.',
  ),
  hostile(
    'chunk-size-broken',
    'a chunk size that is not a number',
    withBody(
      'a chunk whose size is "zz"',
      (head) => head.map((line) => (/^content-length:/i.test(line) ? 'Transfer-Encoding: chunked' : line)),
      (body) => `zz\r\n${body}\r\n0\r\n\r\n`,
    ),
    'The body is not valid chunked encoding, and a reader that waits for a valid size hangs.',
    'Treat a framing error as the end of the connection: answer 400 and close it.',
  ),
  hostile(
    'null-in-header',
    'a NUL character in a header',
    headerLineAdded('a header value with a NUL character', () => 'X-Test: a\u0000b'),
    'C code ends the value there, so two components see different headers.',
    'Use a server that rejects control characters in headers.',
    rejectedOrRead,
  ),
  hostile(
    'header-without-colon',
    'a header line without a colon',
    headerLineAdded('a header line without a colon', () => 'this line has no colon'),
    'Code that splits at the colon and reads the second part fails on this line.',
    'Do not parse header lines by hand.',
    rejectedOrRead,
  ),
  hostile(
    'space-before-colon',
    'a space between a header name and its colon',
    headerLineAdded('a space before the colon', () => 'X-Test : a'),
    'One component reads the header and another ignores it, which hides headers from checks in a proxy.',
    'Reject such requests, as the HTTP standard requires.',
  ),
  hostile(
    'host-missing',
    'a request without a Host header',
    headerLines('no Host header', 'Host', () => []),
    'Code that builds an absolute URL from the Host header throws without one.',
    'Answer 400, as HTTP/1.1 requires, or configure the public URL.',
    rejectedOrRead,
  ),
  hostile(
    'content-length-huge',
    'a Content-Length over 4 GiB, with a connection that ends early',
    ended(contentLength(`Content-Length: ${HUGE}, and the end of the connection`, () => HUGE)),
    'The number does not fit into 32 bits, and allocating such a buffer may fail. Both can throw before any check.',
    'Compare Content-Length with the limit first, and let the buffer grow as data arrives.',
    {
      text: 'any 4xx, 501, 505 or a closed connection, without a crash (2xx: recorded)',
      authentic: true,
      malformed: true,
      pass: ['4xx', 501, 505, 'closed'],
      note: ['2xx'],
      unclear: ['none'],
    },
  ),
];

/** No endpoint is registered at these targets, so only a crash fails. */
const answeredSomehow: Expectation = {
  text: 'any 2xx, 3xx, 4xx, 501, 505 or a closed connection, without a crash',
  authentic: true,
  malformed: true,
  pass: ['2xx', '3xx', '4xx', 501, 505, 'closed'],
};

const atTarget = (target: string): Delivery => ({
  label: `the target ${target}`,
  change: { transmit: requestLine(`the target ${target}`, (line) => line.replace(/ \S+ /, ` ${target} `)) },
  expect: answeredSomehow,
});

/** Request targets that URL parsers and decoders throw on. */
export const httpTargets: FlowScenario = {
  id: 'http/targets-unparsable',
  title: 'Handles unparsable request targets without a crash',
  defect: 'Crashes on a request target that is not a valid URL',
  level: 'must',
  requirements: ['delivery-hostile-http'],
  flow: () => ['//', '//[', '/%', '/%zz%ff', '/?%', '/\\'].map((target) => [atTarget(target)]),
  why: 'URL constructors and decoders throw on these targets, often in code that runs outside the error handling.',
  fix: 'Parse the target inside the error handling, and answer 400 or 404 to one that cannot be parsed.',
};
