import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, plain } from '../changes/composing.ts';
import { survived } from '../expectations.ts';
import { wallet } from '../samples.ts';
import type { Kit, ProbeScenario } from '../scenario.ts';
import { composed } from './malformed-builder.ts';

const set = (path: string, value: JsonValue | ((kit: Kit) => JsonValue)): Composer => having(plain, path, value);

/** An envelope whose type, time or data is of the wrong type or out of range. */
export const malformedEnvelope: readonly ProbeScenario[] = [
  composed(
    'type-null',
    'a type that is null',
    set('type', null),
    'type.toLowerCase() throws on null.',
    'Require text for type.',
  ),
  composed(
    'type-number',
    'a type that is a number',
    set('type', 7),
    'An enum by number, as some languages have it, silently accepts 7.',
    'Compare type with names and not with ordinals.',
  ),
  composed(
    'type-empty',
    'an empty type',
    set('type', ''),
    'An empty text is falsy in some languages and a valid key in others.',
    'Give type a minimum length of one.',
  ),
  composed(
    'type-inherited',
    'a type that is named like an inherited property',
    set('type', 'constructor'),
    'handlers[type] finds Object.prototype.constructor, which is a function and no handler.',
    'Keep handlers in a Map, or in an object without a prototype.',
    survived,
  ),
  composed(
    'type-proto',
    'the type __proto__',
    set('type', '__proto__'),
    'As key of a counter or a cache it reaches the prototype of all objects.',
    'Use a Map for everything that is keyed by content of a payload.',
    survived,
  ),
  composed(
    'at-null',
    'a time that is null',
    set('at', null),
    'null becomes 1970 in some languages and an exception in others.',
    'Require a number or text for `at`.',
  ),
  composed(
    'at-object',
    'a time that is an object',
    set('at', { seconds: 1 }),
    'A conversion to a number gives NaN, and a date made of it throws when it is written.',
    'Check the type of `at` before converting.',
  ),
  composed(
    'at-words',
    'a time that is no time',
    having((kit) => wallet(kit), 'at', 'yesterday at noon'),
    'A parser for dates throws on it, or guesses.',
    'Catch the failure of the date parser, and answer 400.',
  ),
  composed(
    'at-out-of-range',
    'a time beyond every calendar',
    set('at', 9_000_000_000_000),
    'JavaScript cannot hold the date and throws RangeError in toISOString; Python and Go have limits of their own.',
    'Check the range before you build a date.',
  ),
  composed(
    'at-negative',
    'a time before 1970',
    set('at', -1),
    'Unsigned columns and timestamp types fail on a negative number.',
    'Refuse what lies before the service existed, or store it as it is.',
    survived,
  ),
  composed(
    'at-fraction',
    'a time with a fraction',
    set('at', 1_700_000_000.5),
    'A strict integer parser throws in the middle of the payload.',
    'Let the validation say 400, not an exception.',
    survived,
  ),
  composed(
    'data-null',
    'data that is null',
    set('data', null),
    'typeof null is "object", so the usual check lets it through.',
    'Test data for null as well as for its type.',
  ),
  composed(
    'data-string',
    'data that is text',
    set('data', '{"type":"BUY"}'),
    'JSON inside of JSON: code that parses it again opens a second way in that nobody validates.',
    'Require an object, and do not parse text a second time.',
  ),
  composed(
    'data-array',
    'data that is an array',
    set('data', []),
    'data.metadata of an array is undefined, and the access after that throws.',
    'Exclude arrays where data must be an object.',
  ),
  composed(
    'data-empty',
    'data without any field',
    set('data', {}),
    'The envelope is right, so the failure happens inside of the handler, where errors are often not caught.',
    'Validate data by its type before the handler runs.',
  ),
];

/** A new id in which something hostile follows: its start keeps it new and findable. */
const hostileId = (tail: string | ((kit: Kit) => string)): Composer =>
  having(plain, 'id', (kit) => `${kit.newId()}${typeof tail === 'string' ? tail : tail(kit)}`);
const idAs = (value: JsonValue | ((kit: Kit) => JsonValue)): Composer => having(plain, 'id', value);

/** Ids of the wrong type, and ids that are hostile to whatever stores, logs or echoes them. */
export const malformedIds: readonly ProbeScenario[] = [
  composed(
    'id-null',
    'an id that is null',
    idAs(null),
    'A NOT NULL column turns it into a database error, and that into a 500.',
    'Validate id as text before it goes to the database.',
  ),
  composed(
    'id-number',
    'an id that is a number',
    idAs((kit) => kit.integer(1_000_000_000)),
    'Calling a text function on a number throws; storing it mixes "1" with 1.',
    'Require text for id, without converting.',
  ),
  composed(
    'id-object',
    'an id that is an object',
    idAs({ $ne: null }),
    'As a query to a document database, this id matches every record.',
    'Check the type of id before it becomes part of a query.',
  ),
  composed(
    'id-array',
    'an id that is an array',
    idAs((kit) => [kit.newId()]),
    'An array of one turns into text by itself, and so becomes equal to the id it holds.',
    'Compare types and not only values.',
  ),
  composed(
    'id-empty',
    'an empty id',
    idAs(''),
    'All notifications with an empty id look like duplicates of the first.',
    'Give id a minimum length of one.',
  ),
  composed(
    'id-long',
    'an id of 300 characters',
    hostileId((kit) => kit.nonce(264)),
    'A column of 36 characters fails on it, or cuts it, so that two ids become one.',
    'Limit the length of id in the validation, and answer 400 beyond it.',
    survived,
  ),
  composed(
    'id-very-long',
    'an id of 10,000 characters',
    hostileId((kit) => kit.nonce(9964)),
    'Indexes have a maximum key size, and memory is spent for every id that is remembered.',
    'Set an upper bound for id; 100 characters are plenty.',
    survived,
  ),
  composed(
    'id-path',
    'an id with a path in it',
    hostileId('/../../../etc/passwd'),
    'Receivers that store a file for each notification write outside of their directory.',
    'Never build a file name from an id; hash it if you must.',
    survived,
  ),
  composed(
    'id-quote',
    'an id with a quote in it',
    hostileId("' OR '1'='1"),
    'Pasted into SQL text it changes the query; a 500 here is a strong sign of that.',
    'Use bound parameters for every query.',
    survived,
  ),
  composed(
    'id-newline',
    'an id with line breaks in it',
    hostileId('\r\nX-Test: injected\r\n\r\n'),
    'Echoed into a header it throws or splits the answer; written to a log it forges a line.',
    'Do not echo the id in headers, and log it escaped.',
    survived,
  ),
  composed(
    'id-null-character',
    'an id with U+0000 in it',
    hostileId('\u0000'),
    'PostgreSQL refuses the character, and C code ends the text there.',
    'Refuse control characters in id.',
    survived,
  ),
  composed(
    'id-template',
    'an id with template syntax in it',
    hostileId('\u0024{7*7}{{7*7}}%s%n'),
    'Message formats and templates that get the id as their pattern evaluate it.',
    'Pass ids as arguments of a log format, and never as the format.',
    survived,
  ),
];
