/** Other bytes are signed than the exact bytes of the body. Specification: HMAC signature (the exact request body). */
import { createHash } from 'node:crypto';
import { JSON_MISTAKES } from './json-mistakes.ts';
import type { BodyMistake, ReadBody } from './mistake.ts';

/** The body as text is changed, without parsing. */
const TEXT_MISTAKES: readonly BodyMistake[] = [
  {
    name: 'body-newline-added',
    title: 'the body was signed with a line feed at its end',
    mistake: 'decoded-body',
    note: "Piped from `echo`, or saved by an editor; by hand, use `printf '%s'` or `curl --data-binary @file`.",
    common: true,
    bytes: ({ body }) => Buffer.concat([body, Buffer.from('\n')]),
  },
  {
    name: 'body-newline-removed',
    title: 'the body was signed without the line end at its end',
    mistake: 'decoded-body',
    common: true,
    bytes: text((all) => (/\r?\n$/.test(all) ? all.replace(/\r?\n$/, '') : undefined)),
  },
  {
    name: 'trimmed-body',
    title: 'the body was signed without the whitespace at its ends',
    mistake: 'decoded-body',
    common: true,
    bytes: text(trimmed),
  },
  {
    name: 'lower-case-body',
    title: 'the body was signed in lower case',
    mistake: 'decoded-body',
    common: true,
    bytes: text((all) => all.toLowerCase()),
  },
  {
    name: 'latin1-body',
    title: 'the body was encoded in Latin-1, not in UTF-8',
    mistake: 'decoded-body',
    common: true,
    bytes: text((all) => Buffer.from(all, 'latin1')),
  },
  {
    name: 'ascii-body',
    title: 'the characters of the body outside ASCII were replaced by "?"',
    mistake: 'decoded-body',
    common: true,
    bytes: text((all) => all.replace(/[^\0-\x7f]/g, '?')),
  },
  {
    name: 'double-utf8-body',
    title: 'the bytes of the body were read as Latin-1 and encoded in UTF-8',
    mistake: 'decoded-body',
    note: 'Every byte outside ASCII becomes two.',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('latin1'), 'utf8'),
  },
  {
    name: 'lossy-utf8-body',
    title: 'the body was decoded to text, and its invalid bytes were replaced',
    mistake: 'decoded-body',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('utf8'), 'utf8'),
  },
  {
    name: 'bom-stripped-body',
    title: 'the body was signed without its leading byte order mark',
    mistake: 'decoded-body',
    common: true,
    bytes: text((all) => (all.startsWith('\ufeff') ? all.slice(1) : undefined)),
  },
  {
    name: 'bom-added-body',
    title: 'the body was signed with a leading byte order mark',
    mistake: 'decoded-body',
    bytes: text((all) => `\ufeff${all}`),
  },
  {
    name: 'crlf-to-lf-body',
    title: 'the line endings of the body were changed from CRLF to LF',
    mistake: 'decoded-body',
    common: true,
    bytes: text((all) => (all.includes('\r\n') ? all.replaceAll('\r\n', '\n') : undefined)),
  },
  {
    name: 'lf-to-crlf-body',
    title: 'the line endings of the body were changed from LF to CRLF',
    mistake: 'decoded-body',
    common: true,
    bytes: text((all) => (/(?<!\r)\n/.test(all) ? all.replace(/(?<!\r)\n/g, '\r\n') : undefined)),
  },
  {
    name: 'line-ends-removed-body',
    title: 'the body was signed without its line endings',
    mistake: 'decoded-body',
    note: '`curl -d @file` removes line endings: use `--data-binary`.',
    bytes: text((all) => (/[\r\n]/.test(all) ? all.replace(/[\r\n]/g, '') : undefined)),
  },
  {
    name: 'white-space-removed-body',
    title: 'all whitespace was removed from the body',
    mistake: 'decoded-body',
    bytes: text((all) => all.replace(/\s+/g, '')),
  },
  {
    name: 'slashes-unescaped-body',
    title: 'the escaped slashes of the body were unescaped',
    mistake: 'decoded-body',
    bytes: text((all) => all.replaceAll('\\/', '/')),
  },
  {
    name: 'normalised-body',
    title: 'the text of the body was normalised to Unicode NFC',
    mistake: 'decoded-body',
    bytes: text((all) => all.normalize('NFC')),
  },
  {
    name: 'utf16-body',
    title: 'the body was encoded in UTF-16',
    mistake: 'decoded-body',
    bytes: text((all) => Buffer.from(all, 'utf16le')),
  },
];

/** Other input than the body: the schemes of other services, and what is left of a body that was already consumed. */
const INPUT_MISTAKES: readonly BodyMistake[] = [
  {
    name: 'timestamp-dot-body',
    title: 'the time, a dot and the body were signed',
    mistake: 'signed-part-of-body',
    note: 'This is the scheme of another well-known service (a t=,v1= header).',
    common: true,
    bytes: prefixed((body) => body.field('at'), '.'),
  },
  {
    name: 'id-timestamp-body',
    title: 'the id, the time and the body were signed, with dots between them',
    mistake: 'signed-part-of-body',
    note: 'This is the scheme of Standard Webhooks.',
    common: true,
    bytes: prefixed((body) => {
      const [id, at] = [body.field('id'), body.field('at')];
      return id === undefined || at === undefined ? undefined : `${id}.${at}`;
    }, '.'),
  },
  {
    name: 'id-body',
    title: 'the id and the body were signed together',
    mistake: 'signed-part-of-body',
    bytes: prefixed((body) => body.field('id')),
  },
  {
    name: 'id-dot-body',
    title: 'the id, a dot and the body were signed',
    mistake: 'signed-part-of-body',
    bytes: prefixed((body) => body.field('id'), '.'),
  },
  {
    name: 'id-only',
    title: 'only the id was signed',
    mistake: 'signed-part-of-body',
    bytes(body) {
      const id = body.field('id');
      return typeof id === 'string' ? Buffer.from(id) : undefined;
    },
  },
  {
    name: 'url-body',
    title: 'the URL and the body were signed together',
    mistake: 'signed-part-of-body',
    note: 'Some payment and telephony services sign the URL too.',
    common: true,
    needs: 'url',
    bytes: prefixed(({ url }) => url),
  },
  {
    name: 'url-only',
    title: 'only the URL was signed',
    mistake: 'signed-part-of-body',
    needs: 'url',
    bytes: ({ url }) => (url === undefined ? undefined : Buffer.from(url)),
  },
  {
    name: 'path-body',
    title: 'the path and the body were signed together',
    mistake: 'signed-part-of-body',
    needs: 'url',
    bytes: prefixed(({ url }) => pathOf(url)),
  },
  {
    name: 'empty-body',
    title: 'an empty body was signed',
    mistake: 'unread-body-verified',
    common: true,
    bytes: () => new Uint8Array(0),
  },
  {
    name: 'empty-object-body',
    title: 'the text {} was signed instead of the body',
    mistake: 'unread-body-verified',
    common: true,
    bytes: () => Buffer.from('{}'),
  },
  {
    name: 'object-object-body',
    title: 'the text [object Object] was signed instead of the body',
    mistake: 'unread-body-verified',
    note: 'JavaScript converted the parsed object to a string.',
    common: true,
    bytes: () => Buffer.from('[object Object]'),
  },
  {
    name: 'undefined-body',
    title: 'the word "undefined" was signed instead of the body',
    mistake: 'unread-body-verified',
    note: 'A property such as `req.rawBody` does not exist.',
    bytes: () => Buffer.from('undefined'),
  },
  {
    name: 'quoted-body',
    title: 'the body was signed as one JSON string, quoted and escaped',
    mistake: 'reserialised-body',
    note: 'The text of the body was given to a JSON serialiser once more.',
    bytes: text((all) => JSON.stringify(all)),
  },
  {
    name: 'base64-body',
    title: 'the base64 form of the body was signed',
    mistake: 'decoded-body',
    note: 'AWS Lambda delivers bodies in Base64 (isBase64Encoded), and they were not decoded.',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('base64')),
  },
  {
    name: 'hashed-body',
    title: 'the SHA-256 of the body in hexadecimal was signed instead of the body',
    mistake: 'signed-part-of-body',
    note: 'Some schemes sign a digest of the body; this one signs the body itself.',
    common: true,
    bytes: ({ body }) => Buffer.from(createHash('sha256').update(body).digest('hex')),
  },
];

/** By likelihood: where two mistakes give the same bytes, the first one is reported. */
export const BODY_MISTAKES: readonly BodyMistake[] = [...TEXT_MISTAKES, ...JSON_MISTAKES, ...INPUT_MISTAKES];

function text(change: (text: string) => string | Uint8Array | undefined): BodyMistake['bytes'] {
  return (body) => {
    const all = body.text();
    const changed = all === undefined ? undefined : change(all);
    return typeof changed === 'string' ? Buffer.from(changed, 'utf8') : changed;
  };
}

/** Without the whitespace of JSON at its ends. Not by an expression, which would be tried at every blank. */
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

/** Path and query of a URL. */
function pathOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
