import type { Request } from 'express';
import type { StageFault } from './fault.ts';
import { rawBytes } from './raw-body-fix.ts';
import { readingAs, readingText, verifyingOver } from './raw-body-wrong-input.ts';

const base = { area: 'raw-body', severity: 'high', forbidden: true, stage: 'readBody' } as const;

/** The charset parameter of Content-Type. */
function charsetOf(req: Request): string | undefined {
  return /;\s*charset="?([^";\s]+)/i.exec(req.headers['content-type'] ?? '')?.[1];
}

const asUtf8 = (text: string) => Buffer.from(text, 'utf8');
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bodies that were decoded before the check: with the wrong character set, or with losses. */
export const decodedBodies: readonly StageFault[] = [
  {
    ...base,
    name: 'strips-byte-order-mark',
    title: 'A byte order mark is removed from the body before the signature is verified.',
    seen: 'Text decoders do it without a word: express.text(), koa-bodyparser, request.text() of the Fetch API, utf-8-sig in Python.',
    why: 'Three bytes that came are not verified. A rightly signed body with a mark is refused, and a mark that nobody signed is let through.',
    fix: rawBytes('Verify the bytes before they become text; decoders strip the mark.'),
    severity: 'medium',
    replace: readingAs((body) => (body.subarray(0, 3).toString('hex') === 'efbbbf' ? body.subarray(3) : body)),
  },
  {
    ...base,
    name: 'throws-on-byte-order-mark',
    title: 'A byte order mark before the JSON text ends in an uncaught exception of the parser.',
    seen: 'Code that tests for "{" by hand and calls the parser unguarded in all other cases; Python refuses the mark with an error of its own.',
    why: 'One rightly signed delivery of an odd sender is answered 500 and repeated for days.',
    fix: rawBytes('Put a guard around the parser, and answer 400 to what it does not take.'),
    severity: 'medium',
    stage: 'parse',
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (res.locals.rawBody?.[0] === 0xef) throw new SyntaxError('unexpected byte order mark');
        return right.parse(req, res, next);
      },
  },
  {
    ...base,
    name: 'decodes-body-as-latin-1',
    title: 'The body is decoded as Latin-1, and the text is encoded as UTF-8 for the HMAC.',
    seen: 'Code that reads requests in the default character set of its platform, and the "binary" or "latin1" encoding of Node.',
    why: 'Deliveries in plain ASCII pass. The first one with an accent or an emoji is refused.',
    fix: rawBytes('Give the HMAC function bytes. Where it wants text, decode and encode as UTF-8.'),
    replace: readingAs((body) => asUtf8(body.toString('latin1'))),
  },
  {
    ...base,
    name: 'encodes-body-as-latin-1',
    title: 'The text of the body is encoded as Latin-1 for the HMAC.',
    seen: "update(text, 'latin1') or 'binary' in Node, getBytes() with the platform's default in older Java.",
    why: 'Texts outside ASCII are refused, and different texts share a signature, because all higher characters lose their upper byte.',
    fix: rawBytes('Name UTF-8 where the HMAC function takes text, or better give it the bytes.'),
    stage: 'verifySignature',
    replace: verifyingOver((body) => [Buffer.from(body.toString('utf8'), 'latin1')]),
  },
  {
    ...base,
    name: 'verifies-body-in-ascii',
    title: 'The text of the body is encoded as ASCII for the HMAC, with a question mark for every other character.',
    seen: 'Encoding.ASCII.GetBytes in .NET, which many samples for webhook signatures use.',
    why: 'Names with accents are refused, and an attacker can exchange one character outside ASCII for another under the same signature.',
    fix: rawBytes('Give the HMAC function the bytes of the body.', {
      dotnet: 'Use Encoding.UTF8 and not Encoding.ASCII, or better the bytes of `Request.Body`.',
    }),
    stage: 'verifySignature',
    replace: verifyingOver((body) => [asUtf8(body.toString('utf8').replace(/[^\0-\x7f]/g, '?'))]),
  },
  {
    ...base,
    name: 'decodes-by-declared-charset',
    title: 'The body is decoded by the charset of Content-Type before the signature is verified.',
    seen: 'express.text(), Spring and ASP.NET when the body is bound to a string, and requests.text in proxies written in Python.',
    why: 'A header that the signature does not cover decides what is hashed. An odd charset makes right deliveries fail, and an unknown one throws.',
    fix: rawBytes('Ignore the charset when you verify: JSON is UTF-8, and the signature is over bytes.'),
    severity: 'medium',
    replace: readingAs((body, req) => {
      const charset = charsetOf(req);
      if (charset === undefined || /^utf-?8$/i.test(charset)) return body;
      return asUtf8(new TextDecoder(charset).decode(body));
    }),
  },
  {
    ...base,
    name: 'defaults-to-latin-1',
    title: 'The body is decoded as Latin-1 unless Content-Type names a charset.',
    seen: 'Servlets that use request.getReader(), where Latin-1 is the default that the standard sets.',
    why: 'JSON is sent without a charset, so every delivery with an accent is refused, while tests with charset=utf-8 pass.',
    fix: rawBytes('Read bytes (getInputStream) and verify them, whatever Content-Type says.', {
      spring: 'Take the body as `@RequestBody byte[]` and not from `request.getReader()`.',
    }),
    replace: readingAs((body, req) => {
      const charset = charsetOf(req) ?? 'latin1';
      return /^utf-?8$/i.test(charset) ? body : asUtf8(new TextDecoder(charset).decode(body));
    }),
  },
  {
    ...base,
    name: 'replaces-invalid-bytes',
    title: 'Bytes that are not UTF-8 are replaced before the signature is verified.',
    seen: "body.toString() in Node, errors='replace' in Python, new String(bytes) in Java.",
    why: 'All invalid bytes become the same character, so bodies that nobody signed share the signature of one that somebody did.',
    fix: rawBytes('Verify the bytes; decode strictly afterwards, and answer 400 when that fails.'),
    severity: 'medium',
    replace: readingAs((body) => asUtf8(body.toString('utf8'))),
  },
  {
    ...base,
    name: 'throws-on-invalid-utf-8',
    title: 'A body that is not UTF-8 throws while it is decoded for the check, and the answer is 500.',
    seen: 'body.decode() in Python and force_encoding with a strict encode in Ruby, outside of any guard.',
    why: 'Anybody can provoke errors of the server without a credential, and each looks like an outage in the monitoring.',
    fix: rawBytes('Verify bytes first. Decode inside a guard, and answer 400 when it fails.'),
    severity: 'medium',
    replace: readingAs((body) => asUtf8(strict.decode(body))),
  },
  {
    ...base,
    name: 'normalises-unicode',
    title: 'The text of the body is brought into the Unicode form NFC before the signature is verified.',
    seen: 'Input filters and ORMs that normalise every text, and file systems through which bodies pass.',
    why: 'A letter with a combining accent becomes one character, and a right signature no longer fits.',
    fix: rawBytes('Normalise texts after the check, field by field, where you need it.'),
    replace: readingText((text) => text.normalize('NFC')),
  },
  {
    ...base,
    name: 'loses-four-byte-characters',
    title: 'Characters of four bytes are lost before the signature is verified.',
    seen: 'Bodies that go through a text column first, such as utf8 in MySQL, or filters against emoji.',
    why: 'One emoji in a free text makes a right delivery look forged, and the body cannot be verified again later.',
    fix: rawBytes('Verify before you store, and store the body as bytes.'),
    replace: readingText((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, '?')),
  },
  {
    ...base,
    name: 'strips-control-characters',
    title: 'Control characters are removed from the body before the signature is verified.',
    seen: 'Clean-up of "non-printable" characters in gateways, loggers and home-made input filters.',
    why: 'DEL may stand unescaped in JSON, and a delivery that holds one is refused although it is rightly signed.',
    fix: rawBytes('Filter texts after the check, and only where you show or store them.'),
    severity: 'medium',
    replace: readingText((text) => text.replace(/[^\P{Cc}\t\r\n]/gu, '')),
  },
  {
    ...base,
    name: 'counts-characters-as-bytes',
    title: 'The body is cut after as many bytes as it has characters.',
    seen: 'Forwarders that set Content-Length to text.length, and buffers in C that are sized by a count of characters.',
    why: 'Texts in ASCII pass. With every other letter a byte is lost at the end, and the rest neither verifies nor parses.',
    fix: rawBytes('Count bytes (Buffer.byteLength) wherever the body is copied or passed on.'),
    replace: readingAs((body) => body.subarray(0, body.toString('utf8').length)),
  },
  {
    ...base,
    name: 'stops-at-zero-byte',
    title: 'The body ends for the check and the parser at the first zero byte.',
    seen: 'Code in C that measures the body with strlen, and extensions or modules of web servers that pass it on as a C string.',
    why: 'Whatever stands behind the zero byte is covered by no signature, and another reader of the same request may take it for the body.',
    fix: rawBytes('Hash Content-Length bytes, and not up to a terminator; a zero byte is no JSON and belongs refused.'),
    replace: readingAs((body) => (body.includes(0) ? body.subarray(0, body.indexOf(0)) : body)),
  },
];
