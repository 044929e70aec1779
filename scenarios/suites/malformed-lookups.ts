import type { JsonObject, JsonValue } from '../../contract/index.ts';
import { type Composer, having, plain, withField, withoutField } from '../changes/bodies.ts';
import { anyClearAnswer, handled } from '../expectations.ts';
import { paymentMethod, refund, valueAt } from '../samples.ts';
import type { Delivery, Expectation, FlowScenario, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { created, declined, failed, onChain, returned, tracked } from './malformed-fields.ts';

const staged: Composer = (kit) => paymentMethod(kit, 'STAGED');
const refundFailed: Composer = (kit) => refund(kit, 'FAIL');

/** Fields of one kind of notification. They are independent of each other, so they can be changed together. */
export type Fields = readonly [label: string, base: Composer, ...paths: string[]];

/** Fields whose values code often looks up in tables of handlers, enums, sets of statuses or chain configurations. */
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
  cardStatus: ['the status of a payment method', staged, 'data.status'],
  declineCode: ['the code of a declined card', declined, 'data.errorCode'],
  operation: ['the operation of a wallet', created, 'data.operation'],
  walletChain: ['the chain and asset of a wallet', created, 'data.chain', 'data.assetId'],
  depositType: ['the type of a deposit', onChain, 'data.type'],
  depositStatus: ['the status of a deposit', onChain, 'data.status'],
  depositCurrency: ['the currency of a deposit', onChain, 'data.metadata.asset.currency'],
  transactionId: ['the transactionId of an order', plain, 'data.transactionId'],
  providerId: ['the providerId of an order', plain, 'data.providerId'],
  customerId: ['the customerId of a wallet', created, 'data.customerId'],
  accountId: ['the accountId of a payment method', staged, 'data.accountId'],
  cardId: ['the paymentMethodId', staged, 'data.paymentMethodId'],
  depositId: ['the partnerTransactionId of a deposit', onChain, 'data.partnerTransactionId'],
  time: ['the time of a wallet', created, 'at'],
} as const satisfies Readonly<Record<string, Fields>>;

/** Texts that come from the partner, a payment provider or other systems, by kind of notification. */
const REFERENCES: readonly Fields[] = [
  ['the type', plain, 'type'],
  ['the references of an order', plain, 'data.transactionId', 'data.providerId'],
  ['the code of an error', failed, 'data.errorData.code'],
  [
    'the references of a tracking notification',
    tracked,
    ...['providerTransactionId', 'providerTransactionRef', 'providerTransactionStatus'].map(inMetadata),
  ],
  ['the ids of a payment method', staged, 'data.paymentMethodId', 'data.accountId'],
  ['the ids of a deposit', onChain, 'data.partnerTransactionId', 'data.customerId'],
];

type Lookup = keyof typeof LOOKED_UP;

const EVERY = Object.keys(LOOKED_UP) as Lookup[];

/** Fields whose values determine what code does next. */
const DECISIVE = [
  ...(['orderType', 'orderStatus', 'providerStatus', 'refundStatus', 'cardStatus', 'operation'] as const),
  'depositStatus',
] as const satisfies readonly Lookup[];

/** Fields whose values are only stored or shown. */
const STORED = EVERY.filter((field) => !['type', 'time', ...DECISIVE].includes(field));

/** All fields except blockchainData. A null there should be accepted, which is a separate check. */
const WITHOUT_CHAIN = rowsOf([...DECISIVE, ...STORED].filter((field) => field !== 'orderChain'));

/** Fields that are left out here, because `malformed-fields.ts` has separate checks that send objects in them. */
const SENT_AS_OBJECT: readonly Lookup[] = ['orderType', 'orderStatus', 'declineCode', 'transactionId'];

export const IN_CHAIN_DATA = [
  'targetWalletAddress',
  'refundWalletAddress',
  'sourceWalletAddress',
  'blockchainMemo',
].map((name) => `data.metadata.blockchainData.${name}`);

/** Texts that code converts, compares or stores. */
const TEXTS: readonly Fields[] = [
  ['the message of an error', failed, 'data.errorData.message'],
  [
    'the texts of a tracking notification',
    tracked,
    ...['providerTransactionId', 'providerTransactionRef', 'trackingStateDescription'].map(inMetadata),
  ],
  ['the amount and address of a refund', refundFailed, ...['amount', 'walletAddress'].map(inMetadata)],
  [
    'the amount and addresses of a deposit',
    onChain,
    ...['asset.amount', 'sourceAddress', 'destinationAddress'].map(inMetadata),
  ],
];

/** Further texts. For these, null or a missing field is a separate check. */
const MORE_TEXTS: readonly Fields[] = [
  ['the addresses and the memo of an order', plain, ...IN_CHAIN_DATA],
  ['the hash of a deposit', onChain, inMetadata('blockchainTransactionId')],
  ['the address of a wallet', created, 'data.walletAddress'],
];

const AMOUNTS: readonly Fields[] = [
  ['a refund', returned, inMetadata('amount')],
  ['a deposit', onChain, inMetadata('asset.amount')],
];

/** Objects within a notification. */
const OBJECTS: readonly Fields[] = [
  ['metadata of a tracking notification', tracked, 'data.metadata'],
  ['metadata of a refund', returned, 'data.metadata'],
  ['metadata of a deposit', onChain, 'data.metadata'],
  ['the asset of a deposit', onChain, 'data.metadata.asset'],
  ['errorData of a failed order', failed, 'data.errorData'],
  ['errorData of a failed refund', refundFailed, 'data.errorData'],
];

export function inMetadata(name: string): string {
  return `data.metadata.${name}`;
}

/** A change of a value: its name, and the function that returns the new value. `undefined` removes the field. */
type Value = readonly [what: string, change: (value: JsonValue) => JsonValue | undefined];

/** Sends one delivery for each combination of these fields and values. */
function inFields(rows: readonly Fields[], expect: Expectation, ...values: Value[]): Pick<FlowScenario, 'flow'> {
  const deliveries = rows.flatMap(([label, base, ...paths]) =>
    values.map(([name, change]): Delivery => {
      const compose: Composer = (kit) =>
        paths.reduce<JsonValue>((value, path) => {
          const changed = change(valueAt(value, path.split('.')) ?? null);
          return changed === undefined ? withoutField(value, path) : withField(value, path, changed);
        }, base(kit));
      return { label: `${label}: ${name}`, change: { compose }, expect };
    }),
  );
  return { flow: () => deliveries.map((delivery) => [delivery]) };
}

function rowsOf(fields: readonly Lookup[]): readonly Fields[] {
  return fields.map((field) => LOOKED_UP[field]);
}

const shared = { suite: 'malformed', verb: 'Handles', level: 'must' } as const;

/** Values of another type or length in fields that code looks up or converts. */
const lookups = family(
  { ...shared, requirements: ['delivery-malformed'], mistake: 'text-type-unchecked' },
  {
    'lookup-list': [
      'a list where a type, status, code, currency, chain, id or time is expected',
      inFields(rowsOf(EVERY), handled, ['a list', (value) => [value]]),
    ],
    'lookup-object': [
      'an object where a type, status, code, currency, chain, id or time is expected',
      inFields(rowsOf(EVERY.filter((field) => !SENT_AS_OBJECT.includes(field))), handled, ['an object', () => ({})]),
    ],
    'lookup-number': [
      'a number or a boolean where a type or status is expected',
      inFields(rowsOf(DECISIVE), handled, ['a number', () => 7], ['true', () => true]),
    ],
    'lookup-null': [
      'a type, status, code, currency, chain or id that is null',
      inFields(WITHOUT_CHAIN, anyClearAnswer, ['null', () => null]),
    ],
    'lookup-inherited': [
      'a type or status with the name of an inherited property',
      inFields(
        rowsOf(DECISIVE),
        anyClearAnswer,
        ['constructor', () => 'constructor'],
        ['__proto__', () => '__proto__'],
      ),
      'inherited-name-lookup',
    ],
    'lookup-long': [
      'a code, currency, chain or id of 5,000 characters',
      inFields(rowsOf(STORED), anyClearAnswer, ['5,000 characters', () => 'X'.repeat(5000)]),
      'value-longer-than-column',
    ],
    'lookup-characters': [
      'an id, a code or a reference with characters that a header, a file name or a log line cannot contain',
      inFields(REFERENCES, anyClearAnswer, [
        'letters of other scripts, a line break and a colon',
        (value) => `${value}-\u4e2d\u0416\u{1f600}\r\nX-Test: 1`,
      ]),
      'payload-text-unencoded',
    ],
    'text-list': [
      'a list where an address, an amount, a hash, a memo or another text is expected',
      inFields([...TEXTS, ...MORE_TEXTS], handled, ['a list', (value) => [value]]),
    ],
    'text-null': [
      'an address, an amount, a message or another text that is null',
      inFields(TEXTS, anyClearAnswer, ['null', () => null]),
    ],
    'text-missing': [
      'a notification without an amount, addresses, a message or other texts',
      inFields(TEXTS, anyClearAnswer, ['missing', () => undefined]),
      'missing-field-unchecked',
      { note: 'For an optional text, treat a missing key like null.' },
    ],
    'text-empty': [
      'a type, status, code, id, amount or address that is empty',
      inFields([...WITHOUT_CHAIN, ...TEXTS], anyClearAnswer, ['empty', () => '']),
      'text-form-unchecked',
    ],
    'amount-odd': [
      'an amount that only looks like a number',
      inFields(
        AMOUNTS,
        handled,
        ['a superscript digit', () => '\u00b2'],
        ['an Arabic digit', () => '\u0663'],
        ['5,000 digits', () => '7'.repeat(5000)],
        ['an exponent that no number type can hold', () => '1e999999999'],
        ['NaN', () => 'NaN'],
        ['Infinity', () => 'Infinity'],
        ['only a sign', () => '-'],
        ['a space after it', (value) => `${String(value)} `],
      ),
      'number-conversion-unchecked',
      { note: 'Tests for digits and conversions differ in what they accept as a number.' },
    ],
    'time-odd': [
      'a time of the right form that does not exist',
      inFields(
        [LOOKED_UP.time],
        anyClearAnswer,
        ['a day that February does not have', () => '2026-02-30T10:00:00Z'],
        ['a month that does not exist', () => '2026-13-01T10:00:00Z'],
        ['an hour that does not exist', () => '2026-01-01T25:00:00Z'],
        ['the year 0', () => '0000-01-01T00:00:00Z'],
        ['an offset of 99 hours', () => '2026-01-01T10:00:00+99:00'],
      ),
      'time-conversion-unchecked',
      { note: 'A pattern does not show that a date exists.' },
    ],
    'object-null': [
      'metadata, an asset or the error of a failure that is null',
      inFields(OBJECTS, anyClearAnswer, ['null', () => null]),
      'nested-object-unchecked',
    ],
  },
);

/** Field names in which libraries store the class of an object: Ruby's JSON, Jackson, .NET, jsonpickle, Oj, YAML. */
const CLASS_FIELDS: JsonObject = {
  json_class: 'TestUnknown::Class',
  '@class': 'test.unknown.Class',
  '@type': 'test.unknown.Class',
  $type: 'Test.Unknown.Class, Test',
  __type: 'Class:#Test.Unknown',
  __class__: 'test_unknown.Class',
  'py/object': 'test_unknown.Class',
  '^o': 'TestUnknown::Class',
  '!ruby/object': 'TestUnknown::Class',
  class: 'test.unknown.Class',
};

/** Names of methods that every object has or that libraries look for. None of the values is a function. */
const METHOD_NAMES: JsonObject = {
  ...Object.fromEntries(['hasOwnProperty', 'propertyIsEnumerable', 'isPrototypeOf'].map((name) => [name, 1])),
  ...Object.fromEntries(
    ['toString', 'valueOf', 'toLocaleString', 'toJSON', 'then', 'inspect'].map((name) => [name, 1]),
  ),
  constructor: 1,
  length: 4_294_967_295,
};

/** Sends the unknown fields, first in the envelope and then in nested objects. */
function withUnknown(fields: JsonObject, label: string, further: Composer): Pick<FlowScenario, 'flow'> {
  const inEnvelope: Composer = (kit) => ({ ...kit.notification(), ...fields });
  return {
    flow: () => [
      [{ label: 'in the envelope', change: { compose: inEnvelope }, expect: anyClearAnswer }],
      [{ label, change: { compose: further }, expect: anyClearAnswer }],
    ],
  };
}

/** Unknown fields that deserialisers interpret as instructions, or that have the names of inherited methods. */
const unknownFields = family(
  { ...shared, requirements: ['delivery-malformed', 'envelope-open'] },
  {
    'class-names': [
      'unknown fields that name an unknown class',
      withUnknown(CLASS_FIELDS, 'in data', having(plain, 'data.test', CLASS_FIELDS)),
      'class-from-payload',
    ],
    'method-names': [
      'unknown fields with the names of methods',
      withUnknown(METHOD_NAMES, 'in data and metadata', (kit) =>
        ['data.metadata', 'data'].reduce<JsonValue>(
          (value, path) =>
            withField(value, path, { ...(valueAt(value, path.split('.')) as JsonObject), ...METHOD_NAMES }),
          kit.notification(),
        ),
      ),
      'payload-method-calls',
      { defect: 'Crashes on unknown fields with the names of methods' },
    ],
  },
);

export const malformedLookups: readonly Scenario[] = [...lookups, ...unknownFields];
