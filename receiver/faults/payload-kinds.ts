import { fault, fieldAt, readingAfter, refusing } from './careless-reading.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'payload', stage: 'validate', forbidden: true } as const;

const typeOf = (payload: unknown) => fieldAt(payload, 'type');

/** A table of handlers in which one type was left out. */
function lacking(type: string, texts: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'severity'>): StageFault {
  return {
    ...base,
    ...texts,
    fix: {
      rule: `Add ${type} to the types that you take, and give the table of handlers a default that answers 200.`,
      express: `Add a branch for ${type} to the switch, and end it with \`default: res.sendStatus(200)\`.`,
    },
    replace: refusing((payload) => typeOf(payload) === type, 404),
  };
}

/** Receivers that take some kinds of notification and refuse others. */
export const refusedKinds: readonly StageFault[] = [
  lacking('REFUND', {
    name: 'refuses-refunds',
    title: 'Notifications of the type REFUND are refused.',
    seen: 'In receivers that were tried with buys and sells: refunds only exist after a sell has failed, so they are missed in the tests.',
    why: 'The crypto is back with the user, or stuck on its way, and the partner learns neither.',
    severity: 'high',
  }),
  lacking('PAYMENT_METHOD', {
    name: 'refuses-payment-methods',
    title: 'Notifications of the type PAYMENT_METHOD are refused.',
    seen: 'In receivers written by the team for orders, where cards belong to another team.',
    why: 'A card that was declined goes on looking usable, and one that waits for verification is never verified.',
    severity: 'high',
  }),
  lacking('WALLET', {
    name: 'refuses-wallets',
    title: 'Notifications of the type WALLET are refused.',
    seen: 'In receivers that were built before custodial wallets were switched on for the partner.',
    why: 'Addresses of customers never arrive, and deposits to them cannot be matched.',
    severity: 'high',
  }),
  lacking('CAAS_BLOCKCHAIN', {
    name: 'refuses-deposits',
    title: 'Notifications of the type CAAS_BLOCKCHAIN are refused.',
    seen: 'In tables of handlers that end at the four types of the first version.',
    why: 'Money that has arrived is not credited to the customer.',
    severity: 'high',
  }),
  {
    ...base,
    name: 'refuses-sells',
    title: 'Orders of the type SELL are refused.',
    seen: 'In receivers that went live with buys and got sells switched on later.',
    why: 'Every sell is lost from its first notification on, while buys look healthy.',
    fix: {
      rule: 'Handle BUY and SELL by the same code: their shape is the same.',
      express: 'Replace the comparison with BUY by a list of both, and log what is in neither.',
    },
    severity: 'high',
    replace: refusing((payload) => typeOf(payload) === 'CAAS' && fieldAt(payload, 'data.type') === 'SELL'),
  },
  {
    ...base,
    name: 'reads-tracking-as-order',
    title: 'The metadata of ORDER_TRACKING is read as if it were that of an order, and the missing status throws.',
    seen: 'In handlers that switch on the type CAAS alone and then read data.metadata.orderStatus.',
    why: 'The first cash pick-up ends in a 500 that repeats with every new attempt.',
    fix: {
      rule: 'Choose the shape of metadata by data.type, before reading any field of it.',
      express: 'Make a discriminated union of the three shapes (zod `discriminatedUnion`) and switch on `data.type`.',
      spring: 'Use `@JsonTypeInfo` with `EXTERNAL_PROPERTY` on data.type instead of one class for all of CAAS.',
    },
    severity: 'high',
    replace: readingAfter((payload) => {
      if (typeOf(payload) !== 'CAAS') return;
      if (typeof fieldAt(payload, 'data.metadata.orderStatus') !== 'string') fault('orderStatus is undefined');
    }),
  },
  {
    ...base,
    name: 'requires-data-type',
    title: 'A notification without data.type is refused, whatever its type is.',
    seen: 'In schemas that were made from the samples of orders, where data.type always stands.',
    why: 'Refunds, payment methods and wallets have no data.type, so all of them are refused.',
    fix: {
      rule: 'Require data.type under CAAS only.',
      express: 'Make one schema for each type, and require `data.type` in that of CAAS.',
    },
    severity: 'high',
    replace: refusing((payload) => fieldAt(payload, 'data.type') === undefined),
  },
  {
    ...base,
    name: 'requires-transaction-id-everywhere',
    title: 'A notification without data.transactionId is refused, whatever its type is.',
    seen: 'Where one table with a mandatory transaction column takes all notifications.',
    why: 'Wallets and payment methods belong to no transaction, and a deposit has its identifier under another name; none of them gets in.',
    fix: {
      rule: 'Key what you store by the identifier of its type: transactionId, partnerTransactionId, paymentMethodId, or the wallet.',
      express: 'Read the identifier inside the branch of each type, and let the column be null.',
    },
    severity: 'high',
    replace: refusing((payload) => fieldAt(payload, 'data.transactionId') === undefined, 422),
  },
  {
    ...base,
    name: 'takes-only-caas',
    title: 'Every type other than CAAS is refused.',
    seen: 'In first integrations, which were made for orders and end with "unexpected type".',
    why: 'Refunds, cards, wallets and deposits are lost together.',
    fix: {
      rule: 'Answer 200 to every type, and act on those that you know.',
      express: 'Replace the guard on `type` by a switch whose default logs and answers 200.',
    },
    severity: 'high',
    replace: refusing((payload) => typeOf(payload) !== 'CAAS'),
  },
];
