/** Mutants that reject duplicates, take other notifications for duplicates, or fail on ids that they know. */
import { setTimeout as delay } from 'node:timers/promises';
import { answer, refuse, refuseUnauthorized, requestHeader, required } from '../receiver/stages/stage.ts';
import { verifySignature } from '../receiver/verify-signature.ts';
import {
  claimId,
  countDuplicates,
  failConcurrently,
  fieldAt,
  guardNew,
  idInBody,
  idInStream,
  serialise,
  throwDuplicateKey,
  uniqueBy,
} from './careless-handling.ts';
import type { StageFault } from './fault.ts';
import { stageOf, unverified } from './lenient-verifier.ts';

const DUPLICATE = { area: 'delivery', stage: 'store', forbidden: false } as const;

const answerCopies = {
  rule:
    'Let the unique key on id decide, and answer 200 if the id is known: you already have the notification. Record ' +
    'an id only when its delivery has passed every check: otherwise a forged or broken delivery hides the correct one.',
  express: 'Insert with ON CONFLICT DO NOTHING, and answer 200 whether a row was written or not.',
  python: 'Insert with ON CONFLICT DO NOTHING, and answer 200 in both cases.',
  php: 'Insert with ON CONFLICT DO NOTHING (INSERT IGNORE in MySQL), and answer 200 in both cases.',
  django: 'Use `get_or_create`, and answer 200 in both cases.',
  spring: 'Catch DataIntegrityViolationException around the insert, and answer 200.',
  rails: 'Use `create_or_find_by!`, or rescue ActiveRecord::RecordNotUnique with `head :ok`.',
  laravel: 'Use `firstOrCreate` or `insertOrIgnore`, and answer 200 in both cases.',
  go: 'Treat a violation of the unique key as success.',
  dotnet: 'Catch DbUpdateException for the unique key, and return Ok().',
};

const lostAnswer =
  'If a 200 is lost on the network, the sender repeats the delivery, and this answer makes it repeat forever.';

const IDENTITY = { area: 'delivery', stage: 'store', severity: 'high', forbidden: true } as const;

/** Rejects a notification whose key is known. */
const unique = (keyOf: (payload: unknown) => string | undefined) => uniqueBy(keyOf, () => 409);

const byId = {
  rule: 'Put the unique key on id only.',
  express: 'Use `payload.id` as the key of the inbox.',
};

const COLLISION = { area: 'delivery', stage: 'store', severity: 'high' } as const;

const textAt = (payload: unknown, path: string) => {
  const value = fieldAt(payload, path);
  return typeof value === 'string' ? value : undefined;
};

const isKind = (payload: unknown, kind: string) => fieldAt(payload, 'type') === kind;

const queue = {
  rule: 'Store each notification, answer, and then apply notifications to transactions and balances one by one.',
  express: 'Use a queue with one worker per transaction or customer, and answer before it.',
};

const POISONED = { area: 'delivery', forbidden: true } as const;

const claimLast = {
  rule:
    'Look at the id only after key, signature and payload are validated, and record it together with the ' +
    'notification.',
  express:
    'Move the deduplication behind the verification and the schema, into the transaction that stores the notification.',
  laravel: 'Put the idempotency middleware after the verification.',
  rails: 'Verify in a `before_action` that is declared before the lookup of ids.',
};

const isDust = 'Anyone who knows or guesses an id can suppress the real notification: it is rejected on every retry.';

export const deliveryDuplicatesFaults: readonly StageFault[] = [
  // Faults with the second delivery of a notification.
  {
    ...DUPLICATE,
    name: 'copies-answered-409',
    title: 'Answers 409 to a duplicate notification',
    seen: 'Idempotency guides written for APIs with a user who can react to a conflict.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countDuplicates(() => 409),
  },
  {
    ...DUPLICATE,
    name: 'copies-answered-400',
    title: 'Answers 400 to a duplicate notification',
    seen: 'Validators that check "id must not be in use" together with the shape of the payload.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countDuplicates(() => 400),
  },
  {
    ...DUPLICATE,
    name: 'copies-redirected',
    title: 'Redirects the second copy of a notification to the stored one',
    seen: 'APIs that answer 303 to a resource that exists already.',
    why: 'A sender does not follow redirects, so it repeats the delivery forever.',
    fix: answerCopies,
    severity: 'medium',
    forbidden: true,
    replace: countDuplicates(
      () => 303,
      (res) => answer(res, 303, {}, { Location: '/notifications/1' }),
    ),
  },
  {
    ...DUPLICATE,
    name: 'copies-hit-the-unique-key',
    title: 'Answers 500 to a duplicate notification, because it violates the unique key on id',
    seen: 'Every stack with a database and no handling of duplicates; the most common outcome of a duplicate.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countDuplicates(throwDuplicateKey),
  },
  {
    ...DUPLICATE,
    name: 'copies-end-the-process',
    title: 'Ends the process on a duplicate notification, because the database error is not caught',
    seen: 'Unawaited inserts in Node: their rejection is unhandled, and Node exits.',
    why: 'An outage leads to many duplicates, so the receiver goes down again right after its restart.',
    fix: { ...answerCopies, express: 'Await the insert inside the handler, with ON CONFLICT DO NOTHING.' },
    severity: 'high',
    forbidden: true,
    replace: (parts) =>
      countDuplicates(
        () => 500,
        () => parts.crash(100),
      )(parts),
  },
  {
    ...DUPLICATE,
    name: 'third-copy-refused',
    title: 'Answers 409 to a notification from its third delivery on',
    seen: 'Retry counters against loops, and flags that only distinguish "new" and "seen once".',
    why: 'It looks correct in tests that send everything twice; a long outage leads to a third delivery.',
    fix: answerCopies,
    severity: 'low',
    replace: countDuplicates((copy) => (copy >= 2 ? 409 : undefined)),
  },
  {
    ...DUPLICATE,
    name: 'deposit-copies-refused',
    title: 'Answers 409 to a duplicate deposit, while duplicates of other kinds are accepted',
    seen: 'Guards against double booking in the code for deposits.',
    why: 'The guard works, but the sender sees a failure and repeats the deposit.',
    fix: { ...answerCopies, rule: 'Let the guard skip the booking, and still answer 200.' },
    severity: 'medium',
    replace: countDuplicates((_copy, payload) => (fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' ? 409 : undefined)),
  },
  {
    ...DUPLICATE,
    name: 'wallet-copies-collide',
    title: 'Answers 500 to a duplicate wallet notification, because it violates the unique key on the address',
    seen: 'Wallet tables with a unique address, where the notification itself is not stored.',
    why: lostAnswer,
    fix: { ...answerCopies, rule: 'Insert a wallet only if it does not exist, and answer 200 in both cases.' },
    severity: 'medium',
    replace: countDuplicates((_copy, payload) =>
      fieldAt(payload, 'type') === 'WALLET' ? throwDuplicateKey() : undefined,
    ),
  },
  {
    ...DUPLICATE,
    name: 'copies-at-once-race',
    title: 'Answers 500 to one of two simultaneous duplicates, because both find the id unknown and insert it',
    seen: 'Code that looks up the id first and inserts it afterwards; sequential duplicates work.',
    why: 'A sender that times out sends again while the first delivery is still being processed.',
    fix: { ...answerCopies, rule: 'Insert first and let the unique key decide; do not look up the id before.' },
    severity: 'medium',
    replace: ({ correct }) => {
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
  },
  {
    ...DUPLICATE,
    name: 'copies-told-by-their-bytes',
    title: 'Detects duplicates by a hash of the body, so a duplicate with another layout violates the unique key on id',
    seen: 'Public SDKs and receivers that hash the payload, because it works without reading it.',
    why: 'A re-serialised duplicate causes a 500; two notifications with equal bodies would count as one.',
    fix: { ...answerCopies, rule: 'Detect duplicates by their id only.' },
    severity: 'low',
    replace: ({ correct }) => {
      const bodies = new Map<string, string>();
      return (req, res, next) => {
        const { id } = required(res, 'notification');
        const body = required(res, 'rawBody').toString('latin1');
        if ((bodies.get(id) ?? body) !== body) throwDuplicateKey();
        bodies.set(id, body);
        return correct.store(req, res, next);
      };
    },
  },
  // Different notifications that are taken for duplicates.
  {
    ...IDENTITY,
    name: 'equal-data-taken-for-a-copy',
    title: 'Rejects a notification with a new id if its data equals that of an earlier one',
    seen: 'Keys made of the content, because ids were not trusted.',
    why: 'Two equal deposits are two deposits, and the second one is lost.',
    fix: byId,
    replace: unique((payload) => serialise(fieldAt(payload, 'data'))),
  },
  {
    ...IDENTITY,
    name: 'same-second-taken-for-a-copy',
    title: 'Rejects a second notification of a transaction, at least one with the same time',
    seen: 'Keys of transaction and time, which look unique but have a resolution of one second.',
    why: 'An order can pass through several statuses within a second, and all but the first are lost.',
    fix: byId,
    replace: unique((payload) => {
      const transactionId = fieldAt(payload, 'data.transactionId');
      if (fieldAt(payload, 'type') !== 'CAAS' || typeof transactionId !== 'string') return undefined;
      return `${transactionId} ${String(fieldAt(payload, 'at'))}`;
    }),
  },
  {
    ...IDENTITY,
    name: 'same-status-taken-for-a-copy',
    title: 'Rejects a second notification of a transaction with the same status',
    seen: 'Keys of transaction and status, as if every status were reported once.',
    why: 'The transaction hash comes in a second notification with the same status and is lost.',
    fix: byId,
    replace: unique((payload) => {
      const status = fieldAt(payload, 'data.metadata.orderStatus');
      return status === undefined ? undefined : `${String(fieldAt(payload, 'data.transactionId'))} ${String(status)}`;
    }),
  },
  {
    ...IDENTITY,
    name: 'transaction-taken-for-a-copy',
    title: 'Rejects every further notification of a transaction as a duplicate',
    seen: 'Inbox tables with a unique key on the transaction, as if each transaction were reported once.',
    why: 'Only the first status of each order is received, and its completion or failure is lost.',
    fix: byId,
    replace: unique((payload) => textAt(payload, 'data.transactionId')),
  },
  {
    ...IDENTITY,
    name: 'second-failure-taken-for-a-copy',
    title: 'Rejects the failure of a refund after the failure of its sell',
    seen: 'Failure tables with the transaction as the key.',
    why: 'Of all failures, the one that leaves a customer without coins and without money is lost.',
    fix: {
      rule: 'Store the failure of a sell and that of its refund separately.',
      express: 'Use a separate table or column for refunds.',
    },
    replace: unique((payload) => {
      const failed =
        fieldAt(payload, 'data.metadata.orderStatus') === 'FAILED' || fieldAt(payload, 'data.status') === 'FAIL';
      const transactionId = fieldAt(payload, 'data.transactionId');
      return failed && typeof transactionId === 'string' ? transactionId : undefined;
    }),
  },
  // Related notifications that conflict with each other.
  {
    ...COLLISION,
    name: 'transactions-created-again',
    title: 'Answers 500 to the second notification of a transaction, because it inserts the row again',
    seen: 'Handlers tested with one notification per transaction.',
    why: 'Every transaction stops at its first status.',
    fix: {
      rule: 'Update the transaction if it exists (upsert by transactionId).',
      express: 'Write ON CONFLICT (transaction_id) DO UPDATE.',
    },
    forbidden: true,
    replace: uniqueBy(
      (payload) => (isKind(payload, 'CAAS') ? textAt(payload, 'data.transactionId') : undefined),
      throwDuplicateKey,
    ),
  },
  {
    ...COLLISION,
    name: 'updates-of-a-transaction-collide',
    title: 'Answers 500 to one of two simultaneous statuses of a transaction',
    seen: 'Optimistic locking and serialisable transactions without a retry.',
    why: 'Statuses follow within a second, so some of them fail on every busy day.',
    fix: queue,
    severity: 'medium',
    forbidden: true,
    replace: guardNew(
      failConcurrently((payload) => (isKind(payload, 'CAAS') ? textAt(payload, 'data.transactionId') : undefined), 10),
    ),
  },
  {
    ...COLLISION,
    name: 'customer-created-with-each-wallet',
    title: 'Answers 500 to all but one of several simultaneous wallets of a customer',
    seen: 'Handlers that look up the customer and insert it if missing, without handling the unique key.',
    why: 'Onboarding creates all wallets of a customer at once, so most new customers lack wallets.',
    fix: { ...queue, rule: 'Create the customer with an "if not exists" that the database decides.' },
    forbidden: true,
    replace: guardNew(
      failConcurrently((payload) => (isKind(payload, 'WALLET') ? textAt(payload, 'data.customerId') : undefined), 20),
    ),
  },
  {
    ...COLLISION,
    name: 'deposits-collide-on-the-balance',
    title: 'Answers 500 to one of two simultaneous deposits of a customer, because both change the same balance',
    seen: 'Balances that are read, increased and written back with a version number.',
    why: 'A deposit fails at random; without the version number it would be lost silently.',
    fix: { ...queue, rule: 'Book deposits as entries and sum them; do not read, add and write a balance.' },
    forbidden: true,
    replace: guardNew(
      failConcurrently(
        (payload) => (isKind(payload, 'CAAS_BLOCKCHAIN') ? textAt(payload, 'data.customerId') : undefined),
        20,
      ),
    ),
  },
  {
    ...COLLISION,
    name: 'staged-is-final',
    title: 'Answers 409 to the decline of a payment method with status STAGED',
    seen: 'State machines in which a staged card can only be confirmed by the customer.',
    why: 'A permanently declined card is still offered.',
    fix: {
      rule: 'Allow DECLINED after any status.',
      express: 'Store the newest status by `at`, and reject none.',
    },
    severity: 'medium',
    forbidden: false,
    replace: guardNew(() => {
      const staged = new Set<string>();
      return (payload) => {
        const paymentMethodId = textAt(payload, 'data.paymentMethodId');
        if (paymentMethodId === undefined) return undefined;
        if (fieldAt(payload, 'data.status') === 'STAGED') staged.add(paymentMethodId);
        else if (staged.has(paymentMethodId)) return 409;
        return undefined;
      };
    }),
  },
  // Rejected deliveries that leave state behind under the id of a valid one.
  {
    ...POISONED,
    name: 'ids-claimed-before-every-check',
    title: 'Records an id before checking key and signature and answers 409 to the valid delivery after a rejected one',
    seen: 'Idempotency middleware at the start of the chain, as its guides recommend.',
    why: isDust,
    fix: claimLast,
    severity: 'critical',
    stage: 'requireApiKey',
    replace: ({ correct }) => claimId(idInStream, correct.requireApiKey),
  },
  {
    ...POISONED,
    name: 'ids-claimed-before-the-signature',
    title: 'Records an id before it checks the signature and answers 409 to the valid delivery after a forged one',
    seen: 'A gateway that checks the key and drops duplicates, before an application that verifies.',
    why: isDust,
    fix: claimLast,
    severity: 'critical',
    stage: 'requireSignature',
    replace: ({ correct }) => claimId(idInBody, correct.requireSignature),
  },
  {
    ...POISONED,
    name: 'ids-claimed-before-the-key',
    title:
      'Records an id after verifying the signature but before the key and answers 409 to the valid delivery after ' +
      'one with a wrong key',
    seen: 'Key and signature checks in two places, with the deduplication between them.',
    why: 'A deployment with a wrong key is fixed within minutes, but the deliveries in between can never be repeated.',
    fix: claimLast,
    severity: 'high',
    needs: ['api-key', 'hmac'],
    stage: 'requireApiKey',
    replace: ({ correct, config: { signing } }) => {
      const claimed = claimId(idInBody, correct.requireApiKey);
      return (req, res, next) => {
        const rawBody = required(res, 'rawBody');
        const header = signing && requestHeader(req, signing.header);
        const isSigned = verifySignature({ rawBody, header, secrets: signing?.secrets ?? [] }).ok;
        return isSigned ? claimed(req, res, next) : correct.requireApiKey(req, res, next);
      };
    },
  },
  {
    ...POISONED,
    name: 'ids-claimed-before-the-schema',
    title: 'Records an id before validating the payload and answers 409 to the corrected notification',
    seen: 'An insert into the inbox at the start of the handler, outside the transaction that validates and stores.',
    why: 'A malformed notification that the sender has corrected is taken for the old one.',
    fix: claimLast,
    severity: 'medium',
    stage: 'validate',
    replace: ({ correct }) => claimId((res) => String(fieldAt(required(res, 'payload'), 'id')), correct.validate),
  },
  {
    ...POISONED,
    name: 'ids-claimed-while-parsing',
    title: 'Records an id while parsing and keeps it when the rest of the body is invalid',
    seen: 'Parsers that report fields while they read, and routers that extract the id with a pattern.',
    why: 'A truncated body blocks the complete one that follows.',
    fix: { ...claimLast, rule: 'Parse and validate the whole body before you use any part of it.' },
    severity: 'medium',
    stage: 'parse',
    replace: ({ correct }) => claimId(idInStream, correct.parse),
  },
  {
    ...POISONED,
    name: 'refused-content-kept',
    title: 'Stores content before verifying it and answers 409 to other content with the same id',
    seen: 'Receivers that store first and verify later, and compare a duplicate with the stored content.',
    why: 'A forged notification is stored, and the real one is rejected because it differs.',
    fix: { ...claimLast, rule: 'Store nothing of an unverified delivery.' },
    severity: 'critical',
    stage: 'requireSignature',
    replace: ({ correct }) => {
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
  },
  {
    ...POISONED,
    name: 'times-recorded-before-verification',
    title: 'Records the time of a delivery before verifying it, and answers 409 to an earlier time',
    seen: 'A check for replays by time, or the latest state of a transaction, in front of the verification.',
    why: 'A forgery with a time in the future blocks every notification of the transaction.',
    fix: { ...claimLast, rule: 'Record nothing of an unverified delivery.' },
    severity: 'critical',
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: (parts) => {
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
  },
  {
    ...POISONED,
    name: 'refusals-remembered-by-id',
    title: 'Answers 401 to every delivery with an id that was once rejected for its signature',
    seen: 'Caches of verification results with the id as the key.',
    why: isDust,
    fix: {
      rule: 'Verify each delivery; do not cache verification results by id.',
      express: 'Remove the cache: an HMAC over a few kilobytes takes microseconds.',
    },
    severity: 'critical',
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: ({ correct }) => {
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
  },
];
