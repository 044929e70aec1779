import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, plain } from '../changes/composing.ts';
import { survived } from '../payload-expectations.ts';
import { wallet } from '../samples.ts';
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

const set = (path: string, value: JsonValue | ((kit: Kit) => JsonValue)): Composer => having(plain, path, value);

/** An envelope whose type, time or data is of the wrong type or out of range. */
export const malformedEnvelope: readonly ProbeScenario[] = [
  wrong(
    'type-null',
    'a type that is null',
    set('type', null),
    'type.toLowerCase() throws on null.',
    'Require text for type.',
  ),
  wrong(
    'type-number',
    'a type that is a number',
    set('type', 7),
    'An enum by number, as some languages have it, silently accepts 7.',
    'Compare type with names and not with ordinals.',
  ),
  wrong(
    'type-empty',
    'an empty type',
    set('type', ''),
    'An empty text is falsy in some languages and a valid key in others.',
    'Give type a minimum length of one.',
  ),
  wrong(
    'type-inherited',
    'a type that is named like an inherited property',
    set('type', 'constructor'),
    'handlers[type] finds Object.prototype.constructor, which is a function and no handler.',
    'Keep handlers in a Map, or in an object without a prototype.',
    survived,
  ),
  wrong(
    'type-proto',
    'the type __proto__',
    set('type', '__proto__'),
    'As key of a counter or a cache it reaches the prototype of all objects.',
    'Use a Map for everything that is keyed by content of a payload.',
    survived,
  ),
  wrong(
    'at-null',
    'a time that is null',
    set('at', null),
    'null becomes 1970 in some languages and an exception in others.',
    'Require a number or text for `at`.',
  ),
  wrong(
    'at-object',
    'a time that is an object',
    set('at', { seconds: 1 }),
    'A conversion to a number gives NaN, and a date made of it throws when it is written.',
    'Check the type of `at` before converting.',
  ),
  wrong(
    'at-words',
    'a time that is no time',
    having((kit) => wallet(kit), 'at', 'yesterday at noon'),
    'A parser for dates throws on it, or guesses.',
    'Catch the failure of the date parser, and answer 400.',
  ),
  wrong(
    'at-out-of-range',
    'a time beyond every calendar',
    set('at', 9_000_000_000_000),
    'JavaScript cannot hold the date and throws RangeError in toISOString; Python and Go have limits of their own.',
    'Check the range before you build a date.',
  ),
  wrong(
    'at-negative',
    'a time before 1970',
    set('at', -1),
    'Unsigned columns and timestamp types fail on a negative number.',
    'Refuse what lies before the service existed, or store it as it is.',
    survived,
  ),
  wrong(
    'at-fraction',
    'a time with a fraction',
    set('at', 1_700_000_000.5),
    'A strict integer parser throws in the middle of the payload.',
    'Let the validation say 400, not an exception.',
    survived,
  ),
  wrong(
    'data-null',
    'data that is null',
    set('data', null),
    'typeof null is "object", so the usual check lets it through.',
    'Test data for null as well as for its type.',
  ),
  wrong(
    'data-string',
    'data that is text',
    set('data', '{"type":"BUY"}'),
    'JSON inside of JSON: code that parses it again opens a second way in that nobody validates.',
    'Require an object, and do not parse text a second time.',
  ),
  wrong(
    'data-array',
    'data that is an array',
    set('data', []),
    'data.metadata of an array is undefined, and the access after that throws.',
    'Exclude arrays where data must be an object.',
  ),
  wrong(
    'data-empty',
    'data without any field',
    set('data', {}),
    'The envelope is right, so the failure happens inside of the handler, where errors are often not caught.',
    'Validate data by its type before the handler runs.',
  ),
];
