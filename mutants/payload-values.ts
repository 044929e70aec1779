/** Mutants that are too strict about ids, amounts and times. */
import { refuse, required } from '../receiver/stages/stage.ts';
import {
  all,
  type Condition,
  fieldAt,
  hasText,
  isContainer,
  isNotText,
  isNullish,
  refusing,
  throwAfter,
  throwBefore,
  where,
} from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';

/** Paths of the ids in a payload, apart from its own id. */
const OTHER_IDS = ['data.transactionId', 'data.customerId', 'data.accountId', 'data.paymentMethodId'];

/** Matches the name of a property that every object inherits. */
const isInherited: Condition = (value) => typeof value === 'string' && value in {};

const DEPOSITED = 'data.metadata.asset.amount';
const REFUNDED = 'data.metadata.amount';

/** Matches if the amount of a deposit or a refund is text that fits the pattern or passes the test. */
function whereAmount(such: RegExp | ((amount: string) => boolean)): Condition {
  return (payload) => {
    const amount = fieldAt(payload, DEPOSITED) ?? fieldAt(payload, REFUNDED);
    if (typeof amount !== 'string') return false;
    return such instanceof RegExp ? such.test(amount) : such(amount);
  };
}

const whereDeposited = (such: Parameters<typeof whereAmount>[0]) =>
  all(where('type', 'CAAS_BLOCKCHAIN'), whereAmount(such));
const whereRefunded = (pattern: RegExp) => all(where('type', 'REFUND'), whereAmount(pattern));

const now = () => Date.now() / 1000;

/** Matches if `such` returns true for the time in `at`, in epoch seconds. `such` receives NaN if `at` is not a time. */
function whereTime(such: (seconds: number) => boolean): Condition {
  return where('at', (time) => such(typeof time === 'number' ? time : Date.parse(String(time)) / 1000));
}

/**
 * Matches if the time in `at`, as ISO 8601 text, fits the pattern. Times from `end` on never match. Throws for a time
 * outside the range of a date.
 */
function whereDate(pattern: RegExp, end = Infinity): Condition {
  return whereTime((seconds) => {
    return Number.isFinite(seconds) && seconds < end && pattern.test(new Date(seconds * 1000).toISOString());
  });
}

const isNumber: Condition = (value) => typeof value === 'number';

/** Matches if `at` is a number for which `such` returns true. */
const whereNumber = (such: (time: number) => boolean) => where('at', (time) => typeof time === 'number' && such(time));

/** Never answers a matching payload. */
function hangWhen(such: Condition): StageFault['replace'] {
  return ({ correct }) =>
    (req, res, next) =>
      such(required(res, 'payload')) ? undefined : correct.validate(req, res, next);
}

export const payloadValuesFaults = family<StageFault>(
  { area: 'payload', stage: 'validate', mistake: 'fixed-time-format' },
  {
    'finds-the-type-by-a-pattern': [
      'Finds the type by a pattern in the raw body, and rejects a body in which its name is escaped',
      ({ correct }) =>
        (req, res, next) => {
          const escaped = required(res, 'rawBody').includes('"t\\u0079pe"');
          return escaped ? refuse(res, 400, 'not-accepted') : correct.validate(req, res, next);
        },
      'valid-text-rejected',
      { note: 'The pattern reads the raw body, where JSON may escape the letters of the name.' },
    ],
    'ids-as-keys-of-objects': [
      'Answers 500 to an id with the name of an inherited property, because the cache is a plain object',
      throwAfter('seen[id].push is not a function', where(OTHER_IDS, isInherited)),
      'inherited-name-lookup',
    ],
    'requires-ids-of-words': [
      'Rejects the id of a transaction, customer or payment method with characters other than letters and hyphens',
      refusing(where(OTHER_IDS, /^(?![\w-]{1,40}$)/)),
      'narrow-value-format',
      { forbidden: false },
    ],
    'control-characters-answer-500': [
      'Answers 500 to text with a control character other than a line break or tab',
      throwAfter('An invalid XML character was found', hasText(/[\u0001-\u0008\u000b\u000c\u000e-\u001f]/)),
      'unstorable-characters',
    ],
    // Faults with ids.
    'requires-uuid-version-4': [
      'Rejects an id that is a UUID of a version other than 4',
      refusing(where('id', /^.{8}-.{4}-[0-35-9a-f]/i)),
      'narrow-value-format',
    ],
    'requires-ids-in-small-letters': [
      'Rejects an id with capital letters',
      refusing(where('id', /^[0-9A-F]{8}-.*[A-F]/)),
      'narrow-value-format',
      { forbidden: false },
    ],
    'stores-ids-in-36-characters': [
      'Answers 500 to an id that is longer than a UUID, because storing it fails',
      throwBefore('value too long for type character(36)', where('id', /^[\s\S]{37}/)),
      'value-longer-than-column',
    ],
    'uses-ids-as-file-names': [
      'Uses the id as a file name, which fails for ids that contain a path',
      throwBefore('no such file or directory', where('id', /[/\0]|^[\s\S]{256}/)),
      'payload-text-unencoded',
    ],
    'pastes-ids-into-queries': [
      'Inserts the id into the text of a query, so a quote breaks the query',
      throwBefore('syntax error at or near', where('id', /'/)),
      'sql-from-payload-text',
    ],
    'echoes-ids-in-headers': [
      'Writes the id into a response header before validation, which fails for line breaks',
      ({ correct }) =>
        (req, res, next) => {
          const value = fieldAt(res.locals.payload, 'id');
          if (typeof value === 'string' && value !== '') res.setHeader('X-Notification-Id', value);
          return correct.validate(req, res, next);
        },
      'payload-text-unencoded',
    ],
    'echoes-transactions-in-headers': [
      'Writes the transaction id into a response header, which fails for letters of other scripts',
      ({ correct }) =>
        (req, res, next) =>
          correct.validate(req, res, (error?: unknown) => {
            const value = fieldAt(required(res, 'payload'), 'data.transactionId');
            if (error === undefined && typeof value === 'string' && value !== '')
              res.setHeader('X-Transaction-Id', value);
            next(error);
          }),
      'payload-text-unencoded',
      { note: 'Node throws for characters beyond Latin-1 in a header.' },
    ],
    'calls-text-functions-on-ids': [
      'Trims the id before checking that it is text',
      throwBefore('trim is not a function', all(isContainer, where('id', isNotText))),
      'text-type-unchecked',
    ],
    'stores-ids-with-control-characters': [
      'Answers 500 to an id with U+0000, because storing it fails',
      throwBefore('invalid byte sequence for encoding UTF8: 0x00', where('id', /\0/)),
      'unstorable-characters',
    ],
    // Faults with amounts.
    'reads-amounts-as-numbers': [
      'Converts amounts to floating point and rejects those that change',
      refusing(
        whereAmount((amount) => /^\d+(?:\.\d+)?$/.test(amount) && String(Number(amount)) !== amount),
        422,
      ),
      'narrow-amount-type',
    ],
    'stores-deposits-in-64-bits': [
      'Answers 500 to a deposit whose amount does not fit into a 64-bit integer',
      throwAfter(
        'bigint out of range',
        whereDeposited((amount) => /^\d+$/.test(amount) && BigInt(amount) > 2n ** 63n - 1n),
      ),
      'narrow-amount-type',
    ],
    'converts-deposits-unchecked': [
      'Converts the amount of a deposit to a big integer without a check, which fails for a fraction',
      throwAfter(
        'Cannot convert to a BigInt',
        whereDeposited((amount) => typeof BigInt(amount) !== 'bigint'),
      ),
      'number-conversion-unchecked',
    ],
    'converts-refunds-unchecked': [
      'Converts the amount of a refund to a decimal without a check, which fails for text',
      throwAfter('not a decimal', whereRefunded(/^(?!\d+(?:\.\d+)?$)/)),
      'number-conversion-unchecked',
    ],
    'calculates-refunds-with-28-digits': [
      'Answers 500 to a refund amount that does not fit into 28 digits with 18 decimals',
      throwAfter('decimal.InvalidOperation', whereRefunded(/^[^.]{11}/)),
      'narrow-amount-type',
    ],
    'refuses-dust': [
      'Rejects a deposit whose amount is zero after rounding for display',
      refusing(whereDeposited(/^\d{1,9}$/)),
      'narrow-amount-type',
      { note: 'Conversion to a fixed number of decimals comes before the check for zero.' },
    ],
    'limits-refunds-to-eight-decimals': [
      'Rejects a refund amount with more than eight decimals',
      refusing(whereRefunded(/\.\d{9,}$/)),
      'narrow-value-format',
    ],
    'requires-a-decimal-point': [
      'Rejects a refund amount without a decimal point',
      refusing(whereRefunded(/^\d+$/)),
      'narrow-value-format',
    ],
    'trims-amounts-unchecked': [
      'Trims amounts before checking that they are text',
      throwBefore('trim is not a function', where([REFUNDED, DEPOSITED], isNumber)),
      'text-type-unchecked',
    ],
    'tests-digits-loosely': [
      'Answers 500 to an amount of digits other than 0 to 9',
      throwBefore('invalid literal for int() with base 10', whereAmount(/^(?![0-9]+$)\p{N}+$/u)),
      'number-conversion-unchecked',
      { note: 'A superscript digit passes the test, and the conversion after it throws.' },
    ],
    'reads-first-character-of-codes': [
      'Answers 500 to an empty code or status, because it reads its first character',
      throwBefore(
        'string index out of range',
        where(['data.status', 'data.metadata.orderStatus', 'data.errorData.code', 'data.errorCode'], ''),
      ),
      'text-form-unchecked',
    ],
    // Faults with times.
    'refuses-iso-times': ['Rejects a time that is text', refusing(where('at', (time) => typeof time === 'string'))],
    'requires-milliseconds': ['Rejects an ISO time without a fraction of a second', refusing(where('at', /^[^.]*$/))],
    'limits-fractions-to-milliseconds': [
      'Rejects an ISO time with more fractional digits than it expects',
      refusing(where('at', /\.\d{4,}/)),
      { forbidden: false },
    ],
    'refuses-fractions-of-a-second': [
      'Rejects an ISO time with a fraction of a second',
      refusing(where('at', /\d\.\d/)),
    ],
    'requires-the-letter-z': [
      'Rejects an ISO time in UTC with an offset instead of Z',
      refusing(where('at', /[+-]\d\d:?\d\d$/)),
      { forbidden: false },
    ],
    'parses-times-of-wallets-unchecked': [
      'Reads the time of wallets and deposits as text without checking that it is text',
      throwBefore(
        'at.replace is not a function',
        all(
          where('type', (type) => ['WALLET', 'CAAS_BLOCKCHAIN'].includes(String(type))),
          where('at', (time) => !isNullish(time) && !['string', 'number'].includes(typeof time)),
        ),
      ),
      'time-conversion-unchecked',
    ],
    'takes-the-pattern-for-a-date': [
      'Answers 500 to a time that matches the pattern of ISO 8601 and does not exist',
      throwBefore('Invalid time value', all(where('at', /^\d{4}-\d\d-\d\dT/), whereTime(Number.isNaN))),
      'time-conversion-unchecked',
      { note: 'Month 13 matches the pattern, and the conversion that follows throws.' },
    ],
    'refuses-old-times': [
      'Rejects a notification whose time is more than a day ago',
      refusing(whereTime((seconds) => seconds < now() - 86_400 && seconds > 1)),
      'time-compared-with-clock',
      { forbidden: false },
    ],
    'adds-a-year-to-the-date': [
      'Answers 500 to a time on 29 February, because it computes the same date of the next year',
      throwAfter('day is out of range for month', whereDate(/-02-29T/, 1e11)),
      'local-calendar-time',
    ],
    'stores-times-as-local-times': [
      'Answers 500 to a time in an hour that clocks skip in spring, because it stores UTC as local time',
      throwAfter('Incorrect datetime value', whereDate(/^2026-03-29T02/)),
      'local-calendar-time',
    ],
    'limits-fractions-to-microseconds': [
      'Rejects an ISO time with more than six fractional digits',
      refusing(where('at', /\.\d{7,}/)),
      {
        forbidden: false,
        equivalentTo: {
          name: 'limits-fractions-to-milliseconds',
          reason: 'Each rejects one of the three timestamps; the report names the delivery.',
        },
      },
    ],
    'refuses-future-times': [
      'Rejects a notification whose time is more than five minutes in the future',
      refusing(whereTime((seconds) => seconds > now() + 300 && seconds < now() + 1e9)),
      'time-compared-with-clock',
      { note: 'With a slow clock, the receiver rejects everything.', forbidden: false },
    ],
    'formats-times-unchecked': [
      'Formats `at` as a date without a check, which fails for an invalid date',
      throwBefore(
        'Invalid time value',
        where(
          'at',
          (time) =>
            time !== undefined &&
            Number.isNaN(new Date(typeof time === 'number' ? time * 1000 : String(time)).getTime()),
        ),
      ),
      'time-conversion-unchecked',
    ],
    'stores-times-in-32-bits': [
      'Answers 500 to a time after January 2038, because storing it fails',
      throwBefore(
        'out of range for type integer',
        whereNumber((time) => time > 0x7fffffff),
      ),
      'time-conversion-unchecked',
    ],
    'stores-times-unsigned': [
      'Answers 500 to a time before 1970, because storing it fails',
      throwBefore(
        'out of range for unsigned',
        whereNumber((time) => time < 0),
      ),
      'time-conversion-unchecked',
    ],
    'reads-times-as-integers': [
      'Converts times to an integer type that fails for a fraction',
      throwAfter(
        'cannot be converted to a BigInt',
        whereNumber((time) => !Number.isInteger(time)),
      ),
      'time-conversion-unchecked',
    ],
    'backtracks-on-error-codes': [
      'Does not answer when an error code is a long run of digits that ends with another character',
      hangWhen(where('data.errorData.code', /^\d{32,}\D$/)),
      'backtracking-pattern',
      {
        equivalentTo: {
          name: 'backtracks-on-long-words',
          reason: 'One check sends long texts in all free-form fields; the report names the field and the text.',
        },
      },
    ],
    'backtracks-on-long-words': [
      'Does not answer when a text is a long run of letters and digits that ends with another character',
      hangWhen(hasText(/^[A-Za-z0-9]{32,}[^A-Za-z0-9]$/)),
      'backtracking-pattern',
    ],
  },
);
