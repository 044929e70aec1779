import { compact, fixedText, rewritten, type Serialiser } from '../changes/bytes.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { refusedMalformed } from '../expectations.ts';
import type { ProbeScenario, SignChange } from '../scenario.ts';
import { withoutCrash } from './malformed-builder.ts';

/** A body that is no JSON, with right credentials. */
function broken(slug: string, what: string, serialise: Serialiser, why: string, fix: string): ProbeScenario {
  return withoutCrash(slug, what, { serialise }, why, fix);
}

/** The same without right credentials: two stages are changed, and it has to look like any other forged delivery. */
function forged(
  slug: string,
  what: string,
  sign: SignChange,
  serialise: Serialiser,
  why: string,
  fix: string,
): ProbeScenario {
  return {
    id: `malformed/${slug}`,
    title: `Refuses ${what} like any other forged delivery`,
    level: 'must',
    requirements: ['delivery-malformed-unsigned'],
    needs: ['hmac'],
    change: { serialise, sign },
    expect: refusedMalformed,
    why,
    fix,
  };
}

const otherSecret = signedWith('signed with another secret', (kit) => kit.bytes(32));

/** Bodies that no JSON parser takes. Specification: Delivery endpoint (malformed payload). */
export const malformedJson: readonly ProbeScenario[] = [
  broken(
    'truncated',
    'JSON that ends after a colon',
    fixedText('{"id":'),
    'JSON.parse throws. In an async handler without a guard that is an unhandled rejection, and Node ends the process.',
    'Parse inside try/catch, and answer 400 when it throws.',
  ),
  broken(
    'cut-in-half',
    'the first half of a notification',
    rewritten((json) => json.slice(0, Math.floor(json.length / 2))),
    'A proxy with a size limit may hand on a part of a body; the part looks promising until the parser reaches its end.',
    'Give the parser error a handler of its own; a framework default may be a 500.',
  ),
  broken(
    'unquoted-keys',
    'keys without quotes',
    fixedText('{id:1}'),
    'Parser errors differ in type from one mistake to the next, and a catch for one type lets the others through.',
    'Catch every error of the parser and not one class of it.',
  ),
  broken(
    'single-quotes',
    'single quotes in place of double ones',
    fixedText("{'id': 'a', 'data': None}"),
    'This is what a Python object looks like when it is printed; a lenient evaluator in place of a parser would even run it.',
    'Use a strict JSON parser, and never eval() or literal_eval() on a body.',
  ),
  broken(
    'trailing-comma',
    'a comma before the closing brace',
    rewritten((json) => json.replace(/\}$/, ',}')),
    'Hand-edited replays have this mistake, and they are sent in the middle of an incident.',
    'Answer 400 with a fixed text, so that whoever replays by hand sees what is wrong.',
  ),
  broken(
    'comments',
    'JSON with a comment',
    rewritten((json) => `/* test */ ${json}`),
    'Comments are no JSON; a parser for configuration files accepts them and may do more than that.',
    'Parse deliveries with the standard parser, not with one for JSON5 or JSONC.',
  ),
  broken(
    'two-documents',
    'two JSON documents in one body',
    rewritten((json) => `${json}${json}`),
    'A stream parser reads the first and leaves the second, so what was verified is more than what was handled.',
    'Require the end of the input after the first value.',
  ),
  broken(
    'half-literal',
    'the beginning of a literal',
    fixedText('nul'),
    'Three letters are enough to kill a receiver that parses without a guard.',
    'Put the guard around the parser itself and not around the code after it.',
  ),
  broken(
    'not-a-number',
    'NaN as a number',
    rewritten((json) => json.replace(/\}$/, ',"testNumber":NaN}')),
    'Python accepts NaN and Infinity by default, and later code, or the database, throws on them.',
    'Refuse them in the parser (parse_constant in Python).',
  ),
  broken(
    'leading-zero',
    'a number with a leading zero',
    rewritten((json) => json.replace(/\}$/, ',"testNumber":0123}')),
    'Old parsers read it as octal: 0123 becomes 83 without a word.',
    'Use a parser that follows the JSON grammar.',
  ),
  broken(
    'raw-newline-in-string',
    'a line break inside a string',
    rewritten((json) => json.replace('"type":"', '"type":"\n')),
    'Control characters are not allowed there; lenient parsers let them into logs, where one delivery then looks like two.',
    'Refuse control characters in strings, as the grammar does.',
  ),
  broken(
    'empty',
    'an empty body',
    fixedText(''),
    'Some frameworks leave the body undefined, some make it {} or null; the next line of code decides about the crash.',
    'Treat a length of zero as a malformed payload of its own, before parsing.',
  ),
  broken(
    'only-white-space',
    'a body of white space',
    fixedText(' \r\n\t '),
    'It is not empty and yet holds no value, so a check for a length of zero does not catch it.',
    'Leave it to the guarded parser, which fails on it.',
  ),
  broken(
    'form-encoded',
    'a form in place of JSON',
    fixedText('id=1&type=CAAS&data[type]=BUY'),
    'A parser for forms makes an object out of it, and the handler works on fields that nobody has validated.',
    'Parse as JSON only, and let nothing guess the format.',
  ),
  broken(
    'xml',
    'XML in place of JSON',
    fixedText('<?xml version="1.0"?><!DOCTYPE n [<!ENTITY e "x">]><n>&e;</n>'),
    'A receiver that guesses the format may run an XML parser with entities on it.',
    'Do not choose the parser by the first character of the body.',
  ),
  broken(
    'binary',
    'random bytes',
    () => Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 167 + 13) % 256)),
    'Not even text: decoders throw before the parser gets its turn.',
    'Guard decoding as well as parsing.',
  ),
  broken(
    'utf-16',
    'a notification in UTF-16',
    (value) => Buffer.from(`\ufeff${compact(value)}`, 'utf16le'),
    'A Windows tool that replays a file sends every second byte as zero.',
    'Refuse what is not UTF-8 with 400 or 415.',
  ),
  forged(
    'unsigned-json',
    'broken JSON without a signature',
    unsigned,
    fixedText('{"id":'),
    'Anybody on the internet can send this. A receiver that parses first can be stopped without knowing any secret.',
    'Check the signature on the raw bytes before the body is parsed, and answer 401.',
  ),
  forged(
    'unsigned-empty',
    'an empty body without a signature',
    unsigned,
    fixedText(''),
    'Scanners post empty bodies all day; each one must end in a plain 401.',
    'Do not skip the check when there is nothing to hash.',
  ),
  forged(
    'unsigned-null',
    'the body null without a signature',
    unsigned,
    fixedText('null'),
    'Reading a field of null throws before the check when the handler looks at the type first.',
    'Do not look at the payload before its signature is verified.',
  ),
  forged(
    'unsigned-binary',
    'random bytes without a signature',
    unsigned,
    () => Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 89 + 7) % 256)),
    'Decoding for the log line before the check throws on bytes that are not text.',
    'Do not log or decode a body that is not verified.',
  ),
  forged(
    'wrongly-signed-json',
    'broken JSON under a wrong signature',
    otherSecret,
    fixedText('{"id":"a","type":'),
    'A 400 here tells a forger that the parser comes before the check, and gives a free parser to attack.',
    'Order the steps: read, check the key, verify, and only then parse.',
  ),
];
