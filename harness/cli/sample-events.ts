/**
 * The sample events of `hookproof trigger`, as they happen in the service. The sender's own mapping turns them into
 * notifications.
 */
import { randomBytes } from 'node:crypto';
import { HookproofError, type Notification } from '../../contract/index.ts';
import { newTestId } from '../../scenarios/index.ts';
import { notificationsFor, type ServiceEvent } from '../sender/index.ts';

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;
const reference = (what: string) => `test-${what}-${randomBytes(6).toString('hex')}`;

function order(orderType: 'BUY' | 'SELL') {
  return {
    orderType,
    providerId: 'test-provider',
    transactionId: reference('transaction'),
    blockchainData: {
      targetWalletAddress: hex(20),
      blockchainTransactionId: hex(32),
      blockchainMemo: '',
      currency: 'ETH',
      chain: 'ETHEREUM',
      refundWalletAddress: '',
      sourceWalletAddress: hex(20),
    },
  };
}

const failure = { code: '352-102-S1', message: 'Sent by hookproof trigger.' };

function tracking(status: 'COMPLETED' | 'EXPIRED'): ServiceEvent {
  return {
    event: 'order-tracking-reported',
    orderType: 'SELL',
    providerId: 'test-provider',
    transactionId: reference('transaction'),
    physicalSite: true,
    providerTransactionId: reference('provider'),
    providerTransactionRef: 'REF-0001',
    status,
    description: 'Sent by hookproof trigger.',
  };
}

function paymentMethod(status: 'STAGED' | 'DECLINED'): ServiceEvent {
  return {
    event: 'payment-method-status-changed',
    status,
    paymentMethodId: reference('payment-method'),
    accountId: reference('customer'),
    ...(status === 'DECLINED' ? { errorCode: '313-702-S3' } : {}),
  };
}

function failedExternalSell(refunded: boolean): ServiceEvent {
  const amounts = { amount: '0.125', currency: 'ETH' };
  return {
    ...order('SELL'),
    event: 'order-failed',
    error: { code: '352-252-E1', message: 'Sent by hookproof trigger.' },
    externalSell: {
      cryptoReceived: true,
      refundWalletAddress: hex(20),
      refund: refunded
        ? { status: 'SUCCESS', blockchainTransactionId: hex(32), ...amounts }
        : { status: 'FAIL', ...amounts, error: failure },
    },
  };
}

function deposit(ledger: 'blockchain' | 'custodial'): ServiceEvent {
  return {
    event: 'deposit-confirmed',
    status: 'COMPLETED',
    partnerTransactionId: reference('deposit'),
    customerId: reference('customer'),
    sourceAddress: hex(20),
    destinationAddress: hex(20),
    asset: { amount: '1250000000000000000', currency: 'ETH' },
    via: ledger === 'blockchain' ? { ledger, blockchainTransactionId: hex(32) } : { ledger },
  };
}

function onboarding(wallets: number): ServiceEvent {
  const assets = [
    { assetId: 'ETH', chain: 'ETHEREUM' },
    { assetId: 'BTC', chain: 'BITCOIN' },
    { assetId: 'SOL', chain: 'SOLANA' },
  ];
  return {
    event: 'customer-onboarded',
    customerId: reference('customer'),
    walletFeature: true,
    wallets: assets.slice(0, wallets).map((asset) => ({ walletAddress: hex(20), ...asset })),
  };
}

export interface SampleEvent {
  readonly title: string;
  readonly make: () => ServiceEvent;
}

/** The events by name, which is the argument of `hookproof trigger`. */
export const SAMPLE_EVENTS: Readonly<Record<string, SampleEvent>> = {
  buy: {
    title: 'a completed buy',
    make: () => ({ ...order('BUY'), event: 'order-status-changed', status: 'COMPLETED' }),
  },
  sell: {
    title: 'a completed sell',
    make: () => ({ ...order('SELL'), event: 'order-status-changed', status: 'COMPLETED' }),
  },
  'buy-created': {
    title: 'a buy that was created',
    make: () => ({ ...order('BUY'), event: 'order-status-changed', status: 'CREATED' }),
  },
  'buy-failed': {
    title: 'a buy that failed',
    make: () => ({ ...order('BUY'), event: 'order-failed', error: failure }),
  },
  'sell-failed': {
    title: 'a sell that failed',
    make: () => ({ ...order('SELL'), event: 'order-failed', error: failure }),
  },
  'tracking-completed': { title: 'the user completed the physical step', make: () => tracking('COMPLETED') },
  'tracking-expired': { title: 'the user took too long for the physical step', make: () => tracking('EXPIRED') },
  'payment-method-staged': {
    title: 'a payment method that is waiting for verification',
    make: () => paymentMethod('STAGED'),
  },
  'payment-method-declined': { title: 'a payment method that was declined', make: () => paymentMethod('DECLINED') },
  wallet: { title: 'one custodial wallet', make: () => onboarding(1) },
  deposit: { title: 'a deposit on a blockchain', make: () => deposit('blockchain') },
  'deposit-internal': {
    title: 'a deposit inside the custodial ledger, without a hash',
    make: () => deposit('custodial'),
  },
  'blockchain-accepted': {
    title: 'flow: an order accepted by the blockchain, then again with its hash',
    make: () => {
      const { blockchainData, ...rest } = order('BUY');
      const { blockchainTransactionId, ...before } = blockchainData;
      return { ...rest, event: 'order-accepted-by-blockchain', blockchainData: before, blockchainTransactionId };
    },
  },
  'failed-external-sell': {
    title: 'flow: a failed external sell, then its refund',
    make: () => failedExternalSell(true),
  },
  'failed-refund': {
    title: 'flow: a failed external sell, then a failed refund',
    make: () => failedExternalSell(false),
  },
  onboarding: { title: 'flow: three wallets of a new customer', make: () => onboarding(3) },
};

/** Creates a valid notification with a new id that a partner can recognise as a test. */
export function testNotification(): Notification {
  const event = SAMPLE_EVENTS.wallet?.make();
  const [notification] = event === undefined ? [] : notificationsFor(event, { newId: newTestId });
  if (notification !== undefined) return notification;
  throw new HookproofError('SAMPLE_EMPTY', 'the sample event makes no notification', {
    hint: 'This is a bug in hookproof; please report it.',
    kind: 'internal',
  });
}
