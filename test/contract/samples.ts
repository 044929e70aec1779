/** Valid notifications of every kind. */
import type { JsonObject, JsonValue, NotificationKind } from '../../contract/index.ts';

const id = '5f0c3d52-8b1e-4c7a-9d40-2e6b7a1c9f03';

function order(type: 'BUY' | 'SELL', orderStatus: string, errorData: JsonValue): JsonObject {
  return {
    id,
    type: 'CAAS',
    at: 1_700_000_000,
    data: {
      type,
      providerId: 'provider-1',
      transactionId: 'transaction-1',
      metadata: {
        orderStatus,
        blockchainData: {
          targetWalletAddress: '0x01',
          blockchainTransactionId: '0xaa',
          blockchainMemo: 'memo',
          currency: 'ETH',
          chain: 'ETHEREUM',
          refundWalletAddress: '0x02',
          sourceWalletAddress: '0x03',
        },
      },
      errorData,
    },
  };
}

const failure = { code: '352-000-S1', message: 'It failed.' };

/** Every kind, with each status that its rules distinguish. */
export const SAMPLES = {
  buy: order('BUY', 'COMPLETED', null),
  buyFailed: order('BUY', 'FAILED', failure),
  sell: order('SELL', 'PENDING', null),
  tracking: {
    id,
    type: 'CAAS',
    at: 1_700_000_000,
    data: {
      type: 'ORDER_TRACKING',
      providerId: 'provider-1',
      transactionId: 'transaction-1',
      metadata: {
        orderType: 'BUY',
        providerTransactionId: 'p-1',
        providerTransactionRef: 'REF1',
        providerTransactionStatus: 'EXPIRED',
        trackingStateDescription: 'Too late.',
      },
      errorData: null,
    },
  },
  refund: {
    id,
    type: 'REFUND',
    at: 1_700_000_000,
    data: {
      providerId: 'provider-1',
      transactionId: 'transaction-1',
      status: 'SUCCESS',
      metadata: { blockchainTransactionId: '0xaa', amount: '0.125', currency: 'ETH', walletAddress: '0x02' },
    },
  },
  refundFailed: {
    id,
    type: 'REFUND',
    at: 1_700_000_000,
    data: {
      providerId: 'provider-1',
      transactionId: 'transaction-1',
      status: 'FAIL',
      metadata: { amount: '0.125', currency: 'ETH', walletAddress: '0x02' },
      errorData: failure,
    },
  },
  staged: {
    id,
    type: 'PAYMENT_METHOD',
    at: 1_700_000_000,
    data: { status: 'STAGED', paymentMethodId: 'card-1', accountId: 'customer-1' },
  },
  declined: {
    id,
    type: 'PAYMENT_METHOD',
    at: 1_700_000_000,
    data: { status: 'DECLINED', paymentMethodId: 'card-1', accountId: 'customer-1', errorCode: '313-701-S1' },
  },
  wallet: {
    id,
    type: 'WALLET',
    at: '2023-11-14T22:13:20.000Z',
    data: {
      operation: 'WALLET_CREATED',
      customerId: 'customer-1',
      walletAddress: '0x04',
      assetId: 'ETH',
      chain: 'ETHEREUM',
    },
  },
  deposit: {
    id,
    type: 'CAAS_BLOCKCHAIN',
    at: '2023-11-14T22:13:20.000Z',
    data: {
      type: 'RECEIVE',
      status: 'COMPLETED',
      partnerTransactionId: 'deposit-1',
      customerId: 'customer-1',
      metadata: {
        sourceAddress: '0x05',
        destinationAddress: '0x04',
        asset: { amount: '125000000000000000', currency: 'ETH' },
        blockchainTransactionId: '0xaa',
      },
    },
  },
} as const satisfies Record<string, JsonObject>;

export type SampleName = keyof typeof SAMPLES;

export const KIND_OF_SAMPLE: Record<SampleName, NotificationKind> = {
  buy: 'CAAS_BUY',
  buyFailed: 'CAAS_BUY',
  sell: 'CAAS_SELL',
  tracking: 'CAAS_ORDER_TRACKING',
  refund: 'REFUND',
  refundFailed: 'REFUND',
  staged: 'PAYMENT_METHOD',
  declined: 'PAYMENT_METHOD',
  wallet: 'WALLET',
  deposit: 'CAAS_BLOCKCHAIN',
};

export const SAMPLE_NAMES = Object.keys(SAMPLES) as SampleName[];

/** Returns a sample with the value at a path replaced. `undefined` removes the key. */
export function having(name: SampleName, path: string, value: JsonValue | undefined): JsonObject {
  const copy: JsonObject = structuredClone(SAMPLES[name]);
  const keys = path.split('.');
  const last = keys.pop()!;
  let here = copy;
  for (const key of keys) here = here[key] as JsonObject;
  if (value === undefined) delete here[last];
  else here[last] = value;
  return copy;
}
