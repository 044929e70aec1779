/**
 * Signing mistakes that sign bytes other than those of the body. Specification: HMAC signature (the exact request
 * body).
 */
import { createHash } from 'node:crypto';
import type { MistakeId } from '../mistakes/index.ts';
import { JSON_MISTAKES } from './json-mistakes.ts';
import { type BodyMistake, type ReadBody, type Row, rowsOf } from './mistake.ts';
import { BYTE_PRINTERS, type BytePrinter } from './printed-bytes.ts';
import { PRINTED_VALUES } from './printed-values.ts';
import { escapeHtml } from './quoted-text.ts';

type BodyRows = Readonly<Record<string, Row<BodyMistake>>>;

function over(mistake: MistakeId, rows: BodyRows, more?: { readonly note: string }): BodyMistake[] {
  return rowsOf(mistake, 'computes the HMAC over', rows, more);
}

/** Maximum size in bytes of a body that is printed. Its bytes written as numbers take five times as much memory. */
const MAX_PRINTED = 256 * 1024;

function overPrinted(rows: BodyRows): BodyMistake[] {
  return over('printed-body', rows).map((row) => ({
    ...row,
    bytes: (body) => (body.body.length > MAX_PRINTED ? undefined : row.bytes(body)),
  }));
}

/** Mistakes that change the body as text, without parsing it. */
const TEXT_MISTAKES = over('decoded-body', {
  'body-newline-added': {
    what: 'the body with a line feed at its end',
    note: "Piped from `echo`, or saved by an editor; by hand, use `printf '%s'` or `curl --data-binary @file`.",
    common: true,
    bytes: ({ body }) => Buffer.concat([body, Buffer.from('\n')]),
  },
  'body-newline-removed': {
    what: 'the body without its final line ending',
    common: true,
    bytes: text((all) => (/\r?\n$/.test(all) ? all.replace(/\r?\n$/, '') : undefined)),
  },
  'trimmed-body': { what: 'the body without leading or trailing whitespace', common: true, bytes: text(trimmed) },
  'lower-case-body': { what: 'the body in lower case', common: true, bytes: text((all) => all.toLowerCase()) },
  'latin1-body': {
    what: 'the body encoded in Latin-1, not in UTF-8',
    common: true,
    bytes: text((all) => Buffer.from(all, 'latin1')),
  },
  'ascii-body': {
    what: 'the body with "?" instead of each character outside ASCII',
    common: true,
    bytes: text((all) => all.replace(/[^\0-\x7f]/g, '?')),
  },
  'double-utf8-body': {
    what: 'the body read as Latin-1 and encoded in UTF-8',
    note: 'Every byte outside ASCII becomes two.',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('latin1'), 'utf8'),
  },
  'lossy-utf8-body': {
    what: 'the body decoded to text, with its invalid bytes replaced',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('utf8'), 'utf8'),
  },
  'bom-stripped-body': {
    what: 'the body without its leading byte order mark',
    common: true,
    bytes: text((all) => (all.startsWith('\ufeff') ? all.slice(1) : undefined)),
  },
  'bom-added-body': { what: 'the body with a leading byte order mark', bytes: text((all) => `\ufeff${all}`) },
  'crlf-to-lf-body': {
    what: 'the body with its line endings changed from CRLF to LF',
    common: true,
    bytes: text((all) => (all.includes('\r\n') ? all.replaceAll('\r\n', '\n') : undefined)),
  },
  'lf-to-crlf-body': {
    what: 'the body with its line endings changed from LF to CRLF',
    common: true,
    bytes: text((all) => (/(?<!\r)\n/.test(all) ? all.replace(/(?<!\r)\n/g, '\r\n') : undefined)),
  },
  'line-ends-removed-body': {
    what: 'the body without its line endings',
    note: '`curl -d @file` removes line endings: use `--data-binary`.',
    bytes: text((all) => (/[\r\n]/.test(all) ? all.replace(/[\r\n]/g, '') : undefined)),
  },
  'white-space-removed-body': {
    what: 'the body without any whitespace',
    bytes: text((all) => all.replace(/\s+/g, '')),
  },
  'slashes-unescaped-body': {
    what: 'the body with its escaped slashes unescaped',
    bytes: text((all) => all.replaceAll('\\/', '/')),
  },
  'slashed-body': {
    what: 'the body with a backslash before each quote, as addslashes and WordPress write it',
    bytes: text((all) => all.replace(/['"\\]/g, '\\$&').replaceAll('\0', '\\0')),
    form: /^\s*\{\s*\\"/,
  },
  'html-escaped-body': {
    what: 'the body escaped for HTML',
    bytes: text((all) => escapeHtml(all, '&quot;', '&#039;')),
    form: /^\s*\{\s*&quot;/,
  },
  'normalised-body': { what: 'the body normalised to Unicode NFC', bytes: text((all) => all.normalize('NFC')) },
  'base64-body': {
    what: 'the base64 form of the body',
    note: 'AWS Lambda delivers bodies in Base64 (isBase64Encoded), and they were not decoded.',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('base64')),
    form: /^e[w-z][\w+/\r\n-]{14,}={0,2}$/,
  },
  'utf16-body': { what: 'the body encoded in UTF-16', bytes: text((all) => Buffer.from(all, 'utf16le')) },
});

/** Mistakes that sign the bytes of the body in the form in which a language prints them. */
const PRINTED_BYTES = overPrinted({
  ...Object.fromEntries(
    Object.entries<BytePrinter>(BYTE_PRINTERS).map(([name, { what, print, form }]) => [
      `${name}-body`,
      { what: what('the body'), bytes: printed(print), ...(form && { form }) },
    ]),
  ),
  'data-url-body': {
    what: 'the body as a data URL',
    bytes: ({ body }) => Buffer.from(`data:application/json;base64,${Buffer.from(body).toString('base64')}`),
    form: /^data:[\w/+-]*[;,]/,
  },
});

/** Mistakes that sign a different input, as other services do. */
const INPUT_MISTAKES = over('signed-part-of-body', {
  'timestamp-dot-body': {
    what: 'the time, a dot and the body',
    note: 'This is the scheme of another well-known service (a t=,v1= header).',
    common: true,
    bytes: prefixed(timeOf, '.'),
  },
  'id-timestamp-body': {
    what: 'the id, the time and the body, with dots between them',
    note: 'This is the scheme of Standard Webhooks.',
    common: true,
    bytes: prefixed((body) => {
      const [id, at] = [idOf(body), timeOf(body)];
      return id === undefined || at === undefined ? undefined : `${id}.${at}`;
    }, '.'),
  },
  'id-body': { what: 'the id and the body together', bytes: prefixed(idOf) },
  'id-dot-body': { what: 'the id, a dot and the body', bytes: prefixed(idOf, '.') },
  'body-id': { what: 'the body and the id together', bytes: suffixed(idOf) },
  'id-only': {
    what: 'the id alone',
    bytes(body) {
      const id = idOf(body);
      return typeof id === 'string' ? Buffer.from(id) : undefined;
    },
  },
  'timestamp-body': { what: 'the time and the body together', bytes: prefixed(timeOf) },
  'body-timestamp': { what: 'the body and the time together', bytes: suffixed(timeOf) },
  'url-body': {
    what: 'the URL and the body together',
    note: 'Some payment and telephony services sign the URL too.',
    common: true,
    needs: 'url',
    bytes: prefixed(({ url }) => url),
  },
  'url-only': {
    what: 'the URL alone',
    needs: 'url',
    bytes: ({ url }) => (url === undefined ? undefined : Buffer.from(url)),
  },
  'body-url': { what: 'the body and the URL together', needs: 'url', bytes: suffixed(({ url }) => url) },
  'path-body': { what: 'the path and the body together', needs: 'url', bytes: prefixed(pathOf) },
  'method-body': { what: 'the method and the body together', bytes: prefixed(() => 'POST') },
  'method-path-body': {
    what: 'the method, the path and the body together',
    note: 'Many APIs sign their requests in this way.',
    needs: 'url',
    bytes: prefixed((body) => joined('', 'POST', pathOf(body))),
  },
  'method-path-body-spaces': {
    what: 'the method, the path and the body, with spaces between them',
    needs: 'url',
    bytes: prefixed((body) => joined(' ', 'POST', pathOf(body)), ' '),
  },
  'method-path-body-lines': {
    what: 'the method, the path and the body, one per line',
    needs: 'url',
    bytes: prefixed((body) => joined('\n', 'POST', pathOf(body)), '\n'),
  },
  'method-url-body': {
    what: 'the method, the URL and the body together',
    needs: 'url',
    bytes: prefixed(({ url }) => joined('', 'POST', url)),
  },
  'api-key-body': {
    what: 'the API key and the body together',
    needs: 'apiKey',
    bytes: prefixed(({ apiKey }) => apiKey),
  },
  'hashed-body': {
    what: 'the SHA-256 of the body in hexadecimal',
    note: 'Some schemes sign a digest of the body; this one signs the body itself.',
    common: true,
    bytes: ({ body }) => Buffer.from(createHash('sha256').update(body).digest('hex')),
  },
  'base64-hashed-body': {
    what: 'the SHA-256 of the body in base64',
    bytes: ({ body }) => Buffer.from(createHash('sha256').update(body).digest('base64')),
  },
  'md5-body': {
    what: 'the MD5 of the body in hexadecimal',
    bytes: ({ body }) => Buffer.from(createHash('md5').update(body).digest('hex')),
  },
});

/** Mistakes that sign a placeholder or an empty text, because the body was not read or was already consumed. */
const UNREAD_MISTAKES = over('unread-body-verified', {
  'empty-body': { what: 'an empty body', common: true, bytes: () => new Uint8Array(0) },
  'empty-object-body': { what: 'the text {} instead of the body', common: true, bytes: constant('{}') },
  'object-object-body': {
    what: 'the text [object Object] instead of the body',
    note: 'JavaScript converted the parsed object to a string.',
    common: true,
    ...placeholder('[object Object]'),
  },
  'undefined-body': {
    what: 'the word "undefined" instead of the body',
    note: 'A property such as `req.rawBody` does not exist.',
    ...placeholder('undefined'),
  },
  'promise-body': {
    what: 'the text [object Promise] instead of the body',
    note: 'The function that reads the body is asynchronous, and its result is not awaited.',
    ...placeholder('[object Promise]'),
  },
  ...Object.fromEntries(
    Object.entries({
      'array-buffer': '[object ArrayBuffer]',
      stream: '[object ReadableStream]',
      'dotnet-bytes': 'System.Byte[]',
      null: 'null',
      none: 'None',
      nil: 'nil',
      false: 'false',
      'empty-list': '[]',
      'empty-string': '""',
      'python-empty-bytes': "b''",
      'empty-buffer': '{"type":"Buffer","data":[]}',
    }).map(([name, word]) => [`${name}-body`, { what: `the text ${word} instead of the body`, ...placeholder(word) }]),
  ),
});

/** Sorted by likelihood. Where two mistakes sign the same bytes, the first one is reported. */
export const BODY_MISTAKES: readonly BodyMistake[] = [
  ...TEXT_MISTAKES,
  ...JSON_MISTAKES,
  ...INPUT_MISTAKES,
  ...UNREAD_MISTAKES,
  ...over('reserialised-body', {
    'quoted-body': {
      what: 'the body as one JSON string, quoted and escaped',
      note: 'The text of the body was passed to a JSON serialiser again.',
      bytes: text((all) => JSON.stringify(all)),
      form: /^"\s*\{/,
    },
  }),
  ...PRINTED_BYTES,
  ...overPrinted(PRINTED_VALUES),
];

/**
 * Returns the printed form that was sent as the body instead of the notification. Returns undefined for other bodies.
 */
export function printedForm(body: Uint8Array): BodyMistake | undefined {
  const all = Buffer.from(body).toString('utf8').trim();
  return BODY_MISTAKES.find(({ form }) => form?.test(all));
}

function text(change: (text: string) => string | Uint8Array | undefined): BodyMistake['bytes'] {
  return (body) => {
    const all = body.text();
    const changed = all === undefined ? undefined : change(all);
    return typeof changed === 'string' ? Buffer.from(changed, 'utf8') : changed;
  };
}

function printed(print: BytePrinter['print']): BodyMistake['bytes'] {
  return ({ body }) => {
    const made = print(Buffer.from(body));
    return made === undefined ? undefined : Buffer.from(made);
  };
}

function constant(word: string): BodyMistake['bytes'] {
  return () => Buffer.from(word);
}

/** Signs a fixed word. A word that is also valid JSON has no `form`, because it could be a complete body. */
function placeholder(word: string): Pick<BodyMistake, 'bytes' | 'form'> {
  const isJson = /^(?:null|false|\[\]|"")$/.test(word);
  return { bytes: constant(word), ...(!isJson && { form: new RegExp(`^${word.replace(/\W/g, '\\$&')}$`) }) };
}

/** Removes JSON whitespace at both ends. Uses loops, because a regular expression would be retried at every space. */
function trimmed(all: string): string {
  const isBlank = (at: number) => ' \t\r\n'.includes(all.charAt(at));
  let [start, end] = [0, all.length];
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return all.slice(start, end);
}

function prefixed(part: (body: ReadBody) => unknown, separator = ''): BodyMistake['bytes'] {
  return (body) => {
    const value = part(body);
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    return Buffer.concat([Buffer.from(`${value}${separator}`), body.body]);
  };
}

function suffixed(part: (body: ReadBody) => unknown): BodyMistake['bytes'] {
  return (body) => {
    const value = part(body);
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    return Buffer.concat([body.body, Buffer.from(`${value}`)]);
  };
}

function idOf(body: ReadBody): unknown {
  return body.field('id');
}

function timeOf(body: ReadBody): unknown {
  return body.field('at');
}

/** Joins the parts. Returns undefined when one of them is missing. */
function joined(separator: string, ...parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join(separator);
}

/** Returns the path and query of the URL. */
function pathOf({ url }: ReadBody): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
