import type { JsonObject, JsonValue } from '../../contract/index.ts';
import { type Composer, having, plain, withField } from '../changes/bodies.ts';
import { handled, survived } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { Delivery, Expectation, FlowScenario } from '../scenario.ts';

const failed: Composer = (kit) => order(kit, 'BUY', 'FAILED');
const onChain: Composer = (kit) => deposit(kit);
const returned: Composer = (kit) => refund(kit, 'SUCCESS');
const tracked: Composer = (kit) => tracking(kit, 'BUY', 'COMPLETED');

/**
 * The fields whose values code looks up: in tables of handlers, enums, sets of statuses, configurations of chains.
 * Fields in one row are independent of each other, so they change together.
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
  trackedType: ['the order type of a tracking notice', tracked, 'data.metadata.orderType'],
  refundStatus: ['the status of a refund', returned, 'data.status'],
  refundCurrency: ['the currency of a refund', returned, 'data.metadata.currency'],
  cardStatus: ['the status of a payment method', (kit) => paymentMethod(kit, 'STAGED'), 'data.status'],
  declineCode: ['the code of a decline', (kit) => paymentMethod(kit, 'DECLINED'), 'data.errorCode'],
  operation: ['the operation of a wallet', (kit) => wallet(kit), 'data.operation'],
  walletChain: ['the chain and asset of a wallet', (kit) => wallet(kit), 'data.chain', 'data.assetId'],
  depositType: ['the type of a deposit', onChain, 'data.type'],
  depositStatus: ['the status of a deposit', onChain, 'data.status'],
  depositCurrency: ['the currency of a deposit', onChain, 'data.metadata.asset.currency'],
} as const satisfies Readonly<Record<string, readonly [label: string, base: Composer, ...paths: string[]]>>;

type Lookup = keyof typeof LOOKED_UP;

/** Values of which code chooses what to do next, so that a wrong one hides what it would do with other fields. */
const DECISIVE = [
  'orderType',
  'orderStatus',
  'providerStatus',
  'refundStatus',
  'cardStatus',
  'operation',
  'depositStatus',
] as const satisfies readonly Lookup[];

/** Values that only have to be stored or shown. */
const STORED = [
  'orderChain',
  'errorCode',
  'providerStatus',
  'refundCurrency',
  'declineCode',
  'walletChain',
  'depositCurrency',
] as const satisfies readonly Lookup[];

function inLookups(
  slug: string,
  what: string,
  fields: readonly Lookup[],
  change: (value: JsonValue) => JsonValue,
  text: { readonly why: string; readonly fix: string },
  expect: Expectation,
): FlowScenario {
  return {
    id: `malformed/${slug}`,
    title: `Handles ${what}`,
    level: 'must',
    requirements: ['delivery-malformed'],
    flow: () =>
      fields.map((field): Delivery[] => {
        const [label, base, ...paths] = LOOKED_UP[field];
        const compose: Composer = (kit) =>
          paths.reduce<JsonValue>((value, path) => withField(value, path, change(valueAt(value, path))), base(kit));
        return [{ label, change: { compose }, expect }];
      }),
    ...text,
  };
}

/** Scalar values that are looked up, as values of another type or of another length. */
export const malformedLookups: readonly FlowScenario[] = [
  inLookups(
    'lookup-list',
    'a list where a type, status, code, currency or chain is expected',
    Object.keys(LOOKED_UP) as Lookup[],
    (value) => [value],
    {
      why:
        'As a key, a list throws in Python and PHP, and equals its only entry in JavaScript, past every check of the ' +
        'type.',
      fix: 'Require text before the value is looked up. The report names the field.',
    },
    handled,
  ),
  inLookups(
    'lookup-number',
    'a number where a type or status is expected',
    DECISIVE,
    () => 7,
    {
      why: 'Enums take a number for an index, and functions for text throw on it.',
      fix: 'Require text before the value is looked up. The report names the field.',
    },
    handled,
  ),
  inLookups(
    'lookup-null',
    'a type or status that is null',
    DECISIVE,
    () => null,
    {
      why: 'A switch over null throws in Java, and so does every function for text.',
      fix: 'Test for null before the value is looked up. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'lookup-inherited',
    'a type or status with the name of an inherited property',
    DECISIVE,
    () => 'constructor',
    {
      why: 'A table in a plain object also has the names of Object.prototype, whose values are not handlers.',
      fix: 'Keep tables in a Map, or in an object without a prototype. The report names the field.',
    },
    survived,
  ),
  inLookups(
    'lookup-long',
    'a code, currency or chain of 5,000 characters',
    STORED,
    () => 'X'.repeat(5000),
    {
      why: 'A column of 16 or 255 characters fails on it, after the notification was accepted.',
      fix: 'Limit the length in the validation, and answer 400 above it. The report names the field.',
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
