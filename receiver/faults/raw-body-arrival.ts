import { gunzipSync } from 'node:zlib';
import { required } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';
import { rawBytes } from './raw-body-fix.ts';
import { readingAs, verifyingOver } from './raw-body-wrong-input.ts';

const base = { area: 'raw-body', severity: 'high', forbidden: true } as const;

function hashesAtMost(bytes: number, shown: string): StageFault {
  return {
    ...base,
    name: `hashes-at-most-${shown.toLowerCase().replace(' ', '-')}`,
    title: `Only the first ${shown} of the body are verified.`,
    seen: 'Buffers of a fixed size in C, in embedded web servers and in modules of proxies, and a read(n) without a loop.',
    why: `Deliveries beyond ${shown} are refused although they are rightly signed. Samples are far smaller, so it shows in production first.`,
    fix: rawBytes('Read until the end of the body, with a limit that answers 413, and hash all of it.'),
    stage: 'verifySignature',
    replace: verifyingOver((body) => [body.subarray(0, bytes)]),
  };
}

/** Bodies that were not read to their end, or not as one block of bytes. */
export const partlyReadBodies: readonly StageFault[] = [
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
];
