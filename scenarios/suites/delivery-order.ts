import type { JsonObject } from '../../contract/index.ts';
import { withField } from '../changes/composing.ts';
import { accepted } from '../expectations.ts';
import { deposit, epochSeconds, hash, order, paymentMethod, reference, refund, wallet } from '../samples.ts';
import type { Delivery, FlowScenario, Kit } from '../scenario.ts';

function event(label: string, notification: JsonObject): Delivery {
  return { label, change: { compose: () => notification }, expect: accepted };
}

/** The deliveries one after another. */
function inTurn(...deliveries: readonly Delivery[]): readonly (readonly Delivery[])[] {
  return deliveries.map((delivery) => [delivery]);
}

/** An order of one transaction at several statuses. */
function orders(kit: Kit, type: 'BUY' | 'SELL', statuses: readonly Parameters<typeof order>[2][]): Delivery[] {
  const transactionId = reference(kit, 'transaction');
  return statuses.map((status) => event(status, order(kit, type, status, { transactionId })));
}

/** Notifications that belong together, in the order of the service and in another. Specification: States and transitions; Events. */
export const deliveryOrder: readonly FlowScenario[] = [
  {
    id: 'delivery/order-in-turn',
    title: 'Accepts the statuses of a buy one after another',
    level: 'must',
    requirements: ['caas-buy'],
    flow: (kit) => inTurn(...orders(kit, 'BUY', ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED'])),
    why: 'Each notification alone may work while the second of a transaction fails, because it tries to create what exists.',
    fix: 'Update the transaction when it is there already (upsert by transactionId).',
  },
  {
    id: 'delivery/sell-in-turn',
    title: 'Accepts the statuses of a sell one after another',
    level: 'must',
    requirements: ['caas-sell'],
    flow: (kit) => inTurn(...orders(kit, 'SELL', ['CREATED', 'PENDING', 'COMPLETED'])),
    why: 'A sell may go from PENDING to COMPLETED directly; a state machine that wants every step in between refuses it.',
    fix: 'Which transitions there are is not stated: allow any.',
  },
  {
    id: 'delivery/hash-follows',
    title: 'Accepts BLOCKCHAIN_ACCEPTED, and then the notification that brings the hash',
    level: 'must',
    requirements: ['caas-hash-follows'],
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      return inTurn(
        event('BLOCKCHAIN_ACCEPTED without the hash', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
        event(
          'the notification with the hash',
          order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId, hash: hash(kit) }),
        ),
      );
    },
    why: 'The second notification has the same status and the same transaction. Who drops it as a repetition never learns the hash.',
    fix: 'Tell notifications apart by id, and store the hash whenever one comes.',
  },
  {
    id: 'delivery/hash-before',
    title: 'Accepts the hash of a transaction before its BLOCKCHAIN_ACCEPTED',
    level: 'should',
    requirements: ['repeat-order'],
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      return inTurn(
        event('CONFIRMED with the hash', order(kit, 'BUY', 'CONFIRMED', { transactionId })),
        event('BLOCKCHAIN_ACCEPTED after it', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
      );
    },
    why: 'Two deliveries can overtake each other. An empty hash that comes late must not be an error, nor erase the one that is known.',
    fix: 'Accept the late notification, and keep what you know already.',
  },
  {
    id: 'delivery/order-reversed',
    title: 'Accepts the statuses of a buy in reverse',
    level: 'should',
    requirements: ['repeat-order'],
    flow: (kit) => inTurn(...orders(kit, 'BUY', ['COMPLETED', 'BLOCKCHAIN_ACCEPTED', 'PENDING', 'CREATED'])),
    why: 'After an outage notifications come as they are found. A state machine that throws on a step back refuses them again and again.',
    fix: 'Answer 200, and ignore a status that is behind the one that you have.',
  },
  {
    id: 'delivery/order-all-at-once',
    title: 'Accepts all statuses of a buy at the same time',
    level: 'should',
    requirements: ['repeat-order'],
    flow: (kit) => [orders(kit, 'BUY', ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED'])],
    why: 'Updates of one row at the same time end in a serialisation failure or a version conflict.',
    fix: 'Store notifications first, and apply them to the transaction one by one.',
  },
  {
    id: 'delivery/older-after-newer',
    title: 'Accepts a notification whose time lies before that of the one before',
    level: 'should',
    requirements: ['repeat-order'],
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      const late = withField(order(kit, 'BUY', 'PENDING', { transactionId }), 'at', epochSeconds(kit) - 600);
      return inTurn(
        event('CONFIRMED now', order(kit, 'BUY', 'CONFIRMED', { transactionId })),
        event('PENDING of ten minutes ago', late),
      );
    },
    why: 'A check that time only moves forward turns a late delivery into an error that repeats for ever.',
    fix: 'Use `at` to decide which state is newer, and not whether to accept.',
  },
  {
    id: 'delivery/unknown-transaction',
    title: 'Accepts the end of a transaction whose start it has never seen',
    level: 'must',
    requirements: ['caas-buy'],
    flow: (kit) => inTurn(...orders(kit, 'BUY', ['CONFIRMED'])),
    why: 'Nothing promises that an earlier notification comes first. A 404 for a transaction that is not known yet loses the result.',
    fix: 'Store a notification whose transaction you do not know, and match it later.',
  },
  {
    id: 'delivery/refund',
    title: 'Accepts a failed sell, and then its refund',
    level: 'must',
    requirements: ['refund-order', 'caas-failed', 'refund-shapes'],
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      return inTurn(
        event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-252-E1' })),
        event('its refund', refund(kit, 'SUCCESS', { transactionId })),
      );
    },
    why: 'The sell is closed by its failure, and a receiver that refuses changes to closed transactions refuses the refund.',
    fix: 'Let a failed sell take a refund.',
  },
  {
    id: 'delivery/refund-failed',
    title: 'Accepts a failed sell, and then the failure of its refund',
    level: 'must',
    requirements: ['refund-order', 'refund-shapes'],
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      return inTurn(
        event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-251-S1' })),
        event('the failed refund', refund(kit, 'FAIL', { transactionId, code: '204-004-S1' })),
      );
    },
    why: 'Two failures in a row about one transaction look like a duplicate, and they are the case that needs a person most.',
    fix: 'Keep the failure of the sell and that of the refund in fields of their own.',
  },
  {
    id: 'delivery/refund-first',
    title: 'Accepts a refund before the failure of its sell',
    level: 'should',
    requirements: ['repeat-order'],
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      return inTurn(
        event('the refund', refund(kit, 'SUCCESS', { transactionId })),
        event('the failed sell after it', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-254-E1' })),
      );
    },
    why: 'They are sent in the other order, and may still arrive in this one.',
    fix: 'Do not demand that the sell has failed before you store a refund.',
  },
  {
    id: 'delivery/onboarding',
    title: 'Accepts three new wallets of one customer at the same time',
    level: 'must',
    requirements: ['wallet-shape', 'repeat-burst'],
    flow: (kit) => {
      const customerId = reference(kit, 'customer');
      const assets = [
        ['ETH', 'ETHEREUM'],
        ['BTC', 'BITCOIN'],
        ['USDC', 'ETHEREUM'],
      ] as const;
      return [assets.map(([asset, chain]) => event(`the wallet for ${asset}`, wallet(kit, customerId, asset, chain)))];
    },
    why: 'Onboarding creates all wallets of a customer together. Creating the customer with the first wallet fails for the other two.',
    fix: 'Create the customer with an "if not there yet", and key wallets by customer, asset and chain.',
  },
  {
    id: 'delivery/staged-then-declined',
    title: 'Accepts a payment method that is staged and then declined',
    level: 'must',
    requirements: ['payment-method-shapes'],
    flow: (kit) => {
      const card = { paymentMethodId: reference(kit, 'card'), accountId: reference(kit, 'customer') };
      return inTurn(
        event('STAGED', paymentMethod(kit, 'STAGED', card)),
        event('DECLINED', paymentMethod(kit, 'DECLINED', { ...card, code: '313-702-S3' })),
      );
    },
    why: 'A user who guesses the amounts wrong too often ends here; a receiver that takes STAGED for final refuses the decline.',
    fix: 'Let DECLINED follow on any status.',
  },
  {
    id: 'delivery/two-deposits',
    title: 'Accepts two deposits of one customer at the same time',
    level: 'must',
    requirements: ['deposit-shape', 'repeat-burst'],
    flow: (kit) => {
      const customerId = reference(kit, 'customer');
      const one = (label: string) => event(label, withField(deposit(kit), 'data.customerId', customerId));
      return [[one('the first deposit'), one('the second deposit')]];
    },
    why: 'Both change the same balance. A check of its version lets one of them fail.',
    fix: 'Book deposits as entries, and add them up; do not read, add and write a balance.',
  },
];
