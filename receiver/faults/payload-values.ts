/** Mutants that are too strict about ids, amounts and times. */
import { fault, fieldAt, readingAfter, readingBefore, refusing } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const VALIDATION = { area: 'payload', stage: 'validate' } as const;

const id = (payload: unknown) => fieldAt(payload, 'id');

const textId = (payload: unknown) => {
  const value = id(payload);
  return typeof value === 'string' ? value : '';
};

/** The amount of a deposit or a refund, when it is text. */
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
  rule: 'Keep amounts as text or as a decimal or big integer of any size, and check that they are decimal digits before converting.',
  express: 'Use `z.string().regex(/^\\d+(\\.\\d+)?$/)` and BigInt or a decimal library, never `Number`.',
  django: 'Use `Decimal(amount)` inside a guard, and a NUMERIC column without a limit of digits.',
  spring: 'Use BigInteger or BigDecimal, and NUMERIC(78, 0) at least.',
  go: 'Use math/big.',
  dotnet: 'Use BigInteger: decimal ends at 28 digits.',
};

const at = (payload: unknown) => fieldAt(payload, 'at');

/** `at` in epoch seconds, whatever form it has; NaN when it is no time. */
function secondsOf(payload: unknown): number {
  const time = at(payload);
  return typeof time === 'number' ? time : Date.parse(String(time)) / 1000;
}

const now = () => Date.now() / 1000;

const readBoth = {
  rule: 'Read a number as epoch seconds and text as ISO 8601, with any number of digits after the second and with Z or an offset.',
  express:
    "`const time = new Date(typeof at === 'number' ? at * 1000 : at)`, and answer 400 when `Number.isNaN(time.getTime())`.",
  django: 'Use `datetime.fromisoformat` (3.11 or later) for text and `fromtimestamp(at, tz=UTC)` for numbers.',
  spring: 'Map `at` to JsonNode, and use `Instant.ofEpochSecond` or `OffsetDateTime.parse` by its type.',
  go: 'Unmarshal `at` into json.RawMessage, and try an int64 before `time.RFC3339Nano`.',
  dotnet: 'Write a JsonConverter that takes a number as well as text (`DateTimeOffset.Parse`).',
};

const noClock = {
  rule: 'Record `at`, and do not decide by it whether to accept: repeated notifications are told by their id.',
  express: 'Remove the comparison of `at` with `Date.now()`.',
};

export const payloadValuesFaults: readonly StageFault[] = [
  // Mistakes with the id of a notification.
  {
    ...VALIDATION,
    name: 'requires-uuid-version-4',
    title: 'An id is refused when it is a UUID of another version than 4.',
    seen: 'With isUUID(id, 4), and patterns that have a 4 where the version stands.',
    why: 'A sender that moves to version 7, which databases like better, is refused altogether.',
    fix: {
      rule: 'Take any text as id.',
      express: 'Use `z.string()`, or `z.guid()` in place of `z.uuidv4()`.',
    },
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => /^.{8}-.{4}-[0-35-9a-f]/i.test(textId(payload))),
  },
  {
    ...VALIDATION,
    name: 'requires-ids-in-small-letters',
    title: 'An id is refused when it has capital letters.',
    seen: 'In patterns for UUIDs with a-f alone.',
    why: 'Which letter case a UUID has depends on the runtime that writes it.',
    fix: {
      rule: 'Take any text as id, or make the pattern ignore letter case.',
      express: 'Add the flag `i` to the pattern.',
    },
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => /^[0-9A-F]{8}-.*[A-F]/.test(textId(payload))),
  },
  {
    ...VALIDATION,
    name: 'stores-ids-in-36-characters',
    title: 'An id that is longer than a UUID throws when it is stored.',
    seen: 'With a column of CHAR(36) and no check of the length before it.',
    why: 'A long id is a database error and a 500 in place of a refusal.',
    fix: {
      rule: 'Check the length of the id before the database does.',
      express: 'Use `z.string().max(100)` and answer 400 beyond it.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (textId(payload).length > 36) fault('value too long for type character(36)');
    }),
  },
  {
    ...VALIDATION,
    name: 'uses-ids-as-file-names',
    title: 'A file is written under the name of the id, which throws on ids with a path in them.',
    seen: 'In small receivers that keep deliveries as files.',
    why: 'An id from outside decides where the file goes; the error of a missing directory is the harmless outcome.',
    fix: {
      rule: 'Never build a path from an id; use its hash or a name of your own.',
      express: "Name files by `createHash('sha256').update(id).digest('hex')`.",
    },
    severity: 'medium',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (/[/\0]/.test(textId(payload)) || textId(payload).length > 255) fault('no such file or directory');
    }),
  },
  {
    ...VALIDATION,
    name: 'pastes-ids-into-queries',
    title: 'The id is pasted into the text of a query, which a quote in it breaks.',
    seen: 'In hand-written SQL with template strings.',
    why: 'What shows as a 500 here is an injection for whoever holds the secret, or finds another fault that lets him in.',
    fix: {
      rule: 'Use bound parameters for every value.',
      express: "Write `db.query('... WHERE id = $1', [id])`.",
    },
    severity: 'high',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (textId(payload).includes("'")) fault('syntax error at or near');
    }),
  },
  {
    ...VALIDATION,
    name: 'echoes-ids-in-headers',
    title: 'The id is written into a header of the answer before it is validated, which throws on line breaks.',
    seen: 'In middleware that sets X-Request-Id or the like from the payload.',
    why: 'Node throws and the answer is a 500; elsewhere the line break splits the answer in two.',
    fix: {
      rule: 'Do not echo anything of a payload in headers.',
      express: 'Set a request id of your own making.',
    },
    severity: 'medium',
    forbidden: true,
    replace:
      ({ right }) =>
      (req, res, next) => {
        const value = textId(res.locals.payload);
        if (value !== '') res.setHeader('X-Notification-Id', value);
        return right.validate(req, res, next);
      },
  },
  {
    ...VALIDATION,
    name: 'calls-text-functions-on-ids',
    title: 'The id is trimmed before anything has made sure that it is text.',
    seen: 'In normalising code at the very start of handlers, in every language without types at run time.',
    why: 'An id that is a number, an object or missing ends in a TypeError and a 500.',
    fix: {
      rule: 'Validate the envelope before touching its fields.',
      express: 'Parse with the schema first, and trim inside of it (`z.string().trim()`).',
    },
    severity: 'medium',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (typeof payload === 'object' && payload !== null && typeof id(payload) !== 'string') {
        fault('trim is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'stores-ids-with-control-characters',
    title: 'An id with U+0000 throws when it is stored.',
    seen: 'With text columns of PostgreSQL, which do not take this character.',
    why: 'The database error becomes a 500 that the sender repeats.',
    fix: {
      rule: 'Refuse control characters in ids with 400.',
      express: 'Add `.regex(/^[^\\u0000-\\u001f]*$/)` to the schema of id.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (textId(payload).includes('\0')) fault('invalid byte sequence for encoding UTF8: 0x00');
    }),
  },
  // Mistakes with amounts.
  {
    ...VALIDATION,
    name: 'reads-amounts-as-numbers',
    title: 'An amount is converted to a floating-point number and refused when that does not give the same text again.',
    seen: 'With Number() or float() and a plausibility check behind it.',
    why: 'Amounts above 2^53 atomic units, small ones that turn into an exponent, and zeros at the end are all refused.',
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
    title: 'A deposit whose amount does not fit into a 64-bit integer throws.',
    seen: 'With BIGINT columns, long in Java and int64 in Go.',
    why: 'A token with 18 decimals passes this limit at less than ten units of it.',
    fix: asText,
    severity: 'high',
    forbidden: true,
    replace: readingAfter((payload) => {
      const amount = depositOf(payload);
      if (amount !== null && /^\d+$/.test(amount) && BigInt(amount) > 2n ** 63n - 1n) fault('bigint out of range');
    }),
  },
  {
    ...VALIDATION,
    name: 'converts-deposits-unchecked',
    title: 'The amount of a deposit is converted to a big integer without a check, which throws on a fraction.',
    seen: 'With BigInt(), int() and new BigInteger() straight from the payload.',
    why: 'A malformed amount is a 500 in place of a refusal.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: readingAfter((payload) => {
      const amount = depositOf(payload);
      if (amount !== null) BigInt(amount);
    }),
  },
  {
    ...VALIDATION,
    name: 'converts-refunds-unchecked',
    title: 'The amount of a refund is converted to a decimal without a check, which throws on words.',
    seen: 'With new BigDecimal() in Java, Decimal() in Python and decimal.Parse in .NET.',
    why: 'A malformed amount is a 500 in place of a refusal.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: readingAfter((payload) => {
      const amount = refundOf(payload);
      if (amount !== null && !IS_DECIMAL.test(amount)) fault('not a decimal');
    }),
  },
  {
    ...VALIDATION,
    name: 'refuses-dust',
    title: 'A deposit is refused when its amount, rounded for display, is zero.',
    seen: 'Where atomic units are converted to display units with a fixed number of decimals before the check for zero.',
    why: 'Small deposits are money too, and the books no longer match the chain.',
    fix: {
      rule: 'Check the atomic amount as it came, before any conversion or rounding.',
      express: 'Compare `BigInt(amount) > 0n`, and round for display only.',
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
    title: 'The amount of a refund is refused when it has more than eight decimals.',
    seen: 'In patterns and columns that were made for Bitcoin.',
    why: 'Coins with 18 decimals are refunded with all of them, and such a refund is never booked.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => /\.\d{9,}$/.test(refundOf(payload) ?? '')),
  },
  {
    ...VALIDATION,
    name: 'requires-a-decimal-point',
    title: 'The amount of a refund is refused when it has no decimal point.',
    seen: 'In patterns for money with two groups of digits, neither of them optional.',
    why: 'A refund of a whole number of coins is refused.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => /^\d+$/.test(refundOf(payload) ?? '')),
  },
  {
    ...VALIDATION,
    name: 'trims-amounts-unchecked',
    title: 'Amounts are trimmed before anything has made sure that they are text.',
    seen: 'In normalising code in front of the conversion to a decimal.',
    why: 'An amount that is a JSON number ends in a TypeError and a 500.',
    fix: {
      rule: 'Make sure that an amount is text before you work with it, and answer 400 when it is not.',
      express: 'Parse with the schema first (`z.string()`), and trim inside of it.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      for (const path of ['data.metadata.amount', 'data.metadata.asset.amount']) {
        if (typeof fieldAt(payload, path) === 'number') fault('trim is not a function');
      }
    }),
  },
  // Mistakes with the time of a notification.
  {
    ...VALIDATION,
    name: 'refuses-iso-times',
    title: 'A time that is text is refused.',
    seen: 'In schemas with a number for `at`, made from the samples of orders.',
    why: 'Wallets and deposits carry ISO 8601 text, so not one of them gets in.',
    fix: readBoth,
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => typeof at(payload) === 'string'),
  },
  {
    ...VALIDATION,
    name: 'requires-milliseconds',
    title: 'An ISO time is refused when it has no fraction of a second.',
    seen: 'With fixed formats such as yyyy-MM-dd HH:mm:ss.SSS in Java and .NET, or strptime with %f in Python.',
    why: 'Serialisers leave zero milliseconds out, so about one in a thousand notifications is refused, and nobody can repeat it.',
    fix: readBoth,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => typeof at(payload) === 'string' && !String(at(payload)).includes('.')),
  },
  {
    ...VALIDATION,
    name: 'limits-fractions-to-milliseconds',
    title: 'An ISO time is refused when its second has more than three decimals.',
    seen: 'With fixed formats, and with validators that allow a precision of three.',
    why: 'A sender on another runtime writes microseconds, and every wallet and deposit is refused.',
    fix: readBoth,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => /\.\d{4,}/.test(String(at(payload))) && typeof at(payload) === 'string'),
  },
  {
    ...VALIDATION,
    name: 'requires-the-letter-z',
    title: 'An ISO time in UTC is refused when it is written with an offset in place of Z.',
    seen: 'In patterns with a literal Z, and in zod `datetime()` without `offset: true`.',
    why: 'Z and +00:00 are the same, and libraries differ in which they write.',
    fix: readBoth,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => /[+-]\d\d:?\d\d$/.test(String(at(payload))) && typeof at(payload) === 'string'),
  },
  {
    ...VALIDATION,
    name: 'refuses-old-times',
    title: 'A notification whose time is more than a day ago is refused.',
    seen: 'In code that protects against replay by time, as schemes with a signed timestamp do.',
    why: 'After an outage the sender delivers what has waited, and exactly that is dropped.',
    fix: noClock,
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => secondsOf(payload) < now() - 86_400 && secondsOf(payload) > 1),
  },
  {
    ...VALIDATION,
    name: 'refuses-future-times',
    title: 'A notification whose time lies more than five minutes ahead is refused.',
    seen: 'In generic checks of timestamps with a tolerance to both sides.',
    why: 'A clock that is slow on your side refuses everything.',
    fix: noClock,
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => secondsOf(payload) > now() + 300 && secondsOf(payload) < now() + 1e9),
  },
  {
    ...VALIDATION,
    name: 'formats-times-unchecked',
    title: 'A date is made of whatever stands in `at` and written out, which throws when it is no date.',
    seen: 'With toISOString() on an invalid Date, which is a RangeError, and fromtimestamp() out of range in Python.',
    why: 'A time that is no time ends in a 500, although the rest of the handler is careful.',
    fix: readBoth,
    severity: 'medium',
    forbidden: true,
    replace: readingBefore((payload) => {
      const time = at(payload);
      if (time !== undefined) new Date(typeof time === 'number' ? time * 1000 : String(time)).toISOString();
    }),
  },
  {
    ...VALIDATION,
    name: 'stores-times-in-32-bits',
    title: 'A time beyond January 2038 throws when it is stored.',
    seen: 'In columns of 32 bits: TIMESTAMP of MySQL, INTEGER of PostgreSQL.',
    why: 'A time in milliseconds by mistake, or any time after 2038, is an error of the database and a 500.',
    fix: {
      rule: 'Check that `at` lies in a sensible range, and store it in 64 bits.',
      express: 'Use BIGINT or timestamptz for the column, and `z.int().max(9_999_999_999)` in the schema.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      const time = at(payload);
      if (typeof time === 'number' && time > 0x7fffffff) fault('out of range for type integer');
    }),
  },
  {
    ...VALIDATION,
    name: 'stores-times-unsigned',
    title: 'A time before 1970 throws when it is stored.',
    seen: 'In unsigned columns and unsigned integer types.',
    why: 'A negative number from a broken clock is a 500 that repeats, and not a refusal.',
    fix: {
      rule: 'Refuse times before the service existed with 400, before the database sees them.',
      express: 'Use `z.int().positive()` for a numeric `at`.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      const time = at(payload);
      if (typeof time === 'number' && time < 0) fault('out of range for unsigned');
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-times-as-integers',
    title: 'A time with a fraction throws, because it is converted to an integer type that takes none.',
    seen: 'With BigInt() in JavaScript, Integer.parseInt in Java and int64 fields in Go.',
    why: 'Some runtimes write epoch seconds with a fraction, and the conversion fails in the middle of the payload.',
    fix: {
      rule: 'Validate `at` as an integer with the other fields, or cut the fraction off.',
      express: 'Use `Math.floor(at)`, or `z.int()` in the schema.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingAfter((payload) => {
      const time = at(payload);
      if (typeof time === 'number') BigInt(time);
    }),
  },
];
