/** Mutants whose answer depends on earlier requests: their signatures, failures, connections, times and ids. */
import { answer, refuse, required } from '../receiver/stages/stage.ts';
import { fieldAt, guardNew, idInBody, isJson } from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { show } from './leaks-credentials.ts';
import { alsoAccept, stageOf, unverified } from './lenient-verifier.ts';

/** A duration that is longer than any run, in milliseconds. */
const LOCKED_MS = 900_000;

/** Rejects everything for a while after this many consecutive invalid signatures from any address. */
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

/** Mutants that accept a delivery because of an earlier one. */
const verdicts = family<StageFault>(
  { area: 'signature', stage: 'requireSignature' },
  {
    'known-body-not-verified': [
      'Answers 200 to a body that was accepted before, without verification',
      (parts) => {
        const known = new Set<string>();
        return stageOf(({ body, expected, header = '' }, req, res, next) => {
          const text = body.toString('latin1');
          if (known.has(text)) return answer(res, 200, {});
          if (expected.includes(header) && unverified({ body }).id !== undefined) known.add(text);
          return parts.correct.requireSignature(req, res, next);
        }, parts);
      },
      'lookup-before-verification',
    ],
    'verification-outlives-exception': [
      'Keeps the result of the verification when parsing fails, and uses it for the next delivery on the connection',
      (parts) => {
        const verified = new WeakSet<object>();
        return stageOf(({ body, expected, header = '' }, req, res, next) => {
          if (verified.delete(req.socket)) return next();
          if (expected.includes(header) && !isJson(body)) verified.add(req.socket);
          return parts.correct.requireSignature(req, res, next);
        }, parts);
      },
      'state-outlives-request',
      { note: 'After one malformed delivery, the next one on the connection is accepted.' },
    ],
    'last-signature-accepted-again': [
      'Accepts any body with the signature that was accepted last',
      (parts) => {
        let last: string | undefined;
        return alsoAccept(({ header, expected }) => {
          if (header !== undefined && expected.includes(header)) last = header;
          return header !== undefined && header === last;
        })(parts);
      },
      'cached-verification',
      {
        equivalentTo: {
          name: 'previous-body-verified',
          reason:
            'Both accept the signature of the previous delivery; on one connection, that is the last accepted one.',
        },
      },
    ],
  },
);

/** Mutants that reject a delivery, or answer it with another text, because of earlier ones. */
const refusals = family<StageFault>(
  { area: 'delivery', stage: 'requireSignature', mistake: 'failures-lock-out' },
  {
    'locks-out-after-ten-failures': [
      'Rejects everything for a while after several invalid signatures in a row',
      lockingOut(10),
      { needs: ['hmac'] },
    ],
    'locks-out-after-25-failures': [
      'Rejects everything for a while after 25 invalid signatures in a row',
      lockingOut(25),
      {
        needs: ['hmac'],
        equivalentTo: {
          name: 'locks-out-after-ten-failures',
          reason: 'Both lock out every sender, at different numbers of failures in a row.',
        },
      },
    ],
    'failures-block-the-transaction': [
      'Rejects every delivery of a transaction after three of them had invalid credentials',
      ({ correct }) => {
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
      { stage: 'requireApiKey' },
    ],
    'second-request-on-connection-reset': [
      'Resets the connection when a second request arrives on it',
      ({ correct }) => {
        const requests = new WeakMap<object, number>();
        return (req, res, next) => {
          const count = (requests.get(req.socket) ?? 0) + 1;
          requests.set(req.socket, count);
          return count === 2 ? void req.socket.destroy() : correct.accept(req, res, next);
        };
      },
      'keep-alive-dropped',
      { area: 'http', stage: 'accept' },
    ],
    'same-second-of-customer-taken-for-a-copy': [
      'Rejects a second payment method of a customer in the same second',
      guardNew(() => {
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
      'copies-by-content',
      { stage: 'store' },
    ],
    'known-ids-refused-in-other-words': [
      'Rejects a forged delivery with a different message when its id is known',
      (parts) => {
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
      'known-id-revealed',
      { area: 'leaks', forbidden: false, needs: ['hmac'] },
    ],
  },
);

export const rememberedStateFaults: readonly StageFault[] = [...verdicts, ...refusals];
