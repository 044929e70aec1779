/** How common platforms write JSON by default: spacing, escapes and numbers. */
import type { JsonStyle } from './json-text.ts';

function escaped(text: string, pattern: RegExp): string {
  return text.replace(pattern, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isInteger(source: string): boolean {
  return /^-?\d+$/.test(source);
}

function javascriptNumber(source: string): string {
  return JSON.stringify(Number(source));
}

/** Python: integers of any size as they are; floats in their shortest form, always with a point or an exponent. */
function pythonNumber(source: string): string {
  if (isInteger(source)) return source === '-0' ? '0' : source;
  const value = Number(source);
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (Object.is(value, -0)) return '-0.0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16)) {
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  // JavaScript goes to exponents later and earlier (1e21, 1e-7) than this range, so its plain form is at hand.
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

const MAX_INT64 = 2n ** 63n - 1n;

/** PHP: integers of 64 bits as they are; floats in their shortest form, without a trailing `.0`. */
function phpNumber(source: string): string {
  if (isInteger(source) && source.length <= 20) {
    const value = BigInt(source);
    if (value <= MAX_INT64 && value >= -MAX_INT64 - 1n) return value.toString();
  }
  const value = Number(source);
  if (Object.is(value, -0)) return '-0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 17)) {
    return `${digits.includes('.') ? digits : `${digits}.0`}e${exponent < 0 ? '' : '+'}${exponent}`;
  }
  return String(value);
}

function pythonAscii(value: string): string {
  return escaped(JSON.stringify(value), /[\u007f-\uffff]/g);
}

function phpEscaped(value: string): string {
  return escaped(JSON.stringify(value), /[\u0080-\uffff]/g).replaceAll('/', '\\/');
}

function goString(value: string): string {
  return escaped(JSON.stringify(value), /[<>&\u2028\u2029]/g);
}

const COMPACT = { item: ',', colon: ':' } as const;
const SPACED = { item: ', ', colon: ': ' } as const;

/** `json.dumps(value)`. */
export const PYTHON_DEFAULT: JsonStyle = { ...SPACED, number: pythonNumber, string: pythonAscii };

/** `json.dumps(value, separators=(',', ':'), ensure_ascii=False)`; Ruby's and Java's writers agree for most bodies. */
export const PYTHON_COMPACT: JsonStyle = { ...COMPACT, number: pythonNumber, string: JSON.stringify };

/** `json.dumps(value, separators=(',', ':'))`. */
export const PYTHON_COMPACT_ASCII: JsonStyle = { ...COMPACT, number: pythonNumber, string: pythonAscii };

/** `json_encode(json_decode($body, true))`. */
export const PHP_DEFAULT: JsonStyle = { ...COMPACT, emptyObject: '[]', number: phpNumber, string: phpEscaped };

/** The same with JSON_UNESCAPED_SLASHES and JSON_UNESCAPED_UNICODE. */
export const PHP_UNESCAPED: JsonStyle = {
  ...COMPACT,
  emptyObject: '[]',
  number: phpNumber,
  string: (value) => escaped(JSON.stringify(value), /[\u2028\u2029]/g),
};

/** `json.Marshal` of a map. */
export const GO_MAP: JsonStyle = { ...COMPACT, sortKeys: true, number: javascriptNumber, string: goString };

/** Keys in order at every level, written by JavaScript. */
export const JAVASCRIPT_SORTED: JsonStyle = {
  ...COMPACT,
  sortKeys: true,
  number: javascriptNumber,
  string: JSON.stringify,
};
