import { fieldAt } from './careless-reading.ts';
import { guardingNew, written } from './careless-storing.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'delivery', stage: 'store', severity: 'high', forbidden: true } as const;

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

/** Notifications with ids of their own that are taken for copies. */
export const mistakenCopies: readonly StageFault[] = [
  {
    ...base,
    name: 'equal-data-taken-for-a-copy',
    title: 'A notification with a new id is refused when its data is equal to that of an earlier one.',
    seen: 'Keys that are made of the content, because the author did not trust ids.',
    why: 'Two equal deposits are two deposits, and the second one is lost.',
    fix: byId,
    replace: unique((payload) => written(fieldAt(payload, 'data'))),
  },
  {
    ...base,
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
    ...base,
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
    ...base,
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
];
