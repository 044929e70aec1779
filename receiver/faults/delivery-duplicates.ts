/** Mutants that reject duplicates, take other notifications for duplicates, or fail on ids that they know. */
import { setTimeout as delay } from 'node:timers/promises';
import { requestHeader } from '../stages/request-header.ts';
import { refuse, refuseUnauthorized, required } from '../stages/stage.ts';
import { verifySignature } from '../verify-signature.ts';
import {
  claiming,
  countingCopies,
  failingTogether,
  fault,
  fieldAt,
  guardingNew,
  idInBody,
  idInStream,
  written,
} from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const DUPLICATE = { area: 'delivery', stage: 'store', forbidden: false } as const;

const answerCopies = {
  rule: 'Let the unique key on id decide, and answer 200 when the id is known: you have the notification already.',
  express: 'Insert with ON CONFLICT DO NOTHING, and send 200 whether a row was written or not.',
  django: 'Use `get_or_create`, and answer 200 for either outcome.',
  spring: 'Catch DataIntegrityViolationException around the insert, and answer 200.',
  rails: 'Use `create_or_find_by!`, or rescue ActiveRecord::RecordNotUnique with `head :ok`.',
  laravel: 'Use `firstOrCreate` or `insertOrIgnore`, and answer 200 for either outcome.',
  go: 'Treat the error of the unique key as success.',
  dotnet: 'Catch DbUpdateException for the unique key, and return Ok().',
};

const lostAnswer =
  'When a 200 is lost on its way, the sender can only send again, and this answer makes it do so for ever.';

const IDENTITY = { area: 'delivery', stage: 'store', severity: 'high', forbidden: true } as const;

/** Turns away what has a key that was there before. */
function unique(keyOf: (payload: unknown) => string | undefined): StageFault['replace'] {
  return guardingNew(() => {
    const keys = new Set<string>();
    return (payload) => {
      const key = keyOf(payload);
      if (key === undefined) return undefined;
      if (keys.has(key)) return 409;
      keys.add(key);
      return undefined;
    };
  });
}

const byId = {
  rule: 'Put the unique key on id and on nothing else.',
  express: 'Key the inbox by `payload.id`.',
};

const COLLISION = { area: 'delivery', stage: 'store', severity: 'high' } as const;

const textAt = (payload: unknown, path: string) => {
  const value = fieldAt(payload, path);
  return typeof value === 'string' ? value : undefined;
};

const isKind = (payload: unknown, kind: string) => fieldAt(payload, 'type') === kind;

const queue = {
  rule: 'Store each notification by itself, answer, and apply notifications to transactions and balances one by one.',
  express: 'Put the work on a queue with one worker for each transaction or customer, and answer before it.',
};

const POISONED = { area: 'delivery', forbidden: true } as const;

const claimLast = {
  rule: 'Look at the id only after key, signature and payload were found right, and remember it together with the notification.',
  express: 'Move the de-duplication behind the verification and the schema, into the transaction that stores.',
  laravel: 'Put the middleware for idempotency after the one that verifies.',
  rails: 'Verify in a `before_action` that is declared before the one that looks ids up.',
};

const vanishes =
  'Anybody who knows or guesses an id can make the real notification vanish: it is refused as often as it is sent.';

export const deliveryDuplicatesFaults: readonly StageFault[] = [
  // Mistakes with the second copy of a notification.
  {
    ...DUPLICATE,
    name: 'copies-answered-409',
    title: 'A copy of a notification is answered 409.',
    seen: 'Guides to idempotency that were written for APIs with a user in front, who can be told about a conflict.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countingCopies(() => 409),
  },
  {
    ...DUPLICATE,
    name: 'copies-answered-400',
    title: 'A copy of a notification is answered 400.',
    seen: 'Validators that check "id must not be in use" together with the shape of the payload.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countingCopies(() => 400),
  },
  {
    ...DUPLICATE,
    name: 'copies-hit-the-unique-key',
    title: 'A copy of a notification violates the unique key on id, and the error is answered 500.',
    seen: 'Every stack with a database and no thought of a second delivery; the most usual outcome of a copy.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countingCopies(() => fault('duplicate key value violates unique constraint')),
  },
  {
    ...DUPLICATE,
    name: 'copies-end-the-process',
    title: 'A copy of a notification ends the process, because the error of the database is caught by nobody.',
    seen: 'Inserts in Node that are not awaited: their rejection is unhandled, and Node exits.',
    why: 'Copies come in numbers after an outage, so the receiver goes down again as soon as it is up.',
    fix: { ...answerCopies, express: 'Await the insert inside of the handler, with ON CONFLICT DO NOTHING.' },
    severity: 'high',
    forbidden: true,
    replace: (parts) =>
      countingCopies(
        () => 500,
        () => parts.crash(100),
      )(parts),
  },
  {
    ...DUPLICATE,
    name: 'third-copy-refused',
    title: 'A notification is answered 409 from its third delivery on.',
    seen: 'Counters of attempts against loops, and flags that know "new" and "seen once".',
    why: 'It looks right as long as a test sends everything twice; a long outage brings the third copy.',
    fix: answerCopies,
    severity: 'low',
    replace: countingCopies((copy) => (copy >= 2 ? 409 : undefined)),
  },
  {
    ...DUPLICATE,
    name: 'deposit-copies-refused',
    title: 'A copy of a deposit is answered 409, while copies of other kinds are accepted.',
    seen: 'Guards against double booking that were added in the code of deposits.',
    why: 'The guard does its work and the sender is told of a failure, so it sends the same deposit again and again.',
    fix: { ...answerCopies, rule: 'Let the guard skip the booking, and answer 200 all the same.' },
    severity: 'medium',
    replace: countingCopies((_copy, payload) => (fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' ? 409 : undefined)),
  },
  {
    ...DUPLICATE,
    name: 'wallet-copies-collide',
    title: 'A copy of a wallet notification violates the unique key on the address, and is answered 500.',
    seen: 'In tables of wallets, where the address is unique and the notification is not stored at all.',
    why: lostAnswer,
    fix: { ...answerCopies, rule: 'Insert a wallet only when it is not there yet, and answer 200 either way.' },
    severity: 'medium',
    replace: countingCopies((_copy, payload) =>
      fieldAt(payload, 'type') === 'WALLET' ? fault('duplicate key value violates unique constraint') : undefined,
    ),
  },
  {
    ...DUPLICATE,
    name: 'copies-at-once-race',
    title: 'Two copies at the same time both find the id unknown, both insert it, and one is answered 500.',
    seen: 'Wherever the code looks for the id first and inserts it afterwards; one copy after another works.',
    why: 'A sender that gave up on a slow answer sends again while the first delivery is still being handled.',
    fix: { ...answerCopies, rule: 'Insert first and let the unique key decide; do not look before.' },
    severity: 'medium',
    replace: ({ right }) => {
      const rows = new Set<string>();
      return async (req, res, next) => {
        const { id } = required(res, 'notification');
        const isKnown = rows.has(id);
        await delay(10);
        if (!isKnown && rows.has(id)) fault('duplicate key value violates unique constraint');
        rows.add(id);
        return right.store(req, res, next);
      };
    },
  },
  {
    ...DUPLICATE,
    name: 'copies-told-by-their-bytes',
    title: 'Copies are told by a hash of the body, and a copy with another layout violates the unique key on id.',
    seen: 'In public SDKs and receivers that hash the payload, because hashing works without looking into it.',
    why: 'A copy that was written anew is a 500; two notifications with equal bodies would be one.',
    fix: { ...answerCopies, rule: 'Tell copies by their id alone.' },
    severity: 'low',
    replace: ({ right }) => {
      const bodies = new Map<string, string>();
      return (req, res, next) => {
        const { id } = required(res, 'notification');
        const body = required(res, 'rawBody').toString('latin1');
        if ((bodies.get(id) ?? body) !== body) fault('duplicate key value violates unique constraint');
        bodies.set(id, body);
        return right.store(req, res, next);
      };
    },
  },
  // Notifications with ids of their own that are taken for copies.
  {
    ...IDENTITY,
    name: 'equal-data-taken-for-a-copy',
    title: 'A notification with a new id is refused when its data is equal to that of an earlier one.',
    seen: 'Keys that are made of the content, because the author did not trust ids.',
    why: 'Two equal deposits are two deposits, and the second one is lost.',
    fix: byId,
    replace: unique((payload) => written(fieldAt(payload, 'data'))),
  },
  {
    ...IDENTITY,
    name: 'same-second-taken-for-a-copy',
    title: 'A second notification of a transaction is refused when its time is the same.',
    seen: 'Keys of transaction and time, which look unique and count whole seconds.',
    why: 'Orders pass through several statuses in a second, and all but the first are lost.',
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
    title: 'A second notification of a transaction is refused when its status is the same.',
    seen: 'Keys of transaction and status, as if every status were reported once.',
    why: 'The hash of a transaction comes with a second notification of the same status, and is never learnt.',
    fix: byId,
    replace: unique((payload) => {
      const status = fieldAt(payload, 'data.metadata.orderStatus');
      return status === undefined ? undefined : `${String(fieldAt(payload, 'data.transactionId'))} ${String(status)}`;
    }),
  },
  {
    ...IDENTITY,
    name: 'second-failure-taken-for-a-copy',
    title: 'The failure of a refund is refused when its sell has failed before.',
    seen: 'Tables of failures with the transaction as their key.',
    why: 'Of all failures, the one that leaves a customer without coin and without money goes unseen.',
    fix: {
      rule: 'Keep the failure of a sell and that of its refund apart.',
      express: 'Give refunds a table or a column of their own.',
    },
    replace: unique((payload) => {
      const failed =
        fieldAt(payload, 'data.metadata.orderStatus') === 'FAILED' || fieldAt(payload, 'data.status') === 'FAIL';
      const transactionId = fieldAt(payload, 'data.transactionId');
      return failed && typeof transactionId === 'string' ? transactionId : undefined;
    }),
  },
  // Notifications that belong together and get into each other's way.
  {
    ...COLLISION,
    name: 'transactions-created-again',
    title: 'The second notification of a transaction is answered 500, because its row is inserted again.',
    seen: 'Handlers that were tried with one notification for each transaction.',
    why: 'Every transaction stops at its first status.',
    fix: {
      rule: 'Update the transaction when it is there (upsert by transactionId).',
      express: 'Write ON CONFLICT (transaction_id) DO UPDATE.',
    },
    forbidden: true,
    replace: guardingNew(() => {
      const rows = new Set<string>();
      return (payload) => {
        const transactionId = textAt(payload, 'data.transactionId');
        if (transactionId === undefined || !isKind(payload, 'CAAS')) return undefined;
        if (rows.has(transactionId)) fault('duplicate key value violates unique constraint');
        rows.add(transactionId);
        return undefined;
      };
    }),
  },
  {
    ...COLLISION,
    name: 'updates-of-a-transaction-collide',
    title: 'Two statuses of a transaction at the same time collide, and one of them is answered 500.',
    seen: 'Optimistic locking and serialisable transactions without a second try.',
    why: 'Statuses follow on each other within a second, so some of them fail on every busy day.',
    fix: queue,
    severity: 'medium',
    forbidden: false,
    replace: guardingNew(
      failingTogether((payload) => (isKind(payload, 'CAAS') ? textAt(payload, 'data.transactionId') : undefined), 10),
    ),
  },
  {
    ...COLLISION,
    name: 'customer-created-with-each-wallet',
    title: 'Wallets of one customer at the same time each create the customer, and all but one are answered 500.',
    seen: 'Handlers that look for the customer and insert it when there is none, without a unique key in mind.',
    why: 'Onboarding creates all wallets of a customer together, so most new customers lack wallets.',
    fix: { ...queue, rule: 'Create the customer with an "if not there yet" that the database decides.' },
    forbidden: true,
    replace: guardingNew(
      failingTogether((payload) => (isKind(payload, 'WALLET') ? textAt(payload, 'data.customerId') : undefined), 20),
    ),
  },
  {
    ...COLLISION,
    name: 'deposits-collide-on-the-balance',
    title: 'Two deposits of one customer at the same time change the same balance, and one of them is answered 500.',
    seen: 'Balances that are read, added to and written back under a version number.',
    why: 'A deposit fails by chance, and where the version is missing it is lost without a word.',
    fix: { ...queue, rule: 'Book deposits as entries and add them up; do not read, add and write a balance.' },
    forbidden: true,
    replace: guardingNew(
      failingTogether(
        (payload) => (isKind(payload, 'CAAS_BLOCKCHAIN') ? textAt(payload, 'data.customerId') : undefined),
        20,
      ),
    ),
  },
  {
    ...COLLISION,
    name: 'staged-is-final',
    title: 'The decline of a payment method that was STAGED is answered 409.',
    seen: 'State machines in which a staged card waits for its confirmation by the user and for nothing else.',
    why: 'The card goes on being offered although it was declined for good.',
    fix: {
      rule: 'Let DECLINED follow on any status.',
      express: 'Store the newest status by `at`; refuse none.',
    },
    severity: 'medium',
    forbidden: true,
    replace: guardingNew(() => {
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
  // Refused deliveries that leave something behind under the id of a right one.
  {
    ...POISONED,
    name: 'ids-claimed-before-every-check',
    title:
      'An id is claimed before key and signature are checked, and a right delivery that follows on a refused one is answered 409.',
    seen: 'Middleware for idempotency that stands first in the chain, which is where its guides put it.',
    why: vanishes,
    fix: claimLast,
    severity: 'critical',
    stage: 'checkApiKey',
    replace: ({ right }) => claiming(idInStream, right.checkApiKey),
  },
  {
    ...POISONED,
    name: 'ids-claimed-before-the-signature',
    title:
      'An id is claimed after the key was checked and before the signature is, and a right delivery that follows on a forged one is answered 409.',
    seen: 'A gateway that checks the key and drops repetitions, in front of an application that verifies.',
    why: vanishes,
    fix: claimLast,
    severity: 'critical',
    stage: 'verifySignature',
    replace: ({ right }) => claiming(idInBody, right.verifySignature),
  },
  {
    ...POISONED,
    name: 'ids-claimed-before-the-key',
    title:
      'An id is claimed after the signature was verified and before the key is, and a right delivery that follows on one with a wrong key is answered 409.',
    seen: 'Key and signature checked in two places, with the de-duplication in between.',
    why: 'A deployment with a wrong key is mended within minutes, and what was sent meanwhile can never be delivered again.',
    fix: claimLast,
    severity: 'high',
    needs: ['api-key', 'hmac'],
    stage: 'checkApiKey',
    replace: ({ right, config: { signing } }) => {
      const claimed = claiming(idInBody, right.checkApiKey);
      return (req, res, next) => {
        const rawBody = required(res, 'rawBody');
        const header = signing && requestHeader(req, signing.header);
        const isSigned = verifySignature({ rawBody, header, secrets: signing?.secrets ?? [] }).ok;
        return isSigned ? claimed(req, res, next) : right.checkApiKey(req, res, next);
      };
    },
  },
  {
    ...POISONED,
    name: 'ids-claimed-before-the-schema',
    title: 'An id is claimed before the payload is validated, and the corrected notification is answered 409.',
    seen: 'An insert into the inbox at the start of the handler, outside of the transaction that validates and stores.',
    why: 'Once the sender has mended a malformed notification, it is taken for the old one.',
    fix: claimLast,
    severity: 'medium',
    stage: 'validate',
    replace: ({ right }) => claiming((res) => String(fieldAt(required(res, 'payload'), 'id')), right.validate),
  },
  {
    ...POISONED,
    name: 'ids-claimed-while-parsing',
    title: 'An id is claimed as soon as a parser has read it, and stays claimed when the rest of the body is broken.',
    seen: 'Parsers that report fields while they read, and routers that fetch the id from the text with a pattern.',
    why: 'A body that was cut off on its way blocks the whole one that follows.',
    fix: { ...claimLast, rule: 'Parse and validate the whole body before you act on any part of it.' },
    severity: 'medium',
    stage: 'parse',
    replace: ({ right }) => claiming(idInStream, right.parse),
  },
  {
    ...POISONED,
    name: 'refused-content-kept',
    title:
      'Content is kept before it is verified, and what comes later under the id with other content is answered 409.',
    seen: 'Receivers that store first and verify later, and compare a copy with what they hold under its id.',
    why: 'A forged notification is kept, and the real one is refused because it differs from the forgery.',
    fix: { ...claimLast, rule: 'Store nothing of a delivery that is not verified.' },
    severity: 'critical',
    stage: 'verifySignature',
    replace: ({ right }) => {
      const kept = new Map<string, string>();
      return (req, res, next) => {
        const id = idInBody(res);
        const content = id && written(JSON.parse(required(res, 'rawBody').toString('utf8')));
        if (id === undefined || content === undefined) return right.verifySignature(req, res, next);
        const held = kept.get(id) ?? content;
        kept.set(id, held);
        return right.verifySignature(req, res, (error?: unknown) =>
          error === undefined && held !== content ? refuse(res, 409, 'conflict') : next(error),
        );
      };
    },
  },
  {
    ...POISONED,
    name: 'refusals-remembered-by-id',
    title: 'Once a delivery was refused for its signature, every later one with its id is answered 401.',
    seen: 'Caches of the result of the check, with the id as their key.',
    why: vanishes,
    fix: {
      rule: 'Verify each delivery by itself; do not cache the result of the check by id.',
      express: 'Remove the cache: an HMAC over a few kilobytes takes microseconds.',
    },
    severity: 'critical',
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: ({ right }) => {
      const refused = new Set<string>();
      return (req, res, next) => {
        const id = idInBody(res);
        if (id === undefined) return right.verifySignature(req, res, next);
        if (refused.has(id)) return refuseUnauthorized(res, 'signature-mismatch');
        refused.add(id);
        return right.verifySignature(req, res, (error?: unknown) => {
          refused.delete(id);
          next(error);
        });
      };
    },
  },
];
