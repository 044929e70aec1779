/** Mutants that read the body incompletely or decode it before verification. */
import { gunzipSync } from 'node:zlib';
import type { Request } from 'express';
import { required } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { rewriteBody, rewriteText, verifyOver, verifyText } from './raw-body-replacements.ts';

/** Returns the charset parameter of Content-Type. */
function charsetOf(req: Request): string | undefined {
  return /;\s*charset="?([^";\s]+)/i.exec(req.headers['content-type'] ?? '')?.[1];
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const rawBodyReadingFaults = family<StageFault>(
  { area: 'raw-body', stage: 'readBody', mistake: 'incomplete-body' },
  {
    // Mutants that do not read the body completely, or do not read it as one block of bytes.
    'body-in-module-variable': [
      'Collects the body in a variable that all requests share, so bodies that arrive together are mixed',
      ({ correct }) => {
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
      'shared-body-buffer',
      { comesAndGoes: true },
    ],
    'reads-first-chunk-only': [
      'Reads only the first chunk of the body',
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
    ],
    'joins-chunks-as-text': [
      'Decodes each chunk of the body separately and joins the texts',
      ({ correct, config }) =>
        (req, res, next) => {
          let text = '';
          const whole = Number(req.headers['content-length'] ?? 0) <= config.bodyLimit;
          if (whole) req.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
          correct.readBody(req, res, (error?: unknown) => {
            const raw = res.locals.rawBody;
            // Bodies that are not UTF-8 are left unchanged, because they are a separate fault.
            if (whole && raw !== undefined && Buffer.from(raw.toString('utf8')).equals(raw)) {
              res.locals.rawBody = Buffer.from(text, 'utf8');
            }
            next(error);
          });
        },
      'body-chunks-as-text',
    ],
    'hashes-at-most-1-kib': [
      'Verifies only the beginning of a body of several kilobytes',
      verifyOver((body) => body.subarray(0, 1024)),
    ],
    'hashes-at-most-8-kib': [
      'Verifies only the first 8 KiB of the body',
      verifyOver((body) => body.subarray(0, 8 * 1024)),
    ],
    'hashes-at-most-64-kib': [
      'Verifies only the first 64 KiB of the body',
      verifyOver((body) => body.subarray(0, 64 * 1024)),
    ],
    'waits-for-consumed-body': [
      'Waits forever for the end of a body that was already read',
      () => (req, _res, next) => {
        req.resume();
        req.once('end', () => req.once('end', next));
      },
      'body-consumed-twice',
    ],
    'inflates-body-and-throws': [
      'Decompresses a body with Content-Encoding: gzip before verification, without handling errors',
      rewriteBody((body, req) => (req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)),
      'decompressed-body',
      { forbidden: false },
    ],
    'stalls-on-large-body': [
      'Never answers a validly signed body over 256 KiB',
      ({ correct }) =>
        (req, res, next) => {
          if (required(res, 'rawBody').length <= 256 * 1024) return correct.parse(req, res, next);
          req.once('end', () => correct.parse(req, res, next));
        },
      'body-consumed-twice',
      { forbidden: false, note: 'Smaller bodies fit into one buffer and pass.', stage: 'parse' },
    ],
    // Mutants that decode the body before verification, with the wrong charset or with losses.
    'strips-byte-order-mark': [
      'Removes a byte order mark from the body before the verification',
      rewriteBody((body) => (body.subarray(0, 3).toString('hex') === 'efbbbf' ? body.subarray(3) : body)),
      'decoded-body',
      { note: '`express.text()`, koa-bodyparser, `request.text()` and utf-8-sig remove the mark silently.' },
    ],
    'throws-on-byte-order-mark': [
      'Fails with an uncaught parser exception when the JSON text starts with a byte order mark',
      ({ correct }) =>
        (req, res, next) => {
          if (res.locals.rawBody?.[0] === 0xef) throw new SyntaxError('unexpected byte order mark');
          return correct.parse(req, res, next);
        },
      'undecodable-body-throws',
      { stage: 'parse' },
    ],
    'decodes-body-as-latin-1': [
      'Decodes the body as Latin-1 and encodes it as UTF-8 for the HMAC',
      rewriteBody((body) => body.toString('latin1')),
      'decoded-body',
    ],
    'encodes-body-as-latin-1': [
      'Encodes the text of the body as Latin-1 for the HMAC',
      verifyText((text) => Buffer.from(text, 'latin1')),
      'lossy-body-text',
    ],
    'verifies-body-in-ascii': [
      'Encodes the text of the body as ASCII for the HMAC, with a question mark for every other character',
      verifyText((text) => text.replace(/[^\0-\x7f]/g, '?')),
      'lossy-body-text',
    ],
    'decodes-by-declared-charset': [
      'Decodes the body by the charset of Content-Type before the verification',
      rewriteBody((body, req) => {
        const charset = charsetOf(req);
        if (charset === undefined || /^utf-?8$/i.test(charset)) return body;
        return new TextDecoder(charset).decode(body);
      }),
      'body-decoded-by-charset',
      { forbidden: false },
    ],
    'defaults-to-latin-1': [
      'Decodes the body as Latin-1 unless Content-Type names a charset',
      rewriteBody((body, req) => {
        const charset = charsetOf(req) ?? 'latin1';
        return /^utf-?8$/i.test(charset) ? body : new TextDecoder(charset).decode(body);
      }),
      'body-decoded-by-charset',
      { note: 'JSON is sent without a charset, while tests with charset=utf-8 pass.' },
    ],
    'replaces-invalid-bytes': [
      'Replaces bytes that are not UTF-8 before the verification',
      rewriteBody((body) => body.toString('utf8')),
      'lossy-body-text',
      { forbidden: false },
    ],
    'ignores-invalid-bytes': [
      'Removes bytes that are not UTF-8 before the verification',
      rewriteBody((body) => body.toString('utf8').replaceAll('\ufffd', '')),
      'lossy-body-text',
      { forbidden: false },
    ],
    'throws-on-invalid-utf-8': [
      'Answers 500 to a body that is not UTF-8, because decoding it for verification throws',
      rewriteBody((body) => strict.decode(body)),
      'undecodable-body-throws',
    ],
    'normalises-unicode': [
      'Normalises the text of the body to Unicode NFC before the verification',
      rewriteText((text) => text.normalize('NFC')),
      'decoded-body',
    ],
    'loses-four-byte-characters': [
      'Loses four-byte characters before the verification',
      rewriteText((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, '?')),
      'body-rewritten-upstream',
    ],
    'strips-control-characters': [
      'Removes control characters from the body before the verification',
      rewriteText((text) => text.replace(/[^\P{Cc}\t\r\n]/gu, '')),
      'sanitised-body',
    ],
    'counts-characters-as-bytes': [
      'Truncates the body to as many bytes as it has characters',
      rewriteBody((body) => body.subarray(0, body.toString('utf8').length)),
      'body-length-in-characters',
    ],
    'stops-at-zero-byte': [
      'Ends the body at the first zero byte, for verification and for the parser',
      rewriteBody((body) => (body.includes(0) ? body.subarray(0, body.indexOf(0)) : body)),
      'body-as-c-string',
    ],
  },
);
