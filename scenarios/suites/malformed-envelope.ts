import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, plain, withField } from '../changes/bodies.ts';
import { survived, takenOrRejected } from '../expectations.ts';
import { order, wallet } from '../samples.ts';
import type { Kit, ProbeScenario } from '../scenario.ts';
import { composed } from './malformed-builder.ts';

const set = (path: string, value: JsonValue | ((kit: Kit) => JsonValue)): Composer => having(plain, path, value);

/** An envelope whose type, time or data has another type or is out of range. */
export const malformedEnvelope: readonly ProbeScenario[] = [
  composed(
    'type-null',
    'a type that is null',
    set('type', null),
    'type.toLowerCase() throws on null.',
    'Require type to be a string.',
  ),
  composed(
    'type-number',
    'a type that is a number',
    set('type', 7),
    'In some languages, an enum accepts the number 7.',
    'Compare type with names, not with ordinals.',
  ),
  composed(
    'type-empty',
    'an empty type',
    set('type', ''),
    'An empty string is falsy in some languages and a valid key in others.',
    'Require a minimum length of one for type.',
  ),
  composed(
    'type-inherited',
    'a type with the name of an inherited property',
    set('type', 'constructor'),
    'handlers[type] finds Object.prototype.constructor, which is a function but not a handler.',
    'Keep handlers in a Map, or in an object without a prototype.',
    survived,
  ),
  composed(
    'type-proto',
    'the type __proto__',
    set('type', '__proto__'),
    'As a key of a counter or a cache, it modifies the prototype of all objects.',
    'Use a Map for everything that is keyed by payload content.',
    survived,
  ),
  composed(
    'at-null',
    'an at that is null',
    set('at', null),
    'null becomes 1970 in some languages and an exception in others.',
    'Require a number or a string for `at`.',
  ),
  composed(
    'at-object',
    'an at that is an object',
    set('at', { seconds: 1 }),
    'Its conversion to a number gives NaN, and formatting a date made of it throws.',
    'Check the type of `at` before you convert it.',
  ),
  composed(
    'at-words',
    'an at that is not a time',
    having((kit) => wallet(kit), 'at', 'yesterday at noon'),
    'A date parser throws on it, or guesses a date.',
    'Catch errors of the date parser, and answer 400.',
  ),
  composed(
    'at-out-of-range',
    'an at beyond the supported range of dates',
    set('at', 9_000_000_000_000),
    'JavaScript cannot represent the date and throws RangeError in toISOString. Python and Go have other limits.',
    'Check the range before you create a date.',
  ),
  composed(
    'at-negative',
    'an at before 1970',
    set('at', -1),
    'Unsigned columns and timestamp types fail on a negative number.',
    'Reject times before the service existed, or store them unchanged.',
    survived,
  ),
  composed(
    'at-fraction',
    'an at with a fraction',
    set('at', 1_700_000_000.5),
    'A strict integer parser throws on it.',
    'Answer 400 from the validation, without an exception.',
    survived,
  ),
  composed(
    'data-null',
    'data that is null',
    set('data', null),
    'typeof null is "object", so the usual check accepts it.',
    'Check data for null as well as for its type.',
  ),
  composed(
    'data-string',
    'data that is a string',
    set('data', '{"type":"BUY"}'),
    'Code that parses JSON inside JSON processes unvalidated content.',
    'Require an object, and do not parse strings a second time.',
  ),
  composed(
    'data-array',
    'data that is an array',
    set('data', []),
    'data.metadata of an array is undefined, and the next access throws.',
    'Exclude arrays where data must be an object.',
  ),
  composed(
    'data-empty',
    'data without any field',
    set('data', {}),
    'The envelope is valid, so the failure occurs inside the handler, where errors are often not caught.',
    'Validate data by its type before the handler runs.',
  ),
];

/** A new id with a hostile suffix. Its prefix keeps it new and recognisable. */
const hostileId = (tail: string | ((kit: Kit) => string)): Composer =>
  having(plain, 'id', (kit) => `${kit.newId()}${typeof tail === 'string' ? tail : tail(kit)}`);
const idAs = (value: JsonValue | ((kit: Kit) => JsonValue)): Composer => having(plain, 'id', value);

/** Ids of another type, and ids that are hostile to code that stores, logs or echoes them. */
export const malformedIds: readonly ProbeScenario[] = [
  composed(
    'id-null',
    'an id that is null',
    idAs(null),
    'A NOT NULL column turns it into a database error, which becomes a 500.',
    'Validate id as a string before it reaches the database.',
  ),
  composed(
    'id-number',
    'an id that is a number',
    idAs((kit) => kit.integer(1_000_000_000)),
    'Calling a string function on a number throws, and storing it mixes "1" with 1.',
    'Require id to be a string, without converting it.',
  ),
  composed(
    'id-object',
    'an id that is an object',
    idAs({ $ne: null }),
    'As a query to a document database, it can match every record.',
    'Check the type of id before it becomes part of a query.',
  ),
  composed(
    'id-array',
    'an id that is an array',
    idAs((kit) => [kit.newId()]),
    'An array of one element converts to a string and then equals the id that it contains.',
    'Compare types as well as values.',
  ),
  composed(
    'id-empty',
    'an empty id',
    idAs(''),
    'All notifications with an empty id look like copies of the first one.',
    'Require a minimum length of one for id.',
  ),
  composed(
    'id-long',
    'an id of 300 characters',
    hostileId((kit) => kit.nonce(264)),
    'A column of 36 characters fails on it, or truncates it so that two ids become one.',
    'Limit the length of id in the validation, and answer 400 above it.',
    survived,
  ),
  composed(
    'id-very-long',
    'an id of 10,000 characters',
    hostileId((kit) => kit.nonce(9964)),
    'Database indexes have a maximum key size, and every stored id uses memory.',
    'Limit the length of id: 100 characters are plenty.',
    survived,
  ),
  composed(
    'id-path',
    'an id that contains a path',
    hostileId('/../../../etc/passwd'),
    'A receiver that stores each notification in a file writes outside its directory.',
    'Never build a file name from an id. Use a hash of it instead.',
    survived,
  ),
  composed(
    'id-quote',
    'an id that contains a quote',
    hostileId("' OR '1'='1"),
    'In an SQL string it changes the query. A 500 here is a strong sign of SQL injection.',
    'Use bound parameters in every query.',
    survived,
  ),
  composed(
    'id-newline',
    'an id that contains line breaks',
    hostileId('\r\nX-Test: injected\r\n\r\n'),
    'In a response header it throws or splits the answer, and in a log it forges a line.',
    'Do not echo the id in headers, and escape it in logs.',
    survived,
  ),
  composed(
    'id-null-character',
    'an id that contains U+0000',
    hostileId('\u0000'),
    'PostgreSQL rejects the character, and C code ends the string there.',
    'Reject control characters in id.',
    survived,
  ),
  composed(
    'name-null-character',
    'an unknown field whose name begins with U+0000',
    (kit) => ({ ...kit.notification(), '\u0000test': 1 }),
    'PHP cannot make such a name a property, PostgreSQL cannot store it, and C code takes it for an empty name.',
    'Read only the fields that you know, and keep the rest as text.',
    survived,
  ),
  composed(
    'control-characters',
    'a message and a memo with control characters',
    (kit) => {
      const text = 'printed \u0001\b\u000b\f\u001b[31m red \u001b[0m \u0085 \u2029 end';
      const failed = withField(order(kit, 'BUY', 'FAILED'), 'data.errorData.message', text);
      return withField(failed, 'data.metadata.blockchainData.blockchainMemo', text);
    },
    'XML cannot represent most of them, so passing the text on to another system fails.',
    'Replace control characters where you pass text on, or answer 400.',
    takenOrRejected,
  ),
  composed(
    'id-template',
    'an id that contains template syntax',
    hostileId('\u0024{7*7}{{7*7}}%s%n'),
    'Message formats and templates that use the id as a pattern evaluate it.',
    'Pass ids as arguments of a log format, never as the format.',
    survived,
  ),
];
