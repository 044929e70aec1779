/** Mutants that reject duplicates, mistake other notifications for duplicates, or fail on known ids. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from 'express';
import {
  answer,
  type DeliveryState,
  refuse,
  refuseUnauthorized,
  requestHeader,
  required,
  type Stage,
} from '../receiver/stages/stage.ts';
import { verifySignature } from '../receiver/verify-signature.ts';
import {
  fieldAt,
  type Guard,
  guardNew,
  idInBody,
  idOf,
  textAt,
  throwDuplicateKey,
  throwTypeError,
  uniqueBy,
} from './careless-handling.ts';
import { refuseAfter } from './delivery-order.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { stageOf, unverified } from './lenient-verifier.ts';

/** Replaces `store`: `turnAway` answers the nth duplicate of a notification (1 is the first repetition). */
function countDuplicates(
  turnAway: (copy: number, payload: unknown) => number | undefined,
  status?: (res: Response<unknown, DeliveryState>) => void,
): StageFault['replace'] {
  return ({ correct }) => {
    const seen = new Map<string, number>();
    return (req, res, next) => {
      const payload = required(res, 'payload');
      const copy = seen.get(idOf(payload)) ?? 0;
      seen.set(idOf(payload), copy + 1);
      const refused = copy === 0 ? undefined : turnAway(copy, payload);
      if (refused === undefined) return correct.store(req, res, next);
      if (status === undefined) refuse(res, refused, 'duplicate');
      else status(res);
    };
  };
}

/**
 * Answers concurrent notifications with the same key with a database error. `workMs` is the duration of the work. An
 * undefined key never conflicts.
 */
function failConcurrently(keyOf: (payload: unknown) => string | undefined, workMs: number): () => Guard {
  return () => {
    const busy = new Set<string>();
    return async (payload) => {
      const key = keyOf(payload);
      if (key === undefined) return undefined;
      if (busy.has(key)) throwTypeError('could not serialize access due to concurrent update');
      busy.add(key);
      await delay(workMs);
      busy.delete(key);
      return undefined;
    };
  };
}

/**
 * Claims an id before the delivery has passed every check, and keeps the claim if the delivery is rejected. Later
 * deliveries with this id are rejected, except duplicates of an accepted one.
 */
function claimId(idFrom: (res: Response<unknown, DeliveryState>) => string | undefined, then: Stage): Stage {
  const claims = new Map<string, Promise<boolean>>();
  return async (req, res, next) => {
    const id = idFrom(res);
    if (id === undefined) return then(req, res, next);
    const earlier = claims.get(id);
    if (earlier === undefined) {
      claims.set(id, new Promise((resolve) => res.once('close', () => resolve(res.statusCode === 200))));
    } else if (!(await earlier)) {
      return refuse(res, 409, 'in-progress');
    }
    return then(req, res, next);
  };
}

/** Returns the id at the start of a body, as a streaming parser reports it. */
function idInStream(res: Response<unknown, DeliveryState>): string | undefined {
  return /"id":\s*"([^"]*)"/.exec(required(res, 'rawBody').toString('latin1'))?.[1];
}

/** Returns a value as JSON. Undefined if it is nested too deeply. */
function serialise(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Rejects a notification whose key is known. */
const unique = (keyOf: (payload: unknown) => string | undefined) => uniqueBy(keyOf, () => 409);

const isKind = (payload: unknown, kind: string) => fieldAt(payload, 'type') === kind;

/** Returns the text at `path` of notifications of one kind. */
const ofKind = (kind: string, path: string) => (payload: unknown) =>
  isKind(payload, kind) ? textAt(payload, path) : undefined;

/** Another reason for a 500, which looks the same from outside. */
const LOCKED = 'meets a lock that the other delivery still holds.';

/** Mutants that fail on the second delivery of a notification. */
const copies = family<StageFault>(
  { area: 'delivery', stage: 'store', mistake: 'copy-rejected' },
  {
    'copies-answered-409': [
      'Answers 409 to a duplicate notification',
      countDuplicates(() => 409),
      { forbidden: false },
    ],
    'copies-answered-400': [
      'Answers 400 to a duplicate notification',
      countDuplicates(() => 400),
      { forbidden: false },
    ],
    'copies-redirected': [
      'Redirects the second copy of a notification to the stored one',
      countDuplicates(
        () => 303,
        (res) => answer(res, 303, {}, { Location: '/notifications/1' }),
      ),
      { note: 'A sender does not follow redirects.' },
    ],
    'copies-hit-the-unique-key': [
      'Answers 500 to a duplicate notification',
      countDuplicates(throwDuplicateKey),
      { forbidden: false, note: `The duplicate violates the unique key on id, or ${LOCKED}` },
    ],
    'copies-end-the-process': [
      'Ends the process on a duplicate notification, because the database error is not caught',
      (parts) =>
        countDuplicates(
          () => 500,
          () => parts.crash(100),
        )(parts),
      { note: 'An outage leads to many copies, so the receiver goes down again after its restart.' },
    ],
    'third-copy-refused': [
      'Answers 409 to a notification from its third delivery on',
      countDuplicates((copy) => (copy >= 2 ? 409 : undefined)),
      { forbidden: false },
    ],
    'deposit-copies-refused': [
      'Answers 409 to a duplicate deposit, while duplicates of other kinds are accepted',
      countDuplicates((_copy, payload) => (isKind(payload, 'CAAS_BLOCKCHAIN') ? 409 : undefined)),
      { forbidden: false },
    ],
    'wallet-copies-collide': [
      'Answers 500 to a duplicate wallet notification, because it violates the unique key on the address',
      countDuplicates((_copy, payload) => (isKind(payload, 'WALLET') ? throwDuplicateKey() : undefined)),
      { forbidden: false, note: 'The unique key is on the address: insert a wallet only if it does not exist.' },
    ],
    'copies-at-once-race': [
      'Answers 500 to one of two simultaneous duplicates',
      ({ correct }) => {
        const rows = new Set<string>();
        return async (req, res, next) => {
          const { id } = required(res, 'notification');
          const isKnown = rows.has(id);
          await delay(10);
          if (!isKnown && rows.has(id)) throwDuplicateKey();
          rows.add(id);
          return correct.store(req, res, next);
        };
      },
      'lookup-before-insert',
      { forbidden: false, note: `Both find the id unknown and insert it, or one ${LOCKED}` },
    ],
    'copies-told-by-their-bytes': [
      'Detects duplicates by a hash of the body, so a duplicate with another layout violates the unique key on id',
      ({ correct }) => {
        const bodies = new Map<string, string>();
        return (req, res, next) => {
          const { id } = required(res, 'notification');
          const body = required(res, 'rawBody').toString('latin1');
          if ((bodies.get(id) ?? body) !== body) throwDuplicateKey();
          bodies.set(id, body);
          return correct.store(req, res, next);
        };
      },
      'copies-by-content',
      { forbidden: false },
    ],
  },
);

/** Mutants that mistake different notifications for duplicates, or find a conflict between related ones. */
const identities = family<StageFault>(
  { area: 'delivery', stage: 'store', mistake: 'copies-by-content' },
  {
    'equal-data-taken-for-a-copy': [
      'Rejects a notification with a new id if its data equals that of an earlier one',
      unique((payload) => serialise(fieldAt(payload, 'data'))),
    ],
    'same-second-taken-for-a-copy': [
      'Rejects a second notification of a transaction, at least if it has the same time',
      unique((payload) => {
        const transactionId = ofKind('CAAS', 'data.transactionId')(payload);
        return transactionId === undefined ? undefined : `${transactionId} ${String(fieldAt(payload, 'at'))}`;
      }),
      { note: 'An order can pass through several statuses within a second.' },
    ],
    'same-status-taken-for-a-copy': [
      'Rejects a second notification of a transaction with the same status',
      unique((payload) => {
        const status = fieldAt(payload, 'data.metadata.orderStatus');
        return status === undefined ? undefined : `${String(fieldAt(payload, 'data.transactionId'))} ${String(status)}`;
      }),
      { note: 'The transaction hash comes in a second notification with the same status.' },
    ],
    'transaction-taken-for-a-copy': [
      'Rejects every further notification of a transaction as a duplicate',
      unique((payload) => textAt(payload, 'data.transactionId')),
    ],
    'second-failure-taken-for-a-copy': [
      'Rejects the failure of a refund after the failure of its sell',
      unique((payload) => {
        const failed =
          fieldAt(payload, 'data.metadata.orderStatus') === 'FAILED' || fieldAt(payload, 'data.status') === 'FAIL';
        return failed ? textAt(payload, 'data.transactionId') : undefined;
      }),
      'refund-as-sell-state',
      { note: 'The failure that leaves a customer with neither coins nor money is lost.' },
    ],
    'transactions-created-again': [
      'Answers 500 to the second notification of a transaction, because it inserts the row again',
      uniqueBy(ofKind('CAAS', 'data.transactionId'), throwDuplicateKey),
      'unique-payload-field',
    ],
    'updates-of-a-transaction-collide': [
      'Answers 500 to one of two simultaneous statuses of a transaction',
      guardNew(failConcurrently(ofKind('CAAS', 'data.transactionId'), 10)),
      'colliding-updates',
      { forbidden: false },
    ],
    'customer-created-with-each-wallet': [
      'Answers 500 to all but one of several simultaneous wallets of a customer',
      guardNew(failConcurrently(ofKind('WALLET', 'data.customerId'), 20)),
      'lookup-before-insert',
    ],
    'deposits-collide-on-the-balance': [
      'Answers 500 to one of two simultaneous deposits of a customer, because both change the same balance',
      guardNew(failConcurrently(ofKind('CAAS_BLOCKCHAIN', 'data.customerId'), 20)),
      'colliding-updates',
    ],
    'staged-is-final': [
      'Answers 409 to the decline of a payment method with status STAGED',
      refuseAfter(
        'paymentMethodId',
        (at) => at('status') === 'STAGED',
        (at) => at('status') !== 'STAGED' && typeof at('paymentMethodId') === 'string',
      ),
      'transition-rejected',
      { forbidden: false },
    ],
  },
);

/** Mutants in which a rejected delivery leaves state behind under the id of a valid one. */
const poisoned = family<StageFault>(
  { area: 'delivery', stage: 'requireSignature', mistake: 'remembered-before-checks' },
  {
    'ids-claimed-before-every-check': [
      'Records an id before checking key and signature and answers 409 to the valid delivery after a rejected one',
      ({ correct }) => claimId(idInStream, correct.requireApiKey),
      { stage: 'requireApiKey' },
    ],
    'ids-claimed-before-the-signature': [
      'Records an id before it checks the signature and answers 409 to the valid delivery after a forged one',
      ({ correct }) => claimId(idInBody, correct.requireSignature),
    ],
    'ids-claimed-before-the-key': [
      'Records an id after verifying the signature but before the key and answers 409 to the valid delivery after ' +
        'one with an invalid key',
      ({ correct, config: { signing } }) => {
        const claimed = claimId(idInBody, correct.requireApiKey);
        return (req, res, next) => {
          const rawBody = required(res, 'rawBody');
          const header = signing && requestHeader(req, signing.header);
          const isSigned = verifySignature({ rawBody, header, secrets: signing?.secrets ?? [] }).ok;
          return isSigned ? claimed(req, res, next) : correct.requireApiKey(req, res, next);
        };
      },
      { stage: 'requireApiKey', needs: ['api-key', 'hmac'] },
    ],
    'ids-claimed-before-the-schema': [
      'Records an id before validating the payload and answers 409 to the corrected notification',
      ({ correct }) => claimId((res) => String(fieldAt(required(res, 'payload'), 'id')), correct.validate),
      { forbidden: false, stage: 'validate' },
    ],
    'ids-claimed-while-parsing': [
      'Records an id while parsing and keeps it when the rest of the body is invalid',
      ({ correct }) => claimId(idInStream, correct.parse),
      { forbidden: false, stage: 'parse', note: 'A truncated body blocks the complete body that follows.' },
    ],
    'refused-content-kept': [
      'Stores content before verifying it and answers 409 to other content with the same id',
      ({ correct }) => {
        const kept = new Map<string, string>();
        return (req, res, next) => {
          const id = idInBody(res);
          const content = id && serialise(JSON.parse(required(res, 'rawBody').toString('utf8')));
          if (id === undefined || content === undefined) return correct.requireSignature(req, res, next);
          const held = kept.get(id) ?? content;
          kept.set(id, held);
          return correct.requireSignature(req, res, (error?: unknown) =>
            error === undefined && held !== content ? refuse(res, 409, 'conflict') : next(error),
          );
        };
      },
    ],
    'times-recorded-before-verification': [
      'Records the time of a delivery before verifying it, and answers 409 to an earlier time',
      (parts) => {
        const latest = new Map<string, number>();
        return stageOf((delivery, req, res, next) => {
          const payload = unverified(delivery);
          const transaction = fieldAt(payload, 'data.transactionId');
          const { at } = payload;
          const isTimed = typeof transaction === 'string' && typeof at === 'number';
          const before = isTimed ? (latest.get(transaction) ?? at) : 0;
          if (isTimed) latest.set(transaction, Math.max(before, at));
          parts.correct.requireSignature(req, res, (error?: unknown) =>
            error === undefined && isTimed && at < before ? refuse(res, 409, 'conflict') : next(error),
          );
        }, parts);
      },
      { needs: ['hmac'], note: 'A forgery with a time in the future blocks every notification of the transaction.' },
    ],
    'refusals-remembered-by-id': [
      'Answers 401 to every delivery with an id that was once rejected for its signature',
      ({ correct }) => {
        const refused = new Set<string>();
        return (req, res, next) => {
          const id = idInBody(res);
          if (id === undefined) return correct.requireSignature(req, res, next);
          if (refused.has(id)) return refuseUnauthorized(res, 'signature-mismatch');
          refused.add(id);
          return correct.requireSignature(req, res, (error?: unknown) => {
            refused.delete(id);
            next(error);
          });
        };
      },
      'verdict-kept-by-id',
      { needs: ['hmac'] },
    ],
  },
);

export const deliveryDuplicatesFaults: readonly StageFault[] = [...copies, ...identities, ...poisoned];
