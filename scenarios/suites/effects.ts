import type { EffectValues } from '../../contract/effects.ts';
import { type JsonObject, toDisplayAmount } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { refused } from '../expectations.ts';
import {
  deposit,
  epochSeconds,
  hash,
  order,
  ownId,
  paymentMethod,
  reference,
  refund,
  tracking,
  wallet,
} from '../samples.ts';
import type { Delivery, ExpectedEffect, Kit, Scenario, Suite } from '../scenario.ts';
import { effectsAudits } from './effects-audits.ts';
import { effectsLog } from './effects-log.ts';
import { family, type Own, type Row } from './family.ts';
import { event, type Groups, inSequence, ofTransaction } from './flows.ts';

const effects = { level: 'must', requirements: ['delivery-effect'], needs: ['effects'] } as const;
const handles = { ...effects, suite: 'effects', verb: 'Handles' } as const;

function once(values: EffectValues = {}, current?: ExpectedEffect['current']): ExpectedEffect {
  return { times: 1, values, ...(current && { current }) };
}

/** Delivers a deposit of this many atomic units of an asset with this number of decimals. */
function depositOf(kit: Kit, decimals: number, atomic: string): Delivery {
  const currency = Object.entries(kit.decimals ?? {}).find(([, known]) => known === decimals)?.[0] ?? '';
  const notification = withField(deposit(kit), 'data.metadata.asset', { amount: atomic, currency });
  const amount = toDisplayAmount(atomic, decimals);
  return event(`${atomic} atomic units of ${currency}`, notification, once({ amount, currency }));
}

/**
 * Two of these are above 2^53, where a float cannot represent every integer. A float also prints the longest one with
 * an exponent.
 */
const ATOMIC_AMOUNTS = ['1', '9007199254740993', '123456789012345678901234567'];
const DIGITS_38 = '12345678901234567890123456789012345678';
const DIGITS_78 = `${'1234567890'.repeat(7)}12345671`;

/** Sends amounts of an asset with this number of decimals. */
function withDecimals(decimals: number): Row {
  return [
    `amounts of an asset with ${decimals} decimals without losing a digit`,
    { decimals, flow: (kit) => [ATOMIC_AMOUNTS.map((atomic) => depositOf(kit, decimals, atomic))] },
    'amount-as-float',
    { defect: `Records another amount or currency than sent, for an asset with ${decimals} decimals` },
  ];
}

/** Sends an amount with many digits. */
function ofDigits(digits: string, own: Own = {}): Row {
  return [
    `an amount of ${digits.length} digits without losing one`,
    { decimals: 18, flow: (kit) => [[depositOf(kit, 18, digits)]] },
    'narrow-amount-type',
    { defect: `Records another amount or currency than sent, for an amount of ${digits.length} digits`, ...own },
  ];
}

/** Sends a declined payment method. */
function declinedCard(kit: Kit): Groups {
  const declined = paymentMethod(kit, 'DECLINED', { code: '313-702-S3' });
  const { paymentMethodId } = declined.data as { paymentMethodId: string };
  const values = { kind: 'PAYMENT_METHOD', status: 'DECLINED', paymentMethod: paymentMethodId };
  return inSequence(event('the payment method', declined, once({ ...values, errorCode: '313-702-S3' })));
}

/** Sends three concurrent notifications about wallets of one customer. */
function wallets(kit: Kit): Groups {
  const customer = ownId(kit, 'customer');
  const created = ['ETH', 'BTC', 'USDC'].map((asset) => {
    const notification = wallet(kit, customer, asset);
    const { walletAddress } = notification.data as { walletAddress: string };
    const effect = once({ kind: 'WALLET', customer, address: walletAddress });
    return event(`the wallet for ${asset}`, notification, effect);
  });
  return [created];
}

const kinds: readonly Scenario[] = [
  ...family(
    { ...handles, mistake: 'mapping-shared-by-kinds' },
    {
      order: [
        'an order once, with its status, hash and currency',
        ofTransaction((kit, transactionId) => {
          const transactionHash = hash(kit);
          const bought = order(kit, 'BUY', 'CONFIRMED', { transactionId, hash: transactionHash });
          const values = { kind: 'CAAS_BUY', status: 'CONFIRMED', transaction: transactionId, hash: transactionHash };
          return [event('the order', bought, once({ ...values, currency: 'ETH' }))];
        }),
        'acknowledged-before-stored',
        {
          defect: 'Does not handle an order once with its values',
          note: 'An answer of 200 says that a delivery arrived, not that anything was done with it.',
        },
      ],
      'failed-order': [
        'a failed order with its error code',
        ofTransaction((kit, transactionId) => {
          const failed = order(kit, 'SELL', 'FAILED', { transactionId, code: '352-252-E1' });
          return [event('the order', failed, once({ kind: 'CAAS_SELL', status: 'FAILED', errorCode: '352-252-E1' }))];
        }),
        'kind-not-handled',
        {
          defect: 'Does not handle a failed order with its error code',
          requirements: ['delivery-effect', 'caas-failed'],
          note: 'The error code is in `errorData.code`.',
        },
      ],
      tracking: [
        'the cash step of an order with its status',
        ofTransaction((kit, transactionId) => {
          const step = withField(tracking(kit, 'BUY', 'EXPIRED'), 'data.transactionId', transactionId);
          const values = { kind: 'CAAS_ORDER_TRACKING', status: 'EXPIRED', transaction: transactionId };
          return [event('the cash step', step, once(values))];
        }),
        {
          defect: 'Does not handle the cash step of an order with its status',
          requirements: ['delivery-effect', 'caas-tracking'],
          note: 'It has the type CAAS and the transaction of an order, but no `orderStatus`.',
        },
      ],
      'payment-method': [
        'a declined payment method with its error code',
        { flow: declinedCard },
        {
          defect: 'Does not handle a declined payment method with its error code',
          requirements: ['delivery-effect', 'payment-method-shapes'],
        },
      ],
      onboarding: [
        'each of three concurrent wallets of one customer once',
        { owns: ['customer'], flow: wallets },
        'colliding-updates',
        {
          defect: 'Does not handle each wallet of a customer once',
          requirements: ['delivery-effect', 'wallet-shape'],
          note: 'A lost wallet receives deposits that no account gets.',
        },
      ],
      'refund-pair': [
        'a failed SELL and its REFUND, each once, with the amount as sent',
        ofTransaction((kit, transactionId) => {
          const amount = '1234567.890123456789012345';
          const returned = withField(refund(kit, 'SUCCESS', { transactionId }), 'data.metadata.amount', amount);
          return [
            event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId }), once({ status: 'FAILED' })),
            event('its refund', returned, once({ kind: 'REFUND', status: 'SUCCESS', amount, currency: 'ETH' })),
          ];
        }),
        'copies-by-content',
        {
          defect: 'Does not handle both a failed SELL and its REFUND exactly once',
          requirements: ['delivery-effect', 'refund-order', 'refund-amount'],
          note: 'A refund has the transaction of its failed sell; its amount must also stay decimal text.',
        },
      ],
    },
  ),
  {
    ...effects,
    id: 'effects/hash-follows',
    title: 'Has the hash of an order after the notification that brings it',
    defect: 'Does not have the hash of an order that a later notification brought',
    requirements: ['delivery-effect', 'caas-hash-follows'],
    ...ofTransaction((kit, transactionId) => {
      const transactionHash = hash(kit);
      const later = order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId, hash: transactionHash });
      return [
        event('without the hash', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
        event('with the hash', later, once({ hash: transactionHash }, { hash: transactionHash })),
      ];
    }),
    mistake: 'copies-by-content',
    note: 'Both notifications have the same status and transaction.',
  },
];

/** Creates a deposit and a forgery: a copy with another hash, whose signature covers other bytes. */
function withForgedCopy(kit: Kit): { readonly valid: Delivery; readonly forged: Delivery } {
  const notification = deposit(kit);
  const altered = withField(notification, 'data.metadata.blockchainTransactionId', hash(kit));
  const { metadata } = notification.data as { metadata: { blockchainTransactionId: string } };
  const effect = once({ hash: metadata.blockchainTransactionId });
  const sign = { label: 'the signature of other bytes', make: (_: Uint8Array, own: Kit) => own.sign(own.bytes(32)) };
  return {
    valid: event('the valid one', notification, effect),
    forged: { label: 'the forged copy', change: { compose: () => altered, sign }, expect: refused, effect },
  };
}

/** Sends a deposit, and a copy of it with different bytes. */
function withOtherLayout(kit: Kit): Groups {
  const notification = deposit(kit);
  const copy = event('the copy', notification, once());
  const serialise = () => Buffer.from(JSON.stringify(notification, null, 2));
  return inSequence(event('the first', notification, once()), { ...copy, change: { ...copy.change, serialise } });
}

/** Sends the same deposits before and after a restart. */
function aroundRestart(kit: Kit): Groups {
  const notifications = Array.from({ length: 4 }, () => deposit(kit));
  return ['before', 'after the restart'].map((when) =>
    notifications.map((one, at) => event(`notification ${at + 1} ${when}`, one, once())),
  );
}

function copies(kit: Kit, count: number): Delivery[] {
  const notification = deposit(kit);
  return Array.from({ length: count }, (_, at) => event(`copy ${at + 1}`, notification, once()));
}

const restarting = { alone: true, restartBefore: 1 } as const;

const repeated: readonly Scenario[] = [
  ...family(
    { ...handles, requirements: ['repeat-once'] },
    {
      'copies-in-turn': [
        'a notification only once when it is delivered four times',
        { flow: (kit) => inSequence(...copies(kit, 4)) },
        'copy-handled-again',
        { defect: 'Handles a notification again when it is delivered again' },
      ],
      'copies-at-once': [
        'a notification only once when it is delivered on sixteen connections at the same time',
        { flow: (kit) => [copies(kit, 16)] },
        'lookup-before-insert',
        { defect: 'Handles a notification several times when copies arrive at the same time' },
      ],
      'copies-on-new-connections': [
        'a notification only once when it is delivered in turn on eight new connections',
        { onNewConnections: true, flow: (kit) => inSequence(...copies(kit, 8)) },
        'ids-kept-in-memory',
        { defect: 'Handles a notification again when a copy arrives on another connection' },
      ],
      'copies-after-handling': [
        'a notification only once when it is delivered again after its handling',
        { handledBefore: 1, flow: (kit) => inSequence(...copies(kit, 2)) },
        'copy-handled-again',
        { defect: 'Handles a notification again when a copy arrives after its handling' },
      ],
      'other-layout-of-a-copy': [
        'a notification only once when it is delivered again with different whitespace',
        { flow: withOtherLayout },
        'copies-by-content',
        {
          defect: 'Handles a copy of a notification whose bytes differ',
          requirements: ['repeat-once', 'repeat-by-id'],
        },
      ],
      'forged-before-valid': [
        'only the valid notification when a forged one with its id came first',
        {
          flow: (kit) => {
            const { valid, forged } = withForgedCopy(kit);
            return inSequence(forged, valid);
          },
        },
        'remembered-before-checks',
        {
          defect: 'Handles a forged notification, or does not handle the valid one with the same id',
          requirements: ['delivery-effect', 'repeat-not-poisoned'],
          needs: ['effects', 'hmac'],
        },
      ],
    },
  ),
  {
    ...effects,
    id: 'effects/forged-after-valid',
    title: 'Keeps the values of a valid notification when a forged copy follows',
    defect: 'Lets a forged copy change a valid notification',
    needs: ['effects', 'hmac'],
    flow: (kit) => {
      const { valid, forged } = withForgedCopy(kit);
      return inSequence(valid, forged);
    },
    mistake: 'handled-before-checks',
    note: 'An update by id before the verification changes what was already handled.',
  },
  ...family(
    { ...handles, requirements: ['repeat-once'], needs: ['effects', 'restart'] },
    {
      'survives-kill': [
        'every acknowledged notification once when the receiver is killed right afterwards',
        {
          ...restarting,
          flow: (kit) => [
            Array.from({ length: 24 }, (_, at) => event(`notification ${at + 1}`, deposit(kit), once())),
            [event('after the restart', deposit(kit), once())],
          ],
        },
        'acknowledged-before-stored',
        {
          defect: 'Loses acknowledged notifications, or handles them twice, when it is killed',
          requirements: ['delivery-effect', 'repeat-once'],
        },
      ],
      'copies-after-restart': [
        'a notification only once when it is delivered again after a restart',
        { ...restarting, flow: aroundRestart },
        'ids-kept-in-memory',
        { defect: 'Handles a notification again after a restart' },
      ],
    },
  ),
];

/** Sends deposits with different hash members, and expects these hashes. */
function withHashes(
  kit: Kit,
  ...deposits: readonly (readonly [label: string, hashes: JsonObject, expected: string])[]
): Groups {
  return [deposits.map(([label, hashes, expected]) => event(label, deposit(kit, hashes), once({ hash: expected })))];
}

/** Sends a deposit with unknown fields. */
function withUnknownFields(kit: Kit): Groups {
  const transactionHash = hash(kit);
  const known = withField(deposit(kit, { blockchainTransactionId: transactionHash }), 'version', 2);
  const more = withField(known, 'data.metadata.network', { name: 'test', fee: '0.1' });
  return inSequence(event('with unknown fields', more, once({ hash: transactionHash })));
}

const values: readonly Scenario[] = [
  {
    ...effects,
    id: 'effects/hash-keys',
    title: 'Has the hash of a deposit under either spelling of its key',
    defect: 'Does not read the hash of a deposit under both spellings of its key',
    requirements: ['deposit-typo'],
    flow: (kit) => {
      const [right, wrong] = [hash(kit), hash(kit)];
      return withHashes(
        kit,
        ['blockchainTransactionId', { blockchainTransactionId: right }, right],
        ['blockchainTransctionId', { blockchainTransctionId: wrong }, wrong],
      );
    },
    mistake: 'misspelt-hash-key',
  },
  {
    ...effects,
    id: 'effects/hash-both-keys',
    title: 'Takes the hash under the correct key when a deposit has both',
    defect: 'Takes the hash under the misspelt key when a deposit has both',
    level: 'should',
    requirements: ['deposit-both-keys'],
    flow: (kit) => {
      const [right, wrong] = [hash(kit), hash(kit)];
      return withHashes(
        kit,
        ['the correct key first', { blockchainTransactionId: right, blockchainTransctionId: wrong }, right],
        ['the misspelt key first', { blockchainTransctionId: wrong, blockchainTransactionId: right }, right],
      );
    },
    mistake: 'misspelt-hash-key',
    note: 'By ruling, the correct spelling wins, whatever the order of the keys.',
  },
  ...family(
    { ...handles, verb: 'Converts', requirements: ['deposit-amount-precise'] },
    {
      ...Object.fromEntries(
        [0, 2, 6, 8, 18].map((decimals) => [`amount-${decimals}-decimals`, withDecimals(decimals)]),
      ),
      'amount-38-digits': ofDigits(DIGITS_38),
      'amount-78-digits': ofDigits(DIGITS_78, {
        level: 'should',
        requirements: ['amount-size', 'deposit-amount-precise'],
      }),
    },
  ),
  ...family(
    { ...handles, level: 'should', requirements: ['envelope-open'], mistake: 'unknown-value-stops-work' },
    {
      'unknown-fields': [
        'a notification with unknown fields once',
        { flow: withUnknownFields },
        { defect: 'Does not handle a notification that has unknown fields' },
      ],
      'unknown-status': [
        'the next notification of an order after an unknown status',
        ofTransaction((kit, transactionId) => {
          const pending = order(kit, 'BUY', 'PENDING', { transactionId });
          const next = order(kit, 'BUY', 'CONFIRMED', { transactionId });
          return [
            event('ON_HOLD', withField(pending, 'data.metadata.orderStatus', 'ON_HOLD')),
            event('CONFIRMED', next, once({ status: 'CONFIRMED' })),
          ];
        }),
        {
          defect: 'Does not handle an order after an unknown status',
          requirements: ['envelope-open', 'transitions-open'],
        },
      ],
      'unknown-type': [
        'the next notification after one of an unknown type',
        {
          flow: (kit) => {
            const unknown = { ...deposit(kit), type: 'STAKING', data: { reference: reference(kit, 'stake') } };
            return inSequence(event('the unknown type', unknown), event('the next one', deposit(kit), once()));
          },
        },
        { defect: 'Does not handle a notification after one of an unknown type' },
      ],
    },
  ),
  {
    ...effects,
    id: 'effects/final-status-kept',
    title: 'Keeps the final status of an order when an earlier one arrives later',
    defect: 'Overwrites the final status of an order with an earlier one',
    level: 'should',
    requirements: ['repeat-order'],
    ...ofTransaction((kit, transactionId) => {
      const late = withField(order(kit, 'BUY', 'PENDING', { transactionId }), 'at', epochSeconds(kit) - 600);
      const final = order(kit, 'BUY', 'COMPLETED', { transactionId });
      return [event('COMPLETED', final, once({}, { status: 'COMPLETED' })), event('PENDING of ten minutes ago', late)];
    }),
    mistake: 'status-goes-back',
  },
];

/** What the receiver did and logged. Specification: Delivery endpoint (a valid webhook is processed). */
export const effectsSuite: Suite = {
  name: 'effects',
  title: 'What the receiver did, according to its effects window and its log',
  scenarios: [...kinds, ...repeated, ...values, ...effectsAudits, ...effectsLog],
};
