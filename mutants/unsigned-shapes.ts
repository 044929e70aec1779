import { gunzipSync } from 'node:zlib';
import type { Request } from 'express';
import { answer, refuseUnauthorized, required, type Stage } from '../receiver/stages/stage.ts';
import { acceptWithoutCheck } from './api-key-check.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { SIGNATURE, signed, stageOf } from './lenient-verifier.ts';

type Matches = (req: Request, body: Buffer) => boolean;
type Text = Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix'>;

const mediaType = (req: Request) => (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
const isEncoded = (req: Request) => (req.headers['content-encoding'] ?? 'identity') !== 'identity';

/** Passes a request on as uncompressed JSON, like a handler that parses any body. */
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

function unverifiedWhen(matches: Matches, text: Text): StageFault {
  const replace = ({ correct, config }: FaultParts): Stage => {
    if (config.signing === undefined) return correct.requireSignature;
    return (req, res, next) => {
      const stage = matches(req, required(res, 'rawBody')) ? parseAnyway : correct.requireSignature;
      return stage(req, res, next);
    };
  };
  return { ...SIGNATURE, ...text, severity: 'critical', forbidden: true, replace };
}

/** Verifies this text instead of the body of requests with another Content-Type. */
function verifyingForOtherTypes(text: string): StageFault['replace'] {
  return (parts) =>
    stageOf(({ req, header, secrets }, ...stage) => {
      if (mediaType(req) === 'application/json' && !isEncoded(req)) return parts.correct.requireSignature(...stage);
      const isValid = secrets.some((secret) => signed(secret, Buffer.from(text)) === header);
      const [, res] = stage;
      return isValid ? parseAnyway(...stage) : refuseUnauthorized(res, 'signature-wrong');
    }, parts);
}

const VERIFY_ALWAYS = 'Verify every request in a separate step, before its type, encoding or length decides anything.';
const RAW_MIDDLEWARE =
  'Read the body with `express.raw({ type: () => true, inflate: false })` and verify it in the next middleware.';
const FIX = { rule: VERIFY_ALWAYS, express: RAW_MIDDLEWARE } as const;

/** Verification that depends on the Content-Type, the encoding or the length of the request. */
export const unsignedShapes: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'other-types-verified-as-empty',
    title: 'Verifies an empty text instead of the body when the Content-Type is not JSON',
    seen: '`express.json({ verify })`, which keeps the raw body of JSON only, and `req.rawBody ?? ""` in the check.',
    why: 'The signature of the empty text is valid for every body of another type, and every real one is rejected.',
    fix: FIX,
    severity: 'high',
    forbidden: true,
    replace: verifyingForOtherTypes(''),
  },
  {
    ...SIGNATURE,
    name: 'other-types-verified-as-empty-object',
    title: 'Verifies the text {} instead of the body when the Content-Type is not JSON',
    seen: '`JSON.stringify(req.body)` in Express 4, where `req.body` is `{}` unless a parser has read the body.',
    why: 'The signature of `{}` is valid for every body of another type, and every real one is rejected.',
    fix: FIX,
    severity: 'high',
    forbidden: true,
    replace: verifyingForOtherTypes('{}'),
  },
  unverifiedWhen((req, body) => body.length > 0 && !isEncoded(req) && mediaType(req) !== 'application/json', {
    name: 'only-json-types-verified',
    title: 'Verifies only requests with a JSON Content-Type',
    seen: 'The `verify` hook of `express.json()` next to a handler that reads any body.',
    why: 'An attacker changes the Content-Type, and the forged notification is processed.',
    fix: FIX,
  }),
  unverifiedWhen((req) => mediaType(req) === 'text/plain', {
    name: 'text-not-verified',
    title: 'Does not verify requests with Content-Type text/plain',
    seen: 'A fallback for clients that send JSON as text, added as a second parser without the verification.',
    why: 'An attacker sends the forged notification as text/plain.',
    fix: FIX,
  }),
  unverifiedWhen((req) => mediaType(req) === 'application/x-www-form-urlencoded', {
    name: 'forms-not-verified',
    title: 'Does not verify requests with Content-Type application/x-www-form-urlencoded',
    seen: 'A form parser that is installed for the whole application and consumes the body before the verification.',
    why: 'An attacker sends the forged notification with the Content-Type of a form, which is the default of curl.',
    fix: FIX,
  }),
  unverifiedWhen((req) => req.headers['content-type'] === undefined, {
    name: 'untyped-not-verified',
    title: 'Does not verify requests without a Content-Type',
    seen: 'Body parsers that are selected by Content-Type, and a handler that falls back to the raw body.',
    why: 'An attacker leaves the header out, and the forged notification is processed.',
    fix: FIX,
  }),
  unverifiedWhen((_req, body) => body.length === 0, {
    name: 'empty-bodies-confirmed',
    title: 'Answers 200 to requests with an empty body without verification',
    seen: 'An early `if (!body) return 200` for health checks or for the setup page of a sender.',
    why: 'A delivery whose body was lost counts as received, and the sender does not retry it.',
    fix: {
      rule: 'Verify empty bodies like all others, and give health checks their own route.',
      express: 'Remove the early answer before the verification.',
    },
  }),
  unverifiedWhen((req, body) => body.length > 0 && isEncoded(req), {
    name: 'encoded-bodies-not-verified',
    title: 'Decompresses requests with a Content-Encoding and does not verify them',
    seen: 'Receivers behind a parser that inflates the body: the signature no longer matches, so the check is skipped.',
    why: 'An attacker compresses the forged notification, and it is processed.',
    fix: FIX,
  }),
];

/** The API key check that depends on the Content-Type. */
export const keylessShapes: readonly StageFault[] = [
  {
    area: 'api-key',
    stage: 'requireApiKey',
    severity: 'critical',
    forbidden: true,
    name: 'api-key-only-for-json',
    title: 'Checks the API key only for requests with a JSON Content-Type',
    seen: 'A key check inside the JSON branch of a handler, or a gateway rule that matches on the Content-Type.',
    why: 'An attacker changes the Content-Type and needs no key.',
    fix: {
      rule: 'Check the key on every request, before the Content-Type decides anything.',
      express: 'Put the key check in a middleware before every body parser.',
    },
    replace: acceptWithoutCheck(({ req }) => {
      if (mediaType(req) === 'application/json' || isEncoded(req)) return false;
      req.headers['content-type'] = 'application/json';
      return true;
    }),
  },
];
