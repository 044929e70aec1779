import { compact, fixedText, rewritten, type Serialiser } from '../changes/bodies.ts';
import type { ProbeScenario } from '../scenario.ts';
import { withoutCrash } from './malformed-builder.ts';

/** A body that is not JSON, with valid credentials. */
function broken(slug: string, what: string, serialise: Serialiser, why: string, fix: string): ProbeScenario {
  return withoutCrash(slug, what, { serialise }, why, fix);
}

/** Bodies that no JSON parser accepts. Specification: Delivery endpoint (malformed payload). */
export const malformedJson: readonly ProbeScenario[] = [
  broken(
    'truncated',
    'JSON that ends after a colon',
    fixedText('{"id":'),
    'The parser throws. What does not catch it answers 500, hangs, or ends the process.',
    'Parse inside try/catch, and answer 400 when it throws.',
  ),
  broken(
    'cut-in-half',
    'the first half of a notification',
    rewritten((json) => json.slice(0, Math.floor(json.length / 2))),
    'A proxy with a size limit may pass on part of a body, and the parser fails only at its end.',
    'Handle parser errors yourself: the default of the framework may be a 500.',
  ),
  broken(
    'unquoted-keys',
    'keys without quotes',
    fixedText('{id:1}'),
    'Different mistakes raise different parser errors, and a handler for one class misses the others.',
    'Catch every error of the parser, not one class of it.',
  ),
  broken(
    'single-quotes',
    'single quotes instead of double quotes',
    fixedText("{'id': 'a', 'data': None}"),
    'This is a printed Python object. Code that evaluates it instead of parsing it would run it.',
    'Use a strict JSON parser, and never eval() or literal_eval() on a body.',
  ),
  broken(
    'trailing-comma',
    'a trailing comma',
    rewritten((json) => json.replace(/\}$/, ',}')),
    'Deliveries that are edited and replayed by hand have this mistake, often during an incident.',
    'Answer 400 with a fixed text, so that the mistake is visible.',
  ),
  broken(
    'comments',
    'JSON with a comment',
    rewritten((json) => `/* test */ ${json}`),
    'JSON has no comments. A parser for configuration files accepts them, and possibly more.',
    'Parse deliveries with the standard parser, not with one for JSON5 or JSONC.',
  ),
  broken(
    'two-documents',
    'two JSON documents in one body',
    rewritten((json) => `${json}${json}`),
    'A stream parser reads the first document only, so more was verified than is processed.',
    'Require the end of the input after the first value.',
  ),
  broken(
    'half-literal',
    'an incomplete literal',
    fixedText('nul'),
    'A receiver that parses without error handling fails on three letters.',
    'Put the error handling around the parser itself, not around the code after it.',
  ),
  broken(
    'not-a-number',
    'NaN as a number',
    rewritten((json) => json.replace(/\}$/, ',"testNumber":NaN}')),
    'Python accepts NaN and Infinity by default, and later code or the database fails on them.',
    'Reject them in the parser (parse_constant in Python).',
  ),
  broken(
    'leading-zero',
    'a number with a leading zero',
    rewritten((json) => json.replace(/\}$/, ',"testNumber":0123}')),
    'Old parsers read it as octal: 0123 becomes 83.',
    'Use a parser that follows the JSON grammar.',
  ),
  broken(
    'raw-newline-in-string',
    'a line break inside a string',
    rewritten((json) => json.replace('"type":"', '"type":"\n')),
    'Control characters are not allowed there. Lenient parsers write them to logs, where one delivery looks like two.',
    'Reject control characters in strings, as the JSON grammar requires.',
  ),
  broken(
    'empty',
    'an empty body',
    fixedText(''),
    'Frameworks turn an empty body into undefined, {} or null, and the next line of code may fail.',
    'Treat an empty body as a malformed payload before parsing.',
  ),
  broken(
    'only-white-space',
    'a body of whitespace',
    fixedText(' \r\n\t '),
    'It is not empty but has no value, so a check for an empty body misses it.',
    'Let the parser reject it, with error handling.',
  ),
  broken(
    'form-encoded',
    'a form instead of JSON',
    fixedText('id=1&type=CAAS&data[type]=BUY'),
    'A form parser turns it into an object, and the handler works on unvalidated fields.',
    'Parse bodies as JSON only, without guessing the format.',
  ),
  broken(
    'xml',
    'XML instead of JSON',
    fixedText('<?xml version="1.0"?><!DOCTYPE n [<!ENTITY e "x">]><n>&e;</n>'),
    'A receiver that guesses the format may run an XML parser that resolves entities.',
    'Do not select the parser by the first character of the body.',
  ),
  broken(
    'binary',
    'random bytes',
    () => Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 167 + 13) % 256)),
    'Decoding the bytes as text fails before the parser runs.',
    'Handle errors of decoding as well as of parsing.',
  ),
  broken(
    'utf-16',
    'a notification in UTF-16',
    (value) => Buffer.from(`\ufeff${compact(value)}`, 'utf16le'),
    'A Windows tool that replays a file may send UTF-16, in which every second byte is zero.',
    'Answer 400 or 415 to bodies that are not UTF-8.',
  ),
];
