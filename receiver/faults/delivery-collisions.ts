import { fault, fieldAt } from './careless-reading.ts';
import { failingTogether, guardingNew } from './careless-storing.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'delivery', stage: 'store', severity: 'high' } as const;

const textAt = (payload: unknown, path: string) => {
  const value = fieldAt(payload, path);
  return typeof value === 'string' ? value : undefined;
};
const isKind = (payload: unknown, kind: string) => fieldAt(payload, 'type') === kind;

const queue = {
  rule: 'Store each notification by itself, answer, and apply notifications to transactions and balances one by one.',
  express: 'Put the work on a queue with one worker for each transaction or customer, and answer before it.',
};

/** Notifications that belong together and get into each other's way. */
export const collisions: readonly StageFault[] = [
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
];
