/** JSON as text: where it breaks the rules, and how other platforms space and escape it. */

const STRING = String.raw`"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const TOKEN = new RegExp(`${STRING}|${NUMBER}|true|false|null|[{}[\\],:]`, 'y');
const SPACE = /[ \t\r\n]*/y;

type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a key in quotes'
  | 'a key in quotes or }'
  | ':'
  | ', or the end'
  | 'nothing more';

/** Where a text stops being JSON, and what should have stood there. `at` counts UTF-16 units. Undefined for JSON. */
export function jsonFault(text: string): { readonly at: number; readonly expected: string } | undefined {
  const stack: ('[' | '{')[] = [];
  let expected: Expected = 'a value';
  let at = 0;
  const afterValue = (): Expected => (stack.length === 0 ? 'nothing more' : ', or the end');

  function step(token: string): Expected | undefined {
    const opener = stack.at(-1);
    if (expected === ':') return token === ':' ? 'a value' : undefined;
    if (expected === ', or the end' && token === ',') return opener === '{' ? 'a key in quotes' : 'a value';
    const mayClose = expected === ', or the end' || expected.includes(' or ');
    if (mayClose && token === (opener === '{' ? '}' : ']')) {
      stack.pop();
      return afterValue();
    }
    if (expected.startsWith('a key')) return token.startsWith('"') ? ':' : undefined;
    if (!expected.startsWith('a value') || /^[}\],:]?$/.test(token)) return undefined;
    if (token !== '[' && token !== '{') return afterValue();
    stack.push(token);
    return token === '[' ? 'a value or ]' : 'a key in quotes or }';
  }

  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    if (at >= text.length) return expected === 'nothing more' ? undefined : { at, expected };
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0] ?? '';
    const next = step(token);
    if (next === undefined) return { at, expected };
    expected = next;
    at += token.length;
  }
}

/** How a platform writes JSON. What is left out stays as it is in the text. */
export interface JsonStyle {
  readonly item: string;
  readonly colon: string;
  readonly string: (value: string) => string;
  readonly number?: (source: string) => string;
}

const TOKENS = new RegExp(`${STRING}|${NUMBER}|true|false|null|[{}[\\],:]`, 'g');

/** Writes a JSON text again in a style, with its keys in their order. The text has to be JSON. */
export function restyle(text: string, style: JsonStyle): string {
  return (
    text
      .match(TOKENS)
      ?.map((token) => {
        if (token === ',') return style.item;
        if (token === ':') return style.colon;
        if (token.startsWith('"')) return style.string(JSON.parse(token));
        return /^[-\d]/.test(token) ? (style.number?.(token) ?? token) : token;
      })
      .join('') ?? ''
  );
}

function escaped(text: string, pattern: RegExp): string {
  return text.replace(pattern, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const ascii = (value: string): string => escaped(JSON.stringify(value), /[\u007f-\uffff]/g);
const slashed = (value: string): string => escaped(JSON.stringify(value), /[\u0080-\uffff]/g).replaceAll('/', '\\/');

/** The shortest form of a float that is no integer in writing; Python keeps the point, PHP does not. */
function float(source: string, whole: (value: number) => string): string {
  if (!/[.eE]/.test(source)) return source;
  const value = Number(source);
  return Number.isInteger(value) ? whole(value) : String(value);
}
const pythonFloat = (source: string): string => float(source, (value) => `${value}.0`);
const phpFloat = (source: string): string => float(source, String);

/** `json.dumps(value)`. */
export const PYTHON: JsonStyle = { item: ', ', colon: ': ', string: ascii, number: pythonFloat };
/** `json.dumps(value, ensure_ascii=False)`. */
export const PYTHON_UNICODE: JsonStyle = { ...PYTHON, string: JSON.stringify };
/** `json.dumps(value, separators=(',', ':'))`. */
export const PYTHON_COMPACT: JsonStyle = { ...PYTHON, item: ',', colon: ':' };
/** The same with `ensure_ascii=False`; also what Ruby and Java write for most bodies. */
export const COMPACT: JsonStyle = { ...PYTHON_COMPACT, string: JSON.stringify };
/** `json_encode($value)`. */
export const PHP: JsonStyle = { item: ',', colon: ':', string: slashed, number: phpFloat };
