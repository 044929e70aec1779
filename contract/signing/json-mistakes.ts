/**
 * The body is parsed, and its JSON text is signed as a platform writes it: the most frequent mistake of webhook
 * receivers.
 */
import {
  GO_MAP,
  JAVASCRIPT_SORTED,
  type JsonDialect,
  PHP,
  PHP_UNESCAPED,
  PYTHON,
  PYTHON_COMPACT,
  PYTHON_COMPACT_ASCII,
  PYTHON_UNICODE,
  writeJson,
} from './json-dialects.ts';
import type { BodyMistake } from './mistake.ts';

const fix =
  'Sign and verify the same exact bytes. A sender serialises once, then signs and sends the result. A receiver takes ' +
  'the raw bytes before any parser runs: express.raw({ type: () => true }) or the verify hook of express.json in ' +
  'Express, request.get_data() in Flask, request.body in Django, php://input in PHP, request.raw_post in Rails, ' +
  'io.ReadAll(r.Body) in Go, @RequestBody byte[] in Spring.';

export const JSON_MISTAKES: readonly BodyMistake[] = [
  {
    name: 'reserialised-json',
    title: 'the body was parsed and serialised again with JSON.stringify',
    why:
      'A JSON body parser ran first, and only the parsed object was left to sign. Compact bodies hide the mistake; ' +
      'spaces, 1.0 or "\\/" reveal it.',
    fix,
    common: true,
    bytes: stringified(),
  },
  {
    name: 'python-json',
    title: "the body was parsed and serialised again with Python's json.dumps",
    why: 'By default json.dumps writes a space after "," and ":" and escapes everything outside ASCII.',
    fix,
    common: true,
    bytes: written(PYTHON),
  },
  {
    name: 'python-unicode-json',
    title: "the body was parsed and serialised again with Python's json.dumps and ensure_ascii=False",
    why: 'By default json.dumps writes a space after "," and ":".',
    fix,
    bytes: written(PYTHON_UNICODE),
  },
  {
    name: 'python-compact-json',
    title: 'the body was parsed and serialised again as compact JSON by Python, Ruby or Java',
    why: 'White space and escapes are lost. These platforms keep 1.0 and long integers, unlike JavaScript.',
    fix,
    common: true,
    bytes: written(PYTHON_COMPACT),
  },
  {
    name: 'php-json',
    title: "the body was parsed and serialised again with PHP's json_encode",
    why: 'By default json_encode escapes "/" and everything outside ASCII, and writes {} as [].',
    fix,
    common: true,
    bytes: written(PHP),
  },
  {
    name: 'php-unescaped-json',
    title: "the body was parsed and serialised again with PHP's json_encode, slashes and Unicode unescaped",
    why: 'The flags of json_encode fit most bodies but not all.',
    fix,
    bytes: written(PHP_UNESCAPED),
  },
  {
    name: 'python-compact-ascii-json',
    title: 'the body was parsed and serialised again by Python as compact JSON with ASCII escapes',
    why: 'With separators=(",", ":"), json.dumps still escapes everything outside ASCII.',
    fix,
    common: true,
    bytes: written(PYTHON_COMPACT_ASCII),
  },
  {
    name: 'sorted-json',
    title: 'the body was parsed and serialised again with its keys sorted',
    why: 'Other signature schemes ask for a canonical form. This one signs the bytes as they are.',
    fix,
    bytes: written(JAVASCRIPT_SORTED),
  },
  {
    name: 'python-sorted-json',
    title: 'the body was parsed and serialised again by Python with sort_keys=True',
    why: 'Other signature schemes ask for a canonical form. This one signs the bytes as they are.',
    fix,
    bytes: written({ ...PYTHON, sortKeys: true }),
  },
  {
    name: 'python-sorted-compact-json',
    title: 'the body was parsed and serialised again by Python as compact JSON with sort_keys=True',
    why: 'Other signature schemes ask for a canonical form. This one signs the bytes as they are.',
    fix,
    bytes: written({ ...PYTHON_COMPACT_ASCII, sortKeys: true }),
  },
  {
    name: 'go-json',
    title: 'the body was parsed into a map and serialised again by Go',
    why: 'In Go, json.Marshal sorts the keys of a map and escapes <, > and &.',
    fix,
    bytes: written(GO_MAP),
  },
  {
    name: 'pretty-json-2',
    title: 'the body was parsed and serialised again with an indent of two spaces',
    why: 'A vendor example signs JSON.stringify(body, null, 2), and it was copied.',
    fix,
    bytes: stringified(2),
  },
  {
    name: 'pretty-json-4',
    title: 'the body was parsed and serialised again with an indent of four spaces',
    why: 'The body was signed in the form in which it is logged or displayed.',
    fix,
    bytes: stringified(4),
  },
  {
    name: 'pretty-json-tab',
    title: 'the body was parsed and serialised again with tabs',
    why: 'The body was signed in the form in which it is logged or displayed.',
    fix,
    bytes: stringified('\t'),
  },
  {
    name: 'pretty-json-crlf',
    title: 'the body was parsed and serialised again with an indent of two spaces and Windows line ends',
    why: 'On Windows, indented JSON of .NET and of many editors ends its lines with CRLF.',
    fix,
    bytes(body) {
      const value = body.value();
      // A line feed inside a string is escaped, so each one is the end of a line.
      return value === undefined ? undefined : Buffer.from(JSON.stringify(value, null, 2).replaceAll('\n', '\r\n'));
    },
  },
  {
    name: 'data-only',
    title: 'only the "data" object of the body was signed',
    why: 'The envelope was unpacked before the signature was made, as in the schemes of other services.',
    fix,
    common: true,
    bytes(body) {
      const data = body.field('data');
      return data === undefined ? undefined : Buffer.from(JSON.stringify(data));
    },
  },
  {
    name: 'data-only-python',
    title: 'only the "data" object of the body was signed, as json.dumps writes it',
    why: 'The envelope was unpacked before the signature was made, as in the schemes of other services.',
    fix,
    bytes(body) {
      const tree = body.tree();
      const data = tree?.kind === 'object' ? tree.entries.get('data') : undefined;
      return data === undefined ? undefined : Buffer.from(writeJson(data, PYTHON));
    },
  },
];

function stringified(space?: number | string): BodyMistake['bytes'] {
  return (body) => {
    const value = body.value();
    return value === undefined ? undefined : Buffer.from(JSON.stringify(value, null, space));
  };
}

function written(dialect: JsonDialect): BodyMistake['bytes'] {
  return (body) => {
    const tree = body.tree();
    try {
      return tree === undefined ? undefined : Buffer.from(writeJson(tree, dialect));
    } catch {
      return undefined; // The platform cannot write this value.
    }
  };
}
