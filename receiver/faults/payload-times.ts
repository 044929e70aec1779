import { fault, fieldAt, readingAfter, readingBefore, refusing } from './careless-reading.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'payload', stage: 'validate' } as const;

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

/** Mistakes with the time of a notification. */
export const times: readonly StageFault[] = [
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
