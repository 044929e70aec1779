/** Mutants that crash on, or accept, payloads of the wrong shape. */
import { required } from '../receiver/stages/stage.ts';
import {
  containersIn,
  crashWhen,
  fieldAt,
  hasText,
  readAfterValidation,
  readBeforeValidation,
  throwTypeError,
} from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const SHAPE = { area: 'payload', stage: 'validate', forbidden: true } as const;

const validateFirst = {
  rule:
    'Validate the payload against a schema, from its root, before any code reads a field; answer 400 if it is ' +
    'invalid.',
  express: 'Run `schema.safeParse(payload)` first, and answer 400 unless it succeeded.',
  spring: 'Bind to a class with validation, and map its exceptions to 400.',
  go: 'Unmarshal into a struct with pointers, and test them for nil.',
};

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

function unguardedType(value: unknown): unknown {
  return (value as Record<string, unknown>).metadata ?? throwTypeError('metadata is undefined');
}

/** The values that code looks up in tables. */
const LOOKED_UP = [
  ...['type', 'data.type', 'data.status', 'data.operation', 'data.chain', 'data.metadata.orderStatus'],
  ...['data.metadata.providerTransactionStatus', 'data.metadata.blockchainData.chain', 'data.metadata.currency'],
];
const lookedUp = (payload: unknown) => LOOKED_UP.map((path) => fieldAt(payload, path));
const statusOf = (payload: unknown) => fieldAt(payload, 'data.metadata.orderStatus') ?? fieldAt(payload, 'data.status');

/** Texts that are converted, each after a field that is present in the same object. */
const CONVERTED = [
  ['data.errorData.code', 'data.errorData.message'],
  ['data.metadata.providerTransactionStatus', 'data.metadata.trackingStateDescription'],
  ['data.metadata.asset', 'data.metadata.sourceAddress'],
] as const;

const RETRIED = 'The sender may mistake a payload that can never be valid for an outage, and retry.';

const textFirst = { ...validateFirst, rule: 'Check that a value is a string before you look it up, or answer 400.' };

export const payloadShapesFaults: readonly StageFault[] = [
  {
    ...SHAPE,
    name: 'lists-as-keys-answer-500',
    title: 'Looks up types and statuses before checking that they are strings, and answers 500 to a list',
    seen: '`TABLES.get(payload["type"])` in Python, where a list cannot be a key. PHP throws as well.',
    why: RETRIED,
    fix: textFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      if (lookedUp(payload).some(Array.isArray)) throwTypeError("unhashable type: 'list'");
    }),
  },
  {
    ...SHAPE,
    name: 'objects-as-names-answer-500',
    title: 'Calls functions for text on a currency, chain or operation before checking that it is text',
    seen: '`currency.toUpperCase()`, `chain.lower()`: an object has no such function.',
    why: RETRIED,
    fix: textFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const paths = ['data.metadata.blockchainData.currency', 'data.metadata.currency', 'data.chain', 'data.operation'];
      if (paths.some((path) => isObject(fieldAt(payload, path)))) throwTypeError('toUpperCase is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'numbers-as-status-answer-500',
    title: 'Answers 500 to a status that is a number or a boolean',
    seen: 'Enums that are converted from a number, and `status.toUpperCase()`.',
    why: RETRIED,
    fix: textFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      if (['number', 'boolean'].includes(typeof statusOf(payload))) throwTypeError('toUpperCase is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'statuses-in-a-plain-object',
    title: 'Looks up the status in a plain object, which also has inherited properties',
    seen: '`transitions[status].from` in JavaScript, which also finds `constructor`.',
    why: 'Unknown statuses are ignored as intended, but one with an inherited name causes a 500.',
    fix: { rule: 'Look up statuses in a map that contains only your own names.', express: 'Use a `Map`.' },
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      if (statusOf(payload) === 'constructor') throwTypeError('Cannot read properties of undefined');
    }),
  },
  {
    ...SHAPE,
    name: 'null-status-answers-500',
    title: 'Answers 500 to a status that is null',
    seen: 'A switch over an enum in Java, and string functions, which throw on null.',
    why: RETRIED,
    fix: textFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const paths = ['data.metadata.orderStatus', 'data.status'];
      if (paths.some((path) => fieldAt(payload, path) === null)) throwTypeError('NullPointerException');
    }),
  },
  {
    ...SHAPE,
    name: 'long-names-overflow-columns',
    title: 'Answers 500 to a currency or chain that is longer than its column',
    seen: 'Columns of 16 or 64 characters without a length check before the insert.',
    why: RETRIED,
    fix: { rule: 'Check lengths in the validation, and answer 400.', express: 'Use `z.string().max(64)`.' },
    severity: 'low',
    replace: readAfterValidation((payload) => {
      const paths = ['data.metadata.blockchainData.currency', 'data.metadata.currency', 'data.assetId'];
      if (paths.some((path) => String(fieldAt(payload, path) ?? '').length > 64)) throwTypeError('value too long');
    }),
  },
  {
    ...SHAPE,
    name: 'converts-texts-unchecked',
    title: 'Trims messages, descriptions and addresses before checking that they are text',
    seen: '`description.trim()` for a column, `address.toLowerCase()` to compare, `errorData["message"]` in Python.',
    why: RETRIED,
    fix: { ...validateFirst, rule: 'Check that a value is text before you convert it, and answer 400 if it is not.' },
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      for (const [sibling, path] of CONVERTED)
        if (fieldAt(payload, sibling) !== undefined && typeof fieldAt(payload, path) !== 'string')
          throwTypeError('trim is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'reads-fields-of-null-objects',
    title: 'Reads fields of an asset, or of the metadata of a refund or tracking notification, that is null',
    seen: '`typeof metadata === "object"`, which is also true for null, and guards in the code for orders only.',
    why: RETRIED,
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const isOrder = ['BUY', 'SELL'].includes(String(fieldAt(payload, 'data.type')));
      const isNull = (path: string) => fieldAt(payload, path) === null;
      if (!isOrder && (isNull('data.metadata') || isNull('data.metadata.asset'))) throwTypeError('metadata is null');
    }),
  },
  {
    ...SHAPE,
    name: 'calls-methods-of-payloads',
    title: 'Calls methods of the payload, such as hasOwnProperty, which a field of the payload can replace',
    seen: '`data.hasOwnProperty("errorData")`, texts such as `"" + data` in a log line, `_.each(data)`.',
    why: 'Anyone who can sign, or a new field with such a name, causes a 500.',
    fix: {
      ...validateFirst,
      rule: 'Use static functions on values from outside: they cannot be replaced by a field.',
      express: 'Use `Object.hasOwn(data, name)` and `Object.keys(data)`, and enable `no-prototype-builtins`.',
    },
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      for (const container of containersIn(payload))
        if (Object.hasOwn(container, 'hasOwnProperty')) throwTypeError('hasOwnProperty is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'creates-named-classes',
    title: 'Answers 500 to an unknown field that names an unknown class',
    seen: '`JSON.parse(text, create_additions: true)` in Ruby, default typing in Jackson, TypeNameHandling in .NET.',
    why: 'The sender of a payload chooses which class is instantiated, and some classes then run code.',
    fix: {
      rule: 'Read JSON as plain values, and never create a class that the payload names.',
      express: 'Do not revive objects based on a field in the payload.',
      spring: 'Do not call `activateDefaultTyping`, and use no `@JsonTypeInfo(use = CLASS)`.',
      ruby: 'Use `JSON.parse(text)`, not `JSON.load`, and no `create_additions`.',
      dotnet: 'Set `TypeNameHandling.None`.',
    },
    severity: 'critical',
    replace: readBeforeValidation((payload) => {
      for (const container of containersIn(payload))
        if (Object.hasOwn(container, 'json_class')) throwTypeError("can't get const TestUnknown::Class");
    }),
  },
  {
    ...SHAPE,
    name: 'null-ends-the-process',
    title: 'Ends the process on the body null, because unguarded code reads a field of it',
    seen: 'Background tasks with the parsed payload, and typeof checks, for which null is an object.',
    why: 'Four characters stop the receiver.',
    fix: validateFirst,
    severity: 'high',
    replace: crashWhen((payload) => payload === null),
  },
  {
    ...SHAPE,
    name: 'null-answers-500',
    title: 'Answers 500 to the body null, because unguarded code reads a field of it',
    seen: 'Handlers in JavaScript that read `req.body.id`: it works for every other JSON value.',
    why: RETRIED,
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      if (payload === null) throwTypeError("Cannot read properties of null (reading 'id')");
    }),
  },
  {
    ...SHAPE,
    name: 'scalars-answer-500',
    title: 'Answers 500 to a body that is a string, number, boolean or null',
    seen: 'Class mappers, which expect an object at the root and throw.',
    why: RETRIED,
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      if (typeof payload !== 'object' || payload === null)
        throwTypeError('cannot use the in operator on a value that is not an object');
    }),
  },
  {
    ...SHAPE,
    name: 'arrays-answer-500',
    title: 'Answers 500 to a body that is an array',
    seen: 'Languages in which a list has no get(), while one parser returns both objects and lists.',
    why: RETRIED,
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      if (Array.isArray(payload)) throwTypeError("'list' object has no attribute 'get'");
    }),
  },
  {
    ...SHAPE,
    name: 'batches-end-the-process',
    title: 'Ends the process on an array of notifications',
    seen: 'Receivers that support the batches of another service, in code that never ran with this one.',
    why: 'One unexpected delivery stops the receiver.',
    fix: { ...validateFirst, rule: 'Accept exactly one envelope per request, and answer 400 to everything else.' },
    severity: 'medium',
    replace: crashWhen((payload) => Array.isArray(payload) && payload.length > 0),
  },
  {
    ...SHAPE,
    name: 'handlers-in-a-plain-object',
    title: 'Looks up the handler by type in a plain object, which has inherited names',
    seen: '`handlers[payload.type]` in JavaScript: it also finds constructor and __proto__, which are not handlers.',
    why: 'Unknown types are ignored as intended, but a type with an inherited name causes a 500.',
    fix: {
      rule: 'Look up handlers in a map that contains only your own names.',
      express: 'Use a `Map`, or test with `Object.hasOwn`.',
    },
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const type = fieldAt(payload, 'type');
      if (type === 'constructor' || type === '__proto__') throwTypeError('handler is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'types-in-lower-case',
    title: 'Converts the type to lower case before checking that it is text',
    seen: 'Routers that compare types without regard to case.',
    why: 'A type that is missing or not text causes a TypeError and a 500.',
    fix: validateFirst,
    severity: 'medium',
    replace: readBeforeValidation((payload) => {
      if (isObject(payload) && typeof fieldAt(payload, 'type') !== 'string')
        throwTypeError('toLowerCase is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'missing-fields-answer-500',
    title: 'Answers 500 to an envelope that lacks a field',
    seen: 'Access by key in Python and Ruby (payload["at"], fetch), which throws if the key is missing.',
    why: 'A check for null does not help, because null and missing are different.',
    fix: { ...validateFirst, django: 'Use `payload.get("at")`, and answer 400 if a field is None.' },
    severity: 'medium',
    replace: readBeforeValidation((payload) => {
      if (!isObject(payload)) return;
      for (const name of ['id', 'type', 'at', 'data']) {
        if (!Object.hasOwn(payload as object, name)) throwTypeError(`KeyError: '${name}'`);
      }
    }),
  },
  {
    ...SHAPE,
    name: 'empty-texts-answer-500',
    title: 'Answers 500 to an empty type or id',
    seen: 'Conversions of text to an enum or a UUID (valueOf(""), uuid.UUID("")), which throw.',
    why: 'A check for null passes empty text, and the conversion after it is unguarded.',
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      if (fieldAt(payload, 'type') === '' || fieldAt(payload, 'id') === '')
        throwTypeError('badly formed hexadecimal UUID string');
    }),
  },
  {
    ...SHAPE,
    name: 'orders-without-kind-answer-500',
    title: 'Answers 500 to a CAAS notification without data.type',
    seen: 'Switches over data.type whose default throws.',
    why: RETRIED,
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const data = fieldAt(payload, 'data');
      const isCaas = fieldAt(payload, 'type') === 'CAAS' && isObject(data) && Object.keys(data as object).length > 0;
      if (isCaas && fieldAt(data, 'type') === undefined) throwTypeError('unknown kind of order: undefined');
    }),
  },
  {
    ...SHAPE,
    name: 'reads-fields-of-null-data',
    title: 'Reads data.type without checking data for null',
    seen: '`typeof data === "object"`, which is true for null.',
    why: 'A delivery without content causes a 500.',
    fix: validateFirst,
    severity: 'medium',
    replace: readBeforeValidation((payload) => {
      if (isObject(payload) && fieldAt(payload, 'data') === null)
        throwTypeError("Cannot read properties of null (reading 'type')");
    }),
  },
  {
    ...SHAPE,
    name: 'data-as-text-parsed-again',
    title: 'Parses data a second time if it is text, without error handling',
    seen: 'Receivers that also serve senders with JSON inside JSON.',
    why: 'A second parser is a second entry point without validation or error handling.',
    fix: { ...validateFirst, rule: 'Require data to be an object, and parse nothing twice.' },
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const data = fieldAt(payload, 'data');
      if (typeof data === 'string') unguardedType(JSON.parse(data));
    }),
  },
  {
    ...SHAPE,
    name: 'data-of-the-wrong-type-answers-500',
    title: 'Answers 500 if data is an array or has no fields',
    seen: 'Mappers that select a class by data.type and throw if there is none.',
    why: 'The envelope is valid, so the error occurs deep in the handler, where it is not expected.',
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const data = fieldAt(payload, 'data');
      const isBare = typeof data === 'object' && data !== null && Object.keys(data).length === 0;
      if (isBare) throwTypeError('could not resolve subtype: missing type id property');
    }),
  },
  {
    ...SHAPE,
    name: 'contradictions-answer-500',
    title: 'Answers 500 if data.type does not match its metadata',
    seen: 'Casts by data.type, such as `(Order) metadata`.',
    why: 'A mistake of the sender looks like an outage of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const isTracking = fieldAt(payload, 'data.type') === 'ORDER_TRACKING';
      if (isTracking && fieldAt(payload, 'data.metadata.orderStatus') !== undefined)
        throwTypeError('class Order cannot be cast');
    }),
  },
  {
    ...SHAPE,
    name: 'lookups-by-unchecked-transaction-id',
    title: 'Looks up the transaction by an unchecked transactionId and answers 500 to an object',
    seen: 'Document databases, where an object is a query and not a value.',
    why: 'The 500 shows an injection: { "$gt": "" } finds the first transaction.',
    fix: { ...validateFirst, rule: 'Check that the value for a lookup is text.' },
    severity: 'high',
    replace: readBeforeValidation((payload) => {
      const id = fieldAt(payload, 'data.transactionId');
      if (isObject(id)) throwTypeError('cannot use $ operators here');
    }),
  },
  {
    ...SHAPE,
    name: 'status-not-checked-for-text',
    title: 'Answers 500 to a status, operation or code that is not text',
    seen: 'Case-insensitive comparisons and translation tables that any value reaches.',
    why: 'A mistake of the sender looks like an outage of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      for (const path of ['data.metadata.orderStatus', 'data.errorData.code', 'data.errorCode', 'data.type']) {
        const value = fieldAt(payload, path);
        if (value !== undefined && value !== null && typeof value !== 'string')
          throwTypeError('toUpperCase is not a function');
      }
    }),
  },
  {
    ...SHAPE,
    name: 'objects-expected-unchecked',
    title: 'Answers 500 to metadata, blockchainData or errorData that is not an object',
    seen: 'Class mappers without an exception handler, and `in` on a string in JavaScript.',
    why: 'A mistake of the sender looks like an outage of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      for (const path of ['data.metadata', 'data.metadata.blockchainData', 'data.errorData']) {
        const value = fieldAt(payload, path);
        if (value !== undefined && value !== null && !isObject(value))
          throwTypeError("'str' object has no attribute 'get'");
      }
    }),
  },
  {
    ...SHAPE,
    name: 'requires-what-is-needed-by-exception',
    title: 'Answers 500 to a refund, payment method or wallet that lacks required fields',
    seen: 'Constructors that throw on null, before any validation.',
    why: 'A mistake of the sender looks like an outage of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const needed = new Map([
        ['REFUND', ['data.metadata']],
        ['PAYMENT_METHOD', ['data.status']],
        ['WALLET', ['data.operation', 'data.walletAddress']],
      ]);
      for (const path of needed.get(String(fieldAt(payload, 'type'))) ?? []) {
        if (fieldAt(payload, path) === undefined) throwTypeError(`${path} must not be null`);
      }
    }),
  },
  {
    ...SHAPE,
    name: 'transactions-without-id-answer-500',
    title: 'Answers 500 to an order without a transactionId',
    seen: 'NOT NULL columns as the only validation.',
    why: 'The database error becomes a 500, and the sender retries.',
    fix: validateFirst,
    severity: 'low',
    replace: readBeforeValidation((payload) => {
      const isCaas =
        isObject(payload) && fieldAt(payload, 'type') === 'CAAS' && fieldAt(payload, 'data.type') !== undefined;
      if (isCaas && fieldAt(payload, 'data.transactionId') === undefined)
        throwTypeError('null value violates not-null constraint');
    }),
  },
  {
    ...SHAPE,
    name: 'null-characters-answer-500',
    title: 'Answers 500 to text with U+0000, because storing it fails',
    seen: 'PostgreSQL, which does not accept the character in text or JSON columns.',
    why: 'One invisible character makes the delivery fail permanently.',
    fix: {
      rule: 'Remove U+0000 from text before you store it, or answer 400.',
      express: "Write `text.replaceAll('\\u0000', '')`.",
    },
    severity: 'low',
    replace: readAfterValidation((payload) => {
      if (hasText(fieldAt(payload, 'data'), (text) => text.includes('\0')))
        throwTypeError('unsupported Unicode escape sequence');
    }),
  },
  {
    ...SHAPE,
    name: 'null-characters-in-names-answer-500',
    title: 'Answers 500 to a field whose name begins with U+0000',
    seen: 'PHP that turns the payload into an object: json_decode without arrays, or a cast.',
    why: 'Anyone with a valid signature, or the sender by a new field, can cause an internal error.',
    fix: {
      rule: 'Copy the fields that you know, and never turn all names of a payload into properties.',
      express: 'Read `payload.data` and the other fields by name.',
      php: 'Use json_decode($body, true), and read the array.',
    },
    severity: 'medium',
    replace: readAfterValidation((payload) => {
      if (Object.keys(Object(payload)).some((name) => name.startsWith('\0'))) throwTypeError('invalid property name');
    }),
  },
  {
    ...SHAPE,
    name: 'four-byte-characters-answer-500',
    title: 'Answers 500 to a character outside the basic plane, such as an emoji, because storing it fails',
    seen: 'MySQL with the character set utf8, which stores at most three bytes per character.',
    why: 'Texts of providers and customers contain emoji, and each of these deliveries fails permanently.',
    fix: {
      rule: 'Use a character set for all of Unicode: utf8mb4 in MySQL.',
      express: 'Set `charset: "utf8mb4"` for the connection, and convert the tables.',
      laravel: 'Set `charset` and `collation` to utf8mb4 in config/database.php, and convert the tables.',
    },
    severity: 'high',
    replace: readAfterValidation((payload) => {
      if (hasText(payload, (text) => /[\u{10000}-\u{10ffff}]/u.test(text))) throwTypeError('Incorrect string value');
    }),
  },
  {
    ...SHAPE,
    name: 'lone-surrogates-answer-500',
    title: 'Answers 500 to an unpaired surrogate, because encoding it as UTF-8 fails',
    seen: 'Python, whose str can hold what its UTF-8 encoder rejects, and databases that validate JSON.',
    why: 'A sender that truncates text in the middle of an emoji makes the delivery fail permanently.',
    fix: {
      rule: 'Replace unpaired surrogates before you write text.',
      express: 'Call `text.toWellFormed()`.',
      python: 'Encode with `errors="replace"`.',
    },
    severity: 'low',
    replace: readAfterValidation((payload) => {
      if (hasText(payload, (text) => /\p{Cs}/u.test(text))) throwTypeError('surrogates not allowed');
    }),
  },
  {
    ...SHAPE,
    name: 'ids-as-format',
    title: 'Uses the id as the format string of a log line and answers 500 to one with a placeholder',
    seen: 'printf-like functions and templates that get external text as their first argument.',
    why: 'In C it reads memory, in a template engine it runs code; an exception is the harmless outcome.',
    fix: {
      rule: 'Pass ids as arguments of a format, never as the format itself.',
      express: 'Write `logger.info({ id }, "accepted")`.',
    },
    severity: 'medium',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const id = fieldAt(required(res, 'payload'), 'id');
        if (typeof id === 'string' && /%[sn]|\{\{/.test(id)) throwTypeError('not enough arguments for format string');
        return correct.validate(req, res, next);
      },
  },
];
