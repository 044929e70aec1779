import { AMOUNTS_IN_DJANGO, BODY_LIMIT, OPEN_VALUES, TIME_OF_BOTH_TYPES } from './code-by-stack.ts';
import { REJECTED_KINDS } from './consequences.ts';
import { ids, mistakes } from './mistake.ts';

/** Mistakes that make a receiver reject, misread or fail on valid notifications. */
export const VALID_MISTAKES = mistakes({
  'plain-delivery-rejected': {
    title: 'Does not answer 200 to a plain valid delivery',
    seen: 'A redirect to another path or host, a 202 or 204, or a check that no valid delivery passes.',
    why: 'The sender treats every other answer as a failed delivery, so no notification arrives.',
    fix: {
      rule: 'Answer 200 directly at the registered path as soon as the notification is stored.',
    },
    severity: 'high',
    cwe: 393,
  },
  'valid-kind-rejected': {
    title: 'Rejects a type or status that the sender uses',
    seen:
      'Handler tables, enums and status lists that were made from a few samples, or that end at the types of the ' +
      'first version.',
    why:
      'Every notification of this type or status is lost: the partner does not learn how the order, refund, card, ' +
      'wallet or deposit proceeds.',
    fix: {
      rule:
        'Handle every type and status of the specification, and give each table of handlers a default that answers ' +
        '200. If every status of a type is rejected, look for a field that these share: the answer often names it.',
      ...OPEN_VALUES,
    },
    severity: 'high',
    cwe: 478,
    implies: REJECTED_KINDS,
  },
  'unknown-values-rejected': {
    title: 'Rejects values that are not on its own list',
    seen:
      'Enums, literals, check constraints and foreign keys for types, statuses, operations, codes or networks, and ' +
      'a switch whose default throws.',
    why:
      'As soon as the sender uses a new value, all notifications with it fail until the list is extended and ' +
      'deployed, and the sender may disable the endpoint.',
    fix: {
      rule:
        'Read types, statuses, codes and networks as text, act on the values that you know, and answer 200 to the ' +
        'others and log them.',
      ...OPEN_VALUES,
    },
    severity: 'medium',
    cwe: 232,
  },
  'unknown-fields-forbidden': {
    title: 'Rejects notifications with unknown fields',
    seen:
      'zod `strict()`, pydantic `extra="forbid"`, Jackson FAIL_ON_UNKNOWN_PROPERTIES, `additionalProperties: ' +
      'false`; often set for one class only.',
    why: 'A sender may add a field at any time. From then on, the receiver rejects every notification that has it.',
    fix: {
      rule:
        'Ignore fields that the schema does not name, at every level and in the class of every type: configure this ' +
        'once, not class by class.',
      node:
        'Use `z.object` or `z.looseObject` instead of `z.strictObject`, even in nested schemas; in Ajv leave out ' +
        '`additionalProperties: false`.',
      django: 'Do not raise in `validate()` for keys of `initial_data` without a serializer field.',
      spring:
        'Set `spring.jackson.deserialization.fail-on-unknown-properties=false` for the one ObjectMapper, and remove ' +
        '`@JsonIgnoreProperties(ignoreUnknown = false)`.',
      fastapi: 'Remove `extra="forbid"` from `model_config` of each model.',
      nestjs: 'Remove `forbidNonWhitelisted: true` from the ValidationPipe.',
      go: 'Remove `decoder.DisallowUnknownFields()`.',
      dotnet: 'Remove `JsonUnmappedMemberHandling.Disallow`.',
    },
    severity: 'medium',
    cwe: 231,
  },
  'one-shape-for-all-types': {
    title: 'Expects the fields of one type in notifications of other types',
    seen:
      'One schema, class or table for all types, made from order samples: `data.type`, `data.transactionId`, ' +
      '`data.metadata.orderStatus`.',
    why:
      'Refunds, cards, wallets, deposits and trackings have different fields from orders. They are rejected, or ' +
      'cause a 500 on every retry.',
    fix: {
      rule:
        'Select the shape by type, and within CAAS by data.type, before you read a field. Use the identifier of ' +
        'each type: transactionId, partnerTransactionId, paymentMethodId or the wallet.',
      node:
        'Make one schema for each type and a discriminated union of the CAAS shapes (zod `discriminatedUnion`), ' +
        'require `data.type` only for CAAS, and make the transaction column nullable.',
      spring: 'Use `@JsonTypeInfo` with `EXTERNAL_PROPERTY` on data.type instead of one class for all of CAAS.',
    },
    severity: 'high',
    cwe: 237,
    implies: [...REJECTED_KINDS, 'valid-kind-rejected', 'lookup-before-insert'],
  },
  'optional-data-required': {
    title: 'Rejects or fails on absent, null or empty optional data',
    seen:
      'Classes made from one full sample, `nullable()` without `optional()` or the reverse, a minimum length, a ' +
      'method call on null, and a hash or an error that is required at certain statuses.',
    why:
      'Many valid notifications have no hash, memo, address, error or description, or have it as null or "". They ' +
      'fail on every retry.',
    fix: {
      rule:
        'Treat an absent, null or empty optional field in the same way: it has no value. Do not derive from a ' +
        'status that a ' +
        'hash or an error is present.',
      node:
        'Use `z.string().nullish()` without a minimum length in the schema, optional access (`?.`) and `|| null`, ' +
        'as in `data.errorData?.code ?? null`. Await or `.catch()` every promise that a handler starts.',
      python:
        'Use `data.get("errorData") or {}` and `error.get("code") or ""`: a default of `get` does not replace null. ' +
        'In a model, write `field: str | None = None`, because without a default it is required.',
      laravel: 'Use the rule `nullable`: `ConvertEmptyStringsToNull` turns "" into null, which `string` rejects.',
      php: 'Use `$data["errorData"]["code"] ?? null`.',
      rails: 'Use `payload.dig("data", "errorData", "code")`, and `&.` for methods of the value.',
      spring: 'Do not use `@NotNull` and `@NotBlank` on optional fields.',
      go: 'Use a pointer, and test it for nil.',
      dotnet: 'Declare the property nullable and not `required`.',
    },
    severity: 'high',
    cwe: 230,
  },
  'error-code-restricted': {
    title: 'Fails on error codes with an unexpected value or form',
    seen:
      'An enum typed from the documentation, a pattern derived from its first rows, a routing table by first ' +
      'number, and code that splits a code at its hyphens.',
    why:
      'The listed codes are examples. The notification about a failure is lost, so the order stays open or the card ' +
      'still looks usable.',
    fix: {
      rule:
        'Store an error code as text of any form. Use lists, prefixes and groups only to look up a message or a ' +
        'team, with a default.',
      ...OPEN_VALUES,
      node:
        'Use `z.string()` without `.regex(...)` for the code. Give lookups a default: `teams.get(code?.slice(0, 3)) ' +
        "?? teams.get('other')`, `code?.split('-')[2]?.[0] ?? 'unknown'`.",
    },
    severity: 'high',
    cwe: 478,
    implies: ['text-form-unchecked'],
  },
  'misspelt-hash-key': {
    title: 'Does not handle both spellings of the hash key of a deposit',
    seen:
      'Classes made from the sample payload (`blockchainTransctionId`) or from the table ' +
      '(`blockchainTransactionId`), aliases of one field, and `??` between the two keys.',
    why:
      'A deposit whose hash has the other spelling, or both, is rejected, or it is stored without its hash and ' +
      'cannot ' +
      'be found on the blockchain.',
    fix: {
      rule: 'Use the hash under the correct key if it is not empty, else the one under the misspelt key, else none.',
      node: '`const hash = metadata.blockchainTransactionId || metadata.blockchainTransctionId || null`.',
      python: '`metadata.get("blockchainTransactionId") or metadata.get("blockchainTransctionId")`, without brackets.',
      spring: 'Map both names to separate fields and choose afterwards: with `@JsonAlias` the last one wins.',
      go: 'Use one struct field for each of the two names.',
    },
    severity: 'high',
    cwe: 236,
    implies: ['optional-data-required', 'unknown-values-rejected', 'narrow-amount-type', 'unique-payload-field'],
  },
  'narrow-value-format': {
    title: 'Rejects valid values of another form or length',
    seen:
      'A pattern or column made from one sample: `0x` and 40 digits for addresses, CHAR(3) for currencies, UUID ' +
      'version 4 for ids, eight decimals for amounts.',
    why:
      'The specification does not fix the form of these values. Notifications of another network, token or id ' +
      'generator are lost.',
    fix: {
      rule:
        'Read ids, addresses, hashes, memos and currencies as text of any form, and store them in columns of at ' +
        'least 255 characters. Accept amounts of decimal digits with or without a fraction.',
      node:
        'Use `z.string().max(255)` without a pattern, not `z.uuidv4()`; for amounts use ' +
        '`z.string().regex(/^\\d+(\\.\\d+)?$/)`.',
      python: 'Use `Decimal(amount)` with error handling, and a NUMERIC column without a limit on digits.',
      java: 'Use BigDecimal for amounts of refunds.',
    },
    severity: 'high',
    cwe: 186,
    implies: ['id-form-assumed'],
  },
  'fixed-time-format': {
    title: 'Parses the time of a notification with one fixed format',
    seen:
      'A number only, `yyyy-MM-dd HH:mm:ss.SSS`, `strptime` with %f, a pattern with a literal Z, or zod ' +
      '`datetime()` without `offset: true`.',
    why:
      'Orders carry epoch seconds, wallets and deposits ISO 8601 text, whose fraction and offset depend on the ' +
      "sender's runtime. Times of another form are rejected.",
    fix: {
      rule:
        'Read a number as epoch seconds and text as ISO 8601, with any number of fractional digits and with Z or an ' +
        'offset.',
      ...TIME_OF_BOTH_TYPES,
    },
    severity: 'high',
    cwe: 186,
    implies: ids(
      'misspelt-hash-key copy-rejected local-calendar-time unknown-fields-forbidden unknown-values-rejected',
      'optional-data-required unique-payload-field narrow-amount-type narrow-value-format lookup-before-insert',
      'id-form-assumed',
    ),
  },
  'time-compared-with-clock': {
    title: 'Rejects notifications whose time is not close to its own clock',
    seen: 'Replay protection by `at`, with a tolerance in one or both directions, as for a signed timestamp.',
    why: 'Valid notifications are rejected if they arrive late, as after an outage, or if the clocks differ.',
    fix: {
      rule: 'Record `at`, but do not accept or reject by it: recognise repeated notifications by their id.',
      node: 'Remove the comparison of `at` with `Date.now()`.',
    },
    severity: 'medium',
    cwe: 1025,
    implies: ['local-calendar-time'],
  },
  'local-calendar-time': {
    title: 'Fails on certain dates or hours because of local time or calendar arithmetic',
    seen:
      'TIMESTAMP columns of MySQL on a server with summer time, `LocalDateTime` without a zone, `replace(year=year ' +
      '+ 1)`.',
    why: 'An hour that clocks skip, or 29 February, causes a 500 for every notification with such a time.',
    fix: {
      rule: 'Store times with their zone, or in UTC. Add days to a date, or use a library that handles leap days.',
      node:
        'Connect to the database with the time zone Z, use TIMESTAMPTZ in PostgreSQL, and calculate with `new ' +
        'Date(at * 1000 + 365 * 86_400_000)` or Temporal.',
      python: 'Use `at + timedelta(days=365)`.',
      java: 'Use Instant and TIMESTAMP WITH TIME ZONE.',
      django: 'Set USE_TZ and TIME_ZONE = "UTC".',
      laravel: 'Set the time zone of the connection to +00:00.',
    },
    severity: 'low',
    cwe: 682,
  },
  'narrow-amount-type': {
    title: 'Converts amounts to a type or precision that cannot represent them',
    seen:
      '`Number()`, `float`, BIGINT, `int64`, columns such as DECIMAL(38, 18), Python `Decimal` with its default ' +
      'context, .NET `decimal`, and rounding to display units before a check.',
    why:
      'An amount on a chain has up to 78 digits. It overflows, changes or becomes zero: the notification is ' +
      'rejected, ' +
      'or another amount is credited.',
    fix: {
      rule:
        'Keep amounts as text, or as decimals or big integers of at least 78 digits. Check the atomic amount as ' +
        'received, compare by value, round only for display, and answer 422 to an amount that you cannot store.',
      node:
        'Use `z.string().regex(/^\\d+(\\.\\d+)?$/)` and BigInt (`BigInt(amount) > 0n`) or a decimal library, never ' +
        '`Number`.',
      python:
        'Use `Decimal(amount)` with a precision of 78 and error handling, and a NUMERIC column without a limit on ' +
        'digits.',
      django: AMOUNTS_IN_DJANGO,
      java: 'Use BigInteger or BigDecimal, and at least NUMERIC(78, 0).',
      go: 'Use math/big.',
      spring: 'Use `new BigDecimal(new BigInteger(text), decimals)`.',
      php: 'Use bcmath or GMP.',
      rails: 'Use `Integer` and `BigDecimal(text)`, and never `to_f`.',
      dotnet: 'Use BigInteger: decimal is limited to 28 digits.',
    },
    severity: 'critical',
    cwe: 681,
    implies: ['amount-as-float', 'narrow-value-format', 'number-conversion-unchecked'],
  },
  'valid-text-rejected': {
    title: 'Rejects or misreads valid text',
    seen:
      'Patterns such as `/^.*$/` and lists of allowed characters, filters for invisible characters, short text ' +
      'columns, and fields that are read from the raw body by a pattern.',
    why:
      'JSON text may contain any character, written directly or as an escape. The notification with such text is ' +
      'rejected on every retry.',
    fix: {
      rule:
        'Read every value from the parsed body, as UTF-8, and accept every character and length in free text. ' +
        'Truncate text for your column, and replace line breaks only where you log it.',
      express: 'Use `JSON.parse(req.body)` after the verification, and `z.string()` without a pattern for text.',
    },
    severity: 'medium',
    cwe: 186,
  },
  'valid-body-size-rejected': {
    title: 'Rejects valid bodies that exceed its size limit',
    seen: 'A body limit of a proxy, parser or gateway that was set for the size of a sample, such as 8 kB.',
    why: 'A notification with many fields or long text is lost, because the sender cannot make it smaller.',
    fix: {
      rule:
        'Accept bodies up to at least the size that the specification or the sender allows, in every component ' +
        'before the handler, and limit them above that.',
      ...BODY_LIMIT,
      express: "Set the body parser's `limit`, as in `express.raw({ type: () => true, limit: '1mb' })`.",
    },
    severity: 'medium',
    cwe: 1284,
    implies: ['state-shared-by-requests', 'parsing-before-verification', 'load-rejected'],
  },
});
