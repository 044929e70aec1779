import type { HeaderLine } from '../../contract/index.ts';
import { addHeaders } from '../changes/addressing.ts';
import { type Composer, having, plain } from '../changes/bodies.ts';
import { digest } from '../changes/signing.ts';
import { accepted, acceptedUnlessOld } from '../expectations.ts';
import { epochSeconds, errorData, isoTime, paymentMethod, refund } from '../samples.ts';
import type { AddressChange, Delivery, FlowScenario, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { composed, inSequence } from './flows.ts';
import { buy, card, cashStep, newWallet, onChain, refunded, sell } from './valid-kinds.ts';

/** The last second of 29 February 2024, in epoch seconds. */
const LEAP_DAY = 1_709_251_199;

type Lines = (body: Uint8Array) => readonly HeaderLine[];

const sum = (algorithm: string, body: Uint8Array) => digest(algorithm, body).toString('base64');

/** Headers that proxies and HTTP clients add, with typical values. */
const STANDARD_HEADERS: readonly (readonly [what: string, lines: Lines])[] = [
  ['Authorization with the scheme Basic', () => [['Authorization', 'Basic dGVzdDp0ZXN0']]],
  ['Authorization with the scheme Bearer', () => [['Authorization', 'Bearer test-token']]],
  [
    'headers of clients: Accept, Cookie, Origin, Referer, Cache-Control and others',
    () => [
      ['Accept', 'application/json, */*;q=0.1'],
      ['Accept-Language', 'en-GB, en;q=0.5'],
      ['Accept-Encoding', 'gzip, deflate, br'],
      ['Cookie', 'test=1; test-empty='],
      ['Origin', 'https://service.example'],
      ['Referer', 'https://service.example/webhooks'],
      ['Cache-Control', 'no-cache'],
      ['Pragma', 'no-cache'],
      ['DNT', '1'],
      ['TE', 'trailers'],
      ['Prefer', 'respond-async'],
      ['Priority', 'u=3'],
      ['Sec-Fetch-Mode', 'cors'],
      ['Sec-Fetch-Site', 'cross-site'],
      ['X-Requested-With', 'XMLHttpRequest'],
    ],
  ],
  [
    'headers of proxies: Via, Forwarded, X-Forwarded-*, X-HTTP-Method-Override: POST and others',
    () => [
      ['Via', '1.1 proxy.example, 2 test'],
      ['Forwarded', 'for=203.0.113.7;proto=https;host=service.example'],
      ['X-Forwarded-For', '203.0.113.7, 198.51.100.2'],
      ['X-Forwarded-Host', 'service.example'],
      ['X-Forwarded-Port', '443'],
      ['X-Forwarded-Proto', 'https'],
      ['X-Real-IP', '203.0.113.7'],
      ['X-HTTP-Method-Override', 'POST'],
      ['CDN-Loop', 'test'],
      ['Max-Forwards', '10'],
    ],
  ],
  [
    'headers of tracing, repeated deliveries and checksums: tracestate, Idempotency-Key, Content-MD5 and others',
    (body) => [
      ['traceparent', `00-${'1a'.repeat(16)}-${'2b'.repeat(8)}-00`],
      ['tracestate', 'test=1,other=2'],
      ['baggage', 'test=1;property'],
      ['b3', `${'1a'.repeat(16)}-${'2b'.repeat(8)}-1`],
      ['X-Request-Id', 'test-request'],
      ['X-Correlation-Id', 'test-correlation'],
      ['X-Amzn-Trace-Id', 'Root=1-67891233-abcdef012345678912345678'],
      ['X-Cloud-Trace-Context', `${'1a'.repeat(16)}/1;o=1`],
      ['Idempotency-Key', sum('sha256', body)],
      ['X-Retry-Count', '1'],
      ['Content-MD5', sum('md5', body)],
      ['Digest', `SHA-256=${sum('sha256', body)}`],
      ['Content-Digest', `sha-256=:${sum('sha256', body)}:`],
      ['Repr-Digest', `sha-256=:${sum('sha256', body)}:`],
    ],
  ],
];

function withLines([label, lines]: (typeof STANDARD_HEADERS)[number]): readonly Delivery[] {
  const make: AddressChange['make'] = (head, _kit, body) => ({ ...head, headers: [...head.headers, ...lines(body)] });
  return [{ label, change: { address: { label, make } }, expect: accepted }];
}

const withUnknownField = (base: Composer) => having(base, 'data.testField', 'unknown');

const open = {
  suite: 'valid',
  verb: 'Accepts',
  level: 'should',
  requirements: ['envelope-open'],
  expect: accepted,
} as const;
const listed = { level: 'must', requirements: ['error-codes-open'] } as const;

const inClockChange: FlowScenario = {
  id: 'valid/time-in-clock-change',
  title: 'Accepts times in hours that daylight saving time skips or repeats',
  level: 'must',
  requirements: ['envelope-at', 'envelope-at-open'],
  flow: () => [
    ['2026-03-29T02:30:00.000Z', '2026-03-08T02:30:00.000Z', '2025-10-26T01:30:00.000Z'].map((at) =>
      composed(`a wallet at ${at}`, having(newWallet, 'at', at), acceptedUnlessOld),
    ),
  ],
  mistake: 'local-calendar-time',
};

/** Unknown values that a receiver must accept. Specification: Errors; rulings about open lists. */
export const validOpen: readonly Scenario[] = [
  ...family(
    { ...open, mistake: 'unknown-values-rejected' },
    {
      'unknown-field': [
        'a notification with an unknown field in the envelope',
        { compose: having(plain, 'testField', 'unknown') },
        'unknown-fields-forbidden',
      ],
      'unknown-field-in-data': [
        'a notification with an unknown field in data',
        { compose: having(plain, 'data.testField', { nested: true }) },
        'unknown-fields-forbidden',
      ],
      'unknown-field-in-metadata': [
        'an order with an unknown field in blockchainData',
        { compose: having(plain, 'data.metadata.blockchainData.testField', 'unknown') },
        'unknown-fields-forbidden',
      ],
      'unknown-field-in-error-data': [
        'a failed order with an unknown field in errorData',
        { compose: having(buy('FAILED'), 'data.errorData.testField', 'unknown') },
        'unknown-fields-forbidden',
        { note: 'If only the class for errors is strict, this shows only when an order fails.' },
      ],
      'unknown-field-every-kind': [
        'an unknown field in data of every other type',
        {
          flow: () => [
            [
              composed('a sell order', withUnknownField(sell('CREATED'))),
              composed('a tracking notice', withUnknownField(cashStep('BUY', 'COMPLETED'))),
              composed('a refund', withUnknownField(refunded('SUCCESS'))),
              composed('a payment method', withUnknownField(card('STAGED'))),
              composed('a wallet', withUnknownField(newWallet)),
              composed('a deposit', withUnknownField(onChain)),
            ],
          ],
        },
        'unknown-fields-forbidden',
        { expect: accepted },
      ],
      'unknown-type': [
        'a notification of an unknown type',
        { compose: having(plain, 'type', (kit) => `TEST_UNKNOWN_${kit.integer(1000)}`) },
      ],
      'unknown-caas-type': [
        'a CAAS notification with an unknown data.type',
        { compose: having(plain, 'data.type', 'TEST_SWAP') },
      ],
      'unknown-order-status': [
        'an order with an unknown status',
        { compose: having(plain, 'data.metadata.orderStatus', 'TEST_ON_HOLD') },
        { note: 'The list is open: its table in the specification lacks two statuses that are sent.' },
      ],
      'unknown-deposit-status': [
        'a deposit with an unknown status',
        { compose: having(onChain, 'data.status', 'TEST_PROCESSING') },
        { note: 'Credit the deposit only for the statuses that you know.' },
      ],
      'unknown-tracking-status': [
        'ORDER_TRACKING with an unknown provider status',
        { compose: having(cashStep('BUY', 'COMPLETED'), 'data.metadata.providerTransactionStatus', 'TEST_LATE') },
      ],
      'unknown-wallet-operation': [
        'a WALLET notification with an unknown operation',
        { compose: having(newWallet, 'data.operation', 'TEST_WALLET_RENAMED') },
        { note: 'Act on WALLET_CREATED only: other operations must not store a wallet.' },
      ],
      'unknown-values-elsewhere': [
        'unknown statuses of refunds and payment methods, and unknown types of deposits',
        {
          flow: () =>
            inSequence(
              composed('a refund with an unknown status', having(refunded('FAIL'), 'data.status', 'TEST_RETRIED')),
              composed('a payment method with an unknown status', having(card('STAGED'), 'data.status', 'TEST_FROZEN')),
              composed('a deposit with an unknown data.type', having(onChain, 'data.type', 'TEST_SEND')),
              composed(
                'a tracking notification with an unknown orderType',
                having(cashStep('BUY', 'COMPLETED'), 'data.metadata.orderType', 'TEST_SEND'),
              ),
            ),
        },
        { expect: accepted },
      ],
      'unlisted-error-code': [
        'a failed order or refund with an unlisted error code',
        {
          flow: () =>
            inSequence(
              composed('a failed order', having(buy('FAILED'), 'data.errorData', errorData('999-321-E9'))),
              composed('a failed refund', (kit) => refund(kit, 'FAIL', { code: '998-320-S7' })),
            ),
        },
        'error-code-restricted',
        { ...listed, expect: accepted },
      ],
      'unlisted-decline-code': [
        'a declined PAYMENT_METHOD with an unlisted error code',
        { compose: (kit) => paymentMethod(kit, 'DECLINED', { code: '352-998-E4' }) },
        'error-code-restricted',
        { ...listed, note: 'The listed codes of payment methods begin with 313, but no code is tied to a type.' },
      ],
      'two-digit-error-code': [
        'an error code whose middle group has two digits',
        { compose: having(buy('FAILED'), 'data.errorData', errorData('152-99-S2')) },
        'error-code-restricted',
        listed,
      ],
    },
  ),
  ...family(
    { ...open, of: 'an id that is a UUID', requirements: ['envelope-id'], mistake: 'narrow-value-format' },
    {
      'id-version-7': [
        'of version 7',
        { compose: having(plain, 'id', (kit) => kit.newId().replace(/^(.{14})./, '$17')) },
        { level: 'must' },
      ],
      'id-upper-case': [
        'in upper case',
        { compose: having(plain, 'id', (kit) => kit.newId().toUpperCase()) },
        { requirements: ['envelope-id-case'] },
      ],
    },
  ),
  ...family(
    {
      ...open,
      of: 'a notification whose time is',
      level: 'must',
      requirements: ['envelope-at', 'envelope-at-open'],
      expect: acceptedUnlessOld,
      mistake: 'time-compared-with-clock',
    },
    {
      'old-time': [
        '29 February 2024',
        { compose: having(plain, 'at', LEAP_DAY) },
        { note: '29 February also fails where code adds a year to the date.' },
      ],
      'future-time': ['one hour in the future', { compose: having(plain, 'at', (kit) => epochSeconds(kit) + 3600) }],
    },
  ),
  inClockChange,
  ...family(
    { ...open, of: 'an ISO time', requirements: ['envelope-at-open'], mistake: 'fixed-time-format' },
    {
      'time-without-milliseconds': [
        'without fractional seconds',
        { compose: having(newWallet, 'at', (kit) => isoTime(kit).replace(/\.\d+Z$/, 'Z')) },
        {
          level: 'must',
          requirements: ['envelope-at'],
          note: 'Serialisers that omit zero milliseconds send such a time once in a thousand.',
        },
      ],
      'time-with-microseconds': [
        'with six, nine or one fractional digits',
        {
          flow: () =>
            ['123456', '123456789', '5'].map((digits) => [
              composed(
                `${digits.length} fractional digits`,
                having(onChain, 'at', (kit) => isoTime(kit).replace(/\d{3}Z$/, `${digits}Z`)),
              ),
            ]),
        },
        { expect: accepted },
      ],
      'time-with-offset': [
        'with the UTC offset +00:00',
        { compose: having(newWallet, 'at', (kit) => isoTime(kit).replace(/Z$/, '+00:00')) },
      ],
    },
  ),
  ...family(
    { ...open, requirements: ['caas-tracking'] },
    {
      'free-text-unicode': [
        'emoji, right-to-left text and accents in free text',
        {
          compose: cashStep(
            'SELL',
            'COMPLETED',
            'Abholung in Z\u00fcrich \u2705 \u{1f3e7} \u05d1\u05d5\u05e6\u05e2 \u202etext\u202c',
          ),
        },
        'unstorable-characters',
        { level: 'must' },
      ],
      'free-text-long': [
        'a description of 4,000 characters',
        { compose: cashStep('BUY', 'COMPLETED', 'The kiosk printed a long text. '.repeat(130).slice(0, 4000)) },
        'valid-text-rejected',
      ],
    },
  ),
  ...family(
    { ...open, requirements: ['delivery-unknown-headers'], mistake: 'extra-headers-rejected' },
    {
      'unknown-headers': [
        'unknown request headers',
        {
          address: addHeaders('three unknown headers', (kit) => [
            ['X-Test-Run', kit.nonce(16)],
            ['traceparent', `00-${kit.bytes(16).toString('hex')}-${kit.bytes(8).toString('hex')}-01`],
            ['X-Test-Empty', ''],
          ]),
        },
      ],
      'standard-headers': [
        'standard headers of clients, proxies, tracing and other authentication',
        { flow: () => STANDARD_HEADERS.map(withLines) },
        { expect: accepted },
      ],
      'long-header': [
        'a request header of 4,000 characters',
        (label) => ({ address: addHeaders(label, (kit) => [['X-Test-Long', kit.nonce(4000)]]) }),
      ],
    },
  ),
];
