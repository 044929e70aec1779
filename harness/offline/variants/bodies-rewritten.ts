/** The bytes of the body changed without parsing: white space, line ends, byte order mark, charset. */
import type { BodyVariant } from './body-reading.ts';

const RAW = 'Sign the bytes as they arrive, and decode, trim or convert nothing before the check.';
const BYTES = 'Feed the raw bytes to the HMAC. Where a text is needed, name UTF-8.';

function text(change: (text: string) => string | undefined): BodyVariant['bytes'] {
  return (body) => {
    const all = body.text();
    const changed = all === undefined ? undefined : change(all);
    return changed === undefined ? undefined : Buffer.from(changed, 'utf8');
  };
}

export const rewrittenBodies: readonly BodyVariant[] = [
  {
    name: 'body-newline-added',
    title: 'the body was signed with a line feed at its end',
    why: 'It was piped from echo, or saved by an editor that ends every file with a newline.',
    fix: `${RAW} By hand: printf '%s', or curl --data-binary @file.`,
    common: true,
    bytes: ({ body }) => Buffer.concat([body, Buffer.from('\n')]),
  },
  {
    name: 'body-newline-removed',
    title: 'the body was signed without the line end at its end',
    why: 'A chomp, a shell substitution $(...) or a line reader took it away.',
    fix: RAW,
    common: true,
    bytes: text((all) => (/\r?\n$/.test(all) ? all.replace(/\r?\n$/, '') : undefined)),
  },
  {
    name: 'trimmed-body',
    title: 'the body was signed without the white space at its ends',
    why: 'A trim or strip was applied to the text of the body.',
    fix: RAW,
    common: true,
    bytes: text((all) => all.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')),
  },
  {
    name: 'lower-case-body',
    title: 'the body was turned into lower case before it was signed',
    why: 'A normalisation that is meant for headers or addresses was applied to the whole text.',
    fix: RAW,
    common: true,
    bytes: text((all) => all.toLowerCase()),
  },
  {
    name: 'latin1-body',
    title: 'the body was encoded in Latin-1, not in UTF-8',
    why: "The platform's default charset was used for the text of the body.",
    fix: BYTES,
    common: true,
    bytes: (body) => {
      const all = body.text();
      return all === undefined ? undefined : Buffer.from(all, 'latin1');
    },
  },
  {
    name: 'ascii-body',
    title: 'the characters of the body outside ASCII were replaced by "?"',
    why: 'The ASCII encoder was used, as with Encoding.ASCII in .NET.',
    fix: BYTES,
    common: true,
    bytes: text((all) => all.replace(/[^\0-\x7f]/g, '?')),
  },
  {
    name: 'double-utf8-body',
    title: 'the bytes of the body were read as Latin-1 and written as UTF-8',
    why: 'A binary string was encoded once more; what is not ASCII becomes two characters each.',
    fix: BYTES,
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('latin1'), 'utf8'),
  },
  {
    name: 'lossy-utf8-body',
    title: 'the body was decoded to text, and its invalid bytes were replaced',
    why: 'Decoding puts U+FFFD in place of what is not UTF-8, so other bytes are signed than were sent.',
    fix: BYTES,
    common: true,
    bytes: ({ body }) => Buffer.from(Buffer.from(body).toString('utf8'), 'utf8'),
  },
  {
    name: 'bom-stripped-body',
    title: 'the body was signed without the byte order mark in front of it',
    why: 'Text decoders take the mark away.',
    fix: BYTES,
    common: true,
    bytes: text((all) => (all.startsWith('\ufeff') ? all.slice(1) : undefined)),
  },
  {
    name: 'bom-added-body',
    title: 'the body was signed with a byte order mark in front of it',
    why: 'The text was written by an encoder that starts with a mark (a StreamWriter in .NET, a Windows editor).',
    fix: BYTES,
    bytes: text((all) => `\ufeff${all}`),
  },
  {
    name: 'crlf-to-lf-body',
    title: 'the line ends of the body were turned from CRLF into LF',
    why: 'The body was read in text mode or line by line.',
    fix: RAW,
    common: true,
    bytes: text((all) => (all.includes('\r\n') ? all.replaceAll('\r\n', '\n') : undefined)),
  },
  {
    name: 'lf-to-crlf-body',
    title: 'the line ends of the body were turned from LF into CRLF',
    why: 'The body was written in text mode on Windows.',
    fix: RAW,
    bytes: text((all) => (/(?<!\r)\n/.test(all) ? all.replace(/(?<!\r)\n/g, '\r\n') : undefined)),
  },
  {
    name: 'white-space-removed-body',
    title: 'all white space was removed from the body',
    why: 'A canonical form was made with a text replacement; it also changes the texts in the body.',
    fix: RAW,
    bytes: text((all) => all.replace(/\s+/g, '')),
  },
  {
    name: 'slashes-unescaped-body',
    title: 'the escaped slashes of the body were unescaped',
    why: 'A backslash in front of "/" was removed, by hand or by a text filter.',
    fix: RAW,
    bytes: text((all) => all.replaceAll('\\/', '/')),
  },
  {
    name: 'normalised-body',
    title: 'the text of the body was brought into the Unicode form NFC',
    why: 'A text layer composes characters; two forms that look the same are different bytes.',
    fix: BYTES,
    bytes: text((all) => all.normalize('NFC')),
  },
  {
    name: 'utf16-body',
    title: 'the body was encoded in UTF-16',
    why: "The platform's in-memory encoding was used (Encoding.Unicode in .NET).",
    fix: BYTES,
    bytes: (body) => {
      const all = body.text();
      return all === undefined ? undefined : Buffer.from(all, 'utf16le');
    },
  },
];
