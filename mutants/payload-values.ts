/** Mutants that are too strict about ids, amounts and times. */

import { refuse, required } from '../receiver/stages/stage.ts';
import {
  fieldAt,
  hasText,
  readAfterValidation,
  readBeforeValidation,
  refusing,
  throwTypeError,
} from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const VALIDATION = { area: 'payload', stage: 'validate' } as const;

const id = (payload: unknown) => fieldAt(payload, 'id');

const textId = (payload: unknown) => {
  const value = id(payload);
  return typeof value === 'string' ? value : '';
};

/** The amount of a deposit or a refund, if it is text. */
function amountOf(payload: unknown): string | null {
  const deposited = fieldAt(payload, 'data.metadata.asset.amount');
  const refunded = fieldAt(payload, 'data.metadata.amount');
  const amount = deposited ?? refunded;
  return typeof amount === 'string' ? amount : null;
}

const depositOf = (payload: unknown) => (fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' ? amountOf(payload) : null);

const refundOf = (payload: unknown) => (fieldAt(payload, 'type') === 'REFUND' ? amountOf(payload) : null);

const IS_DECIMAL = /^\d+(?:\.\d+)?$/;

const asText = {
  rule:
    'Keep amounts as text, or as a decimal or big integer of any size, and check that they are decimal digits ' +
    'before the conversion.',
  express: 'Use `z.string().regex(/^\\d+(\\.\\d+)?$/)` and BigInt or a decimal library, never `Number`.',
  python: 'Use `Decimal(amount)` with error handling, and a NUMERIC column without a limit on digits.',
  java: 'Use BigInteger or BigDecimal, and at least NUMERIC(78, 0).',
  go: 'Use math/big.',
  dotnet: 'Use BigInteger: decimal is limited to 28 digits.',
};

const at = (payload: unknown) => fieldAt(payload, 'at');

/** `at` in epoch seconds, in either form; NaN if it is not a time. */
function secondsOf(payload: unknown): number {
  const time = at(payload);
  return typeof time === 'number' ? time : Date.parse(String(time)) / 1000;
}

const now = () => Date.now() / 1000;

const readBoth = {
  rule:
    'Read a number as epoch seconds and text as ISO 8601, with any number of fractional digits and with Z or an ' +
    'offset.',
  express:
    "`const time = new Date(typeof at === 'number' ? at * 1000 : at)`, and answer 400 when " +
    '`Number.isNaN(time.getTime())`.',
  python: 'Use `datetime.fromisoformat` (3.11 or later) for text and `fromtimestamp(at, tz=UTC)` for numbers.',
  spring: 'Map `at` to JsonNode, and use `Instant.ofEpochSecond` or `OffsetDateTime.parse` depending on its type.',
  go: 'Unmarshal `at` into json.RawMessage, and try an int64 before `time.RFC3339Nano`.',
  dotnet: 'Write a JsonConverter that accepts a number as well as text (`DateTimeOffset.Parse`).',
};

const noClock = {
  rule: 'Record `at`, but do not accept or reject by it: recognise repeated notifications by their id.',
  express: 'Remove the comparison of `at` with `Date.now()`.',
};

/** The ids of a payload other than its own. */
const otherIds = (payload: unknown) =>
  ['transactionId', 'customerId', 'accountId', 'paymentMethodId'].flatMap((name) => {
    const value = fieldAt(payload, `data.${name}`);
    return typeof value === 'string' ? [value] : [];
  });

const anyId: StageFault['fix'] = {
  rule: 'Read ids as text of any form, and use them as keys of maps only.',
  express: 'Use `new Map()` instead of an object, and `z.string().max(255)` without a pattern.',
};

export const payloadValuesFaults: readonly StageFault[] = [
  {
    ...VALIDATION,
    name: 'finds-the-type-by-a-pattern',
    title: 'Finds the type by a pattern in the raw body, and rejects a body in which its name is escaped',
    seen: 'Scripts in gateways and log pipelines that read one field without parsing JSON.',
    why: 'Every spelling that JSON allows but the pattern does not know is rejected.',
    fix: {
      rule: 'Parse the body, and read the type from the result.',
      express: 'Use `JSON.parse(req.body)`, after the verification.',
    },
    severity: 'medium',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const escaped = required(res, 'rawBody').includes('"t\\u0079pe"');
        return escaped ? refuse(res, 400, 'not-accepted') : correct.validate(req, res, next);
      },
  },
  {
    ...VALIDATION,
    name: 'ids-as-keys-of-objects',
    title: 'Answers 500 to an id with the name of an inherited property, because an object is its cache',
    seen: '`const seen = {}` and `seen[id].push(...)` in JavaScript.',
    why: 'The ids of customers and transactions come from other systems, which may use any text.',
    fix: anyId,
    severity: 'low',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      if (otherIds(payload).some((value) => value in {})) throwTypeError('seen[id].push is not a function');
    }),
  },
  {
    ...VALIDATION,
    name: 'requires-ids-of-words',
    title: 'Rejects the id of a transaction, customer or payment method with other characters than letters and hyphens',
    seen: 'Patterns such as /^[\\w-]{1,40}$/ for ids, written with UUIDs in mind.',
    why: 'The operator does not say which form its ids have, and a new form is rejected.',
    fix: anyId,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => otherIds(payload).some((value) => !/^[\w-]{1,40}$/.test(value))),
  },
  {
    ...VALIDATION,
    name: 'control-characters-answer-500',
    title: 'Answers 500 to text with a control character other than a line break or tab',
    seen: 'Messages that are passed on as XML, which cannot represent U+0001 or U+000B, and terminals that log them.',
    why: 'A provider copies the text of a terminal, and the notification is lost.',
    fix: {
      rule: 'Replace control characters where you pass the text on.',
      express: "Write `text.replace(/[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f]/g, '')` before you build XML.",
    },
    severity: 'low',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      if (hasText(payload, (text) => /[\u0001-\u0008\u000b\u000c\u000e-\u001f]/.test(text)))
        throwTypeError('An invalid XML character was found');
    }),
  },
  // Faults with ids.
  {
    ...VALIDATION,
    name: 'requires-uuid-version-4',
    title: 'Rejects an id that is a UUID of another version than 4',
    seen: 'isUUID(id, 4), and patterns with a 4 at the place of the version.',
    why: 'When the sender moves to version 7, which suits databases better, every notification is rejected.',
    fix: {
      rule: 'Accept any text as an id.',
      express: 'Use `z.string()`, or `z.guid()` instead of `z.uuidv4()`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => /^.{8}-.{4}-[0-35-9a-f]/i.test(textId(payload))),
  },
  {
    ...VALIDATION,
    name: 'requires-ids-in-small-letters',
    title: 'Rejects an id with capital letters',
    seen: 'Patterns for UUIDs that allow only a-f.',
    why: 'The letter case of a UUID depends on the runtime that writes it.',
    fix: {
      rule: 'Accept any text as an id, or make the pattern ignore letter case.',
      express: 'Add the flag `i` to the pattern.',
    },
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => /^[0-9A-F]{8}-.*[A-F]/.test(textId(payload))),
  },
  {
    ...VALIDATION,
    name: 'stores-ids-in-36-characters',
    title: 'Answers 500 to an id that is longer than a UUID, because storing it fails',
    seen: 'A column of CHAR(36) without a check of the length before it.',
    why: 'A long id causes a database error and a 500 instead of a rejection.',
    fix: {
      rule: 'Check the length of the id before the database does.',
      express: 'Use `z.string().max(100)`, and answer 400 to longer ids.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      if (textId(payload).length > 36) throwTypeError('value too long for type character(36)');
    }),
  },
  {
    ...VALIDATION,
    name: 'uses-ids-as-file-names',
    title: 'Uses the id as a file name, which fails for ids that contain a path',
    seen: 'Small receivers that store deliveries as files.',
    why:
      'An external id decides where the file is written; an error about a missing directory is the harmless ' +
      'outcome.',
    fix: {
      rule: 'Never build a path from an id; use its hash or a generated name.',
      express: "Name files by `createHash('sha256').update(id).digest('hex')`.",
    },
    severity: 'medium',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      if (/[/\0]/.test(textId(payload)) || textId(payload).length > 255) throwTypeError('no such file or directory');
    }),
  },
  {
    ...VALIDATION,
    name: 'pastes-ids-into-queries',
    title: 'Inserts the id into the text of a query, so a quote breaks the query',
    seen: 'Hand-written SQL with template strings.',
    why: 'The 500 shows an SQL injection, open to anyone who has the secret or bypasses the verification.',
    fix: {
      rule: 'Use bound parameters for all values.',
      express: "Write `db.query('... WHERE id = $1', [id])`.",
    },
    severity: 'high',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      if (textId(payload).includes("'")) throwTypeError('syntax error at or near');
    }),
  },
  {
    ...VALIDATION,
    name: 'echoes-ids-in-headers',
    title: 'Writes the id into a response header before validation, which fails for line breaks',
    seen: 'Middleware that sets X-Request-Id or a similar header from the payload.',
    why: 'Node throws and the answer is a 500; other servers split the response in two.',
    fix: {
      rule: 'Do not write parts of a payload to headers.',
      express: 'Generate the request id yourself.',
    },
    severity: 'medium',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const value = textId(res.locals.payload);
        if (value !== '') res.setHeader('X-Notification-Id', value);
        return correct.validate(req, res, next);
      },
  },
  {
    ...VALIDATION,
    name: 'echoes-transactions-in-headers',
    title: 'Writes the transaction id into a response header, which fails for letters of other scripts',
    seen: 'Handlers that help the support team with X-Transaction-Id in every answer.',
    why: 'Node throws for characters beyond Latin-1, and the answer is a 500.',
    fix: {
      rule: 'Do not write parts of a payload to headers.',
      express: 'Write the transaction id to the log.',
    },
    severity: 'medium',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) =>
        correct.validate(req, res, (error?: unknown) => {
          const value = fieldAt(required(res, 'payload'), 'data.transactionId');
          if (error === undefined && typeof value === 'string' && value !== '')
            res.setHeader('X-Transaction-Id', value);
          next(error);
        }),
  },
  {
    ...VALIDATION,
    name: 'calls-text-functions-on-ids',
    title: 'Trims the id before checking that it is text',
    seen: 'Normalisation at the very start of handlers, in every language without runtime types.',
    why: 'An id that is a number, an object or missing causes a TypeError and a 500.',
    fix: {
      rule: 'Validate the envelope before you use its fields.',
      express: 'Parse with the schema first, and trim inside it (`z.string().trim()`).',
    },
    severity: 'medium',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      if (typeof payload === 'object' && payload !== null && typeof id(payload) !== 'string') {
        throwTypeError('trim is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'stores-ids-with-control-characters',
    title: 'Answers 500 to an id with U+0000, because storing it fails',
    seen: 'Text columns of PostgreSQL, which do not accept this character.',
    why: 'The database error becomes a 500, and the sender retries.',
    fix: {
      rule: 'Reject control characters in ids with 400.',
      express: 'Add `.regex(/^[^\\u0000-\\u001f]*$/)` to the schema of id.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      if (textId(payload).includes('\0')) throwTypeError('invalid byte sequence for encoding UTF8: 0x00');
    }),
  },
  // Faults with amounts.
  {
    ...VALIDATION,
    name: 'reads-amounts-as-numbers',
    title: 'Converts amounts to floating point and rejects those that change',
    seen: 'Number() or float(), followed by a plausibility check.',
    why: 'Amounts over 2^53 atomic units, small amounts that turn into an exponent, and trailing zeros are rejected.',
    fix: asText,
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => {
      const amount = amountOf(payload);
      return amount !== null && IS_DECIMAL.test(amount) && String(Number(amount)) !== amount;
    }, 422),
  },
  {
    ...VALIDATION,
    name: 'stores-deposits-in-64-bits',
    title: 'Answers 500 to a deposit whose amount does not fit into a 64-bit integer',
    seen: 'BIGINT columns, long in Java and int64 in Go.',
    why: 'A token with 18 decimals exceeds this limit at less than ten units.',
    fix: asText,
    severity: 'high',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const amount = depositOf(payload);
      if (amount !== null && /^\d+$/.test(amount) && BigInt(amount) > 2n ** 63n - 1n)
        throwTypeError('bigint out of range');
    }),
  },
  {
    ...VALIDATION,
    name: 'converts-deposits-unchecked',
    title: 'Converts the amount of a deposit to a big integer without a check, which fails for a fraction',
    seen: 'BigInt(), int() and new BigInteger() applied directly to the payload.',
    why: 'A malformed amount causes a 500 instead of a rejection.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const amount = depositOf(payload);
      if (amount !== null) BigInt(amount);
    }),
  },
  {
    ...VALIDATION,
    name: 'converts-refunds-unchecked',
    title: 'Converts the amount of a refund to a decimal without a check, which fails for text',
    seen: 'new BigDecimal() in Java, Decimal() in Python and decimal.Parse in .NET.',
    why: 'A malformed amount causes a 500 instead of a rejection.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const amount = refundOf(payload);
      if (amount !== null && !IS_DECIMAL.test(amount)) throwTypeError('not a decimal');
    }),
  },
  {
    ...VALIDATION,
    name: 'calculates-refunds-with-28-digits',
    title: 'Answers 500 to a refund amount that does not fit into 28 digits with 18 decimals',
    seen: '`amount.quantize(Decimal("1E-18"))` in Python, whose decimals have 28 digits, and decimal in .NET.',
    why: 'Refunds of tokens that are worth little have many digits, and each of them fails.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const [whole = ''] = (refundOf(payload) ?? '').split('.');
      if (whole.length > 10) throwTypeError('decimal.InvalidOperation');
    }),
  },
  {
    ...VALIDATION,
    name: 'refuses-dust',
    title: 'Rejects a deposit whose amount is zero after rounding for display',
    seen: 'Conversion of atomic units to a fixed number of decimals before the check for zero.',
    why: 'Small deposits are money too, and the books no longer match the blockchain.',
    fix: {
      rule: 'Check the atomic amount as received, before any conversion or rounding.',
      express: 'Compare `BigInt(amount) > 0n`, and round only for display.',
    },
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => {
      const amount = depositOf(payload);
      return amount !== null && /^\d{1,9}$/.test(amount);
    }),
  },
  {
    ...VALIDATION,
    name: 'limits-refunds-to-eight-decimals',
    title: 'Rejects a refund amount with more than eight decimals',
    seen: 'Patterns and columns that were made for Bitcoin.',
    why: 'Refunds of coins with 18 decimals use all of them, and such a refund is never booked.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => /\.\d{9,}$/.test(refundOf(payload) ?? '')),
  },
  {
    ...VALIDATION,
    name: 'requires-a-decimal-point',
    title: 'Rejects a refund amount without a decimal point',
    seen: 'Patterns for money with two mandatory groups of digits.',
    why: 'A refund of a whole number of coins is rejected.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => /^\d+$/.test(refundOf(payload) ?? '')),
  },
  {
    ...VALIDATION,
    name: 'trims-amounts-unchecked',
    title: 'Trims amounts before checking that they are text',
    seen: 'Normalisation before the conversion to a decimal.',
    why: 'An amount that is a JSON number causes a TypeError and a 500.',
    fix: {
      rule: 'Check that an amount is text before you use it, and answer 400 otherwise.',
      express: 'Parse with the schema first (`z.string()`), and trim inside it.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      for (const path of ['data.metadata.amount', 'data.metadata.asset.amount']) {
        if (typeof fieldAt(payload, path) === 'number') throwTypeError('trim is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'tests-digits-loosely',
    title: 'Answers 500 to an amount of digits other than 0 to 9',
    seen: '`isdigit()` of Python and `Character.isDigit` of Java before a conversion that knows fewer digits.',
    why: 'A superscript digit passes the test, and the conversion after it throws.',
    fix: {
      rule: 'Match amounts against the digits 0 to 9, and answer 400 otherwise.',
      express: 'Use `z.string().regex(/^[0-9]+(\\.[0-9]+)?$/)`.',
      python: 'Use `re.fullmatch(r"[0-9]+(\\.[0-9]+)?", value)`.',
      java: 'Use `value.matches("[0-9]+(\\\\.[0-9]+)?")`.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      const amount = amountOf(payload);
      if (amount !== null && /^\p{N}+$/u.test(amount) && !/^\d+$/.test(amount)) {
        throwTypeError('invalid literal for int() with base 10');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-first-character-of-codes',
    title: 'Answers 500 to an empty code or status, because it reads its first character',
    seen: '`status[0].upper()` in Python, and `charAt(0)` in Java.',
    why: 'A check for null passes empty text, and the access after it throws.',
    fix: {
      rule: 'Require at least one character, and answer 400 otherwise.',
      express: 'Use `z.string().min(1)`.',
      python: 'Write `value[:1]`, which is empty for an empty text.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      for (const path of ['data.status', 'data.metadata.orderStatus', 'data.errorData.code', 'data.errorCode']) {
        if (fieldAt(payload, path) === '') throwTypeError('string index out of range');
      }
    }),
  },
  // Faults with times.
  {
    ...VALIDATION,
    name: 'refuses-iso-times',
    title: 'Rejects a time that is text',
    seen: 'Schemas with a number for `at`, made from order samples.',
    why: 'Wallets and deposits carry ISO 8601 text, so all of them are rejected.',
    fix: readBoth,
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => typeof at(payload) === 'string'),
  },
  {
    ...VALIDATION,
    name: 'requires-milliseconds',
    title: 'Rejects an ISO time without a fraction of a second',
    seen: 'Fixed formats such as yyyy-MM-dd HH:mm:ss.SSS in Java and .NET, or strptime with %f in Python.',
    why:
      'Serialisers omit zero milliseconds, so about one notification in a thousand is rejected, which is hard to ' +
      'reproduce.',
    fix: readBoth,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => typeof at(payload) === 'string' && !String(at(payload)).includes('.')),
  },
  {
    ...VALIDATION,
    name: 'limits-fractions-to-milliseconds',
    title: 'Rejects an ISO time with more fractional digits than it expects',
    seen: 'Fixed formats, and validators with a precision of three.',
    why: 'A sender on another runtime writes microseconds, and every wallet and deposit is rejected.',
    fix: readBoth,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => /\.\d{4,}/.test(String(at(payload))) && typeof at(payload) === 'string'),
  },
  {
    ...VALIDATION,
    name: 'refuses-fractions-of-a-second',
    title: 'Rejects an ISO time with a fraction of a second',
    seen: 'Fixed formats such as `YYYY-MM-DDTHH:mm:ssZ`, and patterns that end after the seconds.',
    why: 'Most runtimes write milliseconds, so every wallet and deposit is rejected.',
    fix: readBoth,
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => typeof at(payload) === 'string' && /\d\.\d/.test(String(at(payload)))),
  },
  {
    ...VALIDATION,
    name: 'requires-the-letter-z',
    title: 'Rejects an ISO time in UTC with an offset instead of Z',
    seen: 'Patterns with a literal Z, and zod `datetime()` without `offset: true`.',
    why: 'Z and +00:00 mean the same, and libraries differ in which one they write.',
    fix: readBoth,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => /[+-]\d\d:?\d\d$/.test(String(at(payload))) && typeof at(payload) === 'string'),
  },
  {
    ...VALIDATION,
    name: 'parses-times-of-wallets-unchecked',
    title: 'Reads the time of wallets and deposits as text without checking that it is text',
    seen: 'A converter that treats a number as epoch seconds and everything else as text.',
    why: 'A malformed time causes a 500 instead of a rejection.',
    fix: {
      rule: 'Check that a time is a number or text before you convert it, and answer 400 otherwise.',
      express: 'Use `z.union([z.number(), z.string()])` for `at`.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      const isIso = ['WALLET', 'CAAS_BLOCKCHAIN'].includes(String(fieldAt(payload, 'type')));
      if (isIso && !['string', 'number', 'undefined'].includes(typeof at(payload)) && at(payload) !== null) {
        throwTypeError('at.replace is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'takes-the-pattern-for-a-date',
    title: 'Answers 500 to a time that matches the pattern of ISO 8601 and does not exist',
    seen: 'A schema with a pattern for `at`, and an unguarded `Date.parse`, `strptime` or `Instant.parse` behind it.',
    why: 'A month 13 passes the pattern, and the conversion after it throws.',
    fix: {
      rule: 'Catch errors of the conversion and answer 400.',
      express: 'Use `z.iso.datetime({ offset: true })`, which knows the days of a month.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      const time = at(payload);
      if (typeof time === 'string' && /^\d{4}-\d\d-\d\dT/.test(time) && Number.isNaN(Date.parse(time)))
        throwTypeError('Invalid time value');
    }),
  },
  {
    ...VALIDATION,
    name: 'refuses-old-times',
    title: 'Rejects a notification whose time is more than a day ago',
    seen: 'Replay protection by time, as in schemes with a signed timestamp.',
    why: 'After an outage the sender delivers the queued notifications, and exactly those are rejected.',
    fix: noClock,
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => secondsOf(payload) < now() - 86_400 && secondsOf(payload) > 1),
  },
  {
    ...VALIDATION,
    name: 'adds-a-year-to-the-date',
    title: 'Answers 500 to a time on 29 February, because it computes the same date of the next year',
    seen: '`time.replace(year=time.year + 1)` in Python, for the end of a retention period.',
    why: 'Every notification of that day, and every late one, fails.',
    fix: {
      rule: 'Add days to a date, or use a library that handles leap days.',
      express: 'Use `new Date(at * 1000 + 365 * 86_400_000)`, or Temporal.',
      python: 'Use `at + timedelta(days=365)`.',
    },
    severity: 'low',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const time = secondsOf(payload);
      if (Number.isFinite(time) && time < 1e11 && new Date(time * 1000).toISOString().includes('-02-29T'))
        throwTypeError('day is out of range for month');
    }),
  },
  {
    ...VALIDATION,
    name: 'stores-times-as-local-times',
    title: 'Answers 500 to a time in an hour that clocks skip in spring, because it stores UTC as local time',
    seen: 'TIMESTAMP columns of MySQL on a server with summer time, and `LocalDateTime` without a zone.',
    why: 'For one hour of the year every notification fails.',
    fix: {
      rule: 'Store times with their zone, or in UTC.',
      express: 'Connect to the database with the time zone Z, and use TIMESTAMPTZ in PostgreSQL.',
      java: 'Use Instant and TIMESTAMP WITH TIME ZONE.',
      django: 'Set USE_TZ and TIME_ZONE = "UTC".',
      laravel: 'Set the time zone of the connection to +00:00.',
    },
    severity: 'low',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const time = secondsOf(payload);
      // Summer time begins at the end of March in Europe.
      const isSkipped = Number.isFinite(time) && new Date(time * 1000).toISOString().startsWith('2026-03-29T02');
      if (time < 1e11 && isSkipped) throwTypeError('Incorrect datetime value');
    }),
  },
  {
    ...VALIDATION,
    name: 'limits-fractions-to-microseconds',
    title: 'Rejects an ISO time with more than six fractional digits',
    seen: '`strptime` with %f in Python, and DateTime::createFromFormat with u in PHP.',
    why: 'Go and Java write nanoseconds, so wallets and deposits are rejected when the sender changes its runtime.',
    fix: readBoth,
    severity: 'low',
    forbidden: false,
    equivalentTo: {
      name: 'limits-fractions-to-milliseconds',
      reason: 'Both reject one of three times; the report names the delivery.',
    },
    replace: refusing((payload) => typeof at(payload) === 'string' && /\.\d{7,}/.test(String(at(payload)))),
  },
  {
    ...VALIDATION,
    name: 'refuses-future-times',
    title: 'Rejects a notification whose time is more than five minutes in the future',
    seen: 'Generic timestamp checks with a tolerance in both directions.',
    why: 'If your clock is slow, everything is rejected.',
    fix: noClock,
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => secondsOf(payload) > now() + 300 && secondsOf(payload) < now() + 1e9),
  },
  {
    ...VALIDATION,
    name: 'formats-times-unchecked',
    title: 'Formats `at` as a date without a check, which fails for an invalid date',
    seen: 'toISOString() on an invalid Date, which is a RangeError, and fromtimestamp() out of range in Python.',
    why: 'An invalid time causes a 500, although the rest of the handler is careful.',
    fix: readBoth,
    severity: 'medium',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      const time = at(payload);
      if (time !== undefined) new Date(typeof time === 'number' ? time * 1000 : String(time)).toISOString();
    }),
  },
  {
    ...VALIDATION,
    name: 'stores-times-in-32-bits',
    title: 'Answers 500 to a time after January 2038, because storing it fails',
    seen: '32-bit columns: TIMESTAMP in MySQL, INTEGER in PostgreSQL.',
    why: 'A time in milliseconds by mistake, or any time after 2038, causes a database error and a 500.',
    fix: {
      rule: 'Check that `at` is in a plausible range, and store it in 64 bits.',
      express: 'Use BIGINT or timestamptz for the column, and `z.int().max(9_999_999_999)` in the schema.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      const time = at(payload);
      if (typeof time === 'number' && time > 0x7fffffff) throwTypeError('out of range for type integer');
    }),
  },
  {
    ...VALIDATION,
    name: 'stores-times-unsigned',
    title: 'Answers 500 to a time before 1970, because storing it fails',
    seen: 'Unsigned columns and unsigned integer types.',
    why: 'A negative number from a broken clock causes a 500 on every retry instead of a rejection.',
    fix: {
      rule: 'Reject times before the service existed with 400, before the database sees them.',
      express: 'Use `z.int().positive()` for a numeric `at`.',
    },
    severity: 'low',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      const time = at(payload);
      if (typeof time === 'number' && time < 0) throwTypeError('out of range for unsigned');
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-times-as-integers',
    title: 'Converts times to an integer type that fails for a fraction',
    seen: 'BigInt() in JavaScript, Integer.parseInt in Java and int64 fields in Go.',
    why: 'Some runtimes write epoch seconds with a fraction, and the conversion fails during parsing.',
    fix: {
      rule: 'Validate `at` as an integer with the other fields, or drop the fraction.',
      express: 'Use `Math.floor(at)`, or `z.int()` in the schema.',
    },
    severity: 'low',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const time = at(payload);
      if (typeof time === 'number') BigInt(time);
    }),
  },
  {
    ...VALIDATION,
    name: 'backtracks-on-error-codes',
    equivalentTo: {
      name: 'backtracks-on-long-words',
      reason: 'One check sends long texts in all fields of free form; the report names the field and the text.',
    },
    title: 'Does not answer when an error code is a long run of digits that ends with another character',
    seen: 'Patterns with nested repetition for codes, such as ^(\\d+[-_]?)+$.',
    why: 'One notification can occupy a CPU for hours; in a single-threaded process, it blocks all other requests.',
    fix: {
      rule: 'Remove nested repetition from patterns, or limit the length of a code before you match it.',
      express: 'Check the length first, and write ^\\d+(?:[-_]\\d+)*$ or use the package re2.',
    },
    severity: 'high',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const code = fieldAt(required(res, 'payload'), 'data.errorData.code');
        if (typeof code === 'string' && /^\d{32,}\D$/.test(code)) return;
        correct.validate(req, res, next);
      },
  },
  {
    ...VALIDATION,
    name: 'backtracks-on-long-words',
    title: 'Does not answer when a text is a long run of letters and digits that ends with another character',
    seen: 'Patterns with nested repetition, such as ^([a-z0-9]+[-.]?)+$ for addresses, slugs and host names.',
    why: 'One notification can occupy a CPU for hours; in a single-threaded process, it blocks all other requests.',
    fix: {
      rule: 'Remove nested repetition from patterns, or limit the length of a text before you match it.',
      express: 'Check the length first, and write ^[a-z0-9]+(?:[-.][a-z0-9]+)*$ or use the package re2.',
      python: 'Python has no time limit for `re`: limit the length first, or use google-re2.',
      dotnet: 'Pass a timeout or RegexOptions.NonBacktracking to Regex.',
    },
    severity: 'high',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) =>
        hasText(required(res, 'payload'), (text) => /^[A-Za-z0-9]{32,}[^A-Za-z0-9]$/.test(text))
          ? undefined
          : correct.validate(req, res, next),
  },
];
