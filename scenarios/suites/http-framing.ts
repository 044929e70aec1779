import type { HeaderLine } from '../../contract/index.ts';
import { addHeaders, addQuery, wrongKey } from '../changes/addressing.ts';
import { plain } from '../changes/bodies.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { absoluteTarget, headerLines, requestLine } from '../changes/transmitting.ts';
import {
  accepted,
  acceptedUnlessBusy,
  notServed,
  refusedLarge,
  refusedUnlessBusy,
  servedOrElsewhere,
  servedOrRefused,
} from '../expectations.ts';
import { withoutBody } from '../forgery.ts';
import { tracking } from '../samples.ts';
import type { Change, Delivery, Expectation, FlowScenario, Kit, ProbeScenario, SignChange } from '../scenario.ts';

const BURST = 20;

/** One megabyte with invalid credentials, which the receiver need not read. */
const oneMegabyte = (kit: Kit) => tracking(kit, 'BUY', 'COMPLETED', 'x'.repeat(1_000_000));

const otherSecret: SignChange = signedWith('signed with a different secret', (kit) => kit.bytes(32));

/** Long enough that the bodies of concurrent deliveries are read and verified in turns. */
const tenKilobytes = (kit: Kit) => tracking(kit, 'BUY', 'COMPLETED', 'x'.repeat(10_000));

/** A large rejected delivery, and then a valid one on the same connection if it is still open. */
function afterRefused(change: Change): readonly (readonly Delivery[])[] {
  return [
    [{ label: 'a rejected delivery of 1 MB', change: { compose: oneMegabyte, ...change }, expect: refusedLarge }],
    [{ label: 'a valid delivery after it', change: { compose: plain }, expect: accepted }],
  ];
}

function several(label: string, change: Change, expect: Delivery['expect']): Delivery[] {
  return Array.from({ length: BURST }, (_, index) => ({ label: `${label} ${index + 1}`, change, expect }));
}

/** More than the requests in flight at which a receiver in use protects itself by leaving work out. */
const HELD = 12;

const whileOthersArrive: FlowScenario = {
  id: 'http/forged-while-others-arrive',
  title: `Rejects forgeries while ${HELD} valid deliveries are still arriving, and accepts those`,
  defect: `Accepts forgeries, or rejects valid deliveries, while ${HELD} deliveries are arriving`,
  level: 'must',
  requirements: ['repeat-burst', 'hmac-invalid'],
  needs: ['hmac'],
  alone: true,
  flow: () => [
    [
      ...Array.from({ length: HELD }, (_, at) => ({
        label: `valid delivery ${at + 1}, whose body arrives in two parts`,
        change: { transmit: { kind: 'held' } } as const,
        expect: acceptedUnlessBusy,
      })),
      ...([unsigned, otherSecret, unsigned] as const).map((sign) => ({
        label: `${sign.label}, while the others are arriving`,
        change: { sign },
        expect: refusedUnlessBusy,
      })),
    ],
  ],
  why: 'A receiver that leaves checks out under load accepts forgeries from anyone who opens a few slow connections.',
  fix: 'Verify every delivery. Under load, answer 503 or let requests wait.',
};

/** Whatever the receiver makes of it when its body is complete: the valid delivery next to it is the subject. */
const refusedInTime: Expectation = {
  text: 'any 4xx or a closed connection',
  authentic: false,
  pass: ['4xx', 'closed'],
  warn: ['5xx', 'none'],
};

const whileOneIsUnfinished: FlowScenario = {
  id: 'http/while-a-body-is-unfinished',
  title: 'Accepts a valid delivery while the body of a forgery on another connection is unfinished',
  defect: 'Answers no valid delivery while the body of a forgery on another connection is unfinished',
  level: 'must',
  requirements: ['delivery-hostile-http', 'delivery-200'],
  needs: ['hmac'],
  alone: true,
  flow: () => [
    [
      {
        label: 'a forgery with half of its body',
        change: { sign: otherSecret, transmit: { kind: 'held', isPatient: true } },
        expect: refusedInTime,
      },
      {
        label: 'a valid delivery in the meantime',
        change: { compose: plain },
        // Nothing is said about how many requests a receiver handles at a time, and servers for one are in use.
        expect: { ...accepted, warn: ['none'] },
      },
    ],
  ],
  why: 'Anyone who sends half of a request, again and again, stops all notifications without knowing a secret.',
  fix:
    'Use a server that handles connections concurrently, hold no lock while you read a body, and set a time limit ' +
    'for requests.',
};

/** Framing of requests, the state of a connection afterwards, and concurrent requests. */
export const httpFraming: readonly (ProbeScenario | FlowScenario)[] = [
  {
    id: 'http/chunked',
    title: 'Accepts a chunked body',
    level: 'should',
    requirements: ['delivery-framing'],
    change: { transmit: { kind: 'chunked', pieces: 3 } },
    // The sender always sends Content-Length, and 411 is how HTTP asks for it.
    expect: { ...accepted, text: '200; 411 is recorded', note: [411] },
    why: 'The sender uses Content-Length, but a proxy may change that. CGI-like receivers then see an empty body.',
    fix: 'Buffer requests in the proxy (proxy_request_buffering on), or read to the end of the stream.',
  },
  {
    id: 'http/expect-continue',
    title: 'Accepts a delivery with Expect: 100-continue',
    level: 'should',
    requirements: ['delivery-framing'],
    change: { transmit: { kind: 'expect-continue' } },
    expect: accepted,
    why: 'Clients based on curl or .NET wait for 100, so a server without it delays each delivery by a second.',
    fix: 'Use a server that answers Expect, and do not reject the header.',
  },
  {
    id: 'http/after-refused-signature',
    title: 'Accepts a valid delivery after a large rejected one on the same connection',
    level: 'must',
    requirements: ['delivery-framing'],
    needs: ['hmac'],
    alone: true,
    flow: () => afterRefused({ sign: otherSecret }),
    why: 'If the receiver answers before it reads the body, the rest of the body is read as the next request.',
    fix: 'Read or discard the whole body before you answer, or close the connection with the answer.',
  },
  {
    id: 'http/after-refused-key',
    title: 'Accepts a valid delivery after a large one with an invalid API key on the same connection',
    level: 'must',
    requirements: ['delivery-framing'],
    needs: ['api-key'],
    alone: true,
    flow: () => afterRefused({ address: wrongKey }),
    why: 'The key can be checked without the body, so the body is easily left unread.',
    fix: 'Send Connection: close with an early 401, or read the rest of the request first.',
  },
  {
    id: 'http/burst',
    title: `Accepts ${BURST} concurrent deliveries`,
    level: 'must',
    requirements: ['repeat-burst', 'delivery-200'],
    alone: true,
    flow: () => [several('valid delivery', { compose: tenKilobytes }, acceptedUnlessBusy)],
    why: 'Notifications arrive in bursts. With shared state, or a pool of five connections, some of them get a 500.',
    fix: 'Keep the state of a request in the request, and process notifications in a queue.',
  },
  {
    id: 'http/burst-mixed',
    title: `Distinguishes ${BURST} valid deliveries from ${BURST} concurrent forgeries`,
    defect: `Does not distinguish ${BURST} valid deliveries from ${BURST} concurrent forgeries`,
    level: 'must',
    requirements: ['repeat-burst', 'hmac-invalid'],
    needs: ['hmac'],
    alone: true,
    flow: () => {
      const forged = several('forged delivery', { sign: otherSecret }, refusedUnlessBusy);
      return [
        several('valid delivery', {}, acceptedUnlessBusy).flatMap((delivery, index) => [
          delivery,
          forged[index] ?? delivery,
        ]),
      ];
    },
    why: 'If requests share a variable for the body or the result, one delivery gets the answer of another.',
    fix: 'Pass the body and the result as values, without module-level or instance-level variables.',
  },
  whileOthersArrive,
  whileOneIsUnfinished,
];

const FORTY = Array.from({ length: 40 }, (_, index) => [`X-Test-${index + 1}`, 'a'] as const);

const overriddenGet: Change = {
  address: {
    label: 'the method GET, and X-HTTP-Method-Override: POST',
    make: (head) => ({
      ...head,
      method: 'GET',
      headers: [...head.headers, ['X-HTTP-Method-Override', 'POST']],
    }),
  },
};

/** Values on which decoders and parsers throw. None of these headers is part of a delivery. */
const UNPARSABLE: Readonly<Record<string, readonly HeaderLine[]>> = {
  'Accept, Accept-Language, Accept-Charset and Accept-Encoding': [
    ['Accept', 'test'],
    ['Accept-Language', 'x-_test;q=z'],
    ['Accept-Charset', 'x-test;q=z'],
    ['Accept-Encoding', 'x-test;q=z'],
  ],
  'Cookie, Authorization, Origin and Referer': [
    ['Cookie', 'a=%E0%A4%A; =; b="'],
    ['Authorization', 'Basic %'],
    ['Origin', 'http://['],
    ['Referer', 'http://['],
  ],
  'X-Forwarded-For, Forwarded, traceparent, baggage, Date and Range': [
    ['X-Forwarded-For', 'unknown, 999.1.1.1, ['],
    ['Forwarded', 'for="[::z'],
    ['traceparent', '00-test'],
    ['baggage', 'test=%ZZ'],
    ['Date', 'test'],
    ['If-Modified-Since', 'test'],
    ['Range', 'bytes=9-1'],
  ],
};

const unparsable = (what: string, lines: readonly HeaderLine[]): Delivery => ({
  label: what,
  change: { address: addHeaders(`${what} with values that cannot be parsed`, () => lines) },
  expect: servedOrRefused,
});

/** HttpClient of Java offers HTTP/2 with every request by default. */
const UPGRADES: Readonly<Record<string, readonly string[]>> = {
  'an upgrade to an unknown protocol': ['Connection: Upgrade, close', 'Upgrade: x-test/1'],
  'an upgrade to h2c': [
    'Connection: Upgrade, HTTP2-Settings, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA',
  ],
};

const base = { level: 'should', requirements: ['delivery-framing'] } as const;

/** Valid HTTP that few clients use. It comes from old proxies, scanners, and newer versions of clients. */
export const httpUnusual: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...base,
    id: 'http/version-1-0',
    title: 'Accepts a delivery in HTTP/1.0',
    change: { transmit: requestLine('the version HTTP/1.0', (line) => line.replace(/HTTP\/1\.1$/, 'HTTP/1.0')) },
    expect: accepted,
    why: 'Some proxies use HTTP/1.0 for their upstream by default (nginx did so for many years).',
    fix: 'Accept HTTP/1.0, or set the version in the proxy (proxy_http_version 1.1).',
  },
  {
    ...base,
    id: 'http/upgrade-offered',
    title: 'Accepts a delivery that offers to upgrade to HTTP/2 or to an unknown protocol',
    flow: () =>
      Object.entries(UPGRADES).map(([what, lines]) => [
        { label: what, change: { transmit: headerLines(what, 'Connection', () => lines) }, expect: accepted },
      ]),
    why:
      'Some HTTP clients offer an upgrade with every request. A WebSocket server on the same port then drops the ' +
      'delivery.',
    fix: 'Let the WebSocket code handle its own path and protocol only, and ignore other Upgrade headers.',
  },
  {
    ...base,
    id: 'http/absolute-target',
    title: 'Handles a request whose target is an absolute URL',
    requirements: ['delivery-hostile-http'],
    change: {
      transmit: absoluteTarget,
    },
    expect: servedOrElsewhere,
    why: 'HTTP allows it, and scanners send it. A URL that is built from Host and target is then invalid and throws.',
    fix: 'Take the path from the framework, or build the URL from the target and a base.',
  },
  {
    ...base,
    id: 'http/broken-query',
    title: 'Handles a request with a malformed query string',
    level: 'must',
    requirements: ['delivery-hostile-http'],
    change: { address: addQuery('a query that is not percent-encoded', () => 'a=%E0%A4%A&%') },
    expect: servedOrElsewhere,
    why: 'Decoding an invalid escape throws in most languages, often in the router or in the access log.',
    fix: 'Do not decode the query string of a webhook, or answer 400 when it cannot be decoded.',
  },
  {
    ...base,
    id: 'http/bare-query',
    title: 'Handles a query string with names that have no value',
    level: 'must',
    requirements: ['delivery-hostile-http'],
    change: { address: addQuery('a query without values', () => 'test&&=&x=1=2') },
    expect: servedOrElsewhere,
    why: 'Code that splits the query at `=` reads a second part that does not exist.',
    fix: 'Leave the query string to the URL parser, or do not read it.',
  },
  {
    ...base,
    id: 'http/override-on-get',
    title: 'Rejects a notification sent by GET with a method override to POST',
    requirements: ['delivery-other-methods'],
    change: overriddenGet,
    ifAccepted: [withoutBody(overriddenGet)],
    expect: notServed,
    why: 'Method overriding is meant for HTML forms. Here it bypasses firewalls and caches, which see the real method.',
    fix: 'Turn off method overriding for this route, or allow it for POST only.',
  },
  {
    ...base,
    id: 'http/header-repeated',
    title: 'Accepts an unknown header that occurs twice',
    requirements: ['delivery-unknown-headers'],
    change: {
      address: addHeaders('a repeated header', () => [
        ['X-Test', 'a'],
        ['X-Test', 'b'],
      ]),
    },
    expect: accepted,
    why: 'Proxies repeat headers such as Via. Code that copies all headers finds a list instead of a string.',
    fix: 'Read only the headers that you need.',
  },
  {
    ...base,
    id: 'http/header-non-ascii',
    title: 'Handles an unknown header with non-ASCII characters',
    requirements: ['delivery-unknown-headers'],
    change: { address: addHeaders('a header with non-ASCII characters', () => [['X-Test', 'caf\u00e9']]) },
    expect: servedOrRefused,
    why: 'Proxies add names of people and places. Strict decoding of all headers fails on them, often in a log.',
    fix: 'Do not decode headers that you do not need, or replace what cannot be decoded.',
  },
  {
    ...base,
    id: 'http/headers-unparsable',
    title: 'Handles standard headers with values that cannot be parsed',
    requirements: ['delivery-hostile-http'],
    flow: () => Object.entries(UNPARSABLE).map(([what, lines]) => [unparsable(what, lines)]),
    why: 'Middleware for cookies, languages, addresses or traces throws on values that it cannot parse.',
    fix: 'Install only the middleware that this route needs, and handle its errors. The report names the headers.',
  },
  {
    ...base,
    id: 'http/forty-headers',
    title: 'Accepts a delivery with 40 additional headers',
    requirements: ['delivery-unknown-headers'],
    change: { address: addHeaders('40 headers', () => FORTY) },
    expect: accepted,
    why: 'Proxies add headers, and custom headers come on top, so a low limit is soon reached.',
    fix: 'Allow at least 100 headers.',
  },
];
