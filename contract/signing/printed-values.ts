/**
 * Prints a parsed value as languages do when a value is used as text: `str(dict)` in Python, `inspect` in Ruby,
 * `fmt.Sprint` in Go, `toString` in Java, `var_export` in PHP, or a query string.
 */
import { stringify } from 'node:querystring';
import { inspect } from 'node:util';
import {
  exponent,
  isInteger,
  type JsonDialect,
  type JsonNode,
  PHP,
  PYTHON,
  RUBY,
  requireEncodable,
  scientific,
  writeJson,
} from './json-dialects.ts';
import { type BodyMistake, fromTree, type Row } from './mistake.ts';
import { formEncode, pythonQuoted, rubyQuoted } from './quoted-text.ts';

/** The output of `str(value)` for a dict. */
const PYTHON_DICT: JsonDialect = {
  separators: [', ', ': '],
  literals: { null: 'None', true: 'True', false: 'False' },
  number: (source) => PYTHON.number(source).replace('Infinity', 'inf'),
  string: (text) => pythonQuoted(text, /['"\\\p{C}\p{Z}]/gu),
};

/** The output of `value.inspect` for a hash. */
const RUBY_HASH: JsonDialect = {
  separators: [', ', '=>'],
  literals: { null: 'nil' },
  number: RUBY.number,
  string: rubyQuoted,
};

/** The output of `String.valueOf(map)`, with numbers as Jackson reads them. */
const JAVA_MAP: JsonDialect = {
  separators: [', ', '='],
  number: (source) => (isInteger(source) ? PYTHON.number(source) : javaDouble(source)),
  string: requireEncodable,
};

/** The output of `fmt.Sprint(value)` for a map. */
const GO_MAP: JsonDialect = {
  separators: [' ', ':'],
  braces: ['map[', ']'],
  sortKeys: true,
  literals: { null: '<nil>' },
  number: goFloat,
  string: requireEncodable,
};

/** Writes a number as `Double.toString` does. */
function javaDouble(source: string): string {
  const value = Number(source);
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return String(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7))
    return PYTHON.number(Number.isInteger(value) ? `${source}e0` : source);
  const [digits, power] = scientific(value);
  return `${digits.includes('.') ? digits : `${digits}.0`}E${power}`;
}

function goFloat(source: string): string {
  const value = Number(source);
  if (!Number.isFinite(value)) throw new RangeError('a number that is out of range');
  const [digits, power] = scientific(value);
  if (Object.is(value, -0)) return '-0';
  return value === 0 || (power >= -4 && power < 6) ? String(value) : `${digits}${exponent(power)}`;
}

const isPhpInteger = (source: string): boolean => isInteger(source) && isInteger(PHP.number(source));

/** Writes a number as PHP converts it to text. A float has 14 significant digits. */
function phpText(source: string): string {
  const value = Number(Number(source).toPrecision(14));
  if (isPhpInteger(source) || value === 0 || !Number.isFinite(value)) return PHP.number(source);
  const [digits, power] = scientific(value);
  if (power >= -4 && power < 14) return String(value);
  return `${digits.includes('.') ? digits : `${digits}.0`}E${power < 0 ? '' : '+'}${power}`;
}

type PhpArray = readonly (readonly [key: string, value: JsonNode])[];

/** Returns the entries of an object or list as a PHP array. Returns undefined for any other value. */
function phpArray(node: JsonNode): PhpArray | undefined {
  if (node.kind === 'array') return node.items.map((item, at) => [String(at), item]);
  return node.kind === 'object' ? [...node.entries] : undefined;
}

/** Writes a key, without quotes if it is an integer. */
function phpKey(key: string, write: (key: JsonNode) => string): string {
  const isNumber = /^(?:0|-?[1-9]\d*)$/.test(key) && isPhpInteger(key);
  return write(isNumber ? { kind: 'number', source: key } : { kind: 'string', value: key });
}

const PHP_SERIALIZED: Readonly<Record<string, string>> = { null: 'N;', true: 'b:1;', false: 'b:0;' };

function phpSerialize(node: JsonNode): string {
  const entries = phpArray(node);
  if (entries !== undefined) {
    const members = entries.map(([key, value]) => phpKey(key, phpSerialize) + phpSerialize(value));
    return `a:${entries.length}:{${members.join('')}}`;
  }
  if (node.kind === 'string') return `s:${Buffer.byteLength(requireEncodable(node.value))}:"${node.value}";`;
  if (node.kind === 'number') {
    return `${isPhpInteger(node.source) ? 'i' : 'd'}:${PHP.number(node.source).replace('e', 'E')};`;
  }
  return node.kind === 'literal' ? (PHP_SERIALIZED[node.source] ?? '') : '';
}

function phpExport(node: JsonNode, indent = ''): string {
  const entries = phpArray(node);
  if (entries !== undefined) {
    const inner = `${indent}  `;
    const lines = entries.map(([key, value]) => {
      const start = phpArray(value) === undefined ? '' : `\n${inner}`;
      return `${inner}${phpKey(key, phpExport)} => ${start}${phpExport(value, inner)},\n`;
    });
    return `array (\n${lines.join('')}${indent})`;
  }
  if (node.kind === 'string') {
    return `'${requireEncodable(node.value).replace(/['\\]/g, '\\$&').replaceAll('\0', `' . "\\0" . '`)}'`;
  }
  if (node.kind === 'literal') return node.source === 'null' ? 'NULL' : node.source;
  if (node.kind !== 'number') return '';
  const text = PHP.number(node.source).replace('e', 'E');
  return isPhpInteger(node.source) || /[.E]/.test(text) ? text : `${text}.0`;
}

/** Writes a scalar as PHP converts it to text. */
function phpScalar(node: JsonNode): string {
  if (node.kind === 'number') return phpText(node.source);
  if (node.kind === 'string') return requireEncodable(node.value);
  return node.kind === 'literal' && node.source === 'true' ? '1' : '';
}

function phpPrint(node: JsonNode, indent = ''): string {
  const entries = phpArray(node);
  if (entries === undefined) return phpScalar(node);
  const lines = entries.map(([key, value]) => `${indent}    [${key}] => ${phpPrint(value, `${indent}        `)}\n`);
  return `Array\n${indent}(\n${lines.join('')}${indent})\n`;
}

function phpQuery(node: JsonNode, name = ''): string[] {
  return (phpArray(node) ?? []).flatMap(([key, value]) => {
    const inner = name === '' ? key : `${name}[${key}]`;
    if (phpArray(value) !== undefined) return phpQuery(value, inner);
    if (value.kind === 'literal' && value.source === 'null') return [];
    return [`${formEncode(inner)}=${formEncode(phpScalar(value) || (value.kind === 'literal' ? '0' : ''))}`];
  });
}

/** Writes the value as `urlencode(value)` does, with nested values as `str` writes them. */
function pythonQuery(node: JsonNode): string | undefined {
  if (node.kind !== 'object') return undefined;
  const text = (value: JsonNode) => (value.kind === 'string' ? value.value : writeJson(value, PYTHON_DICT));
  const fields = Array.from(node.entries, ([key, value]) => [key, text(value)].map((one) => formEncode(one, '-_.~')));
  return fields.map((field) => field.join('=')).join('&');
}

function inDialect(dialect: JsonDialect): BodyMistake['bytes'] {
  return fromTree((tree) => writeJson(tree, dialect));
}

/** Prints the parsed value with `print`, as a JavaScript object. */
function fromObject(print: (value: Readonly<Record<string, unknown>>) => string): BodyMistake['bytes'] {
  return (body) => {
    const value = body.value();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Buffer.from(print(value as Readonly<Record<string, unknown>>));
  };
}

export const PRINTED_VALUES: Readonly<Record<string, Row<BodyMistake>>> = {
  'python-dict-body': {
    what: "Python's str() of the parsed body",
    bytes: inDialect(PYTHON_DICT),
    form: /^\{'[^']*': /,
  },
  'ruby-hash-body': { what: "Ruby's inspect of the parsed body", bytes: inDialect(RUBY_HASH), form: /^\{"[^"]*" ?=>/ },
  'ruby-spaced-hash-body': {
    what: "Ruby 3.4's inspect of the parsed body, with spaces around =>",
    bytes: inDialect({ ...RUBY_HASH, separators: [', ', ' => '] }),
  },
  'java-map-body': { what: "Java's toString() of the parsed map", bytes: inDialect(JAVA_MAP), form: /^\{\w+=/ },
  'java-double-map-body': {
    what: "Java's toString() of a map of doubles, as Gson parses the body",
    bytes: inDialect({ ...JAVA_MAP, number: javaDouble }),
  },
  'go-map-body': { what: "Go's %v of the parsed map", bytes: inDialect(GO_MAP), form: /^map\[/ },
  'go-number-map-body': {
    what: "Go's %v of a map whose numbers are json.Number",
    bytes: inDialect({ ...GO_MAP, number: (source) => source }),
  },
  'php-array-body': {
    what: 'the word "Array", to which PHP converts arrays',
    bytes: () => Buffer.from('Array'),
    form: /^Array$/,
  },
  'php-serialize-body': {
    what: "PHP's serialize() of the parsed body",
    bytes: fromTree(phpSerialize),
    form: /^a:\d+:\{/,
  },
  'php-var-export-body': {
    what: "PHP's var_export() of the parsed body",
    bytes: fromTree((tree) => phpExport(tree)),
    form: /^array \(\n/,
  },
  'php-print-r-body': {
    what: "PHP's print_r() of the parsed body",
    bytes: fromTree((tree) => phpPrint(tree)),
    form: /^Array\n\(\n/,
  },
  'php-query-body': {
    what: "PHP's http_build_query() of the parsed body",
    bytes: fromTree((tree) => phpQuery(tree).join('&')),
    form: /^(?:[\w.-]|%5[bd])+=[\w.%*+-]*(?:&|$)/i,
  },
  'python-query-body': { what: "Python's urlencode() of the parsed body", bytes: fromTree(pythonQuery) },
  'node-query-body': {
    what: 'querystring.stringify() of the parsed body',
    bytes: fromObject((value) => stringify(value as NodeJS.Dict<string>)),
  },
  'search-params-body': {
    what: 'the text of URLSearchParams of the parsed body',
    bytes: fromObject((value) => String(new URLSearchParams(value as Record<string, string>))),
  },
  'node-inspect-body': {
    what: 'util.inspect() of the parsed body, as console.log prints it',
    bytes: fromObject((value) => inspect(value)),
    form: /^\{\n? +\w+: /,
  },
};
