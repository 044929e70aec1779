import type { HeaderLine } from '../../contract/index.ts';
import { addHeaders, addQuery, wrongKey } from '../changes/addressing.ts';
import { plain } from '../changes/bodies.ts';
import { unsigned } from '../changes/signing.ts';
import { absoluteTarget, headerLines, requestLine } from '../changes/transmitting.ts';
import {
  accepted,
  acceptedInAnotherShape,
  acceptedUnlessBusy,
  notServed,
  refusedLarge,
  refusedUnlessBusy,
  servedOrElsewhere,
  servedOrRefused,
} from '../expectations.ts';
import { withoutBody } from '../forgery.ts';
import type { Change, Delivery, Expectation, FlowScenario, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { composed, inSequence, otherSecret } from './flows.ts';
import { cashStep } from './valid-kinds.ts';

const BURST = 20;

/** A body of one megabyte, which the receiver need not read if the credentials are invalid. */
const oneMegabyte = cashStep('BUY', 'COMPLETED', 'x'.repeat(1_000_000));

/** A body that is long enough for a receiver to read and verify concurrent deliveries alternately. */
const tenKilobytes = cashStep('BUY', 'COMPLETED', 'x'.repeat(10_000));

/** Sends a large delivery that must be rejected, and then a valid one, on the same connection if it is still open. */
function afterRefused(change: Change): FlowScenario['flow'] {
  const rejected = { label: 'a rejected delivery of 1 MB', change: { compose: oneMegabyte, ...change } };
  return () => inSequence({ ...rejected, expect: refusedLarge }, composed('a valid delivery after it', plain));
}

function several(label: string, change: Change, expect: Delivery['expect']): Delivery[] {
  return Array.from({ length: BURST }, (_, index) => ({ label: `${label} ${index + 1}`, change, expect }));
}

/** Sends a burst of valid deliveries, each paired with a forgery. */
function mixedBurst(): Delivery[] {
  const forged = several('forged delivery', { sign: otherSecret }, refusedUnlessBusy);
  return several('valid delivery', {}, acceptedUnlessBusy).flatMap((delivery, at) => [
    delivery,
    forged[at] ?? delivery,
  ]);
}

/** Number of held deliveries. It is higher than the number of concurrent requests at which some receivers shed load. */
const HELD = 12;

/** Sends valid deliveries that arrive slowly, and forgeries while they arrive. */
function whileOthersArrive(): Delivery[] {
  return [
    ...Array.from({ length: HELD }, (_, at) => ({
      label: `valid delivery ${at + 1}, whose body arrives in two parts`,
      change: { transmit: { kind: 'held' } } as const,
      expect: acceptedUnlessBusy,
    })),
    ...[unsigned, otherSecret, unsigned].map((sign) => ({
      label: `${sign.label}, while the others are arriving`,
      change: { sign },
      expect: refusedUnlessBusy,
    })),
  ];
}

/**
 * Permits any rejection, even one that follows only when the body is complete. The check is about the valid delivery
 * that is sent at the same time.
 */
const refusedInTime: Expectation = {
  text: 'any 4xx or a closed connection',
  authentic: false,
  pass: ['4xx', 'closed'],
  warn: ['5xx', 'none'],
};

const unfinished: Delivery = {
  label: 'a forgery with half of its body',
  change: { sign: otherSecret, transmit: { kind: 'held', isPatient: true } },
  expect: refusedInTime,
};

/**
 * A timeout only warns. The specification does not say how many concurrent requests a receiver must handle, and servers
 * that handle only one are in use.
 */
const acceptedUnlessSerial: Expectation = { ...accepted, warn: ['none'] };

const concurrent = {
  level: 'must',
  requirements: ['repeat-burst', 'hmac-invalid'],
  needs: ['hmac'],
  alone: true,
} as const;
const framing = { suite: 'http', verb: 'Accepts', requirements: ['delivery-framing'] } as const;

/** The framing of requests, the state of a connection afterwards, and concurrent requests. */
export const httpFraming: readonly Scenario[] = [
  ...family(
    { ...framing, level: 'should', expect: acceptedInAnotherShape },
    {
      chunked: [
        'a chunked body',
        { transmit: { kind: 'chunked', pieces: 3 } },
        'trusted-content-length',
        { expect: { ...acceptedInAnotherShape, text: '200; 411 is recorded', note: [411] } },
      ],
      'expect-continue': [
        'a delivery with Expect: 100-continue',
        { transmit: { kind: 'expect-continue' } },
        'optional-http-features',
      ],
    },
  ),
  ...family(
    { ...framing, level: 'must', mistake: 'body-left-unread' },
    {
      'after-refused-signature': [
        'a valid delivery after a large rejected one on the same connection',
        { alone: true, flow: afterRefused({ sign: otherSecret }) },
        { needs: ['hmac'] },
      ],
      'after-refused-key': [
        'a valid delivery after a large one with an invalid API key on the same connection',
        { alone: true, flow: afterRefused({ address: wrongKey }) },
        {
          needs: ['api-key'],
          note: 'The key can be checked without the body, so the body is easily left unread.',
        },
      ],
      burst: [
        `${BURST} concurrent deliveries`,
        { alone: true, flow: () => [several('valid delivery', { compose: tenKilobytes }, acceptedUnlessBusy)] },
        'load-rejected',
        { requirements: ['repeat-burst', 'delivery-200'] },
      ],
    },
  ),
  {
    ...concurrent,
    id: 'http/burst-mixed',
    title: `Distinguishes ${BURST} valid deliveries from ${BURST} concurrent forgeries`,
    defect: `Does not distinguish ${BURST} valid deliveries from ${BURST} concurrent forgeries`,
    flow: () => [mixedBurst()],
    mistake: 'state-shared-by-requests',
  },
  {
    ...concurrent,
    id: 'http/forged-while-others-arrive',
    title: `Rejects forgeries, and accepts ${HELD} valid deliveries that are still arriving`,
    defect: `Accepts forgeries, or rejects valid deliveries, while ${HELD} deliveries are arriving`,
    flow: () => [whileOthersArrive()],
    mistake: 'state-shared-by-requests',
    note: 'A receiver that skips checks under load also fails here.',
  },
  {
    ...concurrent,
    id: 'http/while-a-body-is-unfinished',
    title: 'Accepts a valid delivery while the body of a forgery on another connection is unfinished',
    defect: 'Answers no valid delivery while the body of a forgery on another connection is unfinished',
    requirements: ['delivery-hostile-http', 'delivery-200'],
    flow: () => [[unfinished, composed('a valid delivery in the meantime', plain, acceptedUnlessSerial)]],
    mistake: 'serial-body-reads',
  },
];

const FORTY = Array.from({ length: 40 }, (_, index) => [`X-Test-${index + 1}`, 'a'] as const);

const overriddenGet: Change = {
  address: {
    label: 'the method GET, and X-HTTP-Method-Override: POST',
    make: (head) => ({ ...head, method: 'GET', headers: [...head.headers, ['X-HTTP-Method-Override', 'POST']] }),
  },
};

/** Header values that make decoders and parsers throw. Deliveries contain none of these headers. */
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

/** Offers of an upgrade, as header lines. By default, Java's HttpClient offers HTTP/2 with every request. */
const UPGRADES: Readonly<Record<string, readonly string[]>> = {
  'an upgrade to an unknown protocol': ['Connection: Upgrade, close', 'Upgrade: x-test/1'],
  'an upgrade to h2c': [
    'Connection: Upgrade, HTTP2-Settings, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA',
  ],
};

const unknownHeaders = {
  suite: 'http',
  verb: 'Accepts',
  level: 'should',
  requirements: ['delivery-unknown-headers'],
  expect: accepted,
} as const;

/** Valid HTTP that few clients send. It comes from old proxies, scanners, and new versions of clients. */
export const httpUnusual: readonly Scenario[] = [
  ...family(
    { ...framing, of: 'a delivery', level: 'should', expect: acceptedInAnotherShape },
    {
      'version-1-0': [
        'in HTTP/1.0',
        { transmit: requestLine('the version HTTP/1.0', (line) => line.replace(/HTTP\/1\.1$/, 'HTTP/1.0')) },
        'optional-http-features',
      ],
    },
  ),
  ...family(
    { ...framing, of: 'a delivery', level: 'should' },
    {
      'upgrade-offered': [
        'that offers to upgrade to HTTP/2 or to an unknown protocol',
        {
          flow: () =>
            Object.entries(UPGRADES).map(([what, lines]) => [
              {
                label: what,
                change: { transmit: headerLines(what, 'Connection', () => lines) },
                expect: { ...acceptedInAnotherShape, isBrief: true },
              },
            ]),
        },
        'optional-http-features',
        { note: "Java's HttpClient offers HTTP/2 this way with every unencrypted request." },
      ],
    },
  ),
  ...family(
    {
      suite: 'http',
      verb: 'Handles',
      level: 'should',
      requirements: ['delivery-hostile-http'],
      expect: { ...servedOrElsewhere, fail: ['closed'] },
      mistake: 'request-target-unguarded',
    },
    {
      'absolute-target': [
        'a request whose target is an absolute URL',
        { transmit: absoluteTarget },
        { note: 'A URL that is built from Host and this target is invalid.' },
      ],
      'broken-query': [
        'a request with a malformed query string',
        { address: addQuery('a query that is not percent-encoded', () => 'a=%E0%A4%A&%') },
      ],
      'bare-query': [
        'a query string with parameters that have no value',
        (label) => ({ address: addQuery(label, () => 'test&&=&x=1=2') }),
      ],
    },
  ),
  ...family(
    { ...unknownHeaders, mistake: 'extra-headers-rejected' },
    {
      'override-on-get': [
        'a notification sent by GET with a method override to POST',
        overriddenGet,
        'method-not-restricted',
        {
          title: 'Rejects a notification sent by GET with a method override to POST',
          requirements: ['delivery-other-methods'],
          expect: notServed,
          followUps: [withoutBody(overriddenGet)],
          note: 'Method overriding bypasses firewalls and caches, which see the real method.',
        },
      ],
      'header-repeated': [
        'an unknown header that occurs twice',
        (label) => ({
          address: addHeaders(label, () => [
            ['X-Test', 'a'],
            ['X-Test', 'b'],
          ]),
        }),
      ],
      'header-non-ascii': [
        'an unknown header with non-ASCII characters',
        (label) => ({ address: addHeaders(label, () => [['X-Test', 'caf\u00e9']]) }),
        { title: 'Handles an unknown header with non-ASCII characters', expect: servedOrRefused },
      ],
    },
  ),
  {
    id: 'http/headers-unparsable',
    title: 'Handles standard headers with values that cannot be parsed',
    level: 'should',
    requirements: ['delivery-hostile-http'],
    flow: () => Object.entries(UNPARSABLE).map(([what, lines]) => [unparsable(what, lines)]),
    mistake: 'extra-headers-rejected',
  },
  ...family(unknownHeaders, {
    'forty-headers': [
      'a delivery with 40 additional headers',
      (label) => ({ address: addHeaders(label, () => FORTY) }),
      'header-limits-too-low',
    ],
  }),
];
