/** Mutants that read the body incompletely or decode it before the check. */
import { gunzipSync } from 'node:zlib';
import type { Request } from 'express';
import { required } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';
import { rawBytes, readingAs, readingText, verifyingOver } from './raw-body-replacements.ts';

const ARRIVAL = { area: 'raw-body', severity: 'high', forbidden: true } as const;

function hashesAtMost(bytes: number, shown: string): StageFault {
  return {
    ...ARRIVAL,
    name: `hashes-at-most-${shown.toLowerCase().replace(' ', '-')}`,
    title: `Only the first ${shown} of the body are verified.`,
    seen: 'Buffers of a fixed size in C, in embedded web servers and in modules of proxies, and a read(n) without a loop.',
    why: `Deliveries beyond ${shown} are refused although they are rightly signed. Samples are far smaller, so it shows in production first.`,
    fix: rawBytes('Read until the end of the body, with a limit that answers 413, and hash all of it.'),
    stage: 'verifySignature',
    replace: verifyingOver((body) => [body.subarray(0, bytes)]),
  };
}

const CHARACTERS = { area: 'raw-body', severity: 'high', forbidden: true, stage: 'readBody' } as const;

/** The charset parameter of Content-Type. */
function charsetOf(req: Request): string | undefined {
  return /;\s*charset="?([^";\s]+)/i.exec(req.headers['content-type'] ?? '')?.[1];
}

const asUtf8 = (text: string) => Buffer.from(text, 'utf8');

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const rawBodyReadingFaults: readonly StageFault[] = [
  // Bodies that were not read to their end, or not as one block of bytes.
  {
    ...ARRIVAL,
    name: 'reads-first-chunk-only',
    title: 'Only the first chunk of the body is read.',
    seen: 'A data event that calls the handler, one read() on a socket, and raw bodies that are taken before the end event.',
    why: 'On one machine a body arrives in one piece. In production networks cut where they like, and deliveries are refused at random.',
    fix: rawBytes('Collect all chunks, and go on at the end of the body only.'),
    stage: 'readBody',
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (req.headers['content-length'] === '0') return right.readBody(req, res, next);
        let first: Buffer | undefined;
        const goOn = () => {
          res.locals.rawBody = first ?? Buffer.alloc(0);
          next();
        };
        req.on('data', (chunk: Buffer) => {
          if (first !== undefined) return;
          first = chunk;
          goOn();
        });
        req.on('end', () => first === undefined && goOn());
      },
  },
  {
    ...ARRIVAL,
    name: 'joins-chunks-as-text',
    title: 'Every chunk of the body is decoded by itself, and the texts are joined.',
    seen: 'body += chunk in Node, the oldest way to read a request, and decoders that keep no state between reads.',
    why: 'A character that is cut by the end of a packet becomes replacement characters. It happens rarely, and only with texts outside ASCII.',
    fix: rawBytes('Collect the chunks as bytes, join them (Buffer.concat) and decode once.'),
    stage: 'readBody',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        let text = '';
        const whole = Number(req.headers['content-length'] ?? 0) <= config.bodyLimit;
        if (whole) req.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        right.readBody(req, res, (error?: unknown) => {
          const raw = res.locals.rawBody;
          // Bytes that are not UTF-8 at all are another fault.
          if (whole && raw !== undefined && Buffer.from(raw.toString('utf8')).equals(raw)) {
            res.locals.rawBody = Buffer.from(text, 'utf8');
          }
          next(error);
        });
      },
  },
  hashesAtMost(1024, '1 KiB'),
  hashesAtMost(8 * 1024, '8 KiB'),
  hashesAtMost(64 * 1024, '64 KiB'),
  {
    ...ARRIVAL,
    name: 'waits-for-consumed-body',
    equivalentTo: {
      name: 'accepted-never-answered',
      reason: 'Neither answers the first delivery, so that nothing else is asked.',
    },
    title: 'The body was read before, and the handler waits for its end for ever.',
    seen: 'raw-body, getRawBody or a second reader behind a body parser, and signature middleware that was added to an app with a global express.json().',
    why: 'No delivery is ever answered. The sender sees time limits only, and the handler logs nothing, because it never got to run.',
    fix: rawBytes('Read the body in one place: exempt this route from the global body parser, and keep the bytes.'),
    severity: 'critical',
    stage: 'readBody',
    replace: () => (req, _res, next) => {
      req.resume();
      req.once('end', () => req.once('end', next));
    },
  },
  {
    ...ARRIVAL,
    name: 'inflates-body-and-throws',
    title: 'A body with Content-Encoding: gzip is inflated without a guard before the check.',
    seen: 'Functions behind gateways that inflate by hand, and middleware for compressed requests without an error handler.',
    why: 'One header makes the handler throw without any credential; and a compressed body is verified over bytes that were not sent.',
    fix: rawBytes(
      'Answer 415 to compressed bodies: the service does not compress. At least catch what the decoder throws.',
    ),
    severity: 'low',
    // The service never compresses, so this is about robustness alone.
    forbidden: false,
    stage: 'readBody',
    replace: readingAs((body, req) => (req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)),
  },
  {
    ...ARRIVAL,
    name: 'stalls-on-large-body',
    title: 'A rightly signed body beyond 256 KiB is never answered.',
    seen: 'Large bodies that go to a second reader or to a file, and code that waits for an end event which has passed.',
    why: 'The sender runs into its time limit and tries again, each time with the same end, while connections pile up.',
    fix: rawBytes('Read the body in one place, to its end, and hand the bytes on to the check and to the parser.'),
    stage: 'parse',
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (required(res, 'rawBody').length <= 256 * 1024) return right.parse(req, res, next);
        req.once('end', () => right.parse(req, res, next));
      },
  },
  // Bodies that were decoded before the check: with the wrong character set, or with losses.
  {
    ...CHARACTERS,
    name: 'strips-byte-order-mark',
    title: 'A byte order mark is removed from the body before the signature is verified.',
    seen: 'Text decoders do it without a word: express.text(), koa-bodyparser, request.text() of the Fetch API, utf-8-sig in Python.',
    why: 'Three bytes that came are not verified. A rightly signed body with a mark is refused, and a mark that nobody signed is let through.',
    fix: rawBytes('Verify the bytes before they become text; decoders strip the mark.'),
    severity: 'medium',
    replace: readingAs((body) => (body.subarray(0, 3).toString('hex') === 'efbbbf' ? body.subarray(3) : body)),
  },
  {
    ...CHARACTERS,
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
    ...CHARACTERS,
    name: 'decodes-body-as-latin-1',
    title: 'The body is decoded as Latin-1, and the text is encoded as UTF-8 for the HMAC.',
    seen: 'Code that reads requests in the default character set of its platform, and the "binary" or "latin1" encoding of Node.',
    why: 'Deliveries in plain ASCII pass. The first one with an accent or an emoji is refused.',
    fix: rawBytes('Give the HMAC function bytes. Where it wants text, decode and encode as UTF-8.'),
    replace: readingAs((body) => asUtf8(body.toString('latin1'))),
  },
  {
    ...CHARACTERS,
    name: 'encodes-body-as-latin-1',
    title: 'The text of the body is encoded as Latin-1 for the HMAC.',
    seen: "update(text, 'latin1') or 'binary' in Node, getBytes() with the platform's default in older Java.",
    why: 'Texts outside ASCII are refused, and different texts share a signature, because all higher characters lose their upper byte.',
    fix: rawBytes('Name UTF-8 where the HMAC function takes text, or better give it the bytes.'),
    stage: 'verifySignature',
    replace: verifyingOver((body) => [Buffer.from(body.toString('utf8'), 'latin1')]),
  },
  {
    ...CHARACTERS,
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
    ...CHARACTERS,
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
    ...CHARACTERS,
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
    ...CHARACTERS,
    name: 'replaces-invalid-bytes',
    title: 'Bytes that are not UTF-8 are replaced before the signature is verified.',
    seen: "body.toString() in Node, errors='replace' in Python, new String(bytes) in Java.",
    why: 'All invalid bytes become the same character, so bodies that nobody signed share the signature of one that somebody did.',
    fix: rawBytes('Verify the bytes; decode strictly afterwards, and answer 400 when that fails.'),
    severity: 'medium',
    replace: readingAs((body) => asUtf8(body.toString('utf8'))),
  },
  {
    ...CHARACTERS,
    name: 'throws-on-invalid-utf-8',
    title: 'A body that is not UTF-8 throws while it is decoded for the check, and the answer is 500.',
    seen: 'body.decode() in Python and force_encoding with a strict encode in Ruby, outside of any guard.',
    why: 'Anybody can provoke errors of the server without a credential, and each looks like an outage in the monitoring.',
    fix: rawBytes('Verify bytes first. Decode inside a guard, and answer 400 when it fails.'),
    severity: 'medium',
    replace: readingAs((body) => asUtf8(strict.decode(body))),
  },
  {
    ...CHARACTERS,
    name: 'normalises-unicode',
    title: 'The text of the body is brought into the Unicode form NFC before the signature is verified.',
    seen: 'Input filters and ORMs that normalise every text, and file systems through which bodies pass.',
    why: 'A letter with a combining accent becomes one character, and a right signature no longer fits.',
    fix: rawBytes('Normalise texts after the check, field by field, where you need it.'),
    replace: readingText((text) => text.normalize('NFC')),
  },
  {
    ...CHARACTERS,
    name: 'loses-four-byte-characters',
    title: 'Characters of four bytes are lost before the signature is verified.',
    seen: 'Bodies that go through a text column first, such as utf8 in MySQL, or filters against emoji.',
    why: 'One emoji in a free text makes a right delivery look forged, and the body cannot be verified again later.',
    fix: rawBytes('Verify before you store, and store the body as bytes.'),
    replace: readingText((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, '?')),
  },
  {
    ...CHARACTERS,
    name: 'strips-control-characters',
    title: 'Control characters are removed from the body before the signature is verified.',
    seen: 'Clean-up of "non-printable" characters in gateways, loggers and home-made input filters.',
    why: 'DEL may stand unescaped in JSON, and a delivery that holds one is refused although it is rightly signed.',
    fix: rawBytes('Filter texts after the check, and only where you show or store them.'),
    severity: 'medium',
    replace: readingText((text) => text.replace(/[^\P{Cc}\t\r\n]/gu, '')),
  },
  {
    ...CHARACTERS,
    name: 'counts-characters-as-bytes',
    title: 'The body is cut after as many bytes as it has characters.',
    seen: 'Forwarders that set Content-Length to text.length, and buffers in C that are sized by a count of characters.',
    why: 'Texts in ASCII pass. With every other letter a byte is lost at the end, and the rest neither verifies nor parses.',
    fix: rawBytes('Count bytes (Buffer.byteLength) wherever the body is copied or passed on.'),
    replace: readingAs((body) => body.subarray(0, body.toString('utf8').length)),
  },
  {
    ...CHARACTERS,
    name: 'stops-at-zero-byte',
    title: 'The body ends for the check and the parser at the first zero byte.',
    seen: 'Code in C that measures the body with strlen, and extensions or modules of web servers that pass it on as a C string.',
    why: 'Whatever stands behind the zero byte is covered by no signature, and another reader of the same request may take it for the body.',
    fix: rawBytes('Hash Content-Length bytes, and not up to a terminator; a zero byte is no JSON and belongs refused.'),
    replace: readingAs((body) => (body.includes(0) ? body.subarray(0, body.indexOf(0)) : body)),
  },
];
