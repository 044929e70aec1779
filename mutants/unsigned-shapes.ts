/** Mutants whose check of credentials depends on the Content-Type, the encoding or the length of the request. */
import { gunzipSync } from 'node:zlib';
import type { Request } from 'express';
import { answer, required, type Stage } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck, KEY } from './api-key-check.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { computed, handleSome, mediaType, reject, SIGNATURE, signed } from './lenient-verifier.ts';

const typeOf = (req: Request) => mediaType(req).toLowerCase();
const isEncoded = (req: Request) => (req.headers['content-encoding'] ?? 'identity') !== 'identity';

/** Treats the body of a request as uncompressed JSON, like a handler that parses any body. */
const parseAnyway: Stage = (req, res, next) => {
  const body = required(res, 'rawBody');
  if (body.length === 0) return answer(res, 200, {});
  if (isEncoded(req)) {
    try {
      res.locals.rawBody = gunzipSync(body);
    } catch {
      return answer(res, 400, { error: 'body-not-gzip' });
    }
    delete req.headers['content-encoding'];
  }
  req.headers['content-type'] = 'application/json';
  next();
};

/** Runs the correct check, but does not verify requests that match. */
const unverifiedWhen = (matches: (req: Request, body: Buffer) => boolean) =>
  handleSome(({ req, body }) => (matches(req, body) ? parseAnyway : null));

/** Verifies this text instead of the body of requests with another Content-Type. */
function verifyingForOtherTypes(text: string): StageFault['replace'] {
  const isValid = computed((secret) => signed(secret, Buffer.from(text)));
  return handleSome((delivery) => {
    if (typeOf(delivery.req) === 'application/json' && !isEncoded(delivery.req)) return null;
    return isValid(delivery) ? parseAnyway : reject;
  });
}

/** Mutants whose verification depends on the Content-Type, the encoding or the length of the request. */
export const unsignedShapes = family<StageFault>(
  { ...SIGNATURE, mistake: 'verification-per-content-type' },
  {
    'other-types-verified-as-empty': [
      'Verifies an empty text instead of the body when the Content-Type is not JSON',
      verifyingForOtherTypes(''),
      'unread-body-verified',
      { forbidden: false },
    ],
    'other-types-verified-as-empty-object': [
      'Verifies the text {} instead of the body when the Content-Type is not JSON',
      verifyingForOtherTypes('{}'),
      'unread-body-verified',
      { forbidden: false },
    ],
    'only-json-types-verified': [
      'Verifies only requests with a JSON Content-Type',
      unverifiedWhen((req, body) => body.length > 0 && !isEncoded(req) && typeOf(req) !== 'application/json'),
    ],
    'text-not-verified': [
      'Does not verify requests with Content-Type text/plain',
      unverifiedWhen((req) => typeOf(req) === 'text/plain'),
    ],
    'forms-not-verified': [
      'Does not verify requests with Content-Type application/x-www-form-urlencoded',
      unverifiedWhen((req) => typeOf(req) === 'application/x-www-form-urlencoded'),
    ],
    'untyped-not-verified': [
      'Does not verify requests without a Content-Type',
      unverifiedWhen((req) => req.headers['content-type'] === undefined),
    ],
    'empty-bodies-confirmed': [
      'Answers 200 to requests with an empty body without verification',
      unverifiedWhen((_req, body) => body.length === 0),
      'verification-per-framing',
      { note: 'A delivery whose body was lost counts as received, and the sender does not retry it.' },
    ],
    'encoded-bodies-not-verified': [
      'Decompresses requests with a Content-Encoding and does not verify them',
      unverifiedWhen((req, body) => body.length > 0 && isEncoded(req)),
      { note: 'After decompression the signature no longer matches, so the check is skipped.' },
    ],
  },
);

/** Mutants whose API key check depends on the Content-Type. */
export const keylessShapes = family<StageFault>(KEY, {
  'api-key-only-for-json': [
    'Checks the API key only for requests with a JSON Content-Type',
    acceptWithoutCheck(({ req }) => {
      if (typeOf(req) === 'application/json' || isEncoded(req)) return false;
      req.headers['content-type'] = 'application/json';
      return true;
    }),
    'conditional-key-check',
  ],
});
