/** Other bytes are signed than the exact bytes of the body. Specification: HMAC signature (the exact request body). */
import { createHash } from 'node:crypto';
import { JSON_MISTAKES } from './json-mistakes.ts';
import type { BodyMistake, ReadBody } from './mistake.ts';

const EXACT_BYTES = 'Sign the exact bytes that are sent: decode, trim or convert nothing before.';
const USE_UTF8 = 'Feed the bytes of the body to the HMAC. Where text becomes bytes, name UTF-8.';
const BODY_ONLY =
  'Sign the whole body and nothing else: the signing input of this service has no timestamp, id or URL.';
const KEEP_BYTES = 'Keep the raw bytes of the body, and give them to the function that signs or verifies.';

/** The body as text is changed, without parsing. */
const TEXT_MISTAKES: readonly BodyMistake[] = [
  {
    name: 'body-newline-added',
    title: 'the body was signed with a line feed at its end',
    why: 'It was piped from echo, or saved by an editor that ends every file with a line feed.',
    fix: `${EXACT_BYTES} By hand: printf '%s', or curl --data-binary @file.`,
    common: true,
    bytes: ({ body }) => Buffer.concat([body, Buffer.from('\n')]),
  },
  {
    name: 'body-newline-removed',
    title: 'the body was signed without the line end at its end',
    why: 'A chomp, a shell substitution $(...) or a line reader removed it.',
    fix: EXACT_BYTES,
    common: true,
    bytes: text((all) => (/\r?\n$/.test(all) ? all.replace(/\r?\n$/, '') : undefined)),
  },
  {
    name: 'trimmed-body',
    title: 'the body was signed without the whitespace at its ends',
    why: 'The text of the body was trimmed or stripped.',
    fix: EXACT_BYTES,
    common: true,
    bytes: text(trimmed),
  },
  {
    name: 'lower-case-body',
    title: 'the body was signed in lower case',
    why: 'A normalisation that is meant for headers or addresses was applied to the whole text.',
    fix: EXACT_BYTES,
    common: true,
    bytes: text((all) => all.toLowerCase()),
  },
  {
    name: 'latin1-body',
    title: 'the body was encoded in Latin-1, not in UTF-8',
    why: "The platform's default charset was used for the text of the body.",
    fix: USE_UTF8,
    common: true,
    bytes: text((all) => Buffer.from(all, 'latin1')),
  },
  {
    name: 'ascii-body',
    title: 'the characters of the body outside ASCII were replaced by "?"',
    why: 'The ASCII encoder was used, such as Encoding.ASCII in .NET.',
    fix: USE_UTF8,
    common: true,
    bytes: text((all) => all.replace(/[^\0-\x7f]/g, '?')),
  },
  {
    name: 'double-utf8-body',
    title: 'the bytes of the body were read as Latin-1 and encoded in UTF-8',
    why: 'A binary string was encoded once more: every byte outside ASCII becomes two.',
    fix: USE_UTF8,
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('latin1'), 'utf8'),
  },
  {
    name: 'lossy-utf8-body',
    title: 'the body was decoded to text, and its invalid bytes were replaced',
    why: 'A decoder writes U+FFFD for every byte that is not UTF-8, so other bytes are signed than were sent.',
    fix: USE_UTF8,
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('utf8'), 'utf8'),
  },
  {
    name: 'bom-stripped-body',
    title: 'the body was signed without its leading byte order mark',
    why: 'Text decoders remove the mark.',
    fix: `${USE_UTF8} JSON is sent without a byte order mark.`,
    common: true,
    bytes: text((all) => (all.startsWith('\ufeff') ? all.slice(1) : undefined)),
  },
  {
    name: 'bom-added-body',
    title: 'the body was signed with a leading byte order mark',
    why: 'The text was written by an encoder that starts with a mark (a StreamWriter in .NET, a Windows editor).',
    fix: USE_UTF8,
    bytes: text((all) => `\ufeff${all}`),
  },
  {
    name: 'crlf-to-lf-body',
    title: 'the line endings of the body were changed from CRLF to LF',
    why: 'The body was read in text mode or line by line.',
    fix: EXACT_BYTES,
    common: true,
    bytes: text((all) => (all.includes('\r\n') ? all.replaceAll('\r\n', '\n') : undefined)),
  },
  {
    name: 'lf-to-crlf-body',
    title: 'the line endings of the body were changed from LF to CRLF',
    why: 'The body was written in text mode on Windows.',
    fix: EXACT_BYTES,
    common: true,
    bytes: text((all) => (/(?<!\r)\n/.test(all) ? all.replace(/(?<!\r)\n/g, '\r\n') : undefined)),
  },
  {
    name: 'line-ends-removed-body',
    title: 'the body was signed without its line endings',
    why: 'The lines were read one by one and joined, or sent with curl -d @file, which removes line endings.',
    fix: `${EXACT_BYTES} With curl, use --data-binary @file.`,
    bytes: text((all) => (/[\r\n]/.test(all) ? all.replace(/[\r\n]/g, '') : undefined)),
  },
  {
    name: 'white-space-removed-body',
    title: 'all whitespace was removed from the body',
    why: 'A canonical form was made by replacing text, which also changes the strings in the body.',
    fix: EXACT_BYTES,
    bytes: text((all) => all.replace(/\s+/g, '')),
  },
  {
    name: 'slashes-unescaped-body',
    title: 'the escaped slashes of the body were unescaped',
    why: 'The backslash before "/" was removed, by hand or by a text filter.',
    fix: EXACT_BYTES,
    bytes: text((all) => all.replaceAll('\\/', '/')),
  },
  {
    name: 'normalised-body',
    title: 'the text of the body was normalised to Unicode NFC',
    why: 'A text layer composes characters; two forms that look the same are different bytes.',
    fix: USE_UTF8,
    bytes: text((all) => all.normalize('NFC')),
  },
  {
    name: 'utf16-body',
    title: 'the body was encoded in UTF-16',
    why: "The platform's in-memory encoding was used (Encoding.Unicode in .NET).",
    fix: USE_UTF8,
    bytes: text((all) => Buffer.from(all, 'utf16le')),
  },
];

/** Other input than the body: the schemes of other services, and what is left of a body that was already consumed. */
const INPUT_MISTAKES: readonly BodyMistake[] = [
  {
    name: 'timestamp-dot-body',
    title: 'the time, a dot and the body were signed',
    why: 'This is the scheme of another well-known service (a t=,v1= header).',
    fix: BODY_ONLY,
    common: true,
    bytes: prefixed((body) => body.field('at'), '.'),
  },
  {
    name: 'id-timestamp-body',
    title: 'the id, the time and the body were signed, with dots between them',
    why: 'This is the scheme of Standard Webhooks.',
    fix: BODY_ONLY,
    common: true,
    bytes: prefixed((body) => {
      const [id, at] = [body.field('id'), body.field('at')];
      return id === undefined || at === undefined ? undefined : `${id}.${at}`;
    }, '.'),
  },
  {
    name: 'id-body',
    title: 'the id and the body were signed together',
    why: 'The scheme of another service was followed.',
    fix: BODY_ONLY,
    bytes: prefixed((body) => body.field('id')),
  },
  {
    name: 'id-dot-body',
    title: 'the id, a dot and the body were signed',
    why: 'The scheme of another service was followed.',
    fix: BODY_ONLY,
    bytes: prefixed((body) => body.field('id'), '.'),
  },
  {
    name: 'id-only',
    title: 'only the id was signed',
    why: 'The scheme of another service was followed. Such a signature does not protect the content.',
    fix: BODY_ONLY,
    bytes(body) {
      const id = body.field('id');
      return typeof id === 'string' ? Buffer.from(id) : undefined;
    },
  },
  {
    name: 'url-body',
    title: 'the URL and the body were signed together',
    why: 'Some payment and telephony services sign the URL too, and code for them was reused.',
    fix: BODY_ONLY,
    common: true,
    needs: 'url',
    bytes: prefixed(({ url }) => url),
  },
  {
    name: 'url-only',
    title: 'only the URL was signed',
    why: 'The scheme of another service was followed. Such a signature does not protect the content.',
    fix: BODY_ONLY,
    needs: 'url',
    bytes: ({ url }) => (url === undefined ? undefined : Buffer.from(url)),
  },
  {
    name: 'path-body',
    title: 'the path and the body were signed together',
    why: 'Some services sign the path of the request too, and code for them was reused.',
    fix: BODY_ONLY,
    needs: 'url',
    bytes: prefixed(({ url }) => pathOf(url)),
  },
  {
    name: 'empty-body',
    title: 'an empty body was signed',
    why: 'The body had already been read by a parser and nothing was left of the stream, or it was not there yet.',
    fix: KEEP_BYTES,
    common: true,
    bytes: () => new Uint8Array(0),
  },
  {
    name: 'empty-object-body',
    title: 'the text {} was signed instead of the body',
    why: 'No body parser ran, or another one had run already, and JSON.stringify was applied to an empty object.',
    fix: KEEP_BYTES,
    common: true,
    bytes: () => Buffer.from('{}'),
  },
  {
    name: 'object-object-body',
    title: 'the text [object Object] was signed instead of the body',
    why: 'JavaScript converted the parsed object to a string.',
    fix: KEEP_BYTES,
    common: true,
    bytes: () => Buffer.from('[object Object]'),
  },
  {
    name: 'undefined-body',
    title: 'the word "undefined" was signed instead of the body',
    why: 'A property such as req.rawBody does not exist, and JavaScript converted it to a string.',
    fix: KEEP_BYTES,
    bytes: () => Buffer.from('undefined'),
  },
  {
    name: 'quoted-body',
    title: 'the body was signed as one JSON string, quoted and escaped',
    why: 'The text of the body was given to a JSON serialiser once more.',
    fix: EXACT_BYTES,
    bytes: text((all) => JSON.stringify(all)),
  },
  {
    name: 'base64-body',
    title: 'the base64 form of the body was signed',
    why: 'The platform delivers bodies in base64 (AWS Lambda with isBase64Encoded), and they were not decoded.',
    fix: 'Decode the base64 first, and sign the bytes that it stands for.',
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('base64')),
  },
  {
    name: 'hashed-body',
    title: 'the SHA-256 of the body in hexadecimal was signed instead of the body',
    why: 'Some schemes sign a digest of the body; this one signs the body itself.',
    fix: BODY_ONLY,
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
