import type { JsonObject } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { accepted, acceptedOrUnknown, acceptedUnlessOutOfOrder } from '../expectations.ts';
import {
  deposit,
  epochSeconds,
  hash,
  knownId,
  order,
  ownId,
  paymentMethod,
  reference,
  refund,
  tracking,
  wallet,
} from '../samples.ts';
import type { Delivery, FlowScenario, Kit } from '../scenario.ts';

function event(label: string, notification: JsonObject): Delivery {
  return { label, change: { compose: () => notification }, expect: accepted };
}

/** The deliveries in sequence. */
export function inTurn(...deliveries: readonly Delivery[]): readonly (readonly Delivery[])[] {
  return deliveries.map((delivery) => [delivery]);
}

/** Orders of one transaction at several statuses. */
function orders(kit: Kit, type: 'BUY' | 'SELL', statuses: readonly Parameters<typeof order>[2][]): Delivery[] {
  const transactionId = ownId(kit, 'transaction');
  return statuses.map((status) => event(status, order(kit, type, status, { transactionId })));
}

/** Related notifications in order and out of order. Specification: States and transitions; Events. */
export const deliveryOrder: readonly FlowScenario[] = [
  {
    id: 'delivery/order-in-turn',
    title: 'Accepts the statuses of a BUY order in sequence',
    level: 'should',
    requirements: ['transitions-open'],
    owns: ['transaction'],
    flow: (kit) =>
      inTurn(...orders(kit, 'BUY', ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED'])),
    why:
      'Each notification may work alone while the second one fails, because it tries to create an existing ' +
      'transaction. CONFIRMED and COMPLETED both end an order, and a receiver may expect only one of them.',
    fix: 'Update the transaction when it exists (upsert by transactionId), whatever its status is.',
  },
  {
    id: 'delivery/sell-in-turn',
    title: 'Accepts the statuses of a SELL order in sequence',
    level: 'should',
    requirements: ['transitions-open'],
    owns: ['transaction'],
    flow: (kit) => inTurn(...orders(kit, 'SELL', ['CREATED', 'PENDING', 'COMPLETED'])),
    why: 'A sell may go from PENDING to COMPLETED directly. A state machine that requires every step rejects it.',
    fix: 'Allow any transition: the specification does not define them.',
  },
  {
    id: 'delivery/cash-step',
    title: 'Accepts the cash step of a SELL order as expired, and late as completed',
    level: 'should',
    requirements: ['transitions-open', 'caas-tracking'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const step = (status: 'EXPIRED' | 'COMPLETED') =>
        event(`the cash step ${status}`, withField(tracking(kit, 'SELL', status), 'data.transactionId', transactionId));
      return inTurn(
        event('PENDING', order(kit, 'SELL', 'PENDING', { transactionId })),
        step('EXPIRED'),
        event('COMPLETED', order(kit, 'SELL', 'COMPLETED', { transactionId })),
        step('COMPLETED'),
      );
    },
    why:
      'Order and cash step share a transactionId, and the provider reports the step later than the order ends. A ' +
      'receiver that closes the transaction at either of them rejects the other.',
    fix: 'Store the cash step in separate fields of the transaction, and allow it at any status.',
  },
  {
    id: 'delivery/cash-step-first',
    title: 'Accepts COMPLETED of a SELL order after its cash step is completed',
    level: 'must',
    requirements: ['transitions-open', 'caas-tracking'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return inTurn(
        event('the cash step', withField(tracking(kit, 'SELL', 'COMPLETED'), 'data.transactionId', transactionId)),
        event('the order', order(kit, 'SELL', 'COMPLETED', { transactionId })),
      );
    },
    why: 'Both have the same transactionId and the same word as status, and the order looks like a copy of its step.',
    fix: 'Store the cash step in separate fields of the transaction, and recognise copies by their id.',
  },
  {
    id: 'delivery/hash-follows',
    title: 'Accepts BLOCKCHAIN_ACCEPTED and then the notification with the transaction hash',
    level: 'must',
    requirements: ['caas-hash-follows'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return inTurn(
        event('BLOCKCHAIN_ACCEPTED without the hash', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
        event(
          'the notification with the hash',
          order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId, hash: hash(kit) }),
        ),
      );
    },
    why: 'Both have the same status and transaction. A receiver that drops the second as a copy never learns the hash.',
    fix: 'Distinguish notifications by id, and store the hash whenever one arrives.',
  },
  {
    id: 'delivery/hash-before',
    title: 'Accepts the hash of a transaction before its BLOCKCHAIN_ACCEPTED',
    level: 'should',
    requirements: ['repeat-order'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return inTurn(
        event('CONFIRMED with the hash', order(kit, 'BUY', 'CONFIRMED', { transactionId })),
        event('BLOCKCHAIN_ACCEPTED after it', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
      );
    },
    why: 'Deliveries can overtake each other. A late, empty hash must not fail, and must not erase the known hash.',
    fix: 'Accept the late notification, and keep the hash that you have.',
  },
  {
    id: 'delivery/order-reversed',
    title: 'Accepts the statuses of a BUY order in reverse',
    level: 'should',
    requirements: ['repeat-order'],
    owns: ['transaction'],
    flow: (kit) => inTurn(...orders(kit, 'BUY', ['COMPLETED', 'BLOCKCHAIN_ACCEPTED', 'PENDING', 'CREATED'])),
    why:
      'After an outage, notifications may arrive in any order. A state machine that rejects a step back rejects ' +
      'them again and again.',
    fix: 'Answer 200, and ignore a status that is older than the current one.',
  },
  {
    id: 'delivery/order-all-at-once',
    title: 'Accepts all statuses of a BUY order concurrently',
    level: 'must',
    requirements: ['caas-buy', 'repeat-order', 'repeat-burst'],
    owns: ['transaction'],
    flow: (kit) => [
      orders(kit, 'BUY', ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED']).map((one) => ({
        ...one,
        expect: acceptedUnlessOutOfOrder,
      })),
    ],
    why: 'Concurrent updates of one row end in a serialisation failure or a version conflict.',
    fix: 'Store notifications first, and apply them to the transaction one by one.',
  },
  {
    id: 'delivery/older-after-newer',
    title: 'Accepts a notification with an earlier time than the previous one',
    level: 'should',
    requirements: ['repeat-order'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const late = withField(order(kit, 'BUY', 'PENDING', { transactionId }), 'at', epochSeconds(kit) - 600);
      return inTurn(
        event('CONFIRMED now', order(kit, 'BUY', 'CONFIRMED', { transactionId })),
        event('PENDING of ten minutes ago', late),
      );
    },
    why: 'A check that time only increases rejects a late delivery on every attempt.',
    fix: 'Use `at` to decide which state is newer, not whether to accept.',
  },
  {
    id: 'delivery/late-after-failure',
    title: 'Accepts an earlier status of an order that has failed',
    level: 'should',
    requirements: ['repeat-order'],
    owns: ['transaction'],
    flow: (kit) => inTurn(...orders(kit, 'SELL', ['FAILED', 'PENDING'])),
    why: 'A failure can overtake the status before it. A guard for closed transactions then rejects the late one.',
    fix: 'Answer 200, and leave the transaction as it is.',
  },
  {
    id: 'delivery/unknown-transaction',
    title: 'Accepts the final status of an unknown transaction, or rejects it as unknown',
    level: 'must',
    requirements: ['ids-unknown'],
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      const confirmed = event('CONFIRMED', order(kit, 'BUY', 'CONFIRMED', { transactionId }));
      return inTurn({ ...confirmed, expect: acceptedOrUnknown });
    },
    why: 'Earlier notifications may arrive later. A 404 for an unknown transaction loses the result.',
    fix: 'Store a notification for an unknown transaction, and match it later.',
  },
  {
    id: 'delivery/ids-of-other-forms',
    title: 'Accepts ids of other forms, or rejects them as unknown',
    defect: 'Fails on ids of other forms than UUIDs and words',
    level: 'must',
    requirements: ['ids-unknown'],
    flow: (kit) => {
      const long = `${reference(kit, 'card')}:${kit.nonce(24)}/a.b_c+d=${kit.nonce(12)}`;
      const card = paymentMethod(kit, 'STAGED', { paymentMethodId: long, accountId: '0012345678901234567890' });
      return inTurn(
        event('"constructor" as transactionId', order(kit, 'BUY', 'PENDING', { transactionId: 'constructor' })),
        event('64 characters as paymentMethodId, and 22 digits as accountId', card),
        event('"1e5" as customerId', wallet(kit, '1e5')),
      ).map((group) => group.map((delivery) => ({ ...delivery, expect: acceptedOrUnknown })));
    },
    why:
      'The forms of ids are not specified. An object as a cache has inherited properties, loose layers turn text ' +
      'into numbers, and a pattern for UUIDs rejects everything else.',
    fix: 'Read ids as text of any form, keep them in maps, and store them in columns of at least 255 characters.',
  },
  {
    id: 'delivery/refund',
    title: 'Accepts a failed SELL and then its REFUND',
    level: 'must',
    requirements: ['refund-order', 'caas-failed', 'refund-shapes'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return inTurn(
        event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-252-E1' })),
        event('its refund', refund(kit, 'SUCCESS', { transactionId })),
      );
    },
    why: 'The failure closes the sell, and a receiver that rejects changes to closed transactions rejects the refund.',
    fix: 'Allow a refund for a failed sell.',
  },
  {
    id: 'delivery/refund-failed',
    title: 'Accepts a failed SELL and then the failure of its REFUND',
    level: 'must',
    requirements: ['refund-order', 'refund-shapes'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return inTurn(
        event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-251-S1' })),
        event('the failed refund', refund(kit, 'FAIL', { transactionId, code: '204-004-S1' })),
      );
    },
    why: 'Two failures of one transaction look like duplicates, but the second one needs manual action.',
    fix: 'Store the failure of the sell and of the refund in separate fields.',
  },
  {
    id: 'delivery/refund-first',
    title: 'Accepts a REFUND before the failure of its SELL',
    level: 'should',
    requirements: ['repeat-order'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return inTurn(
        event('the refund', refund(kit, 'SUCCESS', { transactionId })),
        event('the failed sell after it', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-254-E1' })),
      );
    },
    why: 'They are sent in the other order, but may still arrive in this one.',
    fix: 'Do not require a failed sell before you store a refund.',
  },
  {
    id: 'delivery/refund-again',
    title: 'Accepts a failed REFUND and then a successful one for a SELL that is still pending',
    level: 'should',
    requirements: ['transitions-open', 'repeat-order'],
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return inTurn(
        event('PENDING', order(kit, 'SELL', 'PENDING', { transactionId })),
        event('the failed refund', refund(kit, 'FAIL', { transactionId })),
        event('the successful refund', refund(kit, 'SUCCESS', { transactionId })),
      );
    },
    why:
      'A refund may be tried again, and may arrive before the failure of its sell. A receiver with one refund for ' +
      'each sell never learns that the money was returned.',
    fix: 'Store every refund by the id of its notification, whatever the status of the sell is.',
  },
  {
    id: 'delivery/onboarding',
    title: 'Accepts three concurrent new wallets of one customer',
    level: 'must',
    requirements: ['wallet-shape', 'repeat-burst'],
    owns: ['customer'],
    flow: (kit) => {
      const customerId = ownId(kit, 'customer');
      const assets = [
        ['ETH', 'ETHEREUM'],
        ['BTC', 'BITCOIN'],
        ['USDC', 'ETHEREUM'],
      ] as const;
      return [assets.map(([asset, chain]) => event(`the wallet for ${asset}`, wallet(kit, customerId, asset, chain)))];
    },
    why:
      'Onboarding creates all wallets of a customer together. Creating the customer with each wallet fails for ' +
      'two of them.',
    fix: 'Create the customer only if it does not exist yet, and identify wallets by customer, asset and chain.',
  },
  {
    id: 'delivery/wallets-at-one-address',
    title: 'Accepts wallets for one asset on two chains with the same address',
    level: 'must',
    requirements: ['wallet-shape', 'repeat-by-id'],
    owns: ['customer'],
    flow: (kit) => {
      const first = wallet(kit, ownId(kit, 'customer'), 'USDC', 'ETHEREUM');
      const second = withField({ ...first, id: kit.newId() }, 'data.chain', 'POLYGON');
      return inTurn(event('the wallet on ETHEREUM', first), event('the wallet on POLYGON', second));
    },
    why:
      'Networks of one family share addresses, and a token exists on several of them. A unique key on the address, ' +
      'or on customer and asset, rejects the second wallet.',
    fix: 'Identify wallets by customer, asset and chain.',
  },
  {
    id: 'delivery/staged-then-declined',
    title: 'Accepts a PAYMENT_METHOD that is staged, declined and staged again',
    level: 'should',
    requirements: ['transitions-open'],
    owns: ['payment-method'],
    flow: (kit) => {
      const card = { paymentMethodId: ownId(kit, 'payment-method'), accountId: knownId(kit, 'account') };
      return inTurn(
        event('STAGED', paymentMethod(kit, 'STAGED', card)),
        event('DECLINED', paymentMethod(kit, 'DECLINED', { ...card, code: '313-702-S3' })),
        event('STAGED again', paymentMethod(kit, 'STAGED', card)),
      );
    },
    why:
      'A user who enters wrong amounts too often is declined, and may try again. A receiver that treats either ' +
      'status as final rejects the next one.',
    fix: 'Allow every status after every other one.',
  },
  {
    id: 'delivery/two-deposits',
    title: 'Accepts two concurrent deposits from one transfer, and two between the same addresses without a hash',
    level: 'must',
    requirements: ['deposit-shape', 'repeat-burst'],
    owns: ['customer'],
    flow: (kit) => {
      const customerId = ownId(kit, 'customer');
      const transfer = { blockchainTransactionId: hash(kit) };
      const one = (label: string) => event(label, withField(deposit(kit, transfer), 'data.customerId', customerId));
      const unhashed = withField(deposit(kit, {}), 'data.customerId', customerId);
      const addresses = (unhashed.data as JsonObject).metadata as JsonObject;
      const again = withField(withField(deposit(kit), 'data.customerId', customerId), 'data.metadata', addresses);
      return [
        [one('the first deposit'), one('the second deposit')],
        ...inTurn(event('a deposit without a hash', unhashed), event('another between the same addresses', again)),
      ];
    },
    why:
      'Both change the same balance, and a version check lets one of them fail. One transfer on the blockchain can ' +
      'contain several deposits, so a unique key on its hash rejects the second one, as one on the addresses does.',
    fix: 'Store deposits as entries by the id of the notification, and add them up.',
  },
  {
    id: 'delivery/deposit-in-turn',
    title: 'Accepts two statuses of one deposit',
    level: 'should',
    requirements: ['transitions-open'],
    owns: ['transaction'],
    flow: (kit) => {
      const known = { ...(deposit(kit).data as JsonObject), partnerTransactionId: ownId(kit, 'transaction') };
      const at = (status: string) => event(status, { ...deposit(kit), data: { ...known, status } });
      return inTurn(at('TEST_PROCESSING'), at('COMPLETED'));
    },
    why: 'A unique key on partnerTransactionId rejects the second notification, which is the one that credits.',
    fix: 'Recognise copies by the id of the notification, and update the deposit when it exists.',
  },
  {
    id: 'delivery/three-cards',
    title: 'Accepts three payment methods of one customer in the same second',
    level: 'must',
    requirements: ['payment-method-shapes', 'repeat-by-id'],
    flow: (kit) => {
      const accountId = knownId(kit, 'account');
      const card = (label: string) => event(label, paymentMethod(kit, 'STAGED', { accountId }));
      return inTurn(card('the first card'), card('the second card'), card('the third card'));
    },
    why: 'A double-click guard keyed by customer and second mistakes the second card for a copy of the first.',
    fix: 'Recognise copies by the id of the notification, without a time.',
  },
];
