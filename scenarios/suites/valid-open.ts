import type { HeaderLine } from '../../contract/index.ts';
import { addHeaders } from '../changes/addressing.ts';
import { type Composer, having, plain } from '../changes/bodies.ts';
import { digest } from '../changes/signing.ts';
import { accepted, acceptedUnlessOld } from '../expectations.ts';
import {
  deposit,
  epochSeconds,
  errorData,
  isoTime,
  order,
  paymentMethod,
  refund,
  tracking,
  wallet,
} from '../samples.ts';
import type { AddressChange, Delivery, FlowScenario, ProbeScenario } from '../scenario.ts';

const open = { level: 'should', requirements: ['envelope-open'], expect: accepted } as const;

const failedBuy: Composer = (kit) => order(kit, 'BUY', 'FAILED');
const newWallet: Composer = (kit) => wallet(kit);
const onChain: Composer = (kit) => deposit(kit);
const unknown = ['data.testField', 'unknown'] as const;

/** The last second of 29 February 2024, in epoch seconds. */
const LEAP_DAY = 1_709_251_199;

type Lines = (body: Uint8Array) => readonly HeaderLine[];

const sum = (algorithm: string, body: Uint8Array) => digest(algorithm, body).toString('base64');

/** Headers that proxies and HTTP clients add, and values that they write. */
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

function withLines(label: string, lines: Lines): AddressChange {
  return { label, make: (head, _kit, body) => ({ ...head, headers: [...head.headers, ...lines(body)] }) };
}

/** Unknown values that a receiver has to accept. Specification: Errors. Rulings on open lists. */
export const validOpen: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...open,
    id: 'valid/unknown-field',
    title: 'Accepts a notification with an unknown field in the envelope',
    change: { compose: having(plain, 'testField', 'unknown') },
    why: 'When the sender adds a field, a receiver that forbids unknown fields rejects every notification.',
    fix:
      'Turn off strict mode in your schema or mapper (zod strict, pydantic extra=forbid, Jackson ' +
      'FAIL_ON_UNKNOWN_PROPERTIES).',
  },
  {
    ...open,
    id: 'valid/unknown-field-in-data',
    title: 'Accepts a notification with an unknown field in data',
    change: { compose: having(plain, 'data.testField', { nested: true }) },
    why: 'New fields are most likely to appear in data, and a strict class then rejects all orders.',
    fix: 'Let the class for data ignore unknown fields of any type.',
  },
  {
    ...open,
    id: 'valid/unknown-field-in-metadata',
    title: 'Accepts an order with an unknown field in blockchainData',
    change: { compose: having(plain, 'data.metadata.blockchainData.testField', 'unknown') },
    why: 'A new network may add a field, and a strict class then also rejects orders on existing networks.',
    fix: 'Ignore unknown fields at every level: strictness is often set per class.',
  },
  {
    ...open,
    id: 'valid/unknown-field-in-error-data',
    title: 'Accepts a failed order with an unknown field in errorData',
    change: { compose: having(failedBuy, 'data.errorData.testField', 'unknown') },
    why: 'If only the class for errors is strict, this shows only when an order fails.',
    fix: 'Let the class for errorData ignore unknown fields.',
  },
  {
    ...open,
    id: 'valid/unknown-field-every-kind',
    title: 'Accepts an unknown field in data of every other type',
    flow: (kit) => [
      (
        [
          ['a sell order', having((own) => order(own, 'SELL', 'CREATED'), ...unknown)],
          ['a tracking notice', having((own) => tracking(own, 'BUY', 'COMPLETED'), ...unknown)],
          ['a refund', having((own) => refund(own, 'SUCCESS'), ...unknown)],
          ['a payment method', having((own) => paymentMethod(own, 'STAGED'), ...unknown)],
          ['a wallet', having(newWallet, ...unknown)],
          ['a deposit', having(onChain, ...unknown)],
        ] as const
      ).map(([label, compose]): Delivery => ({ label, change: { compose: () => compose(kit) }, expect: accepted })),
    ],
    why: 'Each type often has its own class. A class that is still strict fails when its type gets a new field.',
    fix: 'Configure the mapper globally to ignore unknown fields. The report names the rejected type.',
  },
  {
    ...open,
    id: 'valid/unknown-type',
    title: 'Accepts a notification of an unknown type',
    change: { compose: having(plain, 'type', (kit) => `TEST_UNKNOWN_${kit.integer(1000)}`) },
    why: 'The sender treats a rejection as a failed delivery, so every notification of a new type fails.',
    fix: 'Answer 200 to types that you do not handle, and log them.',
  },
  {
    ...open,
    id: 'valid/unknown-caas-type',
    title: 'Accepts a CAAS notification with an unknown data.type',
    change: { compose: having(plain, 'data.type', 'TEST_SWAP') },
    why: 'CAAS has three flows today. A switch over data.type without a default branch fails on a fourth.',
    fix: 'Add a default branch to the switch over data.type that logs the type and answers 200.',
  },
  {
    ...open,
    id: 'valid/unknown-order-status',
    title: 'Accepts an order with an unknown status',
    change: { compose: having(plain, 'data.metadata.orderStatus', 'TEST_ON_HOLD') },
    why: 'The list of order statuses is not closed: two statuses that are sent are missing from its table.',
    fix: 'Read orderStatus as a string, and map unknown values to "in progress".',
  },
  {
    ...open,
    id: 'valid/unknown-deposit-status',
    title: 'Accepts a deposit with an unknown status',
    change: { compose: having(onChain, 'data.status', 'TEST_PROCESSING') },
    why: 'Only one deposit status is known, from a sample. A receiver that allows only this one rejects all others.',
    fix: 'Read the status as a string, and credit the deposit only for the statuses that you know.',
  },
  {
    ...open,
    id: 'valid/unknown-tracking-status',
    title: 'Accepts ORDER_TRACKING with an unknown provider status',
    change: {
      compose: having(
        (kit) => tracking(kit, 'BUY', 'COMPLETED'),
        'data.metadata.providerTransactionStatus',
        'TEST_LATE',
      ),
    },
    why: 'The status comes from a payment provider, and a new provider may introduce new values.',
    fix: 'Store an unknown provider status, and leave the order unchanged.',
  },
  {
    ...open,
    id: 'valid/unknown-wallet-operation',
    title: 'Accepts a WALLET notification with an unknown operation',
    change: { compose: having(newWallet, 'data.operation', 'TEST_WALLET_RENAMED') },
    why: 'WALLET_CREATED is the only operation today. A receiver that ignores the field stores a wallet for any other.',
    fix: 'Act on WALLET_CREATED, and answer 200 to other operations without acting.',
  },
  {
    ...open,
    id: 'valid/unknown-values-elsewhere',
    title: 'Accepts unknown statuses of refunds and payment methods, and unknown types of deposits',
    flow: (kit) =>
      (
        [
          ['a refund with an unknown status', having((own) => refund(own, 'FAIL'), 'data.status', 'TEST_RETRIED')],
          [
            'a payment method with an unknown status',
            having((own) => paymentMethod(own, 'STAGED'), 'data.status', 'TEST_FROZEN'),
          ],
          ['a deposit with an unknown data.type', having(onChain, 'data.type', 'TEST_SEND')],
          [
            'a tracking notification with an unknown orderType',
            having((own) => tracking(own, 'BUY', 'COMPLETED'), 'data.metadata.orderType', 'TEST_SEND'),
          ],
        ] as const
      ).map(([label, compose]): Delivery[] => [{ label, change: { compose: () => compose(kit) }, expect: accepted }]),
    why: 'Error codes for sending exist, and three more statuses of payment methods. An enum rejects them once sent.',
    fix: 'Read the values as strings, and answer 200 to those that you do not handle. The report names the field.',
  },
  {
    ...open,
    id: 'valid/unlisted-error-code',
    title: 'Accepts a failed order or refund with an unlisted error code',
    level: 'must',
    requirements: ['error-codes-open'],
    flow: (kit) =>
      (
        [
          ['a failed order', having(failedBuy, 'data.errorData', errorData('999-321-E9'))],
          ['a failed refund', (own) => refund(own, 'FAIL', { code: '998-320-S7' })],
        ] as const satisfies readonly (readonly [string, Composer])[]
      ).map(([label, compose]): Delivery[] => [{ label, change: { compose: () => compose(kit) }, expect: accepted }]),
    why: 'The listed codes are examples. A failure with another code must not be lost.',
    fix: 'Read the code as a string. Use your list only to look up messages, with a default message.',
  },
  {
    ...open,
    id: 'valid/unlisted-decline-code',
    title: 'Accepts a declined PAYMENT_METHOD with an unlisted error code',
    level: 'must',
    requirements: ['error-codes-open'],
    change: { compose: (kit) => paymentMethod(kit, 'DECLINED', { code: '352-998-E4' }) },
    why:
      'If a decline with a new reason is rejected, the card still looks valid. The listed codes of payment methods ' +
      'begin with 313, but the specification ties no code to a type.',
    fix: 'Accept any string as errorCode. Use an enum only for display.',
  },
  {
    ...open,
    id: 'valid/two-digit-error-code',
    title: 'Accepts an error code whose middle group has two digits',
    level: 'must',
    requirements: ['error-codes-open'],
    change: { compose: having(failedBuy, 'data.errorData', errorData('152-99-S2')) },
    why: 'One listed code has two digits in the middle. A pattern with three digits rejects it.',
    fix: 'Remove the pattern, or allow any number of digits in the middle group.',
  },
  {
    ...open,
    id: 'valid/id-version-7',
    title: 'Accepts an id that is a UUID of version 7',
    level: 'must',
    requirements: ['envelope-id'],
    change: { compose: having(plain, 'id', (kit) => kit.newId().replace(/^(.{14})./, '$17')) },
    why: 'Many systems replace UUIDs of version 4 with version 7. A check for version 4 rejects them.',
    fix: 'Accept any string as id, or check the form of a UUID without its version.',
  },
  {
    ...open,
    id: 'valid/id-upper-case',
    title: 'Accepts an id that is a UUID in upper case',
    requirements: ['envelope-id-case'],
    change: { compose: having(plain, 'id', (kit) => kit.newId().toUpperCase()) },
    why: 'Some runtimes write UUIDs in upper case. A pattern for lower case rejects them.',
    fix: 'Compare and validate ids case-insensitively, or do not validate their form.',
  },
  {
    ...open,
    id: 'valid/old-time',
    title: 'Accepts a notification whose time is 29 February 2024',
    level: 'must',
    requirements: ['envelope-at', 'envelope-at-open'],
    expect: acceptedUnlessOld,
    change: { compose: having(plain, 'at', LEAP_DAY) },
    why:
      'After an outage, the sender delivers old notifications. A receiver that requires recent times drops them, and ' +
      'one that adds a year to the date fails on a leap day.',
    fix: 'Do not use `at` for replay protection: detect repeated notifications by their id. Add days, not years.',
  },
  {
    ...open,
    id: 'valid/future-time',
    title: 'Accepts a notification whose time is one hour in the future',
    level: 'must',
    requirements: ['envelope-at', 'envelope-at-open'],
    expect: acceptedUnlessOld,
    change: { compose: having(plain, 'at', (kit) => epochSeconds(kit) + 3600) },
    why: 'Clocks differ, and time zone bugs occur. The order is valid all the same.',
    fix: 'Store `at`, and do not compare it with your own clock.',
  },
  {
    id: 'valid/time-in-clock-change',
    title: 'Accepts times in hours that clocks with summer time skip or repeat',
    level: 'must',
    requirements: ['envelope-at', 'envelope-at-open'],
    flow: () => [
      ['2026-03-29T02:30:00.000Z', '2026-03-08T02:30:00.000Z', '2025-10-26T01:30:00.000Z'].map((at) => ({
        label: `a wallet at ${at}`,
        change: { compose: having(newWallet, 'at', at) },
        expect: acceptedUnlessOld,
      })),
    ],
    why: 'The time is in UTC. Where it is stored as local time, a database refuses an hour that does not exist.',
    fix: 'Store times with their zone, or in UTC.',
  },
  {
    ...open,
    id: 'valid/time-without-milliseconds',
    title: 'Accepts an ISO time without fractional seconds',
    level: 'must',
    requirements: ['envelope-at'],
    change: { compose: having(newWallet, 'at', (kit) => isoTime(kit).replace(/\.\d+Z$/, 'Z')) },
    why:
      'Some serialisers omit milliseconds when they are zero. A fixed format then fails once in a thousand ' +
      'deliveries.',
    fix: 'Parse ISO 8601 with a library instead of a fixed pattern.',
  },
  {
    ...open,
    id: 'valid/time-with-microseconds',
    title: 'Accepts an ISO time with six, nine or one fractional digits',
    requirements: ['envelope-at-open'],
    flow: () =>
      ['123456', '123456789', '5'].map((digits): Delivery[] => [
        {
          label: `${digits.length} fractional digits`,
          change: { compose: having(onChain, 'at', (own) => isoTime(own).replace(/\d{3}Z$/, `${digits}Z`)) },
          expect: accepted,
        },
      ]),
    why:
      'Some runtimes write six or nine fractional digits, and Go omits trailing zeros. A parser for three or six ' +
      'digits rejects them.',
    fix: 'Allow any number of fractional digits.',
  },
  {
    ...open,
    id: 'valid/time-with-offset',
    title: 'Accepts an ISO time with the UTC offset +00:00',
    requirements: ['envelope-at-open'],
    change: { compose: having(newWallet, 'at', (kit) => isoTime(kit).replace(/Z$/, '+00:00')) },
    why: 'Z and +00:00 mean the same. Libraries differ in which one they write.',
    fix: 'Accept an offset wherever you accept Z.',
  },
  {
    ...open,
    id: 'valid/free-text-unicode',
    title: 'Accepts emoji, right-to-left text and accents in free text',
    level: 'must',
    requirements: ['caas-tracking'],
    change: {
      compose: (kit) =>
        tracking(
          kit,
          'SELL',
          'COMPLETED',
          'Abholung in Z\u00fcrich \u2705 \u{1f3e7} \u05d1\u05d5\u05e6\u05e2 \u202etext\u202c',
        ),
    },
    why: 'Three-byte text columns in MySQL and ASCII encoders fail on the first description with an emoji.',
    fix: 'Use utf8mb4 or an equivalent for text columns, and read text as UTF-8.',
  },
  {
    ...open,
    id: 'valid/free-text-long',
    title: 'Accepts a description of 4,000 characters',
    requirements: ['caas-tracking'],
    change: {
      compose: (kit) => tracking(kit, 'BUY', 'COMPLETED', 'The kiosk printed a long text. '.repeat(130).slice(0, 4000)),
    },
    why: 'Free text has no stated maximum length. A column of 255 characters turns a long one into a database error.',
    fix: 'Truncate the text to the length of your column, or use a column without a limit.',
  },
  {
    ...open,
    id: 'valid/unknown-headers',
    title: 'Accepts unknown request headers',
    requirements: ['delivery-unknown-headers'],
    change: {
      address: addHeaders('three unknown headers', (kit) => [
        ['X-Test-Run', kit.nonce(16)],
        ['traceparent', `00-${kit.bytes(16).toString('hex')}-${kit.bytes(8).toString('hex')}-01`],
        ['X-Test-Empty', ''],
      ]),
    },
    why: 'Proxies and tracing add headers, and custom headers can be configured at any time.',
    fix: 'Remove allow-lists of headers from the firewall or gateway in front of the endpoint.',
  },
  {
    ...open,
    id: 'valid/standard-headers',
    title: 'Accepts standard headers of clients, proxies, tracing and other authentication',
    requirements: ['delivery-unknown-headers'],
    flow: () =>
      STANDARD_HEADERS.map(([what, lines]) => [
        { label: what, change: { address: withLines(what, lines) }, expect: accepted },
      ]),
    why:
      'Middleware for other routes reads them: a login for Authorization, CORS for Origin, a checksum for ' +
      'Content-MD5. A proxy or a custom header then stops every delivery.',
    fix: 'Install on this route only the middleware that it needs. The report names the headers.',
  },
  {
    ...open,
    id: 'valid/long-header',
    title: 'Accepts a request header of 4,000 characters',
    requirements: ['delivery-unknown-headers'],
    change: { address: addHeaders('a header of 4,000 characters', (kit) => [['X-Test-Long', kit.nonce(4000)]]) },
    why: 'A custom header may carry a token of this size. Small header buffers answer 400 or 431.',
    fix: 'Allow at least 8 kB for headers (large_client_header_buffers, maxHeaderSize).',
  },
];
