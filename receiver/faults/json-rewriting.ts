/** JSON parsed and written again as other languages do it. Numbers keep their source text, which JSON.parse would lose. */

/** How a language writes JSON. */
export interface JsonStyle {
  /** Between two members or items, and behind a key. */
  readonly separators: readonly [item: string, key: string];
  readonly sortKeys?: boolean;
  readonly emptyObject?: string;
  readonly number: (source: string) => string;
  readonly string: (text: string) => string;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Writes a JSON text again in a style. Of repeated keys the last value stays, at the place of the first. Throws on what is no JSON. */
export function rewriteJson(json: string, style: JsonStyle): string {
  JSON.parse(json);
  const tokens = json.match(TOKEN) ?? [];
  const [item, colon] = style.separators;
  let at = 0;

  function value(): string {
    const token = tokens[at++] ?? '';
    if (token === '{') return object();
    if (token === '[') return array();
    if (token.startsWith('"')) return style.string(JSON.parse(token));
    return /^[tfn]/.test(token) ? token : style.number(token);
  }
  function array(): string {
    const items: string[] = [];
    while (tokens[at] !== ']') {
      items.push(value());
      if (tokens[at] === ',') at++;
    }
    at++;
    return `[${items.join(item)}]`;
  }
  function object(): string {
    const members = new Map<string, string>();
    while (tokens[at] !== '}') {
      const key: string = JSON.parse(tokens[at] ?? '""');
      at += 2;
      members.set(key, value());
      if (tokens[at] === ',') at++;
    }
    at++;
    if (members.size === 0) return style.emptyObject ?? '{}';
    const keys = style.sortKeys === true ? [...members.keys()].toSorted() : [...members.keys()];
    return `{${keys.map((key) => `${style.string(key)}${colon}${members.get(key)}`).join(item)}}`;
  }
  return value();
}

/** Every match as `\uXXXX`. */
export function escaped(json: string, which: RegExp, upper = false): string {
  return json.replace(which, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${upper ? digits.toUpperCase() : digits}`;
  });
}

const isInteger = (source: string) => /^-?\d+$/.test(source);

/** A finite number split into its shortest digits and its power of ten. */
function scientific(value: number): [digits: string, power: number] {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  return [digits, Number(power)];
}

function signed(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function finite(source: string): number {
  const value = Number(source);
  if (!Number.isFinite(value)) throw new RangeError('a number that is out of range');
  return value;
}

/** Integers of any size stay. Fractions are written in their shortest form, and always with a point or an exponent. */
export function pythonNumber(source: string): string {
  if (isInteger(source)) return BigInt(source).toString();
  const value = Number(source);
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (Object.is(value, -0)) return '-0.0';
  const [digits, power] = scientific(value);
  if (value !== 0 && (power < -4 || power >= 16)) return `${digits}e${signed(power)}`;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Like Python's, with a point in every mantissa; infinity cannot be written. */
export function rubyNumber(source: string): string {
  if (isInteger(source)) return BigInt(source).toString();
  const value = finite(source);
  const [digits, power] = scientific(value);
  if (value === 0 || (power >= -4 && power < 16)) return pythonNumber(source);
  return `${digits.includes('.') ? digits : `${digits}.0`}e${signed(power)}`;
}

/** Integers of 64 bits stay, larger ones become fractions; a fraction loses its last zero; infinity cannot be written. */
export function phpNumber(source: string): string {
  if (isInteger(source) && BigInt.asIntN(64, BigInt(source)) === BigInt(source)) return BigInt(source).toString();
  const value = finite(source);
  if (Object.is(value, -0)) return '-0';
  const [digits, power] = scientific(value);
  if (value === 0 || (power >= -4 && power < 17)) return String(value);
  return `${digits.includes('.') ? digits : `${digits}.0`}e${power < 0 ? '' : '+'}${power}`;
}

/** Half of a pair of surrogates has no form in UTF-8: many languages throw. */
export function encodable(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new RangeError('half of a surrogate pair');
  return text;
}
