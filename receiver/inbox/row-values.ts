/** The values of one row, in the order in which the statements take them. */
import type { Filing } from './filing.ts';
import type { OrderStep, Settlement } from './inbox.ts';
import type { SqlValue } from './sql-inbox.ts';

export function filingValues(filing: Filing): SqlValue[] {
  const { id, kind, type, transactionId, status, at, receivedAt, position, state, waitMs, rawBody } = filing;
  return [id, kind, type, transactionId, status, at, receivedAt, position, state, waitMs, rawBody];
}

export function settlementValues(settlement: Settlement): SqlValue[] {
  const { claim, state } = settlement;
  const again = state === 'pending';
  const error = again || state === 'dead' ? settlement.error : null;
  return [
    claim.id,
    claim.owner,
    claim.attempt,
    state,
    again ? settlement.delayMs : 0,
    error,
    again && settlement.uncounted ? 1 : 0,
  ];
}

export function orderValues(order: OrderStep): SqlValue[] {
  return [order.key, order.rank, order.at, order.failed ? 1 : 0];
}
