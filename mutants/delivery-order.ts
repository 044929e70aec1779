/** Mutants that require deliveries in a certain order, and mutants that keep state per connection. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { refuse, refuseUnauthorized, required } from '../receiver/stages/stage.ts';
import { fieldAt, guardNew } from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { rewriteBody } from './raw-body-replacements.ts';
import { type Handle, type StageChange, withRefusal } from './stage-changes.ts';

const RANKS = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED'];

interface Update {
  readonly kind: string;
  readonly transactionId: string;
  readonly status: string;
  readonly at: number;
  readonly isSell: boolean;
}

/** Returns the transaction update in a notification. Null if the notification concerns no transaction. */
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

/** Rejects updates that contradict the last update of their transaction with this status. Records all others. */
function refuseUpdate(
  isRefused: (update: Update, last: Update | undefined) => boolean,
  status = 409,
): StageFault['replace'] {
  return guardNew(() => {
    const transactions = new Map<string, Update>();
    return (payload) => {
      const update = updateIn(payload);
      if (update === null) return undefined;
      if (isRefused(update, transactions.get(update.transactionId))) return status;
      transactions.set(update.transactionId, update);
      return undefined;
    };
  });
}

type Test = (at: (path: string) => unknown) => boolean;

/**
 * Answers 409 if `isRefused` returns true for the data of a notification, and `isEnd` returned true for earlier data
 * with the same value at `key`.
 */
export function refuseAfter(key: string, isEnd: Test, isRefused: Test): StageFault['replace'] {
  return guardNew(() => {
    const ended = new Set<unknown>();
    return (payload) => {
      const at = (path: string) => fieldAt(payload, `data.${path}`);
      if (isEnd(at)) ended.add(at(key));
      return isRefused(at) && ended.has(at(key)) ? 409 : undefined;
    };
  });
}

/**
 * Runs the correct stage. After this stage has answered a request, `turnAway` answers the next request on the
 * connection.
 */
function affectNext(stage: 'parse' | 'validate' | 'requireSignature', turnAway: Handle): StageChange {
  const replace: StageFault['replace'] = (parts) => {
    const stained = new WeakSet<Socket>();
    return (req, res, next) => {
      if (stained.delete(req.socket)) return turnAway(req, res, next, parts);
      stained.add(req.socket);
      return parts.correct[stage](req, res, (error?: unknown) => {
        stained.delete(req.socket);
        next(error);
      });
    };
  };
  return { stage, replace };
}

/** State machines that reject late, early or missing updates. */
const orders = family<StageFault>(
  { area: 'delivery', stage: 'store', mistake: 'transition-rejected' },
  {
    'steps-back-refused': [
      'Answers 409 to a status that precedes the known one',
      guardNew(() => {
        const transactions = new Map<string, number>();
        return async (payload) => {
          const update = updateIn(payload);
          if (update === null || update.kind !== 'CAAS') return undefined;
          const before = transactions.get(update.transactionId) ?? 0;
          const rank = RANKS.indexOf(update.status);
          // Simulates a database transaction that takes time: later transactions do not see its result yet.
          if (update.status !== 'COMPLETED') await delay(20);
          if (rank >= 0 && rank < before) return 409;
          transactions.set(update.transactionId, rank);
          return undefined;
        };
      }),
      { forbidden: false },
    ],
    'completed-is-final': [
      'Answers 409 to any other status after COMPLETED',
      refuseUpdate(
        ({ kind, status }, last) => kind === 'CAAS' && last?.status === 'COMPLETED' && status !== 'COMPLETED',
      ),
      { forbidden: false },
    ],
    'time-must-not-go-back': [
      'Answers 409 to a notification whose time precedes that of the last one of its transaction',
      refuseUpdate(({ at }, last) => last !== undefined && at < last.at),
      { forbidden: false },
    ],
    'confirmed-needs-its-acceptance': [
      'Answers 409 to CONFIRMED if no earlier status of the transaction is known',
      guardNew(() => {
        const transactions = new Set<string>();
        return async (payload) => {
          const update = updateIn(payload);
          if (update === null) return undefined;
          if (update.status !== 'CONFIRMED') {
            transactions.add(update.transactionId);
            return undefined;
          }
          // Waits briefly for notifications that may be in transit.
          if (!transactions.has(update.transactionId)) await delay(40);
          return transactions.has(update.transactionId) ? undefined : 409;
        };
      }),
      { note: 'After an outage, completed orders stay open.' },
    ],
    'wants-every-step-of-a-sell': [
      'Answers 422 to a sell that goes directly from PENDING to COMPLETED',
      refuseUpdate(({ status, isSell }, last) => isSell && status === 'COMPLETED' && last?.status === 'PENDING', 422),
      { forbidden: false, note: 'The steps of a sell depend on the payout method.' },
    ],
    'failed-is-final': [
      'Answers 409 to a refund of a failed sell',
      refuseUpdate(({ kind }, last) => kind === 'REFUND' && last?.status === 'FAILED'),
      'refund-as-sell-state',
    ],
    'refund-needs-its-failed-sell': [
      'Answers 404 to a refund without a known failed sell',
      refuseUpdate(({ kind }, last) => kind === 'REFUND' && last?.status !== 'FAILED', 404),
      'refund-as-sell-state',
    ],
    'failure-after-refund-refused': [
      'Answers 409 to the failure of a sell whose refund is already known',
      refuseUpdate(({ kind }, last) => kind === 'CAAS' && last?.kind === 'REFUND'),
      'refund-as-sell-state',
      { forbidden: false, note: 'The reason for the failure is lost.' },
    ],
    'failed-transactions-are-final': [
      'Answers 409 to an earlier status that arrives after FAILED',
      refuseUpdate(
        ({ kind, status }, last) =>
          kind === 'CAAS' && status !== 'FAILED' && last?.kind === 'CAAS' && last.status === 'FAILED',
      ),
      { forbidden: false },
    ],
    'second-end-refused': [
      'Answers 409 to COMPLETED after CONFIRMED',
      refuseUpdate(({ status }, last) => status === 'COMPLETED' && last?.status === 'CONFIRMED'),
      { forbidden: false, note: 'CONFIRMED and COMPLETED are both sent for a finished order.' },
    ],
    'expired-is-final': [
      'Answers 409 to a status of an order after its cash step has expired',
      refuseAfter(
        'transactionId',
        (at) => at('metadata.providerTransactionStatus') === 'EXPIRED',
        (at) => at('metadata.providerTransactionStatus') === undefined,
      ),
      'cash-step-as-order-status',
      { forbidden: false, note: 'The provider may still pay out after the step has expired.' },
    ],
    'cash-step-closes-the-order': [
      'Answers 409 to the end of an order after its cash step is completed',
      refuseAfter(
        'transactionId',
        (at) => at('metadata.providerTransactionStatus') === 'COMPLETED',
        (at) => at('metadata.orderStatus') === 'COMPLETED',
      ),
      'cash-step-as-order-status',
    ],
    'exception-keeps-the-lock': [
      'Stops answering deliveries of a transaction after an exception, because its lock is not released',
      ({ correct }) => {
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
      'resource-not-released',
      { forbidden: false, stage: 'validate', note: 'Only the transaction of the malformed notification is blocked.' },
    ],
    'late-cash-step-refused': [
      'Answers 409 to a cash step of an order that has ended',
      refuseAfter(
        'transactionId',
        (at) => at('type') !== 'ORDER_TRACKING' && at('metadata.orderStatus') === 'COMPLETED',
        (at) => at('type') === 'ORDER_TRACKING',
      ),
      'cash-step-as-order-status',
      {
        forbidden: false,
        equivalentTo: {
          name: 'expired-is-final',
          reason:
            'Both reject what follows a cash step or an end of the same transaction; the report names the delivery.',
        },
      },
    ],
    'declined-is-final': [
      'Answers 409 to a payment method that is staged after it was declined',
      refuseAfter(
        'paymentMethodId',
        (at) => at('status') === 'DECLINED',
        (at) => at('status') === 'STAGED' && at('paymentMethodId') !== undefined,
      ),
      {
        forbidden: false,
        note: 'The user tries again, and is never asked for the amounts.',
        equivalentTo: {
          name: 'staged-is-final',
          reason: 'Both reject the next status of a payment method; the report names the rejected one.',
        },
      },
    ],
    'second-refund-refused': [
      'Answers 409 to a successful refund after a failed one of the same transaction',
      refuseUpdate(({ kind }, last) => kind === 'REFUND' && last?.kind === 'REFUND' && last.status === 'FAIL'),
      'refund-as-sell-state',
      { forbidden: false, note: 'The partner may pay the customer a second time.' },
    ],
    'refund-of-a-pending-sell-refused': [
      'Answers 409 to a refund of a sell that is known, but not as failed',
      refuseUpdate(({ kind }, last) => kind === 'REFUND' && last?.kind === 'CAAS' && last.status !== 'FAILED'),
      'refund-as-sell-state',
      {
        forbidden: false,
        equivalentTo: {
          name: 'second-refund-refused',
          reason: 'Both reject one of two refunds of a pending sell; the report names the rejected one.',
        },
      },
    ],
  },
);

/** Mutants in which a delivery leaves state on its connection for the next one. */
const connections = family<StageFault>(
  { area: 'delivery', stage: 'readBody', mistake: 'state-shared-by-requests' },
  {
    'broken-body-spoils-the-next': [
      'Answers 400 to the delivery after a body that is not JSON on the same connection',
      affectNext('parse', withRefusal(400, 'body-not-json')),
    ],
    'invalid-fields-spoil-the-next': [
      'Answers 400 to the delivery after a notification with invalid fields on the same connection',
      affectNext('validate', withRefusal(400, 'not-a-notification')),
      { note: 'ajv keeps the errors of its last run in `validate.errors`.' },
    ],
    'refusal-sticks-to-the-connection': [
      'Answers 401 to the delivery after an invalid signature on the same connection',
      affectNext('requireSignature', (_req, res) => refuseUnauthorized(res, 'signature-mismatch')),
      { needs: ['hmac'] },
    ],
    'buffer-not-cut': [
      'Verifies a short body together with the end of a longer one before it, because of a shared connection buffer',
      (parts) => {
        const buffers = new WeakMap<Socket, Buffer>();
        return rewriteBody((body, { socket }) => {
          const before = buffers.get(socket);
          // Smaller bodies are not read into the shared buffer.
          if (body.length >= 8192) buffers.set(socket, body);
          if (body.length >= 8192 || before === undefined) return body;
          buffers.delete(socket);
          return Buffer.concat([body, before.subarray(body.length)]);
        }).replace(parts);
      },
    ],
  },
);

export const deliveryOrderFaults: readonly StageFault[] = [...orders, ...connections];
