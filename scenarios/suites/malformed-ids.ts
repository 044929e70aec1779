import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, plain } from '../changes/composing.ts';
import { survived } from '../payload-expectations.ts';
import type { Expectation, Kit, ProbeScenario } from '../scenario.ts';
import { withoutCrash } from './malformed-builder.ts';

function wrong(
  slug: string,
  what: string,
  compose: Composer,
  why: string,
  fix: string,
  expect?: Expectation,
): ProbeScenario {
  return withoutCrash(slug, what, { compose }, why, fix, expect);
}

/** A new id in which something hostile follows: its start keeps it new and findable. */
const hostileId = (tail: string | ((kit: Kit) => string)): Composer =>
  having(plain, 'id', (kit) => `${kit.newId()}${typeof tail === 'string' ? tail : tail(kit)}`);
const idAs = (value: JsonValue | ((kit: Kit) => JsonValue)): Composer => having(plain, 'id', value);

/** Ids of the wrong type, and ids that are hostile to whatever stores, logs or echoes them. */
export const malformedIds: readonly ProbeScenario[] = [
  wrong(
    'id-null',
    'an id that is null',
    idAs(null),
    'A NOT NULL column turns it into a database error, and that into a 500.',
    'Validate id as text before it goes to the database.',
  ),
  wrong(
    'id-number',
    'an id that is a number',
    idAs((kit) => kit.integer(1_000_000_000)),
    'Calling a text function on a number throws; storing it mixes "1" with 1.',
    'Require text for id, without converting.',
  ),
  wrong(
    'id-object',
    'an id that is an object',
    idAs({ $ne: null }),
    'As a query to a document database, this id matches every record.',
    'Check the type of id before it becomes part of a query.',
  ),
  wrong(
    'id-array',
    'an id that is an array',
    idAs((kit) => [kit.newId()]),
    'An array of one turns into text by itself, and so becomes equal to the id it holds.',
    'Compare types and not only values.',
  ),
  wrong(
    'id-empty',
    'an empty id',
    idAs(''),
    'All notifications with an empty id look like duplicates of the first.',
    'Give id a minimum length of one.',
  ),
  wrong(
    'id-long',
    'an id of 300 characters',
    hostileId((kit) => kit.nonce(264)),
    'A column of 36 characters fails on it, or cuts it, so that two ids become one.',
    'Limit the length of id in the validation, and answer 400 beyond it.',
    survived,
  ),
  wrong(
    'id-very-long',
    'an id of 10,000 characters',
    hostileId((kit) => kit.nonce(9964)),
    'Indexes have a maximum key size, and memory is spent for every id that is remembered.',
    'Set an upper bound for id; 100 characters are plenty.',
    survived,
  ),
  wrong(
    'id-path',
    'an id with a path in it',
    hostileId('/../../../etc/passwd'),
    'Receivers that store a file for each notification write outside of their directory.',
    'Never build a file name from an id; hash it if you must.',
    survived,
  ),
  wrong(
    'id-quote',
    'an id with a quote in it',
    hostileId("' OR '1'='1"),
    'Pasted into SQL text it changes the query; a 500 here is a strong sign of that.',
    'Use bound parameters for every query.',
    survived,
  ),
  wrong(
    'id-newline',
    'an id with line breaks in it',
    hostileId('\r\nX-Test: injected\r\n\r\n'),
    'Echoed into a header it throws or splits the answer; written to a log it forges a line.',
    'Do not echo the id in headers, and log it escaped.',
    survived,
  ),
  wrong(
    'id-null-character',
    'an id with U+0000 in it',
    hostileId('\u0000'),
    'PostgreSQL refuses the character, and C code ends the text there.',
    'Refuse control characters in id.',
    survived,
  ),
  wrong(
    'id-template',
    'an id with template syntax in it',
    hostileId('\u0024{7*7}{{7*7}}%s%n'),
    'Message formats and templates that get the id as their pattern evaluate it.',
    'Pass ids as arguments of a log format, and never as the format.',
    survived,
  ),
];
