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
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { rewriteText, verifyOver, verifyText } from './raw-body-replacements.ts';

const over = (style: JsonDialect) => verifyText((text) => rewriteJson(requireEncodable(text), style));

const DOTNET: JsonDialect = {
  separators: [',', ':'],
  number: (source) => source,
  string: (text) => {
    const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '\\u0022');
    return `"${escapeUnicode(inner, /[\u007f-\uffff<>&'+`]/g, true)}"`;
  },
};

/**
 * Compacts JSON text as Go does for a json.RawMessage: removes whitespace, escapes HTML characters, and keeps the
 * tokens.
 */
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

/** Returns the members of an object, with the source text of each value. */
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

/** Rewrites only the numbers of a JSON text. */
function withNumbers(text: string, spell: (source: string) => string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, token?: string) => token ?? spell(all));
}

/** Re-serialises the text if a top-level key is repeated, like a parser that forbids repeated keys. */
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

/** Decodes percent escapes as lenient decoders do. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

export const rawBodyReserialisedFaults = family<StageFault>(
  { area: 'raw-body', mistake: 'reserialised-body' },
  {
    'verifies-reserialised-json': [
      'Verifies the signature over re-serialised JSON',
      verifyText((text) => JSON.stringify(JSON.parse(text))),
    ],
    // Mutants that verify the output of serialisers in other languages. Several of them reject every real delivery; the
    // others differ only in numbers and escapes.
    'verifies-python-json': [
      'Verifies the signature over the default output of json.dumps, with spaces after commas and colons',
      over(PYTHON),
      { note: 'Every delivery of this service is rejected, because it sends compact JSON.' },
    ],
    'verifies-python-compact-json': [
      'Verifies the signature over compact JSON as Python or Java write it after parsing',
      over(PYTHON_COMPACT),
    ],
    'verifies-sorted-json': [
      'Verifies the signature over the body in ASCII with sorted keys',
      over({ ...PYTHON_COMPACT_ASCII, sortKeys: true }),
      { note: 'The sender does not sort keys, so every real delivery is rejected.' },
    ],
    'verifies-go-map-json': [
      'Verifies the signature over the json.Marshal output of a Go map',
      over(GO_MAP),
      { note: 'Go writes map keys in alphabetical order, so no delivery verifies.' },
    ],
    'verifies-go-struct-json': [
      'Verifies the signature over a Go struct that was filled from the body and marshalled again',
      verifyText((text) => inGoStruct(requireEncodable(text))),
      { note: 'The escapes of <, > and &, and a new envelope field, break the check.' },
    ],
    'verifies-php-json': [
      'Verifies the signature over json_encode(json_decode($body, true))',
      over(PHP),
      { note: 'A slash, an accented character or an empty object is enough.' },
    ],
    'verifies-php-unescaped-json': [
      'Verifies the signature over json_encode with unescaped slashes and Unicode',
      over(PHP_UNESCAPED),
      { note: 'The two flags fix only slashes and Unicode.' },
    ],
    'verifies-ruby-json': [
      'Verifies the signature over the output of JSON.generate or to_json after parsing',
      over(RUBY),
    ],
    'verifies-dotnet-json': [
      'Verifies the signature over the output of System.Text.Json after parsing',
      over(DOTNET),
      { note: 'System.Text.Json escapes all characters outside ASCII and some within it.' },
    ],
    'verifies-declared-fields': [
      'Verifies the signature over a re-serialised object of declared fields',
      verifyText((text) => {
        const { id, type, at, data } = JSON.parse(text) as Record<string, unknown>;
        return JSON.stringify({ id, type, at, data });
      }),
      { note: 'Unknown fields are lost: the next field that the service adds breaks every delivery.' },
    ],
    // Mutants that change whitespace at the ends of the body, between its tokens, or at its line ends.
    'trims-body': [
      'Removes whitespace at both ends of the body before the verification',
      rewriteText((text) => text.trim()),
      'decoded-body',
    ],
    'chomps-body': [
      'Removes one line ending at the end of the body before the verification',
      rewriteText((text) => text.replace(/(?:\r\n|\n|\r)$/, '')),
      'decoded-body',
    ],
    'joins-lines-without-line-ends': [
      'Reads the body line by line and joins it without line endings',
      rewriteText((text) => text.replace(/[\r\n]/g, '')),
      'decoded-body',
      { note: 'The `BufferedReader.readLine()` loop is copied into many servlets.' },
    ],
    'normalises-line-ends': [
      'Converts or removes the carriage returns of the body before the verification',
      rewriteText((text) => text.replace(/\r\n?/g, '\n')),
      'decoded-body',
    ],
    'verifies-from-first-brace': [
      'Verifies only the part of the body from the first brace on',
      verifyOver((body) => body.subarray(Math.max(0, body.indexOf('{')))),
      'signed-part-of-body',
      { note: 'Bytes before the brace are not covered.' },
    ],
    'verifies-minified-json': [
      'Removes whitespace between tokens before the verification',
      rewriteText((text) => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, token?: string) => token ?? '')),
      'body-rewritten-upstream',
    ],
    'expands-tabs': [
      'Converts tabs in the body to spaces before the verification',
      rewriteText((text) => text.replaceAll('\t', '  ')),
      'body-rewritten-upstream',
    ],
    // Mutants that change the spelling of the body before verification, without a parser.
    'unescapes-slashes': [
      'Unescapes slashes in the body before the verification',
      rewriteText((text) => text.replaceAll('\\/', '/')),
      'imitated-body-format',
    ],
    'escapes-slashes': [
      'Escapes slashes in the body before the verification',
      rewriteText((text) => text.replace(/(?<!\\)\//g, '\\/')),
      'imitated-body-format',
    ],
    'escapes-non-ascii': [
      'Escapes characters outside ASCII before the verification',
      rewriteText((text) => escapeUnicode(text, /[\u0080-\uffff]/g)),
      'imitated-body-format',
    ],
    'unescapes-unicode': [
      'Unescapes Unicode characters in the body before the verification',
      rewriteText((text) =>
        text.replace(/\\u([0-9a-f]{4})/gi, (all, digits: string) => {
          const unit = Number.parseInt(digits, 16);
          return unit < 0x20 || unit === 0x22 || unit === 0x5c ? all : String.fromCharCode(unit);
        }),
      ),
      'imitated-body-format',
    ],
    'escapes-html': [
      'Sanitises the body against script injection before the verification',
      rewriteText((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')),
      'sanitised-body',
    ],
    'strips-backslashes': [
      'Removes backslashes from the body before the verification',
      rewriteText((text) => text.replace(/\\(.)/g, '$1')),
      'sanitised-body',
    ],
    'strips-null-escapes': [
      'Removes escapes of U+0000 from the body before the verification',
      rewriteText((text) => text.replaceAll('\\u0000', '')),
      'sanitised-body',
    ],
    'reformats-numbers': [
      'Reformats numbers in the body before the verification',
      rewriteText((text) => withNumbers(text, (source) => JSON.stringify(Number(source)))),
      'imitated-body-format',
    ],
    'drops-repeated-keys': [
      'Removes repeated keys from the body before the verification',
      rewriteText(withoutRepeatedKeys),
      'body-rewritten-upstream',
    ],
    'url-decodes-body': [
      'Decodes percent escapes in the body before the verification',
      rewriteText(percentDecoded),
      'sanitised-body',
    ],
    'uses-body-as-format-string': [
      'Uses the body as a format string before verification',
      rewriteText((text) => text.replace(/%(.)/g, (_all, verb: string) => (verb === '%' ? '%' : `%!${verb}(MISSING)`))),
      'body-as-template',
    ],
    'puts-body-into-replacement': [
      'Inserts the body into a template with a replace function that interprets dollar signs',
      rewriteText((text) => '{body}'.replace('{body}', text)),
      'body-as-template',
    ],
  },
);
