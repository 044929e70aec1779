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

export const JSON_MISTAKES: readonly BodyMistake[] = [
  {
    name: 'reserialised-json',
    title: 'the body was parsed and serialised again with JSON.stringify',
    mistake: 'reserialised-body',
    note: 'Compact bodies hide the mistake; spaces, 1.0 or "\\/" reveal it.',
    common: true,
    bytes: stringified(),
  },
  {
    name: 'python-json',
    title: "the body was parsed and serialised again with Python's json.dumps",
    mistake: 'reserialised-body',
    note: 'By default json.dumps writes a space after "," and ":", and escapes everything outside ASCII.',
    common: true,
    bytes: written(PYTHON),
  },
  {
    name: 'python-unicode-json',
    title: "the body was parsed and serialised again with Python's json.dumps and ensure_ascii=False",
    mistake: 'reserialised-body',
    note: 'By default json.dumps writes a space after "," and ":".',
    bytes: written(PYTHON_UNICODE),
  },
  {
    name: 'python-compact-json',
    title: 'the body was parsed and serialised again as compact JSON by Python, Ruby or Java',
    mistake: 'reserialised-body',
    common: true,
    bytes: written(PYTHON_COMPACT),
  },
  {
    name: 'php-json',
    title: "the body was parsed and serialised again with PHP's json_encode",
    mistake: 'reserialised-body',
    note: 'By default json_encode escapes "/" and everything outside ASCII, and writes {} as [].',
    common: true,
    bytes: written(PHP),
  },
  {
    name: 'php-unescaped-json',
    title: "the body was parsed and serialised again with PHP's json_encode, slashes and Unicode unescaped",
    mistake: 'reserialised-body',
    bytes: written(PHP_UNESCAPED),
  },
  {
    name: 'python-compact-ascii-json',
    title: 'the body was parsed and serialised again by Python as compact JSON with ASCII escapes',
    mistake: 'reserialised-body',
    common: true,
    bytes: written(PYTHON_COMPACT_ASCII),
  },
  {
    name: 'sorted-json',
    title: 'the body was parsed and serialised again with its keys sorted',
    mistake: 'reserialised-body',
    bytes: written(JAVASCRIPT_SORTED),
  },
  {
    name: 'python-sorted-json',
    title: 'the body was parsed and serialised again by Python with sort_keys=True',
    mistake: 'reserialised-body',
    bytes: written({ ...PYTHON, sortKeys: true }),
  },
  {
    name: 'python-sorted-compact-json',
    title: 'the body was parsed and serialised again by Python as compact JSON with sort_keys=True',
    mistake: 'reserialised-body',
    bytes: written({ ...PYTHON_COMPACT_ASCII, sortKeys: true }),
  },
  {
    name: 'go-json',
    title: 'the body was parsed into a map and serialised again by Go',
    mistake: 'reserialised-body',
    note: 'In Go, json.Marshal sorts the keys of a map and escapes <, > and &.',
    bytes: written(GO_MAP),
  },
  {
    name: 'pretty-json-2',
    title: 'the body was parsed and serialised again with an indent of two spaces',
    mistake: 'reserialised-body',
    note: 'A vendor example signs JSON.stringify(body, null, 2), and it was copied.',
    bytes: stringified(2),
  },
  {
    name: 'pretty-json-4',
    title: 'the body was parsed and serialised again with an indent of four spaces',
    mistake: 'reserialised-body',
    bytes: stringified(4),
  },
  {
    name: 'pretty-json-tab',
    title: 'the body was parsed and serialised again with tabs',
    mistake: 'reserialised-body',
    bytes: stringified('\t'),
  },
  {
    name: 'pretty-json-crlf',
    title: 'the body was parsed and serialised again with an indent of two spaces and Windows line ends',
    mistake: 'reserialised-body',
    bytes(body) {
      const value = body.value();
      // A line feed inside a string is escaped, so each one is the end of a line.
      return value === undefined ? undefined : Buffer.from(JSON.stringify(value, null, 2).replaceAll('\n', '\r\n'));
    },
  },
  {
    name: 'data-only',
    title: 'only the "data" object of the body was signed',
    mistake: 'signed-part-of-body',
    common: true,
    bytes(body) {
      const data = body.field('data');
      return data === undefined ? undefined : Buffer.from(JSON.stringify(data));
    },
  },
  {
    name: 'data-only-python',
    title: 'only the "data" object of the body was signed, as json.dumps writes it',
    mistake: 'signed-part-of-body',
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
