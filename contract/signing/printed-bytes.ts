/**
 * Prints bytes as languages do when bytes are used as text: `JSON.stringify(buffer)` in JavaScript, `b'...'` in Python,
 * `[123 34]` in Go. If code passes the body or secret as bytes where text is expected, it signs one of these forms.
 */
import { inspect } from 'node:util';
import { formEncode, percentEncode, pythonQuoted, rubyQuoted } from './quoted-text.ts';

export interface BytePrinter {
  /** Describes the printed form; `noun` is "the body" or "the secret". */
  readonly what: (noun: string) => string;
  /** Returns undefined if the language cannot print these bytes. */
  readonly print: (bytes: Buffer) => string | undefined;
  /** A pattern that matches only a JSON object printed in this way. Absent if there is no such pattern. */
  readonly form?: RegExp;
}

const signed = (byte: number): number => (byte > 127 ? byte - 256 : byte);
const base64Lines = (bytes: Buffer, width: number, end: string, last = end): string =>
  (bytes.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(end) + last;

function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function ofText(print: (text: string) => string): BytePrinter['print'] {
  return (bytes) => {
    const text = decoded(bytes);
    return text === undefined ? undefined : print(text);
  };
}

const pythonBytes = (bytes: Buffer): string => `b${pythonQuoted(bytes.toString('latin1'), /['"\\\0-\x1f\x7f-\xff]/g)}`;

/** Printed forms, by the first part of the names of the mistakes. In `form`, 123 and 7b stand for an opening brace. */
export const BYTE_PRINTERS = {
  'json-buffer': {
    what: (noun) => `JSON.stringify() of the Buffer of ${noun}`,
    print: (bytes) => JSON.stringify(bytes),
    form: /^\{"type": ?"Buffer", ?"data": ?\[/,
  },
  'inspected-buffer': {
    what: (noun) => `"<Buffer ...>", as Node prints the Buffer of ${noun}`,
    print: (bytes) => inspect(bytes),
    form: /^<Buffer /,
  },
  'comma-bytes': {
    what: (noun) => `the bytes of ${noun} as comma-separated numbers, as JavaScript converts a Uint8Array to text`,
    print: (bytes) => bytes.join(','),
    form: /^123,\d/,
  },
  'json-uint8array': {
    what: (noun) => `JSON.stringify() of a Uint8Array of ${noun}`,
    print: (bytes) => JSON.stringify(new Uint8Array(bytes)),
    form: /^\{"0": ?123,/,
  },
  'json-bytes': {
    what: (noun) => `the bytes of ${noun} as a JSON list of numbers`,
    print: (bytes) => `[${bytes.join(',')}]`,
    form: /^\[123,\d/,
  },
  'python-bytes': {
    what: (noun) => `Python's str() of the bytes of ${noun}, b'...'`,
    print: pythonBytes,
    form: /^b['"]/,
  },
  'python-bytearray': {
    what: (noun) => `Python's str() of the bytearray of ${noun}`,
    print: (bytes) => `bytearray(${pythonBytes(bytes)})`,
    form: /^bytearray\(b['"]/,
  },
  'listed-bytes': {
    what: (noun) => `the bytes of ${noun} as Python, Ruby or Java print a list of them`,
    print: (bytes) => `[${bytes.join(', ')}]`,
    form: /^\[123, /,
  },
  'java-bytes': {
    what: (noun) => `Java's Arrays.toString() of the bytes of ${noun}`,
    print: (bytes) => `[${Array.from(bytes, signed).join(', ')}]`,
  },
  'go-bytes': {
    what: (noun) => `Go's %v of the bytes of ${noun}`,
    print: (bytes) => `[${bytes.join(' ')}]`,
    form: /^\[123 \d/,
  },
  'ruby-string': { what: (noun) => `Ruby's inspect of ${noun}`, print: ofText(rubyQuoted) },
  hex: {
    what: (noun) => `the hexadecimal form of ${noun}`,
    print: (bytes) => bytes.toString('hex'),
    form: /^7b(?:[0-9a-f]{2}){8,}$/i,
  },
  'dashed-hex': {
    what: (noun) => `the bytes of ${noun} as .NET's BitConverter.ToString() prints them`,
    print: (bytes) =>
      bytes
        .toString('hex')
        .toUpperCase()
        .replace(/..(?=.)/g, '$&-'),
    form: /^7B(?:-[0-9A-F]{2})+$/,
  },
  'seven-bit': {
    what: (noun) => `${noun} decoded with Node's toString('ascii'), which drops the highest bit`,
    print: (bytes) => bytes.toString('ascii'),
  },
  'utf16-text': {
    what: (noun) => `${noun} read as UTF-16`,
    print: (bytes) => bytes.toString('utf16le'),
    form: /^[\u0a7b\u0d7b\u207b\u227b]/,
  },
  base64url: { what: (noun) => `the URL-safe base64 form of ${noun}`, print: (bytes) => bytes.toString('base64url') },
  'base64-lines': {
    what: (noun) => `the base64 form of ${noun} in lines of 60 characters, as Ruby's encode64 writes it`,
    print: (bytes) => base64Lines(bytes, 60, '\n'),
  },
  'python-base64-lines': {
    what: (noun) => `the base64 form of ${noun} in lines of 76 characters, as Python's encodebytes writes it`,
    print: (bytes) => base64Lines(bytes, 76, '\n'),
  },
  'php-base64-lines': {
    what: (noun) => `the base64 form of ${noun} in lines with Windows line endings, as PHP's chunk_split writes it`,
    print: (bytes) => base64Lines(bytes, 76, '\r\n'),
  },
  'mime-base64': {
    what: (noun) => `the base64 form of ${noun} in lines, as Java's MIME encoder writes it`,
    print: (bytes) => base64Lines(bytes, 76, '\r\n', ''),
  },
  'quoted-base64': {
    what: (noun) => `the base64 form of ${noun} as a JSON string, as Go and .NET write bytes`,
    print: (bytes) => `"${bytes.toString('base64')}"`,
    form: /^"e[w-z][\w+/]*={0,2}"$/,
  },
  'percent-encoded': {
    what: (noun) => `${noun} percent-encoded, as encodeURIComponent writes it`,
    print: ofText((text) => percentEncode(text, "-_.!~*'()")),
    form: /^%7B/i,
  },
  'form-encoded': { what: (noun) => `${noun} encoded as a form`, print: ofText((text) => formEncode(text)) },
} as const satisfies Readonly<Record<string, BytePrinter>>;
