/** Mutants that require an order of deliveries, and those that keep state per connection. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { refuse, refuseUnauthorized, required, type Stage } from '../receiver/stages/stage.ts';
import { fieldAt, type Guard, guardNew } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const ORDER = { area: 'delivery', stage: 'store' } as const;

const RANKS = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED'];

interface Update {
  readonly kind: string;
  readonly transactionId: string;
  readonly status: string;
  readonly at: number;
  readonly isSell: boolean;
}

/** The transaction update in a notification, or null if it is about none. */
function updateIn(payload: unknown): Update | null {
  const kind = String(fieldAt(payload, 'type'));
  const transactionId = fieldAt(payload, 'data.transactionId');
  const status = fieldAt(payload, kind === 'REFUND' ? 'data.status' : 'data.metadata.orderStatus');
  if (typeof transactionId !== 'string' || typeof status !== 'string') return null;
  return {
    kind,
    transactionId,
    status,
    at: Number(fieldAt(payload, 'at')),
    isSell: fieldAt(payload, 'data.type') === 'SELL',
  };
}

/** Rejects updates that do not match the last one of their transaction, and records the others. */
function comparing(turnAway: (update: Update, last: Update | undefined) => number | undefined): () => Guard {
  return () => {
    const transactions = new Map<string, Update>();
    return (payload) => {
      const update = updateIn(payload);
      if (update === null) return undefined;
      const status = turnAway(update, transactions.get(update.transactionId));
      if (status === undefined) transactions.set(update.transactionId, update);
      return status;
    };
  };
}

const anyOrder = {
  rule: 'Answer 200 to every valid notification, and decide afterwards, by `at`, whether it is news.',
  express:
    'Store the notification and answer; run the state machine behind a queue, and let it ignore late notifications.',
};

const CONNECTION = { area: 'delivery', severity: 'high', forbidden: true } as const;

const keepNothing = {
  rule: 'Keep nothing of a delivery beyond its answer: use a new buffer, parser and result for every request.',
  express: 'Keep state in `res.locals`, never in `req.socket` or module variables.',
};

/**
 * Replaces a stage: after an answer with one of these statuses, `turnAway` answers the next request on the connection.
 */
function affectNext(
  stage: 'parse' | 'validate' | 'requireSignature',
  turnAway: (...stage: Parameters<Stage>) => void,
): StageFault['replace'] {
  return ({ correct }) => {
    const stained = new WeakSet<Socket>();
    return (req, res, next) => {
      if (stained.delete(req.socket)) return turnAway(req, res, next);
      stained.add(req.socket);
      return correct[stage](req, res, (error?: unknown) => {
        stained.delete(req.socket);
        next(error);
      });
    };
  };
}

export const deliveryOrderFaults: readonly StageFault[] = [
  // State machines that reject late, early or missing updates.
  {
    ...ORDER,
    name: 'steps-back-refused',
    title: 'Answers 409 to a status that precedes the known one',
    seen: 'State machine libraries that throw on unlisted transitions.',
    why:
      'Deliveries overtake each other, and after an outage they arrive in any order. Late ones are rejected on ' +
      'every retry.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardNew(() => {
      const transactions = new Map<string, number>();
      return async (payload) => {
        const update = updateIn(payload);
        if (update === null || update.kind !== 'CAAS') return undefined;
        const before = transactions.get(update.transactionId) ?? 0;
        const rank = RANKS.indexOf(update.status);
        // The duration of a database transaction, whose result later ones do not see yet.
        if (update.status !== 'COMPLETED') await delay(20);
        if (rank >= 0 && rank < before) return 409;
        transactions.set(update.transactionId, rank);
        return undefined;
      };
    }),
  },
  {
    ...ORDER,
    name: 'completed-is-final',
    title: 'Answers 409 to any other status after COMPLETED',
    seen: 'Guards for completed orders, in code that otherwise accepts statuses in any order.',
    why: 'A late notification of an earlier status is rejected on every retry.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardNew(
      comparing(({ kind, status }, last) =>
        kind === 'CAAS' && last?.status === 'COMPLETED' && status !== 'COMPLETED' ? 409 : undefined,
      ),
    ),
  },
  {
    ...ORDER,
    name: 'time-must-not-go-back',
    title: 'Answers 409 to a notification whose time precedes that of the last one of its transaction',
    seen: 'Checks for stale data that compare times and reject late notifications.',
    why: 'A late delivery becomes a permanent error.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardNew(comparing(({ at }, last) => (last !== undefined && at < last.at ? 409 : undefined))),
  },
  {
    ...ORDER,
    name: 'confirmed-needs-its-acceptance',
    title: 'Answers 409 to CONFIRMED if no earlier status of the transaction is known',
    seen: 'State machines in which every status has exactly one predecessor.',
    why:
      'Nothing guarantees that an earlier notification arrives first, or at all: after an outage completed orders ' +
      'stay open.',
    fix: anyOrder,
    severity: 'high',
    forbidden: true,
    replace: guardNew(() => {
      const transactions = new Set<string>();
      return async (payload) => {
        const update = updateIn(payload);
        if (update === null) return undefined;
        if (update.status !== 'CONFIRMED') {
          transactions.add(update.transactionId);
          return undefined;
        }
        // A short wait for notifications that may be in transit.
        if (!transactions.has(update.transactionId)) await delay(40);
        return transactions.has(update.transactionId) ? undefined : 409;
      };
    }),
  },
  {
    ...ORDER,
    name: 'wants-every-step-of-a-sell',
    title: 'Answers 422 to a sell that goes directly from PENDING to COMPLETED',
    seen: 'State machines that were designed for buys and used for sells.',
    why: 'The steps of a sell depend on the payout method, and the last one is rejected: the sell stays pending.',
    fix: anyOrder,
    severity: 'high',
    forbidden: false,
    replace: guardNew(
      comparing(({ status, isSell }, last) =>
        isSell && status === 'COMPLETED' && last?.status === 'PENDING' ? 422 : undefined,
      ),
    ),
  },
  {
    ...ORDER,
    name: 'failed-is-final',
    title: 'Answers 409 to a refund of a failed sell',
    seen: 'Guards for closed transactions: a failed sell is closed, and its refund is a change.',
    why: 'A refund follows the notification of the failed sell, so no refund is booked.',
    fix: { ...anyOrder, rule: 'Allow a refund after a failed sell.' },
    severity: 'high',
    forbidden: true,
    replace: guardNew(
      comparing(({ kind }, last) => (kind === 'REFUND' && last?.status === 'FAILED' ? 409 : undefined)),
    ),
  },
  {
    ...ORDER,
    name: 'refund-needs-its-failed-sell',
    title: 'Answers 404 to a refund without a known failed sell',
    seen: 'Handlers that load the transaction first, with a function that answers 404 if there is none.',
    why: 'The failure of the sell may arrive later or be lost; then the refund is lost too.',
    fix: { ...anyOrder, rule: 'Store a refund of an unknown sell, and match it later.' },
    severity: 'high',
    forbidden: true,
    replace: guardNew(
      comparing(({ kind }, last) => (kind === 'REFUND' && last?.status !== 'FAILED' ? 404 : undefined)),
    ),
  },
  {
    ...ORDER,
    name: 'failure-after-refund-refused',
    title: 'Answers 409 to the failure of a sell whose refund is already known',
    seen: 'State machines in which "refunded" is a final state.',
    why: 'The two notifications can overtake each other, and then the reason of the failure is lost.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardNew(comparing(({ kind }, last) => (kind === 'CAAS' && last?.kind === 'REFUND' ? 409 : undefined))),
  },
  {
    ...ORDER,
    name: 'failed-transactions-are-final',
    title: 'Answers 409 to an earlier status that arrives after FAILED',
    seen: 'Guards for failed transactions, which nothing may reopen, in front of the comparison of times.',
    why: 'A notification that was overtaken by the failure is rejected on every retry.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardNew(
      comparing(({ kind, status }, last) =>
        kind === 'CAAS' && status !== 'FAILED' && last?.kind === 'CAAS' && last.status === 'FAILED' ? 409 : undefined,
      ),
    ),
  },
  {
    ...ORDER,
    name: 'second-end-refused',
    title: 'Answers 409 to COMPLETED after CONFIRMED',
    seen: 'Checks for contradictions that take the two statuses of a finished order for different results.',
    why: 'Both statuses are sent, and the last notification of an order is rejected.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardNew(
      comparing(({ status }, last) => (status === 'COMPLETED' && last?.status === 'CONFIRMED' ? 409 : undefined)),
    ),
  },
  {
    ...ORDER,
    name: 'expired-is-final',
    title: 'Answers 409 to a status of an order after its cash step has expired',
    seen: 'Receivers that cancel the order when the cash step expires.',
    why: 'The provider may still pay out, and the end of the order is rejected.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    replace: guardNew(() => {
      const expired = new Set<unknown>();
      return (payload) => {
        const transactionId = fieldAt(payload, 'data.transactionId');
        const status = fieldAt(payload, 'data.metadata.providerTransactionStatus');
        if (status === 'EXPIRED') expired.add(transactionId);
        return status === undefined && expired.has(transactionId) ? 409 : undefined;
      };
    }),
  },
  {
    ...ORDER,
    name: 'cash-step-closes-the-order',
    title: 'Answers 409 to the end of an order after its cash step is completed',
    seen: 'A unique key on transactionId and status, and one column for both kinds of status.',
    why: 'Every sale for cash stays open: its completion is rejected on every attempt.',
    fix: anyOrder,
    severity: 'high',
    forbidden: true,
    replace: guardNew(() => {
      const ended = new Set<unknown>();
      return (payload) => {
        const transaction = fieldAt(payload, 'data.transactionId');
        if (fieldAt(payload, 'data.metadata.providerTransactionStatus') === 'COMPLETED') ended.add(transaction);
        return fieldAt(payload, 'data.metadata.orderStatus') === 'COMPLETED' && ended.has(transaction)
          ? 409
          : undefined;
      };
    }),
  },
  {
    ...CONNECTION,
    name: 'exception-keeps-the-lock',
    title: 'Answers nothing more about a transaction after an exception, because its lock is not released',
    seen: 'A lock by transactionId without `finally`, around code that throws on metadata of another type.',
    why: 'One malformed notification, and all further ones of the transaction wait for ever or are rejected.',
    fix: {
      rule: 'Release locks and roll back in `finally`, and validate the payload before either begins.',
      express: 'Use `try { ... } finally { release(); }`, or a library such as async-mutex with `runExclusive`.',
    },
    stage: 'validate',
    replace: ({ correct }) => {
      const locked = new Set<unknown>();
      return (req, res, next) => {
        const payload = required(res, 'payload');
        const transaction = fieldAt(payload, 'data.transactionId');
        if (locked.has(transaction)) return refuse(res, 409, 'not-accepted');
        if (typeof transaction === 'string' && typeof fieldAt(payload, 'data.metadata') === 'number')
          locked.add(transaction);
        return correct.validate(req, res, next);
      };
    },
  },
  {
    ...ORDER,
    name: 'late-cash-step-refused',
    title: 'Answers 409 to a cash step of an order that has ended',
    seen: 'Queries for the open order of a cash step, which find none after its end.',
    why: 'The provider reports the step in its own time, and the late report is rejected on every retry.',
    fix: anyOrder,
    severity: 'medium',
    forbidden: false,
    equivalentTo: {
      name: 'expired-is-final',
      reason: 'Both reject what follows a cash step or an end of the same transaction; the report names the delivery.',
    },
    replace: guardNew(() => {
      const ended = new Set<unknown>();
      return (payload) => {
        const transactionId = fieldAt(payload, 'data.transactionId');
        if (fieldAt(payload, 'data.type') === 'ORDER_TRACKING') return ended.has(transactionId) ? 409 : undefined;
        if (fieldAt(payload, 'data.metadata.orderStatus') === 'COMPLETED') ended.add(transactionId);
        return undefined;
      };
    }),
  },
  {
    ...ORDER,
    name: 'declined-is-final',
    title: 'Answers 409 to a payment method that is staged after it was declined',
    seen: 'State machines in which DECLINED has no successor.',
    why: 'The user tries again, and is never asked for the amounts.',
    fix: { ...anyOrder, rule: 'Allow STAGED after DECLINED.' },
    severity: 'medium',
    forbidden: false,
    equivalentTo: {
      name: 'staged-is-final',
      reason: 'Both reject the next status of a payment method; the report names the rejected one.',
    },
    replace: guardNew(() => {
      const declined = new Set<unknown>();
      return (payload) => {
        const card = fieldAt(payload, 'data.paymentMethodId');
        if (fieldAt(payload, 'data.status') === 'DECLINED') declined.add(card);
        return card !== undefined && fieldAt(payload, 'data.status') === 'STAGED' && declined.has(card)
          ? 409
          : undefined;
      };
    }),
  },
  {
    ...ORDER,
    name: 'second-refund-refused',
    title: 'Answers 409 to a successful refund after a failed one of the same transaction',
    seen: 'A column for the refund of a sell, which is written once.',
    why: 'The partner keeps a failed refund on record, and may pay the customer a second time.',
    fix: { ...anyOrder, rule: 'Store every refund of a sell.' },
    severity: 'high',
    forbidden: false,
    replace: guardNew(
      comparing(({ kind }, last) =>
        kind === 'REFUND' && last?.kind === 'REFUND' && last.status === 'FAIL' ? 409 : undefined,
      ),
    ),
  },
  {
    ...ORDER,
    name: 'refund-of-a-pending-sell-refused',
    title: 'Answers 409 to a refund of a sell that is known, but not as failed',
    seen: 'State machines in which a refund follows FAILED only.',
    why: 'The refund overtakes the failure, and is rejected until the failure arrives, or for good.',
    fix: { ...anyOrder, rule: 'Store a refund whatever the status of its sell is.' },
    severity: 'medium',
    forbidden: false,
    equivalentTo: {
      name: 'second-refund-refused',
      reason: 'Both reject one of two refunds of a pending sell; the report names the rejected one.',
    },
    replace: guardNew(
      comparing(({ kind }, last) =>
        kind === 'REFUND' && last?.kind === 'CAAS' && last.status !== 'FAILED' ? 409 : undefined,
      ),
    ),
  },
  // State that one delivery leaves on its connection for the next.
  {
    ...CONNECTION,
    name: 'broken-body-spoils-the-next',
    title: 'Answers 400 to the delivery after a body that is not JSON on the same connection',
    seen: 'Parsers created per connection that keep what they could not parse.',
    why:
      'A proxy shares its connections between clients, so one invalid body makes the notification of another sender ' +
      'fail.',
    fix: keepNothing,
    stage: 'parse',
    replace: affectNext('parse', (_req, res) => refuse(res, 400, 'body-not-json')),
  },
  {
    ...CONNECTION,
    name: 'invalid-fields-spoil-the-next',
    title: 'Answers 400 to the delivery after a notification with invalid fields on the same connection',
    seen: 'Validators with a shared list of errors that is not emptied (ajv keeps it in `validate.errors`).',
    why: 'The valid delivery after an invalid one is rejected but accepted on retry, which is hard to diagnose.',
    fix: keepNothing,
    stage: 'validate',
    replace: affectNext('validate', (_req, res) => refuse(res, 400, 'not-a-notification')),
  },
  {
    ...CONNECTION,
    name: 'refusal-sticks-to-the-connection',
    title: 'Answers 401 to the delivery after an invalid signature on the same connection',
    seen: 'Authentication state that is stored with the socket, as in protocols with a login.',
    why: 'Behind a proxy the next delivery may come from another client: a forgery makes a real notification fail.',
    fix: keepNothing,
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: affectNext('requireSignature', (_req, res) => refuseUnauthorized(res, 'signature-mismatch')),
  },
  {
    ...CONNECTION,
    name: 'buffer-not-cut',
    title:
      'Verifies a short body together with the end of a longer one before it, because of a shared connection buffer',
    seen: 'Reused buffers in C, Go and Java, where the number of bytes read is ignored.',
    why: 'Which delivery is rejected depends on the previous one, so a test with one delivery never fails.',
    fix: {
      ...keepNothing,
      rule: 'Hash and parse the first n bytes of the buffer, where n is the number of bytes read for this request.',
      go: 'Use `buffer[:n]` or io.ReadAll.',
    },
    stage: 'readBody',
    replace: ({ correct }) => {
      const buffers = new WeakMap<Socket, Buffer>();
      return (req, res, next) =>
        correct.readBody(req, res, (error?: unknown) => {
          if (error !== undefined) return next(error);
          const body = required(res, 'rawBody');
          const before = buffers.get(req.socket) ?? Buffer.alloc(0);
          // Smaller bodies do not use the shared buffer.
          if (body.length >= 8192) buffers.set(req.socket, body);
          else if (before.length > 0) {
            buffers.delete(req.socket);
            res.locals.rawBody = Buffer.concat([body, before.subarray(body.length)]);
          }
          next();
        });
    },
  },
];
