/**
 * Describes how common platforms write JSON: spacing, escapes, numbers and the order of keys. A body that is parsed and
 * re-serialised is written in the JSON dialect of the platform, so a signature over the result does not match the bytes
 * that were sent.
 *
 * `JSON.parse` loses the spelling of a number (`1.0`, integers of 20 digits). Here, numbers keep their source text.
 */

export interface JsonDialect {
  /** Separators between two members or items, and between a key and its value. */
  readonly separators: readonly [item: string, key: string];
  /** Sorts keys by code point, as Python, Go and Ruby do. */
  readonly sortKeys?: boolean;
  /** Opening and closing text of an object. Default: `{` and `}`. */
  readonly braces?: readonly [open: string, close: string];
  /** Spellings of null, true and false that differ from JSON. */
  readonly literals?: Readonly<Record<string, string>>;
  /**
   * Spelling of an empty object. Default: `{}`. PHP's associative arrays cannot distinguish an empty object from an
   * empty list.
   */
  readonly emptyObject?: string;
  /** Writes a number, given its source text. Throws RangeError when the platform cannot write it. */
  readonly number: (source: string) => string;
  /** Writes a string with its quotes. Throws RangeError when the platform cannot write it. */
  readonly string: (value: string) => string;
}

/** A parsed value. When a key is repeated, its last value is kept at the position of the first. */
export type JsonNode =
  | { readonly kind: 'number'; readonly source: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'literal'; readonly source: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly entries: ReadonlyMap<string, JsonNode> };

/**
 * Parses JSON text and writes it in a dialect. Throws SyntaxError when the text is not JSON, and RangeError when the
 * platform cannot write it.
 */
export function rewriteJson(text: string, dialect: JsonDialect): string {
  return writeJson(parseJson(text), dialect);
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

/** Parses JSON text. Throws SyntaxError when it is not JSON, RangeError when it is nested deeper than `maxDepth`. */
export function parseJson(text: string, maxDepth = Number.POSITIVE_INFINITY): JsonNode {
  JSON.parse(text); // Checks the syntax. The code below relies on valid JSON.
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;

  function value(depth: number): JsonNode {
    if (depth > maxDepth) throw new RangeError(`nested deeper than ${maxDepth}`);
    const token = tokens[at++] ?? '';
    if (token === '[') return { kind: 'array', items: items(depth + 1) };
    if (token === '{') return { kind: 'object', entries: entries(depth + 1) };
    if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) };
    return { kind: /^[tfn]/.test(token) ? 'literal' : 'number', source: token };
  }

  function items(depth: number): JsonNode[] {
    const found: JsonNode[] = [];
    while (tokens[at] !== ']') {
      found.push(value(depth));
      if (tokens[at] === ',') at++;
    }
    at++;
    return found;
  }

  function entries(depth: number): Map<string, JsonNode> {
    const found = new Map<string, JsonNode>();
    while (tokens[at] !== '}') {
      const key: string = JSON.parse(tokens[at] ?? '""');
      at += 2; // Skips the key and its colon.
      found.set(key, value(depth));
      if (tokens[at] === ',') at++;
    }
    at++;
    return found;
  }

  return value(0);
}

export function writeJson(node: JsonNode, dialect: JsonDialect): string {
  const [item, colon] = dialect.separators;
  switch (node.kind) {
    case 'number':
      return dialect.number(node.source);
    case 'literal':
      return dialect.literals?.[node.source] ?? node.source;
    case 'string':
      return dialect.string(node.value);
    case 'array':
      return `[${node.items.map((inner) => writeJson(inner, dialect)).join(item)}]`;
    case 'object': {
      if (node.entries.size === 0 && dialect.emptyObject !== undefined) return dialect.emptyObject;
      const entries = dialect.sortKeys === true ? [...node.entries].sort(byCodePoint) : [...node.entries];
      const members = entries.map(([key, inner]) => `${dialect.string(key)}${colon}${writeJson(inner, dialect)}`);
      const [open, close] = dialect.braces ?? ['{', '}'];
      return `${open}${members.join(item)}${close}`;
    }
  }
}

function byCodePoint([a]: readonly [string, JsonNode], [b]: readonly [string, JsonNode]): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Replaces every match of `which` with `\uXXXX`. */
export function escapeUnicode(json: string, which: RegExp, upperCase = false): string {
  return json.replace(which, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${upperCase ? digits.toUpperCase() : digits}`;
  });
}

/**
 * Returns the text unchanged. Throws RangeError for an unpaired surrogate, which has no UTF-8 form and makes many
 * platforms throw.
 */
export function requireEncodable(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new RangeError('half of a surrogate pair');
  return text;
}

export const isInteger = (source: string): boolean => /^-?\d+$/.test(source);

/** Splits a finite number into its shortest decimal digits and its power of ten. */
export function scientific(value: number): [digits: string, power: number] {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  return [digits, Number(power)];
}

export function exponent(power: number): string {
  return `e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function finite(source: string): number {
  const value = Number(source);
  if (!Number.isFinite(value)) throw new RangeError('a number that is out of range');
  return value;
}

const javascriptNumber = (source: string): string => JSON.stringify(Number(source));

/**
 * Normalises an integer. Only 0 has a second spelling in JSON, `-0`; parsing a million digits would take a quarter of a
 * second.
 */
const integerText = (source: string): string => (source === '-0' ? '0' : source);

/** Maximum length of a 64-bit integer, in characters. */
const INT64_LENGTH = 20;

/** Keeps integers of any size. A float is written in its shortest form, always with a point or an exponent. */
function pythonNumber(source: string): string {
  if (isInteger(source)) return integerText(source);
  const value = Number(source);
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (Object.is(value, -0)) return '-0.0';
  const [digits, power] = scientific(value);
  if (value !== 0 && (power < -4 || power >= 16)) return `${digits}${exponent(power)}`;
  // JavaScript writes no exponent in this range.
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Like Python, but every mantissa has a point. Infinity cannot be written. */
function rubyNumber(source: string): string {
  if (isInteger(source)) return integerText(source);
  const value = finite(source);
  const [digits, power] = scientific(value);
  if (value === 0 || (power >= -4 && power < 15)) return pythonNumber(source);
  return `${digits.includes('.') ? digits : `${digits}.0`}${exponent(power)}`;
}

/** Keeps 64-bit integers and converts larger ones to floats. A float loses a trailing `.0`. Infinity is an error. */
function phpNumber(source: string): string {
  if (isInteger(source) && source.length <= INT64_LENGTH && BigInt.asIntN(64, BigInt(source)) === BigInt(source))
    return integerText(source);
  const value = finite(source);
  if (Object.is(value, -0)) return '-0';
  const [digits, power] = scientific(value);
  if (value === 0 || (power >= -4 && power < 17)) return String(value);
  return `${digits.includes('.') ? digits : `${digits}.0`}e${power < 0 ? '' : '+'}${power}`;
}

const ascii = (text: string): string => escapeUnicode(JSON.stringify(text), /[\u007f-\uffff]/g);
const unicode = (text: string): string => JSON.stringify(requireEncodable(text));

const COMPACT = [',', ':'] as const;

/** The output of `json.dumps(value)`. */
export const PYTHON: JsonDialect = { separators: [', ', ': '], number: pythonNumber, string: ascii };

/** The output of `json.dumps(value, ensure_ascii=False)`. */
export const PYTHON_UNICODE: JsonDialect = { ...PYTHON, string: unicode };

/** The output of `json.dumps(value, separators=(',', ':'))`. */
export const PYTHON_COMPACT_ASCII: JsonDialect = { ...PYTHON, separators: COMPACT };

/**
 * The output of `json.dumps(value, ensure_ascii=False, separators=(',', ':'))`. Java (Jackson) and Ruby write most
 * bodies in the same way.
 */
export const PYTHON_COMPACT: JsonDialect = { ...PYTHON_UNICODE, separators: COMPACT };

/** The output of `JSON.generate(value)`. */
export const RUBY: JsonDialect = { separators: COMPACT, number: rubyNumber, string: unicode };

/** The output of `json_encode($value)`. */
export const PHP: JsonDialect = {
  separators: COMPACT,
  emptyObject: '[]',
  number: phpNumber,
  string: (text) => escapeUnicode(unicode(text), /[\u0080-\uffff]/g).replaceAll('/', '\\/'),
};

/** The output of `json_encode` with JSON_UNESCAPED_SLASHES and JSON_UNESCAPED_UNICODE. */
export const PHP_UNESCAPED: JsonDialect = { ...PHP, string: (text) => escapeUnicode(unicode(text), /[\u2028\u2029]/g) };

/** The output of `json.Marshal` for a map, whose keys it sorts. */
export const GO_MAP: JsonDialect = {
  separators: COMPACT,
  sortKeys: true,
  number: javascriptNumber,
  string: (text) => escapeUnicode(JSON.stringify(text), /[<>&\u2028\u2029]/g),
};

/** The output of `JSON.stringify(value)`. */
export const JAVASCRIPT: JsonDialect = { separators: COMPACT, number: javascriptNumber, string: JSON.stringify };

/** The output of `JSON.stringify(value)`, with the keys sorted at every level. */
export const JAVASCRIPT_SORTED: JsonDialect = { ...JAVASCRIPT, sortKeys: true };
