/** Mutants that crash on, or accept, payloads of the wrong shape. */
import { required } from '../stages/stage.ts';
import { dyingOf, fault, fieldAt, readingAfter, readingBefore, someText } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const SHAPE = { area: 'payload', stage: 'validate', forbidden: true } as const;

const validateFirst = {
  rule: 'Check the payload against a schema, from its root down, before any code reads a field; answer 400 when it does not fit.',
  express: 'Run `schema.safeParse(payload)` first, and answer 400 unless it succeeded.',
  spring: 'Bind to a class with validation, and map its exceptions to 400.',
  go: 'Unmarshal into a struct with pointers, and test them for nil.',
};

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

function unguardedType(value: unknown): unknown {
  return (value as Record<string, unknown>).metadata ?? fault('metadata is undefined');
}

export const payloadShapesFaults: readonly StageFault[] = [
  {
    ...SHAPE,
    name: 'null-ends-the-process',
    title: 'The body null ends the process, because a field of it is read in code that nobody guards.',
    seen: 'Background tasks that get the parsed payload, and checks by typeof, for which null is an object.',
    why: 'Four characters switch the receiver off.',
    fix: validateFirst,
    severity: 'high',
    replace: dyingOf((payload) => payload === null),
  },
  {
    ...SHAPE,
    name: 'scalars-answer-500',
    title: 'A body that is text, a number, a boolean or null is answered 500.',
    seen: 'Mappers to classes, which expect an object at the root and throw.',
    why: 'The sender takes a payload that can never be right for a breakdown, and repeats it.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      if (typeof payload !== 'object' || payload === null)
        fault('cannot use the in operator on a value that is no object');
    }),
  },
  {
    ...SHAPE,
    name: 'arrays-answer-500',
    title: 'A body that is an array is answered 500.',
    seen: 'Languages in which a list has no get(), where objects and lists come out of the same parser.',
    why: 'The sender takes a payload that can never be right for a breakdown, and repeats it.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      if (Array.isArray(payload)) fault("'list' object has no attribute 'get'");
    }),
  },
  {
    ...SHAPE,
    name: 'batches-end-the-process',
    title: 'An array of notifications ends the process.',
    seen: 'Receivers that support batches of another service, in code that was never run with this one.',
    why: 'One odd delivery takes the receiver down.',
    fix: { ...validateFirst, rule: 'Take exactly one envelope for each request, and refuse everything else with 400.' },
    severity: 'medium',
    replace: dyingOf((payload) => Array.isArray(payload) && payload.length > 0),
  },
  {
    ...SHAPE,
    name: 'handlers-in-a-plain-object',
    title: 'The handler is looked up by type in a plain object, which has more names than were put into it.',
    seen: '`handlers[payload.type]` in JavaScript: constructor and __proto__ are found there too, and are no handlers.',
    why: 'An unknown type is ignored rightly, and one with an inherited name is a 500.',
    fix: {
      rule: 'Look handlers up in a map that has only the names that you put there.',
      express: 'Use a `Map`, or test with `Object.hasOwn`.',
    },
    severity: 'low',
    replace: readingBefore((payload) => {
      const type = fieldAt(payload, 'type');
      if (type === 'constructor' || type === '__proto__') fault('handler is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'types-in-lower-case',
    title: 'The type is converted to lower case before anything has made sure that it is text.',
    seen: 'Routers that compare types without regard to case.',
    why: 'A type that is missing or no text ends in a TypeError and a 500.',
    fix: validateFirst,
    severity: 'medium',
    replace: readingBefore((payload) => {
      if (isObject(payload) && typeof fieldAt(payload, 'type') !== 'string') fault('toLowerCase is not a function');
    }),
  },
  {
    ...SHAPE,
    name: 'missing-fields-answer-500',
    title: 'An envelope that lacks a field is answered 500.',
    seen: 'Access by key in Python and Ruby (payload["at"], fetch), which throws when the key is missing.',
    why: 'The check for null is there and does not help, since null and missing are two things.',
    fix: { ...validateFirst, django: 'Use `payload.get("at")`, and answer 400 when a field is None.' },
    severity: 'medium',
    replace: readingBefore((payload) => {
      if (!isObject(payload)) return;
      for (const name of ['id', 'type', 'at', 'data']) {
        if (!Object.hasOwn(payload as object, name)) fault(`KeyError: '${name}'`);
      }
    }),
  },
  {
    ...SHAPE,
    name: 'empty-texts-answer-500',
    title: 'An empty type or id is answered 500.',
    seen: 'Conversions of text to an enum or a UUID (valueOf(""), uuid.UUID("")), which throw.',
    why: 'A check for null lets empty text through, and the conversion behind it has no guard.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      if (fieldAt(payload, 'type') === '' || fieldAt(payload, 'id') === '')
        fault('badly formed hexadecimal UUID string');
    }),
  },
  {
    ...SHAPE,
    name: 'orders-without-kind-answer-500',
    title: 'A CAAS notification without data.type is answered 500.',
    seen: 'Switches over data.type whose default throws.',
    why: 'The sender takes a payload that can never be right for a breakdown, and repeats it.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      const data = fieldAt(payload, 'data');
      const isCaas = fieldAt(payload, 'type') === 'CAAS' && isObject(data) && Object.keys(data as object).length > 0;
      if (isCaas && fieldAt(data, 'type') === undefined) fault('unknown kind of order: undefined');
    }),
  },
  {
    ...SHAPE,
    name: 'reads-fields-of-null-data',
    title: 'data.type is read without a look whether data is null.',
    seen: 'Checks by `typeof data === "object"`, which null passes.',
    why: 'A delivery without content ends in a 500.',
    fix: validateFirst,
    severity: 'medium',
    replace: readingBefore((payload) => {
      if (isObject(payload) && fieldAt(payload, 'data') === null)
        fault("Cannot read properties of null (reading 'type')");
    }),
  },
  {
    ...SHAPE,
    name: 'data-as-text-parsed-again',
    title: 'data that is text is parsed a second time, without a guard.',
    seen: 'Receivers that also serve senders who write JSON into JSON.',
    why: 'A second parser is a second way in that nobody validates or guards.',
    fix: { ...validateFirst, rule: 'Require an object for data, and parse nothing twice.' },
    severity: 'low',
    replace: readingBefore((payload) => {
      const data = fieldAt(payload, 'data');
      if (typeof data === 'string') unguardedType(JSON.parse(data));
    }),
  },
  {
    ...SHAPE,
    name: 'data-of-the-wrong-type-answers-500',
    title: 'data that is an array or has no fields is answered 500.',
    seen: 'Mappers that choose a class by data.type and throw when there is none.',
    why: 'The envelope is right, so the error happens deep in the handler, where nobody expects it.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      const data = fieldAt(payload, 'data');
      const isBare = typeof data === 'object' && data !== null && Object.keys(data).length === 0;
      if (isBare) fault('could not resolve subtype: missing type id property');
    }),
  },
  {
    ...SHAPE,
    name: 'contradictions-answer-500',
    title: 'A notification whose data.type does not go with its metadata is answered 500.',
    seen: 'Casts by data.type, as in `(Order) metadata`.',
    why: 'A mistake of the sender is a breakdown of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      const isTracking = fieldAt(payload, 'data.type') === 'ORDER_TRACKING';
      if (isTracking && fieldAt(payload, 'data.metadata.orderStatus') !== undefined)
        fault('class Order cannot be cast');
    }),
  },
  {
    ...SHAPE,
    name: 'lookups-by-unchecked-transaction-id',
    title: 'The transaction is looked up by whatever stands in transactionId, and an object there is answered 500.',
    seen: 'Document databases, where an object is a query and not a value.',
    why: 'What shows as a 500 is an injection: { "$gt": "" } finds the first transaction there is.',
    fix: { ...validateFirst, rule: 'Make sure that what you look up is text.' },
    severity: 'high',
    replace: readingBefore((payload) => {
      const id = fieldAt(payload, 'data.transactionId');
      if (isObject(id)) fault('cannot use $ operators here');
    }),
  },
  {
    ...SHAPE,
    name: 'status-not-checked-for-text',
    title: 'A status, operation or code that is no text is answered 500.',
    seen: 'Comparisons without regard to case, and translation tables, that are reached by any value.',
    why: 'A mistake of the sender is a breakdown of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      for (const path of ['data.metadata.orderStatus', 'data.errorData.code', 'data.errorCode', 'data.type']) {
        const value = fieldAt(payload, path);
        if (value !== undefined && value !== null && typeof value !== 'string') fault('toUpperCase is not a function');
      }
    }),
  },
  {
    ...SHAPE,
    name: 'objects-expected-unchecked',
    title: 'metadata, blockchainData or errorData that is no object is answered 500.',
    seen: 'Mappers to classes without a handler for their exceptions, and `in` on text in JavaScript.',
    why: 'A mistake of the sender is a breakdown of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      for (const path of ['data.metadata', 'data.metadata.blockchainData', 'data.errorData']) {
        const value = fieldAt(payload, path);
        if (value !== undefined && value !== null && !isObject(value)) fault("'str' object has no attribute 'get'");
      }
    }),
  },
  {
    ...SHAPE,
    name: 'requires-what-is-needed-by-exception',
    title: 'A refund, a payment method or a wallet without the fields that are needed is answered 500.',
    seen: 'Constructors that throw on null, reached before any validation.',
    why: 'A mistake of the sender is a breakdown of the receiver.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      const needed = new Map([
        ['REFUND', ['data.metadata']],
        ['PAYMENT_METHOD', ['data.status']],
        ['WALLET', ['data.operation', 'data.walletAddress']],
      ]);
      for (const path of needed.get(String(fieldAt(payload, 'type'))) ?? []) {
        if (fieldAt(payload, path) === undefined) fault(`${path} must not be null`);
      }
    }),
  },
  {
    ...SHAPE,
    name: 'transactions-without-id-answer-500',
    title: 'An order without a transactionId is answered 500.',
    seen: 'NOT NULL columns as the only validation there is.',
    why: 'The database error becomes a 500 that the sender repeats.',
    fix: validateFirst,
    severity: 'low',
    replace: readingBefore((payload) => {
      const isCaas =
        isObject(payload) && fieldAt(payload, 'type') === 'CAAS' && fieldAt(payload, 'data.type') !== undefined;
      if (isCaas && fieldAt(payload, 'data.transactionId') === undefined)
        fault('null value violates not-null constraint');
    }),
  },
  {
    ...SHAPE,
    name: 'null-characters-answer-500',
    title: 'Text with U+0000 in it is answered 500 when it is stored.',
    seen: 'PostgreSQL, which does not take the character in text or JSON columns.',
    why: 'One character that nobody can see makes the delivery fail for good.',
    fix: {
      rule: 'Remove U+0000 from text, or refuse it with 400, before you store.',
      express: "Write `text.replaceAll('\\u0000', '')`.",
    },
    severity: 'low',
    replace: readingAfter((payload) => {
      if (someText(fieldAt(payload, 'data'), (text) => text.includes('\0')))
        fault('unsupported Unicode escape sequence');
    }),
  },
  {
    ...SHAPE,
    name: 'four-byte-characters-answer-500',
    title: 'Text with a character outside of the basic plane, such as an emoji, is answered 500 when it is stored.',
    seen: 'MySQL with the character set utf8, which holds three bytes for each character.',
    why: 'Free text of providers and customers has emoji, and each of these deliveries fails for good.',
    fix: {
      rule: 'Use a character set that holds all of Unicode: utf8mb4 in MySQL.',
      express: 'Set `charset: "utf8mb4"` for the connection, and convert the tables.',
      laravel: 'Set `charset` and `collation` to utf8mb4 in config/database.php, and convert the tables.',
    },
    severity: 'high',
    replace: readingAfter((payload) => {
      if (someText(payload, (text) => /[\u{10000}-\u{10ffff}]/u.test(text))) fault('Incorrect string value');
    }),
  },
  {
    ...SHAPE,
    name: 'lone-surrogates-answer-500',
    title: 'Text with half of a surrogate pair is answered 500 when it is written as UTF-8.',
    seen: 'Python, whose str holds what its UTF-8 encoder refuses, and databases that check their JSON.',
    why: 'A sender that cuts a text in the middle of an emoji makes the delivery fail for good.',
    fix: {
      rule: 'Replace lone surrogates before you write text.',
      express: 'Call `text.toWellFormed()`.',
      django: 'Encode with `errors="replace"`.',
      flask: 'Encode with `errors="replace"`.',
    },
    severity: 'low',
    replace: readingAfter((payload) => {
      if (someText(payload, (text) => /\p{Cs}/u.test(text))) fault('surrogates not allowed');
    }),
  },
  {
    ...SHAPE,
    name: 'ids-as-format',
    title: 'The id is used as the format of a log line, and one with a placeholder is answered 500.',
    seen: 'printf-like functions and templates that get outside text as their first argument.',
    why: 'In C it reads memory, in a template engine it runs code; an exception is the harmless outcome.',
    fix: {
      rule: 'Pass ids as arguments of a format, never as the format itself.',
      express: 'Write `logger.info({ id }, "accepted")`.',
    },
    severity: 'medium',
    replace:
      ({ right }) =>
      (req, res, next) => {
        const id = fieldAt(required(res, 'payload'), 'id');
        if (typeof id === 'string' && /%[sn]|\{\{/.test(id)) fault('not enough arguments for format string');
        return right.validate(req, res, next);
      },
  },
];
