import type { JsonObject, OrderStatus } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { acceptedOrUnknown } from '../expectations.ts';
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
import type { Delivery, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { event, type Groups, inSequence, ofTransaction, withExpectation } from './flows.ts';

type OrderType = 'BUY' | 'SELL';

/** Makes one delivery for each status of an order. All of them have the same transaction. */
function ordersOf(kit: Kit, transactionId: string, type: OrderType, statuses: readonly OrderStatus[]): Delivery[] {
  return statuses.map((status) => event(status, order(kit, type, status, { transactionId })));
}

const orders = (type: OrderType, ...statuses: readonly OrderStatus[]) =>
  ofTransaction((kit, transactionId) => ordersOf(kit, transactionId, type, statuses));

/** Creates the cash step of a sell. */
function cashStep(kit: Kit, transactionId: string, status: 'EXPIRED' | 'COMPLETED'): JsonObject {
  return withField(tracking(kit, 'SELL', status), 'data.transactionId', transactionId);
}

/** Sends three concurrent notifications about wallets of one customer. */
function wallets(kit: Kit): Groups {
  const customerId = ownId(kit, 'customer');
  const assets = [
    ['ETH', 'ETHEREUM'],
    ['BTC', 'BITCOIN'],
    ['USDC', 'ETHEREUM'],
  ] as const;
  return [assets.map(([asset, chain]) => event(`the wallet for ${asset}`, wallet(kit, customerId, asset, chain)))];
}

function walletsAtOneAddress(kit: Kit): Groups {
  const first = wallet(kit, ownId(kit, 'customer'), 'USDC', 'ETHEREUM');
  const second = withField({ ...first, id: kit.newId() }, 'data.chain', 'POLYGON');
  return inSequence(event('the wallet on ETHEREUM', first), event('the wallet on POLYGON', second));
}

function cardAtStatuses(kit: Kit): Groups {
  const card = { paymentMethodId: ownId(kit, 'payment-method'), accountId: knownId(kit, 'account') };
  return inSequence(
    event('STAGED', paymentMethod(kit, 'STAGED', card)),
    event('DECLINED', paymentMethod(kit, 'DECLINED', { ...card, code: '313-702-S3' })),
    event('STAGED again', paymentMethod(kit, 'STAGED', card)),
  );
}

/** Sends two deposits from one transfer at the same time, and two without a hash in sequence. */
function similarDeposits(kit: Kit): Groups {
  const customerId = ownId(kit, 'customer');
  const transfer = { blockchainTransactionId: hash(kit) };
  const one = (label: string) => event(label, withField(deposit(kit, transfer), 'data.customerId', customerId));
  const unhashed = withField(deposit(kit, {}), 'data.customerId', customerId);
  const addresses = (unhashed.data as JsonObject).metadata as JsonObject;
  const again = withField(withField(deposit(kit), 'data.customerId', customerId), 'data.metadata', addresses);
  return [
    [one('the first deposit'), one('the second deposit')],
    ...inSequence(event('a deposit without a hash', unhashed), event('another between the same addresses', again)),
  ];
}

function depositAtStatuses(kit: Kit): Groups {
  const known = { ...(deposit(kit).data as JsonObject), partnerTransactionId: ownId(kit, 'transaction') };
  const at = (status: string) => event(status, { ...deposit(kit), data: { ...known, status } });
  return inSequence(at('TEST_PROCESSING'), at('COMPLETED'));
}

function threeCards(kit: Kit): Groups {
  const accountId = knownId(kit, 'account');
  const card = (label: string) => event(label, paymentMethod(kit, 'STAGED', { accountId }));
  return inSequence(card('the first card'), card('the second card'), card('the third card'));
}

function idsOfOtherForms(kit: Kit): Groups {
  const long = `${reference(kit, 'card')}:${kit.nonce(24)}/a.b_c+d=${kit.nonce(12)}`;
  const card = paymentMethod(kit, 'STAGED', { paymentMethodId: long, accountId: '0012345678901234567890' });
  return inSequence(
    event('"constructor" as transactionId', order(kit, 'BUY', 'PENDING', { transactionId: 'constructor' })),
    event('64 characters as paymentMethodId, and 22 digits as accountId', card),
    event('"1e5" as customerId', wallet(kit, '1e5')),
  );
}

const accepts = { suite: 'delivery', verb: 'Accepts' } as const;

/** Related notifications in order and out of order. Specification: States and transitions; Events. */
export const deliveryOrder: readonly Scenario[] = [
  ...family(
    { ...accepts, level: 'should', requirements: ['transitions-open'], mistake: 'cash-step-as-order-status' },
    {
      'order-in-turn': [
        'the statuses of a BUY order in sequence',
        orders('BUY', 'CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED'),
        'unique-payload-field',
      ],
      'sell-in-turn': [
        'the statuses of a SELL order in sequence',
        orders('SELL', 'CREATED', 'PENDING', 'COMPLETED'),
        'transition-rejected',
        { note: 'A sell may go from PENDING to COMPLETED directly.' },
      ],
      'cash-step': [
        'the cash step of a SELL order as expired, and later as completed',
        ofTransaction((kit, transactionId) => [
          event('PENDING', order(kit, 'SELL', 'PENDING', { transactionId })),
          event('the cash step EXPIRED', cashStep(kit, transactionId, 'EXPIRED')),
          event('COMPLETED', order(kit, 'SELL', 'COMPLETED', { transactionId })),
          event('the cash step COMPLETED', cashStep(kit, transactionId, 'COMPLETED')),
        ]),
        { requirements: ['transitions-open', 'caas-tracking'] },
      ],
      'cash-step-first': [
        'the status COMPLETED of a SELL order after its completed cash step',
        ofTransaction((kit, transactionId) => [
          event('the cash step', cashStep(kit, transactionId, 'COMPLETED')),
          event('the order', order(kit, 'SELL', 'COMPLETED', { transactionId })),
        ]),
        {
          level: 'must',
          requirements: ['transitions-open', 'caas-tracking'],
          note: 'The order looks like a copy of its step.',
        },
      ],
    },
  ),
  ...family(
    { ...accepts, level: 'should', requirements: ['repeat-order'], mistake: 'transition-rejected' },
    {
      'hash-follows': [
        'BLOCKCHAIN_ACCEPTED and then the notification with the transaction hash',
        ofTransaction((kit, transactionId) => [
          event('BLOCKCHAIN_ACCEPTED without the hash', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
          event(
            'the notification with the hash',
            order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId, hash: hash(kit) }),
          ),
        ]),
        'copies-by-content',
        {
          level: 'must',
          requirements: ['caas-hash-follows'],
          note: 'Both notifications have the same status and transaction.',
        },
      ],
      'hash-before': [
        'the hash of a transaction before its BLOCKCHAIN_ACCEPTED',
        ofTransaction((kit, transactionId) => [
          event('CONFIRMED with the hash', order(kit, 'BUY', 'CONFIRMED', { transactionId })),
          event('BLOCKCHAIN_ACCEPTED after it', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
        ]),
      ],
      'order-reversed': [
        'the statuses of a BUY order in reverse',
        orders('BUY', 'COMPLETED', 'BLOCKCHAIN_ACCEPTED', 'PENDING', 'CREATED'),
      ],
      'order-all-at-once': [
        'all statuses of a BUY order concurrently',
        {
          owns: ['transaction'],
          flow: (kit) => {
            const statuses = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED'] as const;
            return [ordersOf(kit, ownId(kit, 'transaction'), 'BUY', statuses)];
          },
        },
        'colliding-updates',
        { requirements: ['caas-buy', 'repeat-order', 'repeat-burst'] },
      ],
      'older-after-newer': [
        'a notification with an earlier time than the previous one',
        ofTransaction((kit, transactionId) => {
          const late = withField(order(kit, 'BUY', 'PENDING', { transactionId }), 'at', epochSeconds(kit) - 600);
          return [
            event('CONFIRMED now', order(kit, 'BUY', 'CONFIRMED', { transactionId })),
            event('PENDING of ten minutes ago', late),
          ];
        }),
      ],
      'late-after-failure': ['an earlier status of an order that has failed', orders('SELL', 'FAILED', 'PENDING')],
    },
  ),
  ...family(
    { ...accepts, level: 'must', requirements: ['ids-unknown'] },
    {
      'unknown-transaction': [
        'the final status of an unknown transaction, or rejects it as unknown',
        {
          flow: (kit) => {
            const confirmed = order(kit, 'BUY', 'CONFIRMED', { transactionId: reference(kit, 'transaction') });
            return withExpectation(acceptedOrUnknown, inSequence(event('CONFIRMED', confirmed)));
          },
        },
        'transition-rejected',
        { note: 'Store the notification, and match it later.' },
      ],
      'ids-of-other-forms': [
        'ids of other forms, or rejects them as unknown',
        { flow: (kit) => withExpectation(acceptedOrUnknown, idsOfOtherForms(kit)) },
        'id-form-assumed',
        { defect: 'Fails on ids that are neither UUIDs nor words' },
      ],
    },
  ),
  ...family(
    { ...accepts, level: 'must', requirements: ['refund-order', 'refund-shapes'], mistake: 'refund-as-sell-state' },
    {
      refund: [
        'a failed SELL and then its REFUND',
        ofTransaction((kit, transactionId) => [
          event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-252-E1' })),
          event('its refund', refund(kit, 'SUCCESS', { transactionId })),
        ]),
        { requirements: ['refund-order', 'caas-failed', 'refund-shapes'] },
      ],
      'refund-failed': [
        'a failed SELL and then the failure of its REFUND',
        ofTransaction((kit, transactionId) => [
          event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-251-S1' })),
          event('the failed refund', refund(kit, 'FAIL', { transactionId, code: '204-004-S1' })),
        ]),
        { note: 'Two failures of one transaction look like copies, but the second needs manual action.' },
      ],
      'refund-first': [
        'a REFUND before the failure of its SELL',
        ofTransaction((kit, transactionId) => [
          event('the refund', refund(kit, 'SUCCESS', { transactionId })),
          event('the failed sell after it', order(kit, 'SELL', 'FAILED', { transactionId, code: '352-254-E1' })),
        ]),
        { level: 'should', requirements: ['repeat-order'] },
      ],
      'refund-again': [
        'a failed REFUND and then a successful one for a SELL that is still pending',
        ofTransaction((kit, transactionId) => [
          event('PENDING', order(kit, 'SELL', 'PENDING', { transactionId })),
          event('the failed refund', refund(kit, 'FAIL', { transactionId })),
          event('the successful refund', refund(kit, 'SUCCESS', { transactionId })),
        ]),
        { level: 'should', requirements: ['transitions-open', 'repeat-order'] },
      ],
    },
  ),
  ...family(
    { ...accepts, level: 'must', requirements: ['wallet-shape', 'repeat-burst'], mistake: 'unique-payload-field' },
    {
      onboarding: [
        'three concurrent new wallets of one customer',
        { owns: ['customer'], flow: wallets },
        'lookup-before-insert',
      ],
      'wallets-at-one-address': [
        'wallets for one asset on two chains with the same address',
        { owns: ['customer'], flow: walletsAtOneAddress },
        {
          requirements: ['wallet-shape', 'repeat-by-id'],
          note: 'Networks of one family share addresses, and a token exists on several of them.',
        },
      ],
      'staged-then-declined': [
        'a PAYMENT_METHOD that is staged, declined and staged again',
        { owns: ['payment-method'], flow: cardAtStatuses },
        'transition-rejected',
        { level: 'should', requirements: ['transitions-open'] },
      ],
      'two-deposits': [
        'two concurrent deposits from one transfer, and two between the same addresses without a hash',
        { owns: ['customer'], flow: similarDeposits },
        {
          requirements: ['deposit-shape', 'repeat-burst'],
          note: 'Both deposits also change the same balance at the same time.',
        },
      ],
      'deposit-in-turn': [
        'two statuses of one deposit',
        { owns: ['transaction'], flow: depositAtStatuses },
        {
          level: 'should',
          requirements: ['transitions-open'],
          note: 'Only the second notification credits the amount.',
        },
      ],
      'three-cards': [
        'three payment methods of one customer in the same second',
        { flow: threeCards },
        'copies-by-content',
        { requirements: ['payment-method-shapes', 'repeat-by-id'] },
      ],
    },
  ),
];
