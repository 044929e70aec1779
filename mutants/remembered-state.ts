/** Mutants whose answer depends on earlier requests: their signatures, failures, connections, times and ids. */
import { answer, refuse, required } from '../receiver/stages/stage.ts';
import { fieldAt, guardNew, idInBody, isJson } from './careless-handling.ts';
import type { StageFault } from './fault.ts';
import { show } from './leaks-credentials.ts';
import { alsoAccept, stageOf, unverified } from './lenient-verifier.ts';

const STATEFUL = { forbidden: true, severity: 'critical' } as const;

/** Longer than a run. */
const LOCKED_MS = 900_000;
const MAX_FAILURES = 10;

const verifyEach: StageFault['fix'] = {
  rule: 'Compute the HMAC of every body, and keep no result of a verification between requests.',
  express: 'Remove the cache around the verification: an HMAC of a notification takes microseconds.',
};

const acceptValidCredentials: StageFault['fix'] = {
  rule:
    'Answer each invalid delivery with 401 and do nothing else. If you limit attempts, count only failures, and ' +
    'always accept valid credentials.',
  express: 'Count failures after the verification (`skipSuccessfulRequests`), and never reject a valid signature.',
  django: 'Exclude the endpoint from django-axes.',
  rails: 'Exclude the endpoint from Rack::Attack, or throttle only requests that were answered 401.',
};

/** Mutants that reject every sender after a number of invalid signatures in a row. */
const LOCK_OUT = {
  ...STATEFUL,
  area: 'delivery',
  why:
    'The sender has one address. An attacker behind the same proxy, or a few deliveries signed with an old secret, ' +
    'can stop all notifications.',
  fix: acceptValidCredentials,
  severity: 'high',
  needs: ['hmac'],
  stage: 'requireSignature',
} as const satisfies Partial<StageFault>;

/** Numbers the requests of each connection from 1. */
function numberRequests(): (socket: object) => number {
  const requests = new WeakMap<object, number>();
  return (socket) => {
    const count = (requests.get(socket) ?? 0) + 1;
    requests.set(socket, count);
    return count;
  };
}

/** Rejects everything for a while after so many invalid signatures in a row, from any address. */
const lockingOut =
  (maxFailures: number): StageFault['replace'] =>
  (parts) => {
    let failures = 0;
    let lockedUntil = 0;
    return stageOf(({ header = '', expected }, req, res, next) => {
      if (Date.now() < lockedUntil) return refuse(res, 403, 'blocked');
      failures = expected.includes(header) ? 0 : failures + 1;
      if (failures >= maxFailures) lockedUntil = Date.now() + LOCKED_MS;
      return parts.correct.requireSignature(req, res, next);
    }, parts);
  };

export const rememberedStateFaults: readonly StageFault[] = [
  {
    ...STATEFUL,
    name: 'known-body-not-verified',
    area: 'signature',
    title: 'Answers 200 to a body that was accepted before, without verification',
    seen: 'Caches of answers by a hash of the body (idempotency middleware) in front of the verification.',
    why: 'The endpoint confirms to anyone what was delivered, and a rejected delivery looks accepted.',
    fix: {
      rule: 'Verify first, then look for repeated bodies.',
      express: 'Move the idempotency middleware behind the verification.',
    },
    severity: 'medium',
    stage: 'requireSignature',
    replace: (parts) => {
      const known = new Set<string>();
      return stageOf(({ body, expected, header = '' }, req, res, next) => {
        const text = body.toString('latin1');
        if (known.has(text)) return answer(res, 200, {});
        if (expected.includes(header) && unverified({ body }).id !== undefined) known.add(text);
        return parts.correct.requireSignature(req, res, next);
      }, parts);
    },
  },
  {
    ...STATEFUL,
    name: 'verification-outlives-exception',
    area: 'signature',
    title:
      'Keeps the result of the verification when parsing fails, and uses it for the next delivery on the connection',
    seen: 'A flag in an object that outlives the request, reset at the end of the handler instead of in `finally`.',
    why: 'After one malformed delivery, the next one is accepted whatever its signature is.',
    fix: {
      rule: 'Keep the result of the verification in the request.',
      express: 'Use `res.locals`, or a variable inside the handler, not `req.socket`.',
    },
    stage: 'requireSignature',
    replace: (parts) => {
      const verified = new WeakSet<object>();
      return stageOf(({ body, expected, header = '' }, req, res, next) => {
        if (verified.delete(req.socket)) return next();
        if (expected.includes(header) && !isJson(body)) verified.add(req.socket);
        return parts.correct.requireSignature(req, res, next);
      }, parts);
    },
  },
  {
    ...STATEFUL,
    name: 'last-signature-accepted-again',
    area: 'signature',
    title: 'Accepts any body with the signature that was accepted last',
    seen: 'A cache of the last verification, keyed by the header, added for a sender that retries immediately.',
    why: 'An attacker who sees one delivery can send any content with its signature, until the next delivery arrives.',
    fix: verifyEach,
    equivalentTo: {
      name: 'previous-body-verified',
      reason: 'Both accept the signature of the previous delivery; on one connection, that is the last accepted one.',
    },
    stage: 'requireSignature',
    replace: (parts) => {
      let last: string | undefined;
      return alsoAccept(({ header, expected }) => {
        if (header !== undefined && expected.includes(header)) last = header;
        return header !== undefined && header === last;
      })(parts);
    },
  },
  {
    ...LOCK_OUT,
    name: 'locks-out-after-ten-failures',
    title: 'Rejects everything for a while after several invalid signatures in a row',
    seen: 'Lock-outs for logins (fail2ban, Rack::Attack, django-axes) that also cover the endpoint.',
    replace: lockingOut(MAX_FAILURES),
  },
  {
    ...LOCK_OUT,
    name: 'locks-out-after-25-failures',
    title: 'Rejects everything for a while after 25 invalid signatures in a row',
    seen: 'Limits on failures for a whole route, with a threshold that tests with a few forgeries do not reach.',
    equivalentTo: {
      name: 'locks-out-after-ten-failures',
      reason: 'Both lock out every sender, at different numbers of failures in a row.',
    },
    replace: lockingOut(25),
  },
  {
    ...STATEFUL,
    name: 'failures-block-the-transaction',
    area: 'delivery',
    title: 'Rejects every delivery of a transaction after three of them had invalid credentials',
    seen: 'A counter of failures by transaction or customer, meant against guessing, read from the unverified body.',
    why: 'Anyone who knows a transactionId stops its notifications with three requests, from any address.',
    fix: acceptValidCredentials,
    severity: 'high',
    forbidden: true,
    stage: 'requireApiKey',
    replace: ({ correct }) => {
      const failures = new Map<unknown, number>();
      return (req, res, next) => {
        const transaction = fieldAt(unverified({ body: required(res, 'rawBody') }), 'data.transactionId');
        if (transaction === undefined) return correct.requireApiKey(req, res, next);
        res.once('finish', () => {
          if (res.statusCode === 401) failures.set(transaction, (failures.get(transaction) ?? 0) + 1);
        });
        const isBlocked = (failures.get(transaction) ?? 0) >= 3;
        const proceed = () => (isBlocked ? refuse(res, 403, 'blocked') : next());
        return correct.requireApiKey(req, res, () => correct.requireSignature(req, res, proceed));
      };
    },
  },
  {
    ...STATEFUL,
    name: 'second-request-on-connection-reset',
    area: 'http',
    title: 'Resets the connection when a second request arrives on it',
    seen: 'Socket servers that handle one request per connection, and proxies with keep-alive on one side only.',
    why:
      'The sender reuses connections. It cannot know whether the second notification was processed, and must send ' +
      'it again.',
    fix: {
      rule: 'Serve every request on a connection, or send `Connection: close` if it serves only one.',
      express: 'Do not call `req.socket.destroy()` after the answer; to turn keep-alive off, send `Connection: close`.',
      go: 'Use `server.SetKeepAlivesEnabled(false)`, which sends `Connection: close`.',
    },
    severity: 'high',
    stage: 'accept',
    replace: ({ correct }) => {
      const numberOf = numberRequests();
      return (req, res, next) =>
        numberOf(req.socket) === 2 ? void req.socket.destroy() : correct.accept(req, res, next);
    },
  },
  {
    ...STATEFUL,
    name: 'same-second-of-customer-taken-for-a-copy',
    area: 'delivery',
    title: 'Rejects a second payment method of a customer in the same second',
    seen: 'Double-click guards: one-second locks, and unique keys on customer and arrival time.',
    why: 'Two cards that were added together may be verified in the same second, and the second one is lost.',
    fix: {
      rule: 'Put the unique key on id only.',
      express: 'Use `payload.id` as the key of the inbox, without a time.',
    },
    severity: 'high',
    stage: 'store',
    replace: guardNew(() => {
      const seen = new Map<unknown, number>();
      return (payload) => {
        const customer = fieldAt(payload, 'data.accountId');
        if (customer === undefined || fieldAt(payload, 'data.status') !== 'STAGED') return undefined;
        const second = Math.floor(Date.now() / 1000);
        const isCopy = seen.get(customer) === second;
        seen.set(customer, second);
        return isCopy ? 409 : undefined;
      };
    }),
  },
  {
    ...STATEFUL,
    name: 'known-ids-refused-in-other-words',
    area: 'leaks',
    title: 'Rejects a forged delivery with a different message when its id is known',
    seen: 'A lookup of the id before the verification whose result appears in the message.',
    why: 'An attacker without credentials learns which notifications exist.',
    fix: {
      rule: 'Verify first, look up the id after that, and answer every failed verification with the same text.',
      express: 'Move the deduplication behind the verification middleware.',
    },
    severity: 'low',
    forbidden: false,
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: (parts) => {
      const known = new Set<string>();
      return stageOf(({ header = '', expected }, req, res, next) => {
        const id = idInBody(res);
        if (expected.includes(header)) {
          if (id !== undefined) known.add(id);
        } else if (id !== undefined && known.has(id)) {
          return show(res, 401, { body: { error: 'unauthorized', notification: 'already processed' } });
        }
        return parts.correct.requireSignature(req, res, next);
      }, parts);
    },
  },
];
