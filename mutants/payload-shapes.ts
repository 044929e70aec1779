/** Mutants that crash on payloads of an invalid shape, or accept them. */
import {
  all,
  any,
  type Condition,
  crashWhen,
  fieldAt,
  hasContainer,
  hasText,
  isContainer,
  isNotText,
  isNullish,
  isObject,
  isPresent,
  statusOf,
  throwAfter,
  throwBefore,
  where,
} from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';

const isBare: Condition = (value) => isContainer(value) && Object.keys(value).length === 0;

const STATUS = 'data.metadata.orderStatus';
const CURRENCIES = ['data.metadata.blockchainData.currency', 'data.metadata.currency'];

/** Paths of values that code looks up in tables. */
const LOOKED_UP = [
  ...['type', 'data.type', 'data.status', 'data.operation', 'data.chain', 'data.metadata.orderStatus'],
  ...['data.metadata.providerTransactionStatus', 'data.metadata.blockchainData.chain', 'data.metadata.currency'],
];

/** Paths of texts that code converts, each with a field of the same object that must be present. */
const CONVERTED = [
  ['data.errorData.code', 'data.errorData.message'],
  ['data.metadata.providerTransactionStatus', 'data.metadata.trackingStateDescription'],
  ['data.metadata.asset', 'data.metadata.sourceAddress'],
] as const;

/** Fields that code reads without a check, by type. */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ['REFUND', ['data.metadata']],
  ['PAYMENT_METHOD', ['data.status']],
  ['WALLET', ['data.operation', 'data.walletAddress']],
]);

export const payloadShapesFaults = family<StageFault>(
  { area: 'payload', stage: 'validate', mistake: 'text-type-unchecked' },
  {
    'lists-as-keys-answer-500': [
      'Looks up types and statuses before checking that they are strings, and answers 500 to a list',
      throwBefore("unhashable type: 'list'", where(LOOKED_UP, Array.isArray)),
    ],
    'objects-as-names-answer-500': [
      'Calls functions for text on a currency, chain or operation before checking that it is text',
      throwBefore('toUpperCase is not a function', where([...CURRENCIES, 'data.chain', 'data.operation'], isObject)),
    ],
    'numbers-as-status-answer-500': [
      'Answers 500 to a status that is a number or a boolean',
      throwBefore('toUpperCase is not a function', (payload) => /^(?:number|boolean)$/.test(typeof statusOf(payload))),
    ],
    'statuses-in-a-plain-object': [
      'Looks up the status in a plain object, which also has inherited properties',
      throwBefore('Cannot read properties of undefined', (payload) => statusOf(payload) === 'constructor'),
      'inherited-name-lookup',
    ],
    'null-status-answers-500': [
      'Answers 500 to a status that is null',
      throwBefore('NullPointerException', where([STATUS, 'data.status'], null)),
      { note: 'A switch over an enum in Java throws on null.' },
    ],
    'long-names-overflow-columns': [
      'Answers 500 to a currency or chain that is longer than its column',
      throwAfter(
        'value too long',
        where([...CURRENCIES, 'data.assetId'], (value) => String(value ?? '').length > 64),
      ),
      'value-longer-than-column',
    ],
    'converts-texts-unchecked': [
      'Trims messages, descriptions and addresses before checking that they are text',
      throwBefore(
        'trim is not a function',
        any(...CONVERTED.map(([sibling, path]) => all(where(sibling, isPresent), where(path, isNotText)))),
      ),
    ],
    'reads-fields-of-null-objects': [
      'Reads fields of an asset, or of the metadata of a refund or tracking notification, that is null',
      throwBefore(
        'metadata is null',
        all(
          where('data.type', (type) => !['BUY', 'SELL'].includes(String(type))),
          where(['data.metadata', 'data.metadata.asset'], null),
        ),
      ),
      'nested-object-unchecked',
    ],
    'calls-methods-of-payloads': [
      'Calls methods of the payload, such as hasOwnProperty, which a field of the payload can replace',
      throwBefore(
        'hasOwnProperty is not a function',
        hasContainer((container) => Object.hasOwn(container, 'hasOwnProperty')),
      ),
      'payload-method-calls',
    ],
    'creates-named-classes': [
      'Answers 500 to an unknown field that names an unknown class',
      throwBefore(
        "can't get const TestUnknown::Class",
        hasContainer((container) => Object.hasOwn(container, 'json_class')),
      ),
      'class-from-payload',
    ],
    'null-ends-the-process': [
      'Ends the process on the body null, because unguarded code reads a field of it',
      crashWhen((payload) => payload === null),
      'payload-root-unchecked',
    ],
    'null-answers-500': [
      'Answers 500 to the body null, because unguarded code reads a field of it',
      throwBefore("Cannot read properties of null (reading 'id')", (payload) => payload === null),
      'payload-root-unchecked',
    ],
    'scalars-answer-500': [
      'Answers 500 to a body that is a string, number, boolean or null',
      throwBefore('cannot use the in operator on a value that is not an object', (payload) => !isContainer(payload)),
      'payload-root-unchecked',
    ],
    'arrays-answer-500': [
      'Answers 500 to a body that is an array',
      throwBefore("'list' object has no attribute 'get'", Array.isArray),
      'payload-root-unchecked',
    ],
    'batches-end-the-process': [
      'Ends the process on an array of notifications',
      crashWhen((payload) => Array.isArray(payload) && payload.length > 0),
      'payload-root-unchecked',
      { note: 'Such receivers support the batches of another service, in code that never ran with this one.' },
    ],
    'handlers-in-a-plain-object': [
      'Looks up the handler by type in a plain object, which has inherited names',
      throwBefore('handler is not a function', where('type', /^(?:constructor|__proto__)$/)),
      'inherited-name-lookup',
    ],
    'types-in-lower-case': [
      'Converts the type to lower case before checking that it is text',
      throwBefore('toLowerCase is not a function', all(isObject, where('type', isNotText))),
    ],
    'missing-fields-answer-500': [
      'Answers 500 to an envelope that lacks a field',
      throwBefore('KeyError', all(isObject, where(['id', 'type', 'at', 'data'], undefined))),
      'missing-field-unchecked',
      { note: 'A check for null does not help, because null and missing are different.' },
    ],
    'empty-texts-answer-500': [
      'Answers 500 to an empty type or id',
      throwBefore('badly formed hexadecimal UUID string', where(['type', 'id'], '')),
      'text-form-unchecked',
    ],
    'orders-without-kind-answer-500': [
      'Answers 500 to a CAAS notification without data.type',
      throwBefore(
        'unknown kind of order: undefined',
        all(
          where('type', 'CAAS'),
          where('data', (data) => isObject(data) && !isBare(data)),
          where('data.type', undefined),
        ),
      ),
      'missing-field-unchecked',
    ],
    'reads-fields-of-null-data': [
      'Reads data.type without checking data for null',
      throwBefore("Cannot read properties of null (reading 'type')", where('data', null)),
      'nested-object-unchecked',
    ],
    'data-as-text-parsed-again': [
      'Parses data a second time if it is text, without error handling',
      throwBefore(
        'metadata is undefined',
        where('data', (data) => typeof data === 'string' && isNullish(fieldAt(JSON.parse(data), 'metadata'))),
      ),
      'nested-object-unchecked',
      { note: 'The second parser is a second entry point without validation or error handling.' },
    ],
    'data-of-the-wrong-type-answers-500': [
      'Answers 500 if data is an array or has no fields',
      throwBefore('could not resolve subtype: missing type id property', where('data', isBare)),
      'nested-object-unchecked',
    ],
    'contradictions-answer-500': [
      'Answers 500 if data.type does not match its metadata',
      throwBefore('class Order cannot be cast', all(where('data.type', 'ORDER_TRACKING'), where(STATUS, isPresent))),
      'nested-object-unchecked',
    ],
    'lookups-by-unchecked-transaction-id': [
      'Looks up the transaction by an unchecked transactionId and answers 500 to an object',
      throwBefore('cannot use $ operators here', where('data.transactionId', isObject)),
      'query-operators-from-payload',
    ],
    'status-not-checked-for-text': [
      'Answers 500 to a status, operation or code that is not text',
      throwBefore(
        'toUpperCase is not a function',
        where(
          [STATUS, 'data.errorData.code', 'data.errorCode', 'data.type'],
          (value) => !isNullish(value) && isNotText(value),
        ),
      ),
    ],
    'objects-expected-unchecked': [
      'Answers 500 to metadata, blockchainData or errorData that is not an object',
      throwBefore(
        "'str' object has no attribute 'get'",
        where(
          ['data.metadata', 'data.metadata.blockchainData', 'data.errorData'],
          (value) => !isNullish(value) && !isObject(value),
        ),
      ),
      'nested-object-unchecked',
    ],
    'requires-what-is-needed-by-exception': [
      'Answers 500 to a refund, payment method or wallet that lacks required fields',
      throwBefore('must not be null', (payload) =>
        where(NEEDED.get(String(fieldAt(payload, 'type'))) ?? [], undefined)(payload),
      ),
      'missing-field-unchecked',
    ],
    'transactions-without-id-answer-500': [
      'Answers 500 to an order without a transactionId',
      throwBefore(
        'null value violates not-null constraint',
        all(where('type', 'CAAS'), where('data.type', isPresent), where('data.transactionId', undefined)),
      ),
      'missing-field-unchecked',
    ],
    'null-characters-answer-500': [
      'Answers 500 to text with U+0000, because storing it fails',
      throwAfter('unsupported Unicode escape sequence', where('data', hasText(/\0/))),
      'unstorable-characters',
    ],
    'null-characters-in-names-answer-500': [
      'Answers 500 to a field whose name begins with U+0000',
      throwAfter('invalid property name', (payload) =>
        Object.keys(Object(payload)).some((name) => name.startsWith('\0')),
      ),
      'names-from-payload-keys',
    ],
    'four-byte-characters-answer-500': [
      'Answers 500 to a character outside the basic plane, such as an emoji, because storing it fails',
      throwAfter('Incorrect string value', hasText(/[\u{10000}-\u{10ffff}]/u)),
      'unstorable-characters',
    ],
    'lone-surrogates-answer-500': [
      'Answers 500 to an unpaired surrogate, because encoding it as UTF-8 fails',
      throwAfter('surrogates not allowed', hasText(/\p{Cs}/u)),
      'unstorable-characters',
    ],
    'ids-as-format': [
      'Uses the id as the format string of a log line and answers 500 to one with a placeholder',
      throwBefore('not enough arguments for format string', where('id', /%[sn]|\{\{/)),
      'payload-text-unencoded',
    ],
  },
);
