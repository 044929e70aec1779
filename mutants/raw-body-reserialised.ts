/** Mutants that verify the signature over a body that was parsed and re-serialised, or whose text was rewritten. */
import {
  escapeUnicode,
  GO_MAP,
  type JsonDialect,
  PHP,
  PHP_UNESCAPED,
  PYTHON,
  PYTHON_COMPACT,
  PYTHON_COMPACT_ASCII,
  RUBY,
  requireEncodable,
  rewriteJson,
} from '../contract/signing/index.ts';
import type { StageFault } from './fault.ts';
import { RAW_BYTES, rawBytes, rewriteText, verifyOver } from './raw-body-replacements.ts';

const LANGUAGE = {
  area: 'raw-body',
  severity: 'high',
  forbidden: true,
  stage: 'requireSignature',
} as const;

const NEVER_SERIALISED = rawBytes('Verify the bytes that arrived, never the output of a JSON library.');

const over = (style: JsonDialect) =>
  verifyOver((body) => [Buffer.from(rewriteJson(requireEncodable(body.toString('utf8')), style))]);

const DOTNET: JsonDialect = {
  separators: [',', ':'],
  number: (source) => source,
  string: (text) => {
    const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '\\u0022');
    return `"${escapeUnicode(inner, /[\u007f-\uffff<>&'+`]/g, true)}"`;
  },
};

/** Go compacts a json.RawMessage: removes whitespace, escapes HTML, and keeps the tokens. */
function compactedByGo(json: string): string {
  return escapeUnicode(
    json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, text?: string) => text ?? ''),
    /[<>&\u2028\u2029]/g,
  );
}

function inGoStruct(json: string): string {
  const order = ['id', 'type', 'at', 'data'];
  const { keys, values } = topLevel(json);
  return compactedByGo(`{${order.map((name) => `"${name}":${values[keys.lastIndexOf(name)] ?? 'null'}`).join(',')}}`);
}

/** The members of an object with the source text of each value. */
function topLevel(json: string): { keys: string[]; values: string[] } {
  const parsed: unknown = JSON.parse(json);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new TypeError('not an object');
  const keys: string[] = [];
  const values: string[] = [];
  let depth = 0;
  let isKey = true;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|\s+|[^\s"{}[\],:]+/g)) {
    const closing = token === '}' || token === ']';
    if (closing) depth--;
    if (depth === 0) {
      if (token === '{') depth = 1;
      continue;
    }
    if (depth === 1 && token === ':' && isKey) isKey = false;
    else if (depth === 1 && token === ',') isKey = true;
    else if (isKey && token.startsWith('"')) {
      keys.push(JSON.parse(token));
      values.push('');
    } else if (!isKey) values[values.length - 1] += token;
    if (token === '{' || token === '[') depth++;
  }
  return { keys, values };
}

const LAYOUT = { area: 'raw-body', severity: 'high', forbidden: true } as const;

const SPELLING = { area: 'raw-body', severity: 'high', forbidden: true, stage: 'readBody' } as const;

/** Rewrites the numbers of a JSON text and nothing else. */
function withNumbers(text: string, spell: (source: string) => string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, token?: string) => token ?? spell(all));
}

/** Re-serialises the text if a top-level member is repeated, like a parser that forbids them. */
function withoutRepeatedKeys(text: string): string {
  const asIs = { separators: [',', ':'], number: (source: string) => source, string: JSON.stringify } as const;
  try {
    const once = rewriteJson(text, asIs);
    const count = (json: string) => json.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length;
    return count(once) === count(text) ? text : once;
  } catch {
    return text;
  }
}

/** Decodes percent escapes, like lenient decoders. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

export const rawBodyReserialisedFaults: readonly StageFault[] = [
  {
    name: 'verifies-reserialised-json',
    area: 'raw-body',
    title: 'Verifies the signature over re-serialised JSON',
    seen:
      'Usually after express.json(), where JSON.stringify(req.body) replaces the lost raw bytes; some vendors ' +
      'even recommend this.',
    why:
      'Valid signatures are rejected whenever the body is not exactly what your JSON library writes: a different use ' +
      'of spaces, number format or escape is enough.',
    fix: RAW_BYTES,
    severity: 'high',
    forbidden: true,
    stage: 'requireSignature',
    replace: verifyOver((body) => [Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))))]),
  },
  // Output of other languages. Several mutants reject every real delivery; the others show by their numbers and
  // escapes.
  {
    ...LANGUAGE,
    name: 'verifies-python-json',
    title: 'Verifies the signature over the default output of json.dumps, with spaces after commas and colons',
    seen: 'Flask and Django views that start from request.json or json.loads, because the body is available as a dict.',
    why: 'Every delivery of this service is rejected: it sends compact JSON.',
    fix: NEVER_SERIALISED,
    replace: over(PYTHON),
  },
  {
    ...LANGUAGE,
    name: 'verifies-python-compact-json',
    title: 'Verifies the signature over compact JSON as Python or Java write it after parsing',
    seen:
      "Code adapted to one sender with separators=(',', ':') and ensure_ascii=False, and Jackson trees that are " +
      'written back.',
    why:
      'Sample deliveries pass. The first exponent, escape or space in the body makes a valid signature look ' +
      'invalid.',
    fix: rawBytes('Do not adapt the output of a JSON library to the sender: verify the bytes that arrived.'),
    replace: over(PYTHON_COMPACT),
  },
  {
    ...LANGUAGE,
    name: 'verifies-sorted-json',
    title: 'Verifies the signature over the body in ASCII with sorted keys',
    seen: 'Python with sort_keys=True, maps in Go, and canonical JSON from another signature scheme.',
    why: 'The sender does not sort keys, so every real delivery is rejected.',
    fix: rawBytes('Remove the canonical form: this scheme signs the bytes as they are sent.'),
    replace: over({ ...PYTHON_COMPACT_ASCII, sortKeys: true }),
  },
  {
    ...LANGUAGE,
    name: 'verifies-go-map-json',
    title: 'Verifies the signature over the json.Marshal output of a Go map',
    seen: 'Handlers that decode into map[string]any and marshal it again for verification.',
    why: 'Go writes map keys in alphabetical order, so no delivery verifies.',
    fix: NEVER_SERIALISED,
    replace: over(GO_MAP),
  },
  {
    ...LANGUAGE,
    name: 'verifies-go-struct-json',
    title: 'Verifies the signature over a Go struct that was filled from the body and marshalled again',
    seen: 'Go handlers that decode the envelope into a struct with a json.RawMessage for the data.',
    why:
      'Ordinary deliveries pass. Whitespace, <, > and & in texts, another key order or a new envelope field break ' +
      'the check.',
    fix: NEVER_SERIALISED,
    replace: verifyOver((body) => [Buffer.from(inGoStruct(requireEncodable(body.toString('utf8'))))]),
  },
  {
    ...LANGUAGE,
    name: 'verifies-php-json',
    title: 'Verifies the signature over json_encode(json_decode($body, true))',
    seen: 'PHP plugins, and frameworks whose request object offers the body as an array first.',
    why: 'Simple bodies pass. A slash, an accented character or an empty object makes a valid signature look invalid.',
    fix: NEVER_SERIALISED,
    replace: over(PHP),
  },
  {
    ...LANGUAGE,
    name: 'verifies-php-unescaped-json',
    title: 'Verifies the signature over json_encode with unescaped slashes and Unicode',
    seen: 'The second attempt of PHP receivers whose first attempt failed on a slash or an accent.',
    why:
      'The two flags fix the two differences that were noticed. Numbers, empty objects, escapes and whitespace ' +
      'still differ.',
    fix: NEVER_SERIALISED,
    replace: over(PHP_UNESCAPED),
  },
  {
    ...LANGUAGE,
    name: 'verifies-ruby-json',
    title: 'Verifies the signature over the output of JSON.generate or to_json after parsing',
    seen: 'Rails controllers that sign params.to_json, and Rack middleware that replaces the body with a hash.',
    why: 'It works only while the sender writes JSON as Ruby does. Fractions, exponents, escapes and spaces change.',
    fix: NEVER_SERIALISED,
    replace: over(RUBY),
  },
  {
    ...LANGUAGE,
    name: 'verifies-dotnet-json',
    title: 'Verifies the signature over the output of System.Text.Json after parsing',
    seen: 'ASP.NET actions with a bound model or a JsonNode that is serialised for verification.',
    why:
      'The writer escapes all characters outside ASCII and some within it. The first accent or ampersand is ' +
      'rejected.',
    fix: NEVER_SERIALISED,
    replace: over(DOTNET),
  },
  {
    ...LANGUAGE,
    name: 'verifies-declared-fields',
    title: 'Verifies the signature over a re-serialised object of declared fields',
    seen:
      'Spring, ASP.NET and NestJS controllers that bind the body to a class and serialise the class for ' +
      'verification.',
    why:
      'Unknown fields are lost and the order becomes that of the class: the next field that the service adds breaks ' +
      'every delivery.',
    fix: rawBytes('Bind the body to a class only after verification, and verify the bytes that arrived.'),
    replace: verifyOver((body) => {
      const { id, type, at, data } = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
      return [Buffer.from(JSON.stringify({ id, type, at, data }))];
    }),
  },
  // Whitespace at the ends, between tokens, and at line endings.
  {
    ...LAYOUT,
    name: 'trims-body',
    title: 'Removes whitespace at both ends of the body before the verification',
    seen: 'trim(), strip() or middleware that cleans up input, as Laravel has for request fields.',
    why: 'A validly signed body that ends in a line feed is rejected, and unsigned bytes are accepted.',
    fix: rawBytes('Pass the body to the HMAC function as it is, without trim or strip.'),
    stage: 'readBody',
    replace: rewriteText((text) => text.trim()),
  },
  {
    ...LAYOUT,
    name: 'chomps-body',
    title: 'Removes one line ending at the end of the body before the verification',
    seen: 'chomp in Ruby and Perl, shell command substitution, and line readers.',
    why: 'A delivery with a signed line ending is rejected, and an unsigned line ending can be added.',
    fix: rawBytes('Read the body as a block of bytes, without chomp.'),
    stage: 'readBody',
    replace: rewriteText((text) => text.replace(/(?:\r\n|\n|\r)$/, '')),
  },
  {
    ...LAYOUT,
    name: 'joins-lines-without-line-ends',
    title: 'Reads the body line by line and joins it without line endings',
    seen: 'The BufferedReader.readLine() loop that is copied into many servlets, and its equivalents in C# and Go.',
    why: 'A single-line body passes every test. One with a line ending between its tokens is rejected.',
    fix: rawBytes('Read the body as bytes instead of lines.', {
      spring: 'Take the body as `@RequestBody byte[]`, not from `request.getReader()`.',
    }),
    stage: 'readBody',
    replace: rewriteText((text) => text.replace(/[\r\n]/g, '')),
  },
  {
    ...LAYOUT,
    name: 'normalises-line-ends',
    title: 'Converts or removes the carriage returns of the body before the verification',
    seen: 'Input streams in text mode (universal newlines in Python, text mode on Windows) and form sanitisers.',
    why: 'The hash covers fewer bytes than were sent, so a body with carriage returns is rejected.',
    fix: rawBytes('Open the input in binary mode, without newline translation.'),
    stage: 'readBody',
    replace: rewriteText((text) => text.replace(/\r\n?/g, '\n')),
  },
  {
    ...LAYOUT,
    name: 'verifies-from-first-brace',
    title: 'Verifies only the part of the body from the first brace on',
    seen: 'Hand-written HTTP parsers that search for the start of the JSON text.',
    why: 'Anything before the brace is not covered by the check, and a delivery with a signed prefix is rejected.',
    fix: rawBytes('Take the body from the HTTP library, from its first byte on.'),
    stage: 'requireSignature',
    replace: verifyOver((body) => [body.subarray(Math.max(0, body.indexOf('{')))]),
  },
  {
    ...LAYOUT,
    name: 'verifies-minified-json',
    title: 'Removes whitespace between tokens before the verification',
    seen: 'Gateways, firewalls and CDNs that minify JSON on its way to the handler.',
    why:
      'Compact bodies pass, so it goes unnoticed. Every body with a space or line ending between tokens is ' +
      'rejected.',
    fix: rawBytes('Disable body rewriting for this route, or verify before it.'),
    stage: 'readBody',
    replace: rewriteText((text) => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, token?: string) => token ?? '')),
  },
  {
    ...LAYOUT,
    name: 'expands-tabs',
    title: 'Converts tabs in the body to spaces before the verification',
    seen: 'Template engines and transformation steps of integration platforms that embed the body in their own text.',
    why: 'Only bodies with tabs are rejected, so the fault stays hidden until a sender uses them.',
    fix: rawBytes('Verify before any template or transformation step processes the body.'),
    stage: 'readBody',
    replace: rewriteText((text) => text.replaceAll('\t', '  ')),
  },
  // Bodies in which some spelling was changed before verification, without a parser.
  {
    ...SPELLING,
    name: 'unescapes-slashes',
    title: 'Unescapes slashes in the body before the verification',
    seen: 'A workaround for PHP senders that was copied into SDKs and forwarders.',
    why: 'The workaround helps one sender by guessing its format. A sender that does escape slashes is rejected.',
    fix: rawBytes('Remove the workaround: with the raw bytes there is nothing to guess.'),
    replace: rewriteText((text) => text.replaceAll('\\/', '/')),
  },
  {
    ...SPELLING,
    name: 'escapes-slashes',
    title: 'Escapes slashes in the body before the verification',
    seen: 'Node receivers that imitate json_encode to verify what a PHP sender signed.',
    why: 'Every delivery that contains a URL or a path is rejected unless the sender uses PHP.',
    fix: rawBytes('Do not imitate how a sender escapes: verify the bytes that arrived.'),
    replace: rewriteText((text) => text.replace(/(?<!\\)\//g, '\\/')),
  },
  {
    ...SPELLING,
    name: 'escapes-non-ascii',
    title: 'Escapes characters outside ASCII before the verification',
    seen: 'SDKs that imitate the escapes of Python or PHP with a regular expression.',
    why: 'Deliveries with an unescaped letter outside ASCII are rejected.',
    fix: rawBytes('Do not imitate how a sender escapes: verify the bytes that arrived.'),
    replace: rewriteText((text) => escapeUnicode(text, /[\u0080-\uffff]/g)),
  },
  {
    ...SPELLING,
    name: 'unescapes-unicode',
    title: 'Unescapes Unicode characters in the body before the verification',
    seen: 'Log pipelines and forwarders that "beautify" JSON, and regular expressions that undo ensure_ascii.',
    why: 'Deliveries of a sender that writes ASCII only are rejected at the first accent.',
    fix: rawBytes('Leave escapes to the parser, after verification.'),
    replace: rewriteText((text) =>
      text.replace(/\\u([0-9a-f]{4})/gi, (all, digits: string) => {
        const unit = Number.parseInt(digits, 16);
        return unit < 0x20 || unit === 0x22 || unit === 0x5c ? all : String.fromCharCode(unit);
      }),
    ),
  },
  {
    ...SPELLING,
    name: 'escapes-html',
    title: 'Sanitises the body against script injection before the verification',
    seen: 'Filters such as xss-clean, strip_tags in a bootstrap file, and firewalls that rewrite requests.',
    why:
      'A text with <, > or & is rejected although its signature is valid, and the stored text is not the one that ' +
      'was sent.',
    fix: rawBytes('Exclude this route from input sanitising, and encode texts where you show them.'),
    replace: rewriteText((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')),
  },
  {
    ...SPELLING,
    name: 'strips-backslashes',
    title: 'Removes backslashes from the body before the verification',
    seen: 'stripslashes in PHP code from the time of magic quotes, and wp_unslash in WordPress plugins.',
    why: 'Every body with an escape is rejected: a quotation mark in a text is enough.',
    fix: rawBytes('Do not unslash the body; nothing added slashes to it.'),
    replace: rewriteText((text) => text.replace(/\\(.)/g, '$1')),
  },
  {
    ...SPELLING,
    name: 'strips-null-escapes',
    title: 'Removes escapes of U+0000 from the body before the verification',
    seen: 'A guard for PostgreSQL, whose text columns reject that character, that runs before everything else.',
    why: 'A valid signature is reported as invalid, and the sender searches for a fault in its credentials.',
    fix: rawBytes('Verify first. Reject or remove U+0000 afterwards, in the parsed texts.'),
    severity: 'low',
    replace: rewriteText((text) => text.replaceAll('\\u0000', '')),
  },
  {
    ...SPELLING,
    name: 'reformats-numbers',
    title: 'Reformats numbers in the body before the verification',
    seen:
      'Gateways and JSON columns that keep the text but normalise numbers, and workarounds for 1.0 that became a ' +
      'rule.',
    why: 'Amounts such as 0.10 or 1.0 change their number format, so only some valid deliveries are rejected.',
    fix: rawBytes(
      'Verify before anything reads numbers; a regular expression for one number format fails ' + 'on the next.',
    ),
    replace: rewriteText((text) => withNumbers(text, (source) => JSON.stringify(Number(source)))),
  },
  {
    ...SPELLING,
    name: 'drops-repeated-keys',
    title: 'Removes repeated keys from the body before the verification',
    seen: 'Firewalls and gateways that remove ambiguity from JSON before they forward it.',
    why: 'A validly signed body is reported as forged instead of being rejected as ambiguous.',
    fix: rawBytes('Verify before the gateway rewrites the body, or let it reject such bodies with 400.'),
    severity: 'medium',
    replace: rewriteText(withoutRepeatedKeys),
  },
  {
    ...SPELLING,
    name: 'url-decodes-body',
    title: 'Decodes percent escapes in the body before the verification',
    seen: 'Functions behind API gateways, form parsers, and helpers that decode every input of a request.',
    why: 'A URL with %20 in a text makes a valid delivery look forged.',
    fix: rawBytes('Do not decode the body: only form data is percent-encoded, and this is JSON.'),
    replace: rewriteText(percentDecoded),
  },
  {
    ...SPELLING,
    name: 'uses-body-as-format-string',
    title: 'Uses the body as a format string before verification',
    seen: 'fmt.Fprintf(mac, body) in Go, or printf in C and PHP with the body as the format.',
    why: 'A percent sign in a text changes what is hashed; in C it can also read memory.',
    fix: rawBytes('Write the body with Write or update, never with a function of the printf family.', {
      go: 'Use `mac.Write(body)` instead of `fmt.Fprintf(mac, string(body))`.',
    }),
    replace: rewriteText((text) =>
      text.replace(/%(.)/g, (_all, verb: string) => (verb === '%' ? '%' : `%!${verb}(MISSING)`)),
    ),
  },
  {
    ...SPELLING,
    name: 'puts-body-into-replacement',
    title: 'Inserts the body into a template with a replace function that interprets dollar signs',
    seen: "template.replace('{body}', body) in JavaScript, and similar functions with backslashes in other languages.",
    why: 'Text such as $& or $1 is expanded, so a valid delivery that contains it is rejected.',
    fix: rawBytes('Hash the body itself. If you need a template, pass a function to replace.'),
    replace: rewriteText((text) => '{body}'.replace('{body}', text)),
  },
];
