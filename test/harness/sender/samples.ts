/** Notifications for the tests of the sender. */
import type { BuyNotification } from '../../../contract/index.ts';

export function buy(): BuyNotification {
  return {
    id: '6a1cf2b4-56d8-4f0e-9d0b-1f7e4f3b2c11',
    type: 'CAAS',
    at: 1_700_000_000,
    data: {
      type: 'BUY',
      providerId: 'provider-1',
      transactionId: 'transaction-1',
      metadata: { orderStatus: 'PENDING', blockchainData: { currency: 'ETH', chain: 'Ethereum – Zürich €' } },
      errorData: null,
    },
  };
}
