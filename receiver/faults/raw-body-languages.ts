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
import { rawBytes } from './raw-body-fix.ts';
import { verifyingOver } from './raw-body-wrong-input.ts';

const base = {
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

/** Signatures over what other languages write. Several refuse every real delivery; the others are found by their numbers and escapes. */
export const reserialisedInLanguages: readonly StageFault[] = [
  {
    ...base,
    name: 'verifies-python-json',
    title: 'The signature is verified over what json.dumps writes by default, with spaces behind commas and colons.',
    seen: 'Flask and Django views that start from request.json or json.loads, because the body is at hand there as a dict.',
    why: 'No delivery of this service is accepted: it sends compact JSON, and Python writes a space behind every comma and colon.',
    fix: rawBytes('Verify the bytes that arrived, and never a text that json.dumps has written.'),
    replace: over({ separators: [', ', ': '], number: pythonNumber, string: ascii }),
  },
  {
    ...base,
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
    ...base,
    name: 'verifies-sorted-json',
    title: 'The signature is verified over the body with its keys sorted, in ASCII.',
    seen: 'Python with sort_keys=True, maps in Go, and canonical JSON that was taken over from another signature scheme.',
    why: 'The sender does not sort, so every real delivery is refused.',
    fix: rawBytes('Remove the canonical form: this scheme signs the bytes as they are sent.'),
    replace: over({ separators: COMPACT, sortKeys: true, number: pythonNumber, string: ascii }),
  },
  {
    ...base,
    name: 'verifies-go-map-json',
    title: 'The signature is verified over what json.Marshal makes of a Go map.',
    seen: 'Handlers that decode into map[string]any and marshal it again for the check.',
    why: 'Go writes the keys of a map in the order of the alphabet, so no delivery verifies.',
    fix: rawBytes('Keep what io.ReadAll gave you, and verify that before json.Unmarshal.'),
    replace: over(GO),
  },
  {
    ...base,
    name: 'verifies-go-struct-json',
    title: 'The signature is verified over a Go struct that was filled from the body and marshalled again.',
    seen: 'Go handlers that decode the envelope into a struct with a json.RawMessage for the data.',
    why: 'Ordinary deliveries pass. White space, <, > and & in texts, another order of keys or a new field of the envelope break the check.',
    fix: rawBytes('Keep what io.ReadAll gave you, and verify that before json.Unmarshal.'),
    replace: verifyingOver((body) => [Buffer.from(inGoStruct(encodable(body.toString('utf8'))))]),
  },
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
    name: 'verifies-dotnet-json',
    title: 'The signature is verified over what System.Text.Json writes after parsing.',
    seen: 'ASP.NET actions with a bound model or a JsonNode, from which the text for the check is made.',
    why: 'The writer escapes everything outside ASCII and some signs within it. The first name with an accent or an ampersand is refused.',
    fix: rawBytes('Read the body from Request.Body before model binding, and verify those bytes.'),
    replace: over(DOTNET),
  },
  {
    ...base,
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
];
