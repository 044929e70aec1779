/** Mutants that verify the signature over a body that was parsed and re-serialised, or whose text was rewritten. */
import type { StageFault } from './fault.ts';
import {
  encodable,
  escaped,
  type JsonStyle,
  phpNumber,
  pythonNumber,
  rewriteJson,
  rubyNumber,
} from './json-rewriting.ts';
import { RAW_BYTES, rawBytes, readingText, verifyingOver } from './raw-body-replacements.ts';

const LANGUAGE = {
  area: 'raw-body',
  severity: 'high',
  forbidden: true,
  stage: 'verifySignature',
} as const;

const COMPACT: JsonStyle['separators'] = [',', ':'];

const ascii = (text: string) => escaped(JSON.stringify(text), /[\u007f-\uffff]/g);

const over = (style: JsonStyle) =>
  verifyingOver((body) => [Buffer.from(rewriteJson(encodable(body.toString('utf8')), style))]);

const DOTNET: JsonStyle = {
  separators: COMPACT,
  number: (source) => source,
  string: (text) =>
    `"${escaped(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '\\u0022'), /[\u007f-\uffff<>&'+`]/g, true)}"`,
};

const GO: JsonStyle = {
  separators: COMPACT,
  sortKeys: true,
  number: (source) => JSON.stringify(Number(source)),
  string: (text) => escaped(JSON.stringify(text), /[<>&\u2028\u2029]/g),
};

/** Go compacts a json.RawMessage: white space goes, HTML is escaped, and the tokens stay as they were. */
function compactedByGo(json: string): string {
  return escaped(
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

/** The JSON text with its numbers spelt anew and everything else as it was. */
function withNumbers(text: string, spell: (source: string) => string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, token?: string) => token ?? spell(all));
}

/** Members that are repeated at the top level make the whole text be written again, as a parser that forbids them would. */
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

/** Decodes percent signs that introduce an escape, as lenient decoders do. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

export const rawBodyReserialisedFaults: readonly StageFault[] = [
  {
    name: 'verifies-reserialised-json',
    area: 'raw-body',
    title: 'The signature is verified over JSON that was parsed and written again.',
    seen: 'Most often behind express.json(), where the raw bytes are gone and JSON.stringify(req.body) stands in; some vendors even recommend it.',
    why: 'Right signatures are refused as soon as the body is not exactly what your JSON library would write. It works with one sender and fails with the first different space, number or escape.',
    fix: RAW_BYTES,
    severity: 'high',
    forbidden: true,
    stage: 'verifySignature',
    replace: verifyingOver((body) => [Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))))]),
  },
  // Signatures over what other languages write. Several refuse every real delivery; the others are found by their numbers and escapes.
  {
    ...LANGUAGE,
    name: 'verifies-python-json',
    title: 'The signature is verified over what json.dumps writes by default, with spaces behind commas and colons.',
    seen: 'Flask and Django views that start from request.json or json.loads, because the body is at hand there as a dict.',
    why: 'No delivery of this service is accepted: it sends compact JSON, and Python writes a space behind every comma and colon.',
    fix: rawBytes('Verify the bytes that arrived, and never a text that json.dumps has written.'),
    replace: over({ separators: [', ', ': '], number: pythonNumber, string: ascii }),
  },
  {
    ...LANGUAGE,
    name: 'verifies-python-compact-json',
    title: 'The signature is verified over compact JSON as Python or Java write it after parsing.',
    seen: "Code that was fitted to one sender with separators=(',', ':') and ensure_ascii=False, and Jackson trees that are written back.",
    why: 'Sample deliveries pass. The first number with an exponent, escape or space in the body makes a right signature look wrong.',
    fix: rawBytes('Do not fit the output of a JSON library to the sender: verify the bytes that arrived.'),
    replace: over({
      separators: COMPACT,
      number: pythonNumber,
      string: (text) => JSON.stringify(encodable(text)),
    }),
  },
  {
    ...LANGUAGE,
    name: 'verifies-sorted-json',
    title: 'The signature is verified over the body with its keys sorted, in ASCII.',
    seen: 'Python with sort_keys=True, maps in Go, and canonical JSON that was taken over from another signature scheme.',
    why: 'The sender does not sort, so every real delivery is refused.',
    fix: rawBytes('Remove the canonical form: this scheme signs the bytes as they are sent.'),
    replace: over({ separators: COMPACT, sortKeys: true, number: pythonNumber, string: ascii }),
  },
  {
    ...LANGUAGE,
    name: 'verifies-go-map-json',
    title: 'The signature is verified over what json.Marshal makes of a Go map.',
    seen: 'Handlers that decode into map[string]any and marshal it again for the check.',
    why: 'Go writes the keys of a map in the order of the alphabet, so no delivery verifies.',
    fix: rawBytes('Keep what io.ReadAll gave you, and verify that before json.Unmarshal.'),
    replace: over(GO),
  },
  {
    ...LANGUAGE,
    name: 'verifies-go-struct-json',
    title: 'The signature is verified over a Go struct that was filled from the body and marshalled again.',
    seen: 'Go handlers that decode the envelope into a struct with a json.RawMessage for the data.',
    why: 'Ordinary deliveries pass. White space, <, > and & in texts, another order of keys or a new field of the envelope break the check.',
    fix: rawBytes('Keep what io.ReadAll gave you, and verify that before json.Unmarshal.'),
    replace: verifyingOver((body) => [Buffer.from(inGoStruct(encodable(body.toString('utf8'))))]),
  },
  {
    ...LANGUAGE,
    name: 'verifies-php-json',
    title: 'The signature is verified over json_encode(json_decode($body, true)).',
    seen: 'PHP plugins, and frameworks whose request object offers the body as an array first.',
    why: 'Bodies without slashes, accents and empty objects pass. A link, a name with an accent or an empty object makes a right signature look wrong.',
    fix: rawBytes('Verify file_get_contents("php://input"), which holds the bytes that arrived.'),
    replace: over({
      separators: COMPACT,
      emptyObject: '[]',
      number: phpNumber,
      string: (text) => escaped(JSON.stringify(encodable(text)), /[\u0080-\uffff]/g).replaceAll('/', '\\/'),
    }),
  },
  {
    ...LANGUAGE,
    name: 'verifies-php-unescaped-json',
    title: 'The signature is verified over json_encode with slashes and Unicode left unescaped.',
    seen: 'The second try of PHP receivers whose first try failed on a slash or an accent.',
    why: 'The two flags mend the two spellings that were noticed. Numbers, empty objects, escapes and white space still differ.',
    fix: rawBytes('Drop json_encode from the check instead of adding flags: verify php://input.'),
    replace: over({
      separators: COMPACT,
      emptyObject: '[]',
      number: phpNumber,
      string: (text) => escaped(JSON.stringify(encodable(text)), /[\u2028\u2029]/g),
    }),
  },
  {
    ...LANGUAGE,
    name: 'verifies-ruby-json',
    title: 'The signature is verified over what JSON.generate or to_json writes after parsing.',
    seen: 'Rails controllers that sign params.to_json, and Rack middleware that has replaced the body by a hash.',
    why: 'It holds for as long as the sender writes JSON as Ruby does. Fractions, exponents, escapes and spaces do not come back as they were.',
    fix: rawBytes('Use request.raw_post or request.body.read, and not the params.'),
    replace: over({
      separators: COMPACT,
      number: rubyNumber,
      string: (text) => JSON.stringify(encodable(text)),
    }),
  },
  {
    ...LANGUAGE,
    name: 'verifies-dotnet-json',
    title: 'The signature is verified over what System.Text.Json writes after parsing.',
    seen: 'ASP.NET actions with a bound model or a JsonNode, from which the text for the check is made.',
    why: 'The writer escapes everything outside ASCII and some signs within it. The first name with an accent or an ampersand is refused.',
    fix: rawBytes('Read the body from Request.Body before model binding, and verify those bytes.'),
    replace: over(DOTNET),
  },
  {
    ...LANGUAGE,
    name: 'verifies-declared-fields',
    title: 'The signature is verified over an object of declared fields that was written again.',
    seen: 'Spring, ASP.NET and NestJS controllers that bind the body to a class and serialise the class for the check.',
    why: 'Fields that the class does not know are lost, and the order becomes that of the class: the next field that the service adds breaks every delivery.',
    fix: rawBytes('Bind the body to a class after the check only; verify the bytes that arrived.'),
    replace: verifyingOver((body) => {
      const { id, type, at, data } = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
      return [Buffer.from(JSON.stringify({ id, type, at, data }))];
    }),
  },
  // White space at the ends, between the tokens, and at the ends of lines: bytes that look as if they did not matter.
  {
    ...LAYOUT,
    name: 'trims-body',
    title: 'White space at both ends of the body is removed before the signature is verified.',
    seen: 'trim(), strip() or middleware that cleans up input, as Laravel has for request fields.',
    why: 'A body with a line feed at its end is refused although it is rightly signed, and bytes that nobody signed are let through.',
    fix: rawBytes('Pass the body to the HMAC function as it is, without trim or strip.'),
    stage: 'readBody',
    replace: readingText((text) => text.trim()),
  },
  {
    ...LAYOUT,
    name: 'chomps-body',
    title: 'One line end at the end of the body is removed before the signature is verified.',
    seen: 'chomp in Ruby and Perl code, shell substitution, and line readers.',
    why: 'The sender has signed that line end, so the delivery is refused; and a line end that nobody signed can be added.',
    fix: rawBytes('Read the body as a block of bytes, and do not chomp it.'),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/(?:\r\n|\n|\r)$/, '')),
  },
  {
    ...LAYOUT,
    name: 'joins-lines-without-line-ends',
    title: 'The body is read line by line and joined without the line ends.',
    seen: 'The loop over BufferedReader.readLine() that is copied into many servlets, and its likes in C# and Go.',
    why: 'A body of one line passes every test. One with a line end anywhere outside of its texts is refused.',
    fix: rawBytes('Read the body as bytes, and not as lines.', {
      spring: 'Take the body as `@RequestBody byte[]` and not from `request.getReader()`.',
    }),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/[\r\n]/g, '')),
  },
  {
    ...LAYOUT,
    name: 'normalises-line-ends',
    title: 'Line ends of the body are turned into a single line feed before the signature is verified.',
    seen: 'Input streams in text mode (universal newlines in Python, text mode on Windows) and form sanitisers.',
    why: 'The hash is over fewer bytes than came, so a body with carriage returns is refused.',
    fix: rawBytes('Open the input in binary mode, without newline translation.'),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/\r\n?/g, '\n')),
  },
  {
    ...LAYOUT,
    name: 'verifies-from-first-brace',
    title: 'Only what stands from the first brace on is verified.',
    seen: 'Home-made HTTP parsers that look for the start of the JSON text in what they read.',
    why: 'What stands before the brace is not covered by the check, and when the sender signs it the delivery is refused.',
    fix: rawBytes('Take the body from the HTTP library, from its first byte on.'),
    stage: 'verifySignature',
    replace: verifyingOver((body) => [body.subarray(Math.max(0, body.indexOf('{')))]),
  },
  {
    ...LAYOUT,
    name: 'verifies-minified-json',
    title: 'White space outside of texts is removed before the signature is verified.',
    seen: 'Gateways, firewalls and CDNs that minify JSON on its way to the handler.',
    why: 'Compact bodies pass, so nobody notices. Every body with a space or a line end between its tokens is refused.',
    fix: rawBytes('Turn off body rewriting for this route, or verify in front of it.'),
    stage: 'readBody',
    replace: readingText((text) => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, token?: string) => token ?? '')),
  },
  {
    ...LAYOUT,
    name: 'expands-tabs',
    title: 'Tabs in the body are turned into spaces before the signature is verified.',
    seen: 'Template engines and transformation steps of integration platforms that put the body into a text of their own.',
    why: 'Bodies that are indented by tabs are refused, and no others: a fault that waits for a new sender.',
    fix: rawBytes('Verify before any template or transformation step handles the body.'),
    stage: 'readBody',
    replace: readingText((text) => text.replaceAll('\t', '  ')),
  },
  // Bodies in which some spelling was changed on the way to the check, without a parser.
  {
    ...SPELLING,
    name: 'unescapes-slashes',
    title: 'Escaped slashes of the body are unescaped before the signature is verified.',
    seen: 'A patch for senders in PHP, copied into SDKs and forwarders.',
    why: 'The patch mends one sender by guessing how it writes. A sender that does escape is refused.',
    fix: rawBytes('Remove the patch: with the raw bytes no spelling has to be guessed.'),
    replace: readingText((text) => text.replaceAll('\\/', '/')),
  },
  {
    ...SPELLING,
    name: 'escapes-slashes',
    title: 'Slashes of the body are escaped before the signature is verified.',
    seen: 'Receivers in Node that imitate json_encode, so as to verify what a PHP sender has signed.',
    why: 'Every delivery with a link or a path in it is refused as soon as the sender is not PHP.',
    fix: rawBytes('Do not imitate how a sender escapes: verify the bytes that arrived.'),
    replace: readingText((text) => text.replace(/(?<!\\)\//g, '\\/')),
  },
  {
    ...SPELLING,
    name: 'escapes-non-ascii',
    title: 'Characters outside ASCII are turned into escapes before the signature is verified.',
    seen: 'SDKs that imitate the escapes of Python or PHP with a regular expression.',
    why: 'Deliveries with a letter outside ASCII that stands there as it is are refused.',
    fix: rawBytes('Do not imitate how a sender escapes: verify the bytes that arrived.'),
    replace: readingText((text) => escaped(text, /[\u0080-\uffff]/g)),
  },
  {
    ...SPELLING,
    name: 'unescapes-unicode',
    title: 'Unicode escapes of the body are turned into characters before the signature is verified.',
    seen: 'Log pipelines and forwarders that "beautify" JSON, and regular expressions that undo ensure_ascii.',
    why: 'A sender that writes in ASCII only is refused with the first accent.',
    fix: rawBytes('Leave escapes to the parser, after the check.'),
    replace: readingText((text) =>
      text.replace(/\\u([0-9a-f]{4})/gi, (all, digits: string) => {
        const unit = Number.parseInt(digits, 16);
        return unit < 0x20 || unit === 0x22 || unit === 0x5c ? all : String.fromCharCode(unit);
      }),
    ),
  },
  {
    ...SPELLING,
    name: 'escapes-html',
    title: 'The body is cleaned against script injection before the signature is verified.',
    seen: 'Filters such as xss-clean, strip_tags in a bootstrap file, and firewalls that rewrite requests.',
    why: 'A free text with <, > or & is refused although it is rightly signed, and the stored text is no longer what was sent.',
    fix: rawBytes('Exempt this route from input cleaning, and encode texts where you show them.'),
    replace: readingText((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')),
  },
  {
    ...SPELLING,
    name: 'strips-backslashes',
    title: 'Backslashes are removed from the body before the signature is verified.',
    seen: 'stripslashes in PHP code from the time of magic quotes, and wp_unslash in plugins for WordPress.',
    why: 'Every body with an escape in it is refused: a quotation mark in a free text is enough.',
    fix: rawBytes('Do not unslash the body; it was never slashed.'),
    replace: readingText((text) => text.replace(/\\(.)/g, '$1')),
  },
  {
    ...SPELLING,
    name: 'strips-null-escapes',
    title: 'The escape of U+0000 is removed from the body before the signature is verified.',
    seen: 'A guard for PostgreSQL, whose text columns refuse that character, which was put in front of everything else.',
    why: 'A right signature is called wrong, and the sender looks for a fault in its credentials.',
    fix: rawBytes('Verify first. Refuse or remove U+0000 afterwards, in the parsed texts.'),
    severity: 'low',
    replace: readingText((text) => text.replaceAll('\\u0000', '')),
  },
  {
    ...SPELLING,
    name: 'reformats-numbers',
    title: 'Numbers of the body are written anew before the signature is verified.',
    seen: 'Gateways and JSON columns that keep the text but normalise numbers, and patches for 1.0 that became a rule.',
    why: 'Amounts such as 0.10 or 1.0 are spelt differently afterwards, and right deliveries are refused for a few amounts only.',
    fix: rawBytes('Verify before anything reads numbers; a regular expression for one spelling breaks on the next.'),
    replace: readingText((text) => withNumbers(text, (source) => JSON.stringify(Number(source)))),
  },
  {
    ...SPELLING,
    name: 'drops-repeated-keys',
    title: 'Repeated keys are removed from the body before the signature is verified.',
    seen: 'Firewalls and gateways that make JSON unambiguous before they pass it on.',
    why: 'A rightly signed body is called forged, in place of being refused for what it is.',
    fix: rawBytes('Verify before the gateway rewrites the body, or have it refuse such bodies with 400.'),
    severity: 'medium',
    replace: readingText(withoutRepeatedKeys),
  },
  {
    ...SPELLING,
    name: 'url-decodes-body',
    title: 'Percent escapes in the body are decoded before the signature is verified.',
    seen: 'Functions behind API gateways, form parsers, and helpers that decode every input of a request.',
    why: 'A link with %20 in it, or any escaped address in a text, makes a right delivery look forged.',
    fix: rawBytes('Do not decode the body: only form data is percent-encoded, and this is JSON.'),
    replace: readingText(percentDecoded),
  },
  {
    ...SPELLING,
    name: 'uses-body-as-format-string',
    title: 'The body is used as a format string on its way to the check.',
    seen: 'fmt.Fprintf(mac, body) in Go, printf in C and PHP, where the body stands in the place of the format.',
    why: 'A percent sign in a free text changes what is hashed; in C it can also read memory.',
    fix: rawBytes('Write the body with Write or update, never with a function of the printf family.', {
      go: 'Use `mac.Write(body)` and not `fmt.Fprintf(mac, string(body))`.',
    }),
    replace: readingText((text) =>
      text.replace(/%(.)/g, (_all, verb: string) => (verb === '%' ? '%' : `%!${verb}(MISSING)`)),
    ),
  },
  {
    ...SPELLING,
    name: 'puts-body-into-replacement',
    title: 'The body is put into a template with a replace function that gives dollar signs a meaning.',
    seen: "template.replace('{body}', body) in JavaScript, and its like with backslashes in other languages.",
    why: 'An amount such as $& or $1 in a text is expanded, so a right delivery with a dollar sign in the wrong place is refused.',
    fix: rawBytes('Hash the body itself. Where a template is needed, give replace a function.'),
    replace: readingText((text) => '{body}'.replace('{body}', text)),
  },
];
