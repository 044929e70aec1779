import { requestHeader } from '../stages/request-header.ts';
import { answer, required, type Stage } from '../stages/stage.ts';
import { verifySignature as verify } from '../verify-signature.ts';
import type { StageFault } from './fault.ts';

const base = {
  area: 'http',
  severity: 'medium',
  forbidden: true,
  needs: ['hmac'],
  stage: 'verifySignature',
} as const;

const ANSWER_401 = {
  rule: 'Answer 401 to every wrong or missing signature, by one function for all of them.',
  express: 'Use `res.sendStatus(401)`, and an error handler that knows the error of the check.',
  fastify: 'Use `reply.code(401).send()`, or an error with `statusCode` 401.',
  django: 'Return `HttpResponse(status=401)`; `PermissionDenied` and `SuspiciousOperation` become 403 and 400.',
  spring: 'Throw `ResponseStatusException(UNAUTHORIZED)`, and set an `AuthenticationEntryPoint`: the default is 403.',
  rails: 'Use `head :unauthorized`.',
  dotnet: 'Return `Unauthorized()`, not `Forbid()` or `BadRequest()`.',
} as const;

/** Receivers that refuse a wrong signature, and say so with the wrong answer. */
export const wrongRefusals: readonly StageFault[] = [
  {
    ...base,
    name: 'refuses-with-400',
    title: 'A wrong or missing signature is answered 400.',
    seen: 'Most tutorials, and the documentation of well-known services, answer 400 when the signature does not match.',
    why: 'The contract says 401. With 400 the sender takes its own payload for broken and looks in the wrong place.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 400, { error: 'bad-request' })),
  },
  {
    ...base,
    name: 'refuses-with-403',
    title: 'A wrong or missing signature is answered 403.',
    seen: 'Gateways and security frameworks whose word for "not you" is 403, and middleware of tunnels.',
    why: 'The contract says 401. A sender takes 403 for a firewall and not for a wrong secret.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 403, { error: 'forbidden' })),
  },
  {
    ...base,
    name: 'refuses-with-404',
    title: 'A wrong or missing signature is answered 404.',
    seen: 'Endpoints that hide from those who have no credentials, and rules that are matched together with the route.',
    why: 'The sender takes the URL for wrong, and not the secret.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 404, { error: 'not-found' })),
  },
  {
    ...base,
    name: 'refuses-with-500',
    severity: 'high',
    title: 'A wrong or missing signature is answered 500.',
    seen: 'Checks that throw on a mismatch, in frameworks that make 500 of an exception, and daemons that do it by default.',
    why: 'The sender takes it for an outage and repeats a delivery for hours that can never be accepted.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 500, { error: 'internal' })),
  },
  {
    ...base,
    name: 'refuses-with-200',
    severity: 'critical',
    title: 'A wrong or missing signature is answered 200, with the refusal in the body only.',
    seen: 'Low-code tools, frameworks whose answers are 200 unless told otherwise, and advice to tell a forger nothing.',
    why: 'From outside it cannot be told from accepting. The sender counts the delivery as done, and with a wrong secret all of them are lost.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 200, { error: 'unauthorized' })),
  },
  {
    ...base,
    name: 'refuses-by-redirect',
    title: 'A wrong or missing signature is answered with a redirect to a login page.',
    seen: 'Frameworks whose way to say "not authenticated" is made for browsers: a challenge of the cookie scheme, a session guard, an error handler that redirects.',
    why: 'The sender does not see that its credentials are wrong. A client that follows the redirect gets a page with 200.',
    fix: {
      rule: 'Answer 401 yourself, and do not leave it to the error handling for pages.',
      express: 'Use `res.sendStatus(401)` in the check, not `next(error)` into a handler for pages.',
      laravel: 'Use `abort(401)`; an `AuthenticationException` redirects what does not ask for JSON.',
      dotnet: 'Return `Unauthorized()` rather than `Challenge()`.',
    },
    replace: refusing((res) => answer(res, 302, {}, { Location: '/login' })),
  },
  {
    ...base,
    name: 'refuses-by-hanging-up',
    title: 'On a wrong or missing signature the connection is closed without an answer.',
    seen: 'Handlers that destroy the socket "to save resources", proxies that drop requests (444 in nginx), and workers that end with an exception below the server.',
    why: 'The sender sees a broken network in place of wrong credentials, and tries again for hours.',
    fix: {
      rule: 'Let every path through the handler end in an answer; wrong credentials in 401.',
      express: 'Use `res.sendStatus(401)`; do not call `req.destroy()`.',
    },
    replace: refusing((res) => void res.socket?.destroy()),
  },
];

/** The right check of the signature, with another end for what it refuses. */
function refusing(refuseWrong: (res: Parameters<Stage>[1]) => void): StageFault['replace'] {
  return ({ right, config }) =>
    config.signing === undefined
      ? right.verifySignature
      : (req, res, next) => {
          const check = verify({
            rawBody: required(res, 'rawBody'),
            header: requestHeader(req, config.signing?.header ?? ''),
            secrets: config.signing?.secrets ?? [],
          });
          if (check.ok) next();
          else refuseWrong(res);
        };
}
