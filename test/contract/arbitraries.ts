/** Arbitrary notifications of every kind, right for the sender, written out apart from the schemas that they prove. */
import fc from 'fast-check';
import type { NotificationKind } from '../../contract/index.ts';

const id = fc.uuid();
const at = fc.integer({ min: 1, max: 99_999_999_999 });
const iso = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const filled = fc.string({ unit: 'binary', minLength: 1 });
const code = fc.stringMatching(/^[0-9]{3}-[0-9]{2,3}-[A-Z][0-9]$/);
const errorData = fc.record({ code, message: filled });
const digits = fc.bigInt({ min: 0n, max: 10n ** 78n }).map(String);

/** Text that may be absent, null or empty. */
function sometimes(...keys: string[]) {
  const values = Object.fromEntries(keys.map((key) => [key, fc.option(fc.string())]));
  return fc.record(values, { requiredKeys: [] });
}

function order(type: 'BUY' | 'SELL') {
  const blockchainData = sometimes(
    'targetWalletAddress',
    'blockchainTransactionId',
    'blockchainMemo',
    'currency',
    'chain',
    'refundWalletAddress',
    'sourceWalletAddress',
  );
  const whenFine = fc.constantFrom('CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED');
  const outcome = fc.oneof(
    fc.record({ orderStatus: whenFine, errorData: fc.constant(null) }),
    fc.record({ orderStatus: fc.constant('FAILED'), errorData }),
  );
  const data = fc
    .tuple(filled, filled, outcome, blockchainData)
    .map(([providerId, transactionId, { orderStatus, errorData }, blockchainData]) => ({
      type,
      providerId,
      transactionId,
      metadata: { orderStatus, blockchainData },
      errorData,
    }));
  return fc.record({ id, type: fc.constant('CAAS'), at, data });
}

const tracking = fc.record({
  id,
  type: fc.constant('CAAS'),
  at,
  data: fc.record({
    type: fc.constant('ORDER_TRACKING'),
    providerId: filled,
    transactionId: filled,
    metadata: fc.record({
      orderType: fc.constantFrom('BUY', 'SELL'),
      providerTransactionId: filled,
      providerTransactionRef: filled,
      providerTransactionStatus: fc.constantFrom('COMPLETED', 'EXPIRED'),
      trackingStateDescription: fc.string(),
    }),
    errorData: fc.constant(null),
  }),
});

const refundMetadata = { amount: fc.constantFrom('0', '0.125', '12'), currency: filled, walletAddress: filled };
const refund = fc.record({
  id,
  type: fc.constant('REFUND'),
  at,
  data: fc.oneof(
    fc.record({
      providerId: filled,
      transactionId: filled,
      status: fc.constant('SUCCESS'),
      metadata: fc.record({ ...refundMetadata, blockchainTransactionId: filled }),
    }),
    fc.record({
      providerId: filled,
      transactionId: filled,
      status: fc.constant('FAIL'),
      metadata: fc.record(refundMetadata),
      errorData,
    }),
  ),
});

const paymentMethod = fc.record({
  id,
  type: fc.constant('PAYMENT_METHOD'),
  at,
  data: fc.oneof(
    fc.record({ status: fc.constant('STAGED'), paymentMethodId: filled, accountId: filled }),
    fc.record({ status: fc.constant('DECLINED'), paymentMethodId: filled, accountId: filled, errorCode: code }),
  ),
});

const wallet = fc.record({
  id,
  type: fc.constant('WALLET'),
  at: iso,
  data: fc.record({
    operation: fc.constant('WALLET_CREATED'),
    customerId: filled,
    walletAddress: filled,
    assetId: filled,
    chain: filled,
  }),
});

const deposit = fc.record({
  id,
  type: fc.constant('CAAS_BLOCKCHAIN'),
  at: iso,
  data: fc.record({
    type: fc.constant('RECEIVE'),
    status: fc.constant('COMPLETED'),
    partnerTransactionId: filled,
    customerId: filled,
    metadata: fc.record(
      {
        sourceAddress: filled,
        destinationAddress: filled,
        asset: fc.record({ amount: digits, currency: filled }),
        blockchainTransactionId: fc.option(fc.string()),
      },
      { requiredKeys: ['sourceAddress', 'destinationAddress', 'asset'] },
    ),
  }),
});

export const ARBITRARIES: Record<NotificationKind, fc.Arbitrary<unknown>> = {
  CAAS_BUY: order('BUY'),
  CAAS_SELL: order('SELL'),
  CAAS_ORDER_TRACKING: tracking,
  REFUND: refund,
  PAYMENT_METHOD: paymentMethod,
  WALLET: wallet,
  CAAS_BLOCKCHAIN: deposit,
};
