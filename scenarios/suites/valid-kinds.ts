import type { NotifiedPaymentMethodStatus, OrderStatus, RefundStatus, TrackingStatus } from '../../contract/index.ts';
import { type Composer, having } from '../changes/bodies.ts';
import { accepted } from '../expectations.ts';
import { deposit, hash, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { Scenario } from '../scenario.ts';
import { family } from './family.ts';

// The notifications that the checks of this suite send, with or without a changed field.
export const buy = (status: OrderStatus): Composer => {
  return (kit) => order(kit, 'BUY', status);
};
export const sell = (status: OrderStatus): Composer => {
  return (kit) => order(kit, 'SELL', status);
};
export const cashStep = (type: 'BUY' | 'SELL', status: TrackingStatus, description?: string): Composer => {
  return (kit) => tracking(kit, type, status, description);
};
export const refunded = (status: RefundStatus): Composer => {
  return (kit) => refund(kit, status);
};
export const card = (status: NotifiedPaymentMethodStatus): Composer => {
  return (kit) => paymentMethod(kit, status);
};
export const newWallet: Composer = (kit) => wallet(kit);
export const onChain: Composer = (kit) => deposit(kit);

const kinds = { suite: 'valid', verb: 'Accepts', level: 'must', expect: accepted } as const;

/**
 * Every type of notification at every listed status. Specification: Resources and their fields; States and transitions.
 */
export const validKinds: readonly Scenario[] = [
  ...family(
    { ...kinds, requirements: ['caas-buy'], mistake: 'valid-kind-rejected' },
    {
      'buy-created': [
        'a BUY order at status CREATED',
        { compose: buy('CREATED') },
        'optional-data-required',
        { note: 'Most of blockchainData is still empty at this status.' },
      ],
      'buy-pending': ['a BUY order at status PENDING', { compose: buy('PENDING') }],
      'buy-blockchain-accepted': [
        'a BUY order at BLOCKCHAIN_ACCEPTED without a transaction hash',
        { compose: buy('BLOCKCHAIN_ACCEPTED') },
        'optional-data-required',
        { note: 'The hash comes only with a later notification.' },
      ],
      'buy-blockchain-accepted-hash': [
        'a BUY order at BLOCKCHAIN_ACCEPTED with a transaction hash',
        { compose: (kit) => order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { hash: hash(kit) }) },
        { requirements: ['caas-hash-follows'] },
      ],
      'buy-confirmed': ['a BUY order at status CONFIRMED', { compose: buy('CONFIRMED') }],
      'buy-completed': [
        'a BUY order at status COMPLETED',
        { compose: buy('COMPLETED') },
        {
          requirements: ['envelope-fields', 'caas-buy'],
          note: 'COMPLETED is missing from many status lists, because it appears only in sample payloads.',
        },
      ],
      'buy-failed': [
        'a FAILED BUY order with errorData',
        { compose: buy('FAILED') },
        { requirements: ['caas-failed'] },
      ],
    },
  ),
  ...family(
    { ...kinds, requirements: ['caas-sell'], mistake: 'valid-kind-rejected' },
    {
      'sell-created': ['a SELL order at status CREATED', { compose: sell('CREATED') }],
      'sell-pending': ['a SELL order at status PENDING', { compose: sell('PENDING') }],
      'sell-blockchain-accepted': [
        'a SELL order at BLOCKCHAIN_ACCEPTED without a transaction hash',
        { compose: sell('BLOCKCHAIN_ACCEPTED') },
        'optional-data-required',
      ],
      'sell-confirmed': ['a SELL order at status CONFIRMED', { compose: sell('CONFIRMED') }],
      'sell-completed': ['a SELL order at status COMPLETED', { compose: sell('COMPLETED') }],
      'sell-failed': [
        'a FAILED SELL order with errorData',
        { compose: (kit) => order(kit, 'SELL', 'FAILED', { code: '352-252-E1' }) },
        { requirements: ['caas-failed'] },
      ],
    },
  ),
  ...family(
    { ...kinds, requirements: ['caas-tracking'], of: 'ORDER_TRACKING of a', mistake: 'valid-kind-rejected' },
    {
      'tracking-buy-completed': [
        'BUY whose cash step is completed',
        { compose: cashStep('BUY', 'COMPLETED') },
        'one-shape-for-all-types',
      ],
      'tracking-buy-expired': ['BUY whose cash step expired', { compose: cashStep('BUY', 'EXPIRED') }],
      'tracking-sell-completed': [
        'SELL whose cash was picked up',
        { compose: cashStep('SELL', 'COMPLETED') },
        { note: 'Tracking occurs for BUY and SELL: orderType says which flow it belongs to.' },
      ],
      'tracking-sell-expired': [
        'SELL whose cash was not picked up',
        { compose: cashStep('SELL', 'EXPIRED') },
        { note: 'An expired pick-up is a normal result: errorData is null.' },
      ],
    },
  ),
  ...family(
    { ...kinds, requirements: ['refund-shapes'] },
    {
      'refund-success': [
        'a successful REFUND with a transaction hash',
        { compose: refunded('SUCCESS') },
        'one-shape-for-all-types',
        { requirements: ['envelope-fields', 'refund-shapes'] },
      ],
      'refund-fail': [
        'a failed REFUND with errorData and without a transaction hash',
        { compose: refunded('FAIL') },
        'optional-data-required',
      ],
    },
  ),
  ...family(
    { ...kinds, requirements: ['payment-method-shapes'] },
    {
      'payment-method-staged': [
        'a PAYMENT_METHOD at status STAGED without an errorCode',
        { compose: card('STAGED') },
        'valid-kind-rejected',
        { requirements: ['envelope-fields', 'payment-method-shapes'] },
      ],
      'payment-method-declined': [
        'a PAYMENT_METHOD at status DECLINED with an errorCode',
        { compose: card('DECLINED') },
        'one-shape-for-all-types',
        { note: 'errorCode is a string next to status: this type has no errorData object.' },
      ],
    },
  ),
  ...family(
    { ...kinds, requirements: ['deposit-shape'], mistake: 'valid-kind-rejected' },
    {
      'wallet-created': [
        'a WALLET notification for a new custodial wallet',
        { compose: newWallet },
        {
          requirements: ['envelope-fields', 'wallet-shape'],
          note: 'Its time is an ISO string, and its data has neither status nor type.',
        },
      ],
      'deposit-on-chain': [
        'an on-chain deposit with a transaction hash',
        { compose: onChain },
        {
          requirements: ['envelope-fields', 'deposit-shape'],
          note: 'Its identifier is partnerTransactionId, not transactionId.',
        },
      ],
      'deposit-internal': [
        'a deposit within the custodial ledger without a transaction hash',
        {
          compose: having(
            (kit) => deposit(kit, {}),
            'data.metadata.sourceAddress',
            (kit) => kit.newId(),
          ),
        },
        'optional-data-required',
        { note: 'Its source may be an account instead of an address.' },
      ],
    },
  ),
];
