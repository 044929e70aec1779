import type { JsonObject, JsonValue } from '../../contract/index.ts';
import { type Composer, having, plain, withField, withoutField } from '../changes/bodies.ts';
import { handled, survived } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { Delivery, Expectation, FlowScenario } from '../scenario.ts';

const failed: Composer = (kit) => order(kit, 'BUY', 'FAILED');
const onChain: Composer = (kit) => deposit(kit);
const returned: Composer = (kit) => refund(kit, 'SUCCESS');
const tracked: Composer = (kit) => tracking(kit, 'BUY', 'COMPLETED');

/** Fields of one kind of notification. They are independent of each other, so they change together. */
type Row = readonly [label: string, base: Composer, ...paths: string[]];

/**
 * Fields whose values code often looks up in tables of handlers, enums, sets of statuses or chain configurations.
 */
const LOOKED_UP = {
  type: ['the type', plain, 'type'],
  orderType: ['the type of an order', plain, 'data.type'],
  orderStatus: ['the status of an order', plain, 'data.metadata.orderStatus'],
  orderChain: [
    'the chain and currency of an order',
    plain,
    'data.metadata.blockchainData.chain',
    'data.metadata.blockchainData.currency',
  ],
  errorCode: ['an error code', failed, 'data.errorData.code'],
  providerStatus: ['a provider status', tracked, 'data.metadata.providerTransactionStatus'],
  trackedType: ['the order type of a tracking notification', tracked, 'data.metadata.orderType'],
  refundStatus: ['the status of a refund', returned, 'data.status'],
  refundCurrency: ['the currency of a refund', returned, 'data.metadata.currency'],
  cardStatus: ['the status of a payment method', (kit) => paymentMethod(kit, 'STAGED'), 'data.status'],
  declineCode: ['the code of a declined card', (kit) => paymentMethod(kit, 'DECLINED'), 'data.errorCode'],
  operation: ['the operation of a wallet', (kit) => wallet(kit), 'data.operation'],
  walletChain: ['the chain and asset of a wallet', (kit) => wallet(kit), 'data.chain', 'data.assetId'],
  depositType: ['the type of a deposit', onChain, 'data.type'],
  depositStatus: ['the status of a deposit', onChain, 'data.status'],
  depositCurrency: ['the currency of a deposit', onChain, 'data.metadata.asset.currency'],
  transactionId: ['the transactionId of an order', plain, 'data.transactionId'],
  providerId: ['the providerId of an order', plain, 'data.providerId'],
  customerId: ['the customerId of a wallet', (kit) => wallet(kit), 'data.customerId'],
  accountId: ['the accountId of a payment method', (kit) => paymentMethod(kit, 'STAGED'), 'data.accountId'],
  cardId: ['the paymentMethodId', (kit) => paymentMethod(kit, 'STAGED'), 'data.paymentMethodId'],
  depositId: ['the partnerTransactionId of a deposit', onChain, 'data.partnerTransactionId'],
  time: ['the time of a wallet', (kit) => wallet(kit), 'at'],
} as const satisfies Readonly<Record<string, Row>>;

/** Texts of the partner, of a payment provider or of other systems, by kind of notification. */
const REFERENCES: readonly Row[] = [
  ['the type', plain, 'type'],
  ['the references of an order', plain, 'data.transactionId', 'data.providerId'],
  ['the code of an error', failed, 'data.errorData.code'],
  [
    'the references of a tracking notification',
    tracked,
    ...['providerTransactionId', 'providerTransactionRef', 'providerTransactionStatus'].map(inMetadata),
  ],
  ['the ids of a payment method', (kit) => paymentMethod(kit, 'STAGED'), 'data.paymentMethodId', 'data.accountId'],
  ['the ids of a deposit', onChain, 'data.partnerTransactionId', 'data.customerId'],
];

type Lookup = keyof typeof LOOKED_UP;

const EVERY = Object.keys(LOOKED_UP) as Lookup[];

/** Values of which code chooses what to do next. */
const DECISIVE = [
  ...(['orderType', 'orderStatus', 'providerStatus', 'refundStatus', 'cardStatus', 'operation'] as const),
  'depositStatus',
] as const satisfies readonly Lookup[];

/** Values that are only stored or shown. */
const STORED = EVERY.filter((field) => !['type', 'time', ...DECISIVE].includes(field));

/** Objects in these fields are separate checks in `malformed-fields.ts`. */
const SENT_AS_OBJECT: readonly Lookup[] = ['orderType', 'orderStatus', 'declineCode', 'transactionId'];

const IN_CHAIN_DATA = ['targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress', 'blockchainMemo'];

/** Texts that code converts, compares or stores. */
const TEXTS: readonly Row[] = [
  ['the message of an error', failed, 'data.errorData.message'],
  [
    'the texts of a tracking notification',
    tracked,
    ...['providerTransactionId', 'providerTransactionRef', 'trackingStateDescription'].map(inMetadata),
  ],
  ['the amount and address of a refund', (kit) => refund(kit, 'FAIL'), ...['amount', 'walletAddress'].map(inMetadata)],
  [
    'the amount and addresses of a deposit',
    onChain,
    ...['asset.amount', 'sourceAddress', 'destinationAddress'].map(inMetadata),
  ],
];

/** The same, where null or a missing field is a separate check. */
const MORE_TEXTS: readonly Row[] = [
  [
    'the addresses and the memo of an order',
    plain,
    ...IN_CHAIN_DATA.map((name) => `data.metadata.blockchainData.${name}`),
  ],
  ['the hash of a deposit', onChain, inMetadata('blockchainTransactionId')],
  ['the address of a wallet', (kit) => wallet(kit), 'data.walletAddress'],
];

const AMOUNTS: readonly Row[] = [
  ['a refund', returned, inMetadata('amount')],
  ['a deposit', onChain, inMetadata('asset.amount')],
];

/** Objects within a notification. */
const OBJECTS: readonly Row[] = [
  ['metadata of a tracking notification', tracked, 'data.metadata'],
  ['metadata of a refund', returned, 'data.metadata'],
  ['metadata of a deposit', onChain, 'data.metadata'],
  ['the asset of a deposit', onChain, 'data.metadata.asset'],
  ['errorData of a failed order', failed, 'data.errorData'],
  ['errorData of a failed refund', (kit) => refund(kit, 'FAIL'), 'data.errorData'],
];

function inMetadata(name: string): string {
  return `data.metadata.${name}`;
}

/** `undefined` leaves the field out. */
type Value = readonly [what: string, change: (value: JsonValue) => JsonValue | undefined];

function inLookups(
  slug: string,
  what: string,
  rows: readonly Row[],
  values: readonly Value[],
  text: { readonly why: string; readonly fix: string },
  expect: Expectation,
): FlowScenario {
  const deliveries = rows.flatMap(([label, base, ...paths]) =>
    values.map(([name, change]): Delivery => {
      const compose: Composer = (kit) =>
        paths.reduce<JsonValue>((value, path) => {
          const changed = change(valueAt(value, path));
          return changed === undefined ? withoutField(value, path) : withField(value, path, changed);
        }, base(kit));
      return { label: `${label}: ${name}`, change: { compose }, expect };
    }),
  );
  return {
    id: `malformed/${slug}`,
    title: `Handles ${what}`,
    level: 'must',
    requirements: ['delivery-malformed'],
    flow: () => deliveries.map((delivery) => [delivery]),
    ...text,
  };
}

const TEXT_BEFORE_USE = 'Require text, or accept null, before the value is used. The report names the field.';

const TEXT_FIRST = 'Require text before the value is looked up. The report names the field.';

function rowsOf(fields: readonly Lookup[]): readonly Row[] {
  return fields.map((field) => LOOKED_UP[field]);
}

/** Values that code looks up or converts, with another type or length. */
export const malformedLookups: readonly FlowScenario[] = [
  inLookups(
    'lookup-list',
    'a list where a type, status, code, currency, chain, id or time is expected',
    rowsOf(EVERY),
    [['a list', (value) => [value]]],
    {
      why:
        'As a key, a list throws in Python and PHP, and equals its only entry in JavaScript, past every check of the ' +
        'type.',
      fix: TEXT_FIRST,
    },
    handled,
  ),
  inLookups(
    'lookup-object',
    'an object where a type, status, code, currency, chain, id or time is expected',
    rowsOf(EVERY.filter((field) => !SENT_AS_OBJECT.includes(field))),
    [['an object', () => ({})]],
    {
      why: 'As a key, an object throws in Python and PHP. In JavaScript, functions for text are missing on it.',
      fix: TEXT_FIRST,
    },
    handled,
  ),
  inLookups(
    'lookup-number',
    'a number or a boolean where a type or status is expected',
    rowsOf(DECISIVE),
    [
      ['a number', () => 7],
      ['true', () => true],
    ],
    { why: 'Enums take a number for an index, and functions for text throw on both.', fix: TEXT_FIRST },
    handled,
  ),
  inLookups(
    'lookup-null',
    'a type, status, code, currency, chain or id that is null',
    // Null in blockchainData is a separate check: it should be accepted.
    rowsOf([...DECISIVE, ...STORED].filter((field) => field !== 'orderChain')),
    [['null', () => null]],
    {
      why: 'A switch over null throws in Java, and so do string functions.',
      fix: 'Test for null before the value is looked up. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'lookup-inherited',
    'a type or status with the name of an inherited property',
    rowsOf(DECISIVE),
    [
      ['constructor', () => 'constructor'],
      ['__proto__', () => '__proto__'],
    ],
    {
      why: 'A plain object used as a table also has the properties of Object.prototype, which are not handlers.',
      fix: 'Keep tables in a Map, or in an object without a prototype. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'lookup-long',
    'a code, currency, chain or id of 5,000 characters',
    rowsOf(STORED),
    [['5,000 characters', () => 'X'.repeat(5000)]],
    {
      why: 'A column of 16 or 255 characters fails on it, after the notification was accepted.',
      fix: 'Limit the length in the validation, and answer 400 above it. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'lookup-characters',
    'an id, a code or a reference with characters that a header, a file name or a log line cannot contain',
    REFERENCES,
    [['letters of other scripts, a line break and a colon', (value) => `${value}-\u4e2d\u0416\u{1f600}\r\nX-Test: 1`]],
    {
      why:
        'Copied into a header of the answer, a file name or a log line, they throw, or split the header. Most ' +
        'libraries check headers only when they are set.',
      fix: 'Copy no text of a payload into a header, and encode it elsewhere. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'text-list',
    'a list where an address, an amount, a hash, a memo or another text is expected',
    [...TEXTS, ...MORE_TEXTS],
    [['a list', (value) => [value]]],
    { why: 'Functions for text are missing on a list, or treat it in another way.', fix: TEXT_BEFORE_USE },
    handled,
  ),
  inLookups(
    'text-null',
    'an address, an amount, a message or another text that is null',
    TEXTS,
    [['null', () => null]],
    { why: 'Functions for text throw on null, usually after the notification was accepted.', fix: TEXT_BEFORE_USE },
    survived,
  ),
  inLookups(
    'text-missing',
    'a notification without an amount, addresses, a message or other texts',
    TEXTS,
    [['missing', () => undefined]],
    {
      why: 'Reading a missing key throws in Python and Ruby, and a string function throws on undefined in JavaScript.',
      fix: 'Treat a missing text like null, or answer 400 in the validation. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'text-empty',
    'a type, status, code, id, amount or address that is empty',
    [...rowsOf([...DECISIVE, ...STORED].filter((field) => field !== 'orderChain')), ...TEXTS],
    [['empty', () => '']],
    {
      why: 'Conversions throw on an empty text, and so does code that reads its first character.',
      fix: 'Require at least one character where the value is used, and answer 400. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'amount-odd',
    'an amount that only looks like a number',
    AMOUNTS,
    [
      ['a superscript digit', () => '\u00b2'],
      ['an Arabic digit', () => '\u0663'],
      ['5,000 digits', () => '7'.repeat(5000)],
      ['an exponent that no number holds', () => '1e999999999'],
      ['NaN', () => 'NaN'],
      ['Infinity', () => 'Infinity'],
      ['only a sign', () => '-'],
      ['a space after it', (value) => `${String(value)} `],
    ],
    {
      why: 'Tests for digits and conversions differ in what they take for a number, and the conversion then throws.',
      fix: 'Match amounts against /^[0-9]{1,78}$/, or that with a fraction, before the conversion.',
    },
    handled,
  ),
  inLookups(
    'time-odd',
    'a time of the right form that does not exist',
    [LOOKED_UP.time],
    [
      ['a day that February does not have', () => '2026-02-30T10:00:00Z'],
      ['a month too many', () => '2026-13-01T10:00:00Z'],
      ['an hour too many', () => '2026-01-01T25:00:00Z'],
      ['the year 0', () => '0000-01-01T00:00:00Z'],
      ['an offset of 99 hours', () => '2026-01-01T10:00:00+99:00'],
    ],
    {
      why: 'A pattern does not show that a date exists, and the conversion behind it throws.',
      fix: 'Catch errors of the conversion and answer 400, or store the time as it came.',
    },
    survived,
  ),
  inLookups(
    'object-null',
    'metadata, an asset or the error of a failure that is null',
    OBJECTS,
    [['null', () => null]],
    {
      why: 'Code that reads a field of it throws. `typeof null` is "object" in JavaScript, so a type check passes.',
      fix: 'Validate every object on the way to a field, and answer 400. The report names the object.',
    },
    survived,
  ),
];

/** The value at a path of a notification. */
function valueAt(value: JsonValue, path: string): JsonValue {
  return path.split('.').reduce<JsonValue>((here, name) => (here as JsonObject)[name] ?? null, value);
}

/** Names under which libraries store the class of an object: JSON of Ruby, Jackson, .NET, jsonpickle, Oj, YAML. */
const CLASS_FIELDS: readonly (readonly [name: string, className: string])[] = [
  ['json_class', 'TestUnknown::Class'],
  ['@class', 'test.unknown.Class'],
  ['@type', 'test.unknown.Class'],
  ['$type', 'Test.Unknown.Class, Test'],
  ['__type', 'Class:#Test.Unknown'],
  ['__class__', 'test_unknown.Class'],
  ['py/object', 'test_unknown.Class'],
  ['^o', 'TestUnknown::Class'],
  ['!ruby/object', 'TestUnknown::Class'],
  ['class', 'test.unknown.Class'],
];

/** Unknown fields that a reader of objects takes for instructions. */
export const malformedClassNames: FlowScenario = {
  id: 'malformed/class-names',
  title: 'Handles unknown fields that name an unknown class',
  level: 'must',
  requirements: ['delivery-malformed', 'envelope-open'],
  flow: () => [
    [
      {
        label: 'in the envelope',
        change: { compose: (kit) => ({ ...kit.notification(), ...Object.fromEntries(CLASS_FIELDS) }) },
        expect: survived,
      },
    ],
    [
      {
        label: 'in data',
        change: { compose: having(plain, 'data.test', Object.fromEntries(CLASS_FIELDS)) },
        expect: survived,
      },
    ],
  ],
  why:
    'A JSON reader that creates objects by name (`json_class`, `@class`, `$type`) lets the sender choose the class: ' +
    'an unknown one ends in a 500, a known one can run code.',
  fix:
    'Read JSON as plain values: `JSON.parse` without `create_additions` in Ruby, no default typing in Jackson, ' +
    '`TypeNameHandling.None` in .NET, no jsonpickle.',
};

/** Names of properties that every object has, or that libraries look for. No value here is a function. */
const METHOD_NAMES: JsonObject = {
  ...Object.fromEntries(['hasOwnProperty', 'propertyIsEnumerable', 'isPrototypeOf'].map((name) => [name, 1])),
  ...Object.fromEntries(
    ['toString', 'valueOf', 'toLocaleString', 'toJSON', 'then', 'inspect'].map((name) => [name, 1]),
  ),
  constructor: 1,
  length: 4_294_967_295,
};

/** Unknown fields with the names of inherited methods. */
export const malformedMethodNames: FlowScenario = {
  id: 'malformed/method-names',
  title: 'Handles unknown fields with the names of methods',
  defect: 'Crashes on unknown fields with the names of methods',
  level: 'must',
  requirements: ['delivery-malformed', 'envelope-open'],
  flow: () => [
    [
      {
        label: 'in the envelope',
        change: { compose: (kit) => ({ ...kit.notification(), ...METHOD_NAMES }) },
        expect: survived,
      },
    ],
    [
      {
        label: 'in data and metadata',
        change: {
          compose: (kit) =>
            ['data.metadata', 'data'].reduce<JsonValue>(
              (value, path) => withField(value, path, { ...(valueAt(value, path) as JsonObject), ...METHOD_NAMES }),
              kit.notification(),
            ),
        },
        expect: survived,
      },
    ],
  ],
  why:
    '`data.hasOwnProperty(...)` and a template with the object call what the payload contains. A `length` makes ' +
    'libraries take the object for a list of that length.',
  fix: 'Use `Object.hasOwn(data, name)`, iterate with `Object.keys`, and do not put objects into text.',
};
