import { compact, fixedText, rewritten } from '../changes/bodies.ts';
import { handled } from '../expectations.ts';
import type { Scenario } from '../scenario.ts';
import { family } from './family.ts';

/**
 * Bodies that no JSON parser accepts, sent with valid credentials. Specification: Delivery endpoint (malformed
 * payload).
 */
export const malformedJson: readonly Scenario[] = family(
  {
    suite: 'malformed',
    verb: 'Handles',
    level: 'must',
    requirements: ['delivery-malformed'],
    expect: handled,
    mistake: 'unguarded-parser',
  },
  {
    truncated: ['JSON that ends after a colon', { serialise: fixedText('{"id":') }],
    'cut-in-half': [
      'the first half of a notification',
      { serialise: rewritten((json) => json.slice(0, Math.floor(json.length / 2))) },
      { note: 'A proxy with a size limit may pass on part of a body, and the parser fails only at its end.' },
    ],
    'unquoted-keys': ['keys without quotes', { serialise: fixedText('{id:1}') }],
    'single-quotes': [
      'single quotes instead of double quotes',
      { serialise: fixedText("{'id': 'a', 'data': None}") },
      { note: 'This is a printed Python object. Code that evaluates it instead of parsing it would run it.' },
    ],
    'trailing-comma': [
      'a trailing comma',
      { serialise: rewritten((json) => json.replace(/\}$/, ',}')) },
      { note: 'Deliveries that are edited and replayed by hand have this mistake, often during an incident.' },
    ],
    comments: ['JSON with a comment', { serialise: rewritten((json) => `/* test */ ${json}`) }, 'lenient-parser'],
    'two-documents': [
      'two JSON documents in one body',
      { serialise: rewritten((json) => `${json}${json}`) },
      { note: 'A stream parser that stops after the first document processes less than was verified.' },
    ],
    'half-literal': ['an incomplete literal', { serialise: fixedText('nul') }],
    'not-a-number': [
      'NaN as a number',
      { serialise: rewritten((json) => json.replace(/\}$/, ',"testNumber":NaN}')) },
      'lenient-parser',
    ],
    'leading-zero': [
      'a number with a leading zero',
      { serialise: rewritten((json) => json.replace(/\}$/, ',"testNumber":0123}')) },
      { note: 'Old parsers read it as octal: 0123 becomes 83.' },
    ],
    'raw-newline-in-string': [
      'a line break inside a string',
      { serialise: rewritten((json) => json.replace('"type":"', '"type":"\n')) },
      { note: 'A lenient parser passes it on to the log, where one delivery looks like two.' },
    ],
    empty: ['an empty body', { serialise: fixedText('') }, 'empty-body-unhandled'],
    'only-white-space': [
      'a body of whitespace',
      { serialise: fixedText(' \r\n\t ') },
      { note: 'The body is not empty but has no value, so a check for an empty body misses it.' },
    ],
    'form-encoded': [
      'a form instead of JSON',
      { serialise: fixedText('id=1&type=CAAS&data[type]=BUY') },
      'lenient-parser',
      { note: 'A form parser turns the body into an object, and the handler works on unvalidated fields.' },
    ],
    xml: [
      'XML instead of JSON',
      { serialise: fixedText('<?xml version="1.0"?><!DOCTYPE n [<!ENTITY e "x">]><n>&e;</n>') },
      'lenient-parser',
      { note: 'A receiver that guesses the format may run an XML parser that resolves entities.' },
    ],
    binary: [
      'random bytes',
      { serialise: () => Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 167 + 13) % 256)) },
      { note: 'Decoding the bytes as text fails before the parser runs.' },
    ],
    'utf-16': [
      'a notification in UTF-16',
      { serialise: (value) => Buffer.from(`\ufeff${compact(value)}`, 'utf16le') },
      { note: 'A Windows tool that replays a file may send UTF-16; 415 is an acceptable answer as well.' },
    ],
  },
);

/** The ids of checks whose body is not JSON. */
export const NOT_JSON: ReadonlySet<string> = new Set(malformedJson.map(({ id }) => id));
