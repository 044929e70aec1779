/**
 * Signing mistakes that parse the body and sign the JSON text that a platform writes. They are the most frequent
 * mistakes of webhook receivers.
 */
import {
  GO_MAP,
  JAVASCRIPT,
  JAVASCRIPT_SORTED,
  type JsonDialect,
  type JsonNode,
  PHP,
  PHP_UNESCAPED,
  PYTHON,
  PYTHON_COMPACT,
  PYTHON_COMPACT_ASCII,
  PYTHON_UNICODE,
  writeJson,
} from './json-dialects.ts';
import { type BodyMistake, fromTree, type Row, rowsOf } from './mistake.ts';

/** Mistakes that re-serialise the value unchanged. */
const REWRITTEN: Readonly<Record<string, Row<BodyMistake>>> = {
  'reserialised-json': {
    what: 'the body re-serialised with JSON.stringify',
    note: 'Compact bodies hide the mistake; spaces, 1.0 or "\\/" reveal it.',
    common: true,
    bytes: stringified(),
  },
  'python-json': {
    what: "the body re-serialised with Python's json.dumps",
    note: 'By default json.dumps writes a space after "," and ":", and escapes everything outside ASCII.',
    common: true,
    bytes: written(PYTHON),
  },
  'python-unicode-json': {
    what: "the body re-serialised with Python's json.dumps and ensure_ascii=False",
    note: 'By default json.dumps writes a space after "," and ":".',
    bytes: written(PYTHON_UNICODE),
  },
  'python-compact-json': {
    what: 'the body re-serialised as compact JSON by Python, Ruby or Java',
    common: true,
    bytes: written(PYTHON_COMPACT),
  },
  'php-json': {
    what: "the body re-serialised with PHP's json_encode",
    note: 'By default json_encode escapes "/" and everything outside ASCII, and writes {} as [].',
    common: true,
    bytes: written(PHP),
  },
  'php-unescaped-json': {
    what: "the body re-serialised with PHP's json_encode, slashes and Unicode unescaped",
    bytes: written(PHP_UNESCAPED),
  },
  'python-compact-ascii-json': {
    what: 'the body re-serialised by Python as compact JSON with ASCII escapes',
    common: true,
    bytes: written(PYTHON_COMPACT_ASCII),
  },
  'sorted-json': {
    what: 'the body re-serialised with its keys sorted',
    bytes: written(JAVASCRIPT_SORTED),
  },
  'python-sorted-json': {
    what: 'the body re-serialised by Python with sort_keys=True',
    bytes: written({ ...PYTHON, sortKeys: true }),
  },
  'python-sorted-compact-json': {
    what: 'the body re-serialised by Python as compact JSON with sort_keys=True',
    bytes: written({ ...PYTHON_COMPACT_ASCII, sortKeys: true }),
  },
  'go-json': {
    what: 'the body parsed into a map and re-serialised by Go',
    note: 'In Go, json.Marshal sorts the keys of a map and escapes <, > and &.',
    bytes: written(GO_MAP),
  },
  'pretty-json-2': {
    what: 'the body re-serialised with an indent of two spaces',
    note: 'A vendor example signs JSON.stringify(body, null, 2), and it was copied.',
    bytes: stringified(2),
  },
  'pretty-json-4': {
    what: 'the body re-serialised with an indent of four spaces',
    bytes: stringified(4),
  },
  'pretty-json-tab': { what: 'the body re-serialised with tabs', bytes: stringified('\t') },
  'pretty-json-crlf': {
    what: 'the body re-serialised with an indent of two spaces and Windows line endings',
    bytes(body) {
      const value = body.value();
      // A line feed inside a string is escaped, so every line feed here is a line break.
      return value === undefined ? undefined : Buffer.from(JSON.stringify(value, null, 2).replaceAll('\n', '\r\n'));
    },
  },
};

/**
 * Changes that frameworks and helpers make to the fields of a parsed body. `change` returns undefined to remove a
 * field.
 */
const CHANGES: Readonly<Record<string, readonly [what: string, change: (node: JsonNode) => JsonNode | undefined]>> = {
  'nulls-removed': ['without the fields that are null', (node) => (isNull(node) ? undefined : node)],
  'empty-as-null': ['with null instead of empty texts', emptyAsNull],
  'trimmed-fields': [
    'with trimmed texts and null instead of empty ones, as in Laravel',
    (node) => emptyAsNull(node.kind === 'string' ? { ...node, value: node.value.trim() } : node),
  ],
  'empty-removed': [
    'without the fields that are null or empty texts',
    (node) => (isNull(emptyAsNull(node)) ? undefined : node),
  ],
};

const WRITERS = {
  json: ['JavaScript', JAVASCRIPT],
  'php-json': ['PHP', PHP],
  'python-json': ['Python', PYTHON],
} as const;

const CHANGED = Object.entries(CHANGES).flatMap(([name, [what, change]]) =>
  Object.entries(WRITERS).map(([writer, [language, dialect]]): [string, Row<BodyMistake>] => [
    `${name}-${writer}`,
    {
      what: `the body re-serialised by ${language} ${what}`,
      bytes: fromTree((tree) => writeJson(withFields(tree, change) ?? tree, dialect)),
    },
  ]),
);

export const JSON_MISTAKES: readonly BodyMistake[] = [
  ...rowsOf('reserialised-body', 'computes the HMAC over', { ...REWRITTEN, ...Object.fromEntries(CHANGED) }),
  ...rowsOf<Row<BodyMistake>>('signed-part-of-body', 'computes the HMAC over', {
    'data-only': {
      what: 'only the "data" object of the body',
      common: true,
      bytes(body) {
        const data = body.field('data');
        return data === undefined ? undefined : Buffer.from(JSON.stringify(data));
      },
    },
    'data-only-python': {
      what: 'only the "data" object of the body, as json.dumps writes it',
      bytes: fromTree((tree) => {
        const data = tree.kind === 'object' ? tree.entries.get('data') : undefined;
        return data && writeJson(data, PYTHON);
      }),
    },
  }),
];

function isNull(node: JsonNode): boolean {
  return node.kind === 'literal' && node.source === 'null';
}

function emptyAsNull(node: JsonNode): JsonNode {
  return node.kind === 'string' && node.value === '' ? { kind: 'literal', source: 'null' } : node;
}

/**
 * Applies a change to each field and item at every level. Items of a list are never removed, because that would change
 * the positions of the others.
 */
function withFields(node: JsonNode, change: (node: JsonNode) => JsonNode | undefined): JsonNode | undefined {
  if (node.kind === 'array')
    return { kind: 'array', items: node.items.map((item) => withFields(item, change) ?? item) };
  if (node.kind !== 'object') return change(node);
  const entries = new Map<string, JsonNode>();
  for (const [key, value] of node.entries) {
    const changed = withFields(value, change);
    if (changed !== undefined) entries.set(key, changed);
  }
  return { kind: 'object', entries };
}

function stringified(space?: number | string): BodyMistake['bytes'] {
  return (body) => {
    const value = body.value();
    return value === undefined ? undefined : Buffer.from(JSON.stringify(value, null, space));
  };
}

function written(dialect: JsonDialect): BodyMistake['bytes'] {
  return fromTree((tree) => writeJson(tree, dialect));
}
