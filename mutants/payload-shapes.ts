/** Mutants that crash on, or accept, payloads of the wrong shape. */
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

/** The values that code looks up in tables. */
const LOOKED_UP = [
  ...['type', 'data.type', 'data.status', 'data.operation', 'data.chain', 'data.metadata.orderStatus'],
  ...['data.metadata.providerTransactionStatus', 'data.metadata.blockchainData.chain', 'data.metadata.currency'],
];

/** Texts that are converted, each after a field that is present in the same object. */
const CONVERTED = [
  ['data.errorData.code', 'data.errorData.message'],
  ['data.metadata.providerTransactionStatus', 'data.metadata.trackingStateDescription'],
  ['data.metadata.asset', 'data.metadata.sourceAddress'],
] as const;

/** The fields that code reads without a check, by type. */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ['REFUND', ['data.metadata']],
  ['PAYMENT_METHOD', ['data.status']],
  ['WALLET', ['data.operation', 'data.walletAddress']],
]);

export const payloadShapesFaults = family<StageFault>({ area: 'payload', stage: 'validate' }, [
  [
    'lists-as-keys-answer-500',
    'Looks up types and statuses before checking that they are strings, and answers 500 to a list',
    'text-type-unchecked',
    throwBefore("unhashable type: 'list'", where(LOOKED_UP, Array.isArray)),
  ],
  [
    'objects-as-names-answer-500',
    'Calls functions for text on a currency, chain or operation before checking that it is text',
    'text-type-unchecked',
    throwBefore('toUpperCase is not a function', where([...CURRENCIES, 'data.chain', 'data.operation'], isObject)),
  ],
  [
    'numbers-as-status-answer-500',
    'Answers 500 to a status that is a number or a boolean',
    'text-type-unchecked',
    throwBefore('toUpperCase is not a function', (payload) => /^(?:number|boolean)$/.test(typeof statusOf(payload))),
  ],
  [
    'statuses-in-a-plain-object',
    'Looks up the status in a plain object, which also has inherited properties',
    'inherited-name-lookup',
    throwBefore('Cannot read properties of undefined', (payload) => statusOf(payload) === 'constructor'),
  ],
  [
    'null-status-answers-500',
    'Answers 500 to a status that is null',
    'text-type-unchecked',
    throwBefore('NullPointerException', where([STATUS, 'data.status'], null)),
    { note: 'A switch over an enum in Java throws on null.' },
  ],
  [
    'long-names-overflow-columns',
    'Answers 500 to a currency or chain that is longer than its column',
    'value-longer-than-column',
    throwAfter(
      'value too long',
      where([...CURRENCIES, 'data.assetId'], (value) => String(value ?? '').length > 64),
    ),
  ],
  [
    'converts-texts-unchecked',
    'Trims messages, descriptions and addresses before checking that they are text',
    'text-type-unchecked',
    throwBefore(
      'trim is not a function',
      any(...CONVERTED.map(([sibling, path]) => all(where(sibling, isPresent), where(path, isNotText)))),
    ),
  ],
  [
    'reads-fields-of-null-objects',
    'Reads fields of an asset, or of the metadata of a refund or tracking notification, that is null',
    'nested-object-unchecked',
    throwBefore(
      'metadata is null',
      all(
        where('data.type', (type) => !['BUY', 'SELL'].includes(String(type))),
        where(['data.metadata', 'data.metadata.asset'], null),
      ),
    ),
  ],
  [
    'calls-methods-of-payloads',
    'Calls methods of the payload, such as hasOwnProperty, which a field of the payload can replace',
    'payload-method-calls',
    throwBefore(
      'hasOwnProperty is not a function',
      hasContainer((container) => Object.hasOwn(container, 'hasOwnProperty')),
    ),
  ],
  [
    'creates-named-classes',
    'Answers 500 to an unknown field that names an unknown class',
    'class-from-payload',
    throwBefore(
      "can't get const TestUnknown::Class",
      hasContainer((container) => Object.hasOwn(container, 'json_class')),
    ),
  ],
  [
    'null-ends-the-process',
    'Ends the process on the body null, because unguarded code reads a field of it',
    'payload-root-unchecked',
    crashWhen((payload) => payload === null),
  ],
  [
    'null-answers-500',
    'Answers 500 to the body null, because unguarded code reads a field of it',
    'payload-root-unchecked',
    throwBefore("Cannot read properties of null (reading 'id')", (payload) => payload === null),
  ],
  [
    'scalars-answer-500',
    'Answers 500 to a body that is a string, number, boolean or null',
    'payload-root-unchecked',
    throwBefore('cannot use the in operator on a value that is not an object', (payload) => !isContainer(payload)),
  ],
  [
    'arrays-answer-500',
    'Answers 500 to a body that is an array',
    'payload-root-unchecked',
    throwBefore("'list' object has no attribute 'get'", Array.isArray),
  ],
  [
    'batches-end-the-process',
    'Ends the process on an array of notifications',
    'payload-root-unchecked',
    crashWhen((payload) => Array.isArray(payload) && payload.length > 0),
    { note: 'Such receivers support the batches of another service, in code that never ran with this one.' },
  ],
  [
    'handlers-in-a-plain-object',
    'Looks up the handler by type in a plain object, which has inherited names',
    'inherited-name-lookup',
    throwBefore('handler is not a function', where('type', /^(?:constructor|__proto__)$/)),
  ],
  [
    'types-in-lower-case',
    'Converts the type to lower case before checking that it is text',
    'text-type-unchecked',
    throwBefore('toLowerCase is not a function', all(isObject, where('type', isNotText))),
  ],
  [
    'missing-fields-answer-500',
    'Answers 500 to an envelope that lacks a field',
    'missing-field-unchecked',
    throwBefore('KeyError', all(isObject, where(['id', 'type', 'at', 'data'], undefined))),
    { note: 'A check for null does not help, because null and missing are different.' },
  ],
  [
    'empty-texts-answer-500',
    'Answers 500 to an empty type or id',
    'text-form-unchecked',
    throwBefore('badly formed hexadecimal UUID string', where(['type', 'id'], '')),
  ],
  [
    'orders-without-kind-answer-500',
    'Answers 500 to a CAAS notification without data.type',
    'missing-field-unchecked',
    throwBefore(
      'unknown kind of order: undefined',
      all(
        where('type', 'CAAS'),
        where('data', (data) => isObject(data) && !isBare(data)),
        where('data.type', undefined),
      ),
    ),
  ],
  [
    'reads-fields-of-null-data',
    'Reads data.type without checking data for null',
    'nested-object-unchecked',
    throwBefore("Cannot read properties of null (reading 'type')", where('data', null)),
  ],
  [
    'data-as-text-parsed-again',
    'Parses data a second time if it is text, without error handling',
    'nested-object-unchecked',
    throwBefore(
      'metadata is undefined',
      where('data', (data) => typeof data === 'string' && isNullish(fieldAt(JSON.parse(data), 'metadata'))),
    ),
    { note: 'The second parser is a second entry point without validation or error handling.' },
  ],
  [
    'data-of-the-wrong-type-answers-500',
    'Answers 500 if data is an array or has no fields',
    'nested-object-unchecked',
    throwBefore('could not resolve subtype: missing type id property', where('data', isBare)),
  ],
  [
    'contradictions-answer-500',
    'Answers 500 if data.type does not match its metadata',
    'nested-object-unchecked',
    throwBefore('class Order cannot be cast', all(where('data.type', 'ORDER_TRACKING'), where(STATUS, isPresent))),
  ],
  [
    'lookups-by-unchecked-transaction-id',
    'Looks up the transaction by an unchecked transactionId and answers 500 to an object',
    'query-operators-from-payload',
    throwBefore('cannot use $ operators here', where('data.transactionId', isObject)),
  ],
  [
    'status-not-checked-for-text',
    'Answers 500 to a status, operation or code that is not text',
    'text-type-unchecked',
    throwBefore(
      'toUpperCase is not a function',
      where(
        [STATUS, 'data.errorData.code', 'data.errorCode', 'data.type'],
        (value) => !isNullish(value) && isNotText(value),
      ),
    ),
  ],
  [
    'objects-expected-unchecked',
    'Answers 500 to metadata, blockchainData or errorData that is not an object',
    'nested-object-unchecked',
    throwBefore(
      "'str' object has no attribute 'get'",
      where(
        ['data.metadata', 'data.metadata.blockchainData', 'data.errorData'],
        (value) => !isNullish(value) && !isObject(value),
      ),
    ),
  ],
  [
    'requires-what-is-needed-by-exception',
    'Answers 500 to a refund, payment method or wallet that lacks required fields',
    'missing-field-unchecked',
    throwBefore('must not be null', (payload) =>
      where(NEEDED.get(String(fieldAt(payload, 'type'))) ?? [], undefined)(payload),
    ),
  ],
  [
    'transactions-without-id-answer-500',
    'Answers 500 to an order without a transactionId',
    'missing-field-unchecked',
    throwBefore(
      'null value violates not-null constraint',
      all(where('type', 'CAAS'), where('data.type', isPresent), where('data.transactionId', undefined)),
    ),
  ],
  [
    'null-characters-answer-500',
    'Answers 500 to text with U+0000, because storing it fails',
    'unstorable-characters',
    throwAfter('unsupported Unicode escape sequence', where('data', hasText(/\0/))),
  ],
  [
    'null-characters-in-names-answer-500',
    'Answers 500 to a field whose name begins with U+0000',
    'names-from-payload-keys',
    throwAfter('invalid property name', (payload) =>
      Object.keys(Object(payload)).some((name) => name.startsWith('\0')),
    ),
  ],
  [
    'four-byte-characters-answer-500',
    'Answers 500 to a character outside the basic plane, such as an emoji, because storing it fails',
    'unstorable-characters',
    throwAfter('Incorrect string value', hasText(/[\u{10000}-\u{10ffff}]/u)),
  ],
  [
    'lone-surrogates-answer-500',
    'Answers 500 to an unpaired surrogate, because encoding it as UTF-8 fails',
    'unstorable-characters',
    throwAfter('surrogates not allowed', hasText(/\p{Cs}/u)),
  ],
  [
    'ids-as-format',
    'Uses the id as the format string of a log line and answers 500 to one with a placeholder',
    'payload-text-unencoded',
    throwBefore('not enough arguments for format string', where('id', /%[sn]|\{\{/)),
  ],
]);
