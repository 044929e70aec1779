/** Mutants that read the body incompletely or decode it before verification. */
import { gunzipSync } from 'node:zlib';
import type { Request } from 'express';
import { required } from '../receiver/stages/stage.ts';
import type { StageFault } from './fault.ts';
import { rawBytes, rewriteBody, rewriteText, verifyOver } from './raw-body-replacements.ts';

const ARRIVAL = { area: 'raw-body', severity: 'high', forbidden: true } as const;

function hashesAtMost(bytes: number, shown: string, part = `the first ${shown} of the body`): StageFault {
  return {
    ...ARRIVAL,
    name: `hashes-at-most-${shown.toLowerCase().replace(' ', '-')}`,
    title: `Verifies only ${part}`,
    seen: 'Fixed-size buffers in C, in embedded web servers and in proxy modules, and a read(n) without a loop.',
    why:
      'Longer deliveries are rejected although their signature is valid. ' +
      'Samples are far smaller, so it first shows in production.',
    fix: rawBytes('Read to the end of the body, with a limit that answers 413, and hash all of it.'),
    stage: 'requireSignature',
    replace: verifyOver((body) => [body.subarray(0, bytes)]),
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
  // Bodies that were not read completely, or not as one block of bytes.
  {
    ...ARRIVAL,
    name: 'body-in-module-variable',
    title: 'Collects the body in a variable that all requests share, so bodies that arrive together are mixed',
    seen: 'Variables of a module, or fields of a singleton, that each request empties when it begins.',
    why: 'One delivery at a time works. In production bodies overlap, and valid deliveries are rejected at random.',
    fix: rawBytes('Keep the chunks in a variable of the request.'),
    comesAndGoes: true,
    stage: 'readBody',
    replace: ({ correct }) => {
      let shared: Buffer[] = [];
      return (req, res, next) => {
        shared = [];
        req.on('data', (chunk: Buffer) => shared.push(chunk));
        return correct.readBody(req, res, (error?: unknown) => {
          res.locals.rawBody = Buffer.concat(shared);
          next(error);
        });
      };
    },
  },
  {
    ...ARRIVAL,
    name: 'reads-first-chunk-only',
    title: 'Reads only the first chunk of the body',
    seen:
      'A data event that calls the handler, a single read() on a socket, and raw bodies that are used before the ' +
      'end event.',
    why:
      'On one machine a body arrives in one piece. Production networks split it anywhere, and deliveries are ' +
      'rejected at random.',
    fix: rawBytes('Collect all chunks, and continue only at the end of the body.'),
    stage: 'readBody',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (req.headers['content-length'] === '0') return correct.readBody(req, res, next);
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
    title: 'Decodes each chunk of the body separately and joins the texts',
    seen: 'body += chunk in Node, the oldest way to read a request, and decoders that keep no state between reads.',
    why:
      'A character that is split between two packets turns into replacement characters: rare, and only for text ' +
      'outside ASCII.',
    fix: rawBytes('Collect the chunks as bytes, join them (Buffer.concat) and decode once.'),
    stage: 'readBody',
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        let text = '';
        const whole = Number(req.headers['content-length'] ?? 0) <= config.bodyLimit;
        if (whole) req.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        correct.readBody(req, res, (error?: unknown) => {
          const raw = res.locals.rawBody;
          // Bytes that are not UTF-8 are another fault.
          if (whole && raw !== undefined && Buffer.from(raw.toString('utf8')).equals(raw)) {
            res.locals.rawBody = Buffer.from(text, 'utf8');
          }
          next(error);
        });
      },
  },
  hashesAtMost(1024, '1 KiB', 'the beginning of a body of several kilobytes'),
  hashesAtMost(8 * 1024, '8 KiB'),
  hashesAtMost(64 * 1024, '64 KiB'),
  {
    ...ARRIVAL,
    name: 'waits-for-consumed-body',
    equivalentTo: {
      name: 'accepted-never-answered',
      reason: 'Neither answers the first delivery, so nothing else is judged.',
    },
    title: 'Waits forever for the end of a body that was already read',
    seen:
      'raw-body, getRawBody or a second reader behind a body parser, and signature middleware added to an app with ' +
      'a global express.json().',
    why:
      'No delivery is ever answered. The sender sees only timeouts, and the handler logs nothing because it never ' +
      'runs.',
    fix: rawBytes('Read the body in one place: exclude this route from the global body parser, and keep the bytes.'),
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
    title: 'Decompresses a body with Content-Encoding: gzip before verification, without handling errors',
    seen:
      'Functions behind gateways that decompress by hand, and middleware for compressed requests without an error ' +
      'handler.',
    why:
      'One header makes the handler throw without any credential, and compressed bodies are verified over bytes ' +
      'that were not sent.',
    fix: rawBytes(
      'Answer 415 to compressed bodies, because the service never compresses. At least catch errors of the decoder.',
    ),
    severity: 'medium',
    stage: 'readBody',
    replace: rewriteBody((body, req) => (req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)),
  },
  {
    ...ARRIVAL,
    name: 'stalls-on-large-body',
    title: 'Never answers a validly signed body over 256 KiB',
    seen:
      'Large bodies that go to a second reader or a file, and code that waits for an end event that has already ' +
      'fired.',
    why: 'The sender times out and retries, each time with the same result, while connections pile up.',
    fix: rawBytes('Read the body in one place, to its end, and pass the bytes to the check and the parser.'),
    stage: 'parse',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (required(res, 'rawBody').length <= 256 * 1024) return correct.parse(req, res, next);
        req.once('end', () => correct.parse(req, res, next));
      },
  },
  // Bodies that were decoded before verification, with the wrong character set or with losses.
  {
    ...CHARACTERS,
    name: 'strips-byte-order-mark',
    title: 'Removes a byte order mark from the body before the verification',
    seen:
      'Text decoders that do it silently: express.text(), koa-bodyparser, request.text() of the Fetch API, ' +
      'utf-8-sig in Python.',
    why: 'A validly signed body with a byte order mark is rejected, and an unsigned mark is accepted.',
    fix: rawBytes('Verify the bytes before they become text: decoders remove the mark.'),
    severity: 'medium',
    replace: rewriteBody((body) => (body.subarray(0, 3).toString('hex') === 'efbbbf' ? body.subarray(3) : body)),
  },
  {
    ...CHARACTERS,
    name: 'throws-on-byte-order-mark',
    title: 'Fails with an uncaught parser exception when the JSON text starts with a byte order mark',
    seen:
      'Code that tests for "{" by hand and otherwise calls the parser unguarded; Python rejects the mark with a ' +
      'special error.',
    why: 'One validly signed delivery is answered 500 and retried for days.',
    fix: rawBytes('Catch errors of the parser, and answer 400.'),
    severity: 'medium',
    stage: 'parse',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (res.locals.rawBody?.[0] === 0xef) throw new SyntaxError('unexpected byte order mark');
        return correct.parse(req, res, next);
      },
  },
  {
    ...CHARACTERS,
    name: 'decodes-body-as-latin-1',
    title: 'Decodes the body as Latin-1 and encodes it as UTF-8 for the HMAC',
    seen:
      'Code that reads requests in the default character set of its platform, and the "binary" or "latin1" ' +
      'encoding of Node.',
    why: 'Deliveries in plain ASCII pass. The first one with an accent or an emoji is rejected.',
    fix: rawBytes('Pass bytes to the HMAC function. If it requires text, decode and encode as UTF-8.'),
    replace: rewriteBody((body) => asUtf8(body.toString('latin1'))),
  },
  {
    ...CHARACTERS,
    name: 'encodes-body-as-latin-1',
    title: 'Encodes the text of the body as Latin-1 for the HMAC',
    seen: "update(text, 'latin1') or 'binary' in Node, getBytes() with the platform default in older Java.",
    why:
      'Text outside ASCII is rejected, and different texts share a signature because the upper byte of each ' +
      'character is lost.',
    fix: rawBytes('Name UTF-8 where the HMAC function takes text, or better, pass it the bytes.'),
    stage: 'requireSignature',
    replace: verifyOver((body) => [Buffer.from(body.toString('utf8'), 'latin1')]),
  },
  {
    ...CHARACTERS,
    name: 'verifies-body-in-ascii',
    title: 'Encodes the text of the body as ASCII for the HMAC, with a question mark for every other character',
    seen: 'Encoding.ASCII.GetBytes in .NET, which many webhook samples use.',
    why:
      'Names with accents are rejected, and an attacker can replace one character outside ASCII with another under ' +
      'the same signature.',
    fix: rawBytes('Pass the bytes of the body to the HMAC function.', {
      dotnet: 'Use Encoding.UTF8 instead of Encoding.ASCII, or better, the bytes of `Request.Body`.',
    }),
    stage: 'requireSignature',
    replace: verifyOver((body) => [asUtf8(body.toString('utf8').replace(/[^\0-\x7f]/g, '?'))]),
  },
  {
    ...CHARACTERS,
    name: 'decodes-by-declared-charset',
    title: 'Decodes the body by the charset of Content-Type before the verification',
    seen: 'express.text(), Spring and ASP.NET when the body is bound to a string, and requests.text in Python proxies.',
    why:
      'An unsigned header decides what is hashed. An unusual charset makes valid deliveries fail, and an unknown ' +
      'one throws.',
    fix: rawBytes('Ignore the charset for the verification: JSON is UTF-8, and the signature covers bytes.'),
    severity: 'medium',
    replace: rewriteBody((body, req) => {
      const charset = charsetOf(req);
      if (charset === undefined || /^utf-?8$/i.test(charset)) return body;
      return asUtf8(new TextDecoder(charset).decode(body));
    }),
  },
  {
    ...CHARACTERS,
    name: 'defaults-to-latin-1',
    title: 'Decodes the body as Latin-1 unless Content-Type names a charset',
    seen: 'Servlets that use request.getReader(), where the standard makes Latin-1 the default.',
    why:
      'JSON is sent without a charset, so every delivery with an accent is rejected, while tests with charset=utf-8 ' +
      'pass.',
    fix: rawBytes('Read bytes (getInputStream) and verify them, whatever Content-Type says.', {
      spring: 'Take the body as `@RequestBody byte[]`, not from `request.getReader()`.',
    }),
    replace: rewriteBody((body, req) => {
      const charset = charsetOf(req) ?? 'latin1';
      return /^utf-?8$/i.test(charset) ? body : asUtf8(new TextDecoder(charset).decode(body));
    }),
  },
  {
    ...CHARACTERS,
    name: 'replaces-invalid-bytes',
    title: 'Replaces bytes that are not UTF-8 before the verification',
    seen: "body.toString() in Node, errors='replace' in Python, new String(bytes) in Java.",
    why: 'All invalid bytes become the same character, so unsigned bodies share the signature of a signed one.',
    fix: rawBytes('Verify the bytes, then decode strictly and answer 400 if that fails.'),
    severity: 'medium',
    replace: rewriteBody((body) => asUtf8(body.toString('utf8'))),
  },
  {
    ...CHARACTERS,
    name: 'ignores-invalid-bytes',
    title: 'Removes bytes that are not UTF-8 before the verification',
    seen: "body.decode('utf-8', 'ignore') in Python, iconv with //IGNORE in PHP, String#scrub('') in Ruby.",
    why: 'An attacker can add invalid bytes anywhere in a signed body, and the receiver does not notice.',
    fix: rawBytes('Verify the bytes, then decode strictly and answer 400 if that fails.'),
    replace: rewriteBody((body) => asUtf8(body.toString('utf8').replaceAll('\ufffd', ''))),
  },
  {
    ...CHARACTERS,
    name: 'throws-on-invalid-utf-8',
    title: 'Answers 500 to a body that is not UTF-8, because decoding it for verification throws',
    seen: 'body.decode() in Python and force_encoding with a strict encode in Ruby, without error handling.',
    why: 'Anyone can cause server errors without a credential, and each looks like an outage in the monitoring.',
    fix: rawBytes('Verify bytes first. Catch decoding errors, and answer 400.'),
    severity: 'medium',
    replace: rewriteBody((body) => asUtf8(strict.decode(body))),
  },
  {
    ...CHARACTERS,
    name: 'normalises-unicode',
    title: 'Normalises the text of the body to Unicode NFC before the verification',
    seen: 'Input filters and ORMs that normalise every text, and file systems that bodies pass through.',
    why: 'A letter with a combining accent becomes one character, and a valid signature no longer matches.',
    fix: rawBytes('Normalise texts after verification, field by field, where you need it.'),
    replace: rewriteText((text) => text.normalize('NFC')),
  },
  {
    ...CHARACTERS,
    name: 'loses-four-byte-characters',
    title: 'Loses four-byte characters before the verification',
    seen: 'Bodies that first pass through a text column, such as utf8 in MySQL, or through filters against emoji.',
    why: 'One emoji in a text makes a valid delivery look forged, and the stored body cannot be verified again.',
    fix: rawBytes('Verify before you store, and store the body as bytes.'),
    replace: rewriteText((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, '?')),
  },
  {
    ...CHARACTERS,
    name: 'strips-control-characters',
    title: 'Removes control characters from the body before the verification',
    seen: 'Removal of "non-printable" characters in gateways, loggers and hand-written input filters.',
    why: 'JSON allows an unescaped DEL, and a validly signed delivery that contains one is rejected.',
    fix: rawBytes('Filter texts after verification, and only where you show or store them.'),
    severity: 'medium',
    replace: rewriteText((text) => text.replace(/[^\P{Cc}\t\r\n]/gu, '')),
  },
  {
    ...CHARACTERS,
    name: 'counts-characters-as-bytes',
    title: 'Cuts the body after as many bytes as it has characters',
    seen:
      'Forwarders that set Content-Length to text.length, and buffers in C that are sized by a number of ' +
      'characters.',
    why: 'ASCII text passes. Each other character costs a byte at the end, and the rest neither verifies nor parses.',
    fix: rawBytes('Count bytes (Buffer.byteLength) wherever the body is copied or forwarded.'),
    replace: rewriteBody((body) => body.subarray(0, body.toString('utf8').length)),
  },
  {
    ...CHARACTERS,
    name: 'stops-at-zero-byte',
    title: 'Ends the body at the first zero byte, for verification and for the parser',
    seen:
      'C code that measures the body with strlen, and extensions or web server modules that pass it on as a C ' +
      'string.',
    why: 'The signature does not cover anything after the zero byte, which another reader of the request may process.',
    fix: rawBytes(
      'Hash Content-Length bytes instead of reading up to a terminator; reject zero bytes as invalid JSON.',
    ),
    replace: rewriteBody((body) => (body.includes(0) ? body.subarray(0, body.indexOf(0)) : body)),
  },
];
