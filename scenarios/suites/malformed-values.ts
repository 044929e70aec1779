import { type Composer, lacking, plain } from '../changes/composing.ts';
import type { Expectation, ProbeScenario } from '../scenario.ts';
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

/** JSON that is no notification: another value than an object, or an object without the fields of the envelope. */
export const malformedValues: readonly ProbeScenario[] = [
  wrong(
    'null',
    'the JSON value null',
    () => null,
    'null is valid JSON and has no fields: reading payload.id from it throws.',
    'Check that the parsed value is an object before you read it.',
  ),
  wrong(
    'string',
    'a JSON string',
    () => 'test',
    'A string has a length and indexes, so sloppy code goes on with it and fails later.',
    'Require an object by type, and not by "is not empty".',
  ),
  wrong(
    'number',
    'a JSON number',
    () => 42,
    'Fields of a number are undefined in JavaScript, and an error everywhere else.',
    'Validate the whole payload against a schema whose root is an object.',
  ),
  wrong(
    'boolean',
    'the JSON value true',
    () => true,
    'true passes a check such as `if (payload)`.',
    'Do not take a truthy value for an object.',
  ),
  wrong(
    'array',
    'an empty JSON array',
    () => [],
    'An array is an object to typeof, and to PHP an object is an array.',
    'Exclude arrays where you check for an object.',
  ),
  wrong(
    'array-of-notifications',
    'several notifications in an array',
    (kit) => [kit.notification(), kit.notification()],
    'Deliveries hold one notification. A handler that loops over an array by accident runs on what it should refuse.',
    'Take exactly one envelope for each request.',
  ),
  wrong(
    'empty-object',
    'an empty object',
    () => ({}),
    'Everything is absent at once, and the first access to data.type throws.',
    'Require id, type, at and data before anything else.',
  ),
  wrong(
    'id-missing',
    'a notification without id',
    lacking(plain, 'id'),
    'undefined as key of the de-duplication makes all such notifications one.',
    'Refuse a notification without id with 400.',
  ),
  wrong(
    'type-missing',
    'a notification without type',
    lacking(plain, 'type'),
    'A lookup of the handler by undefined gives undefined, and calling that throws.',
    'Require type, and give the lookup of the handler a default.',
  ),
  wrong(
    'at-missing',
    'a notification without a time',
    lacking(plain, 'at'),
    'new Date(undefined) is an invalid date, and formatting it throws.',
    'Require `at`, or store it as absent; do not format it unchecked.',
  ),
  wrong(
    'data-missing',
    'a notification without data',
    lacking(plain, 'data'),
    'Every handler reads data first.',
    'Require data to be an object.',
  ),
];
