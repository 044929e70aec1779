/** The notification of the benchmarks: a buy order as in the specification, 745 bytes of JSON. */
import type { Notification } from '../../../contract/index.ts';

const MEMO =
  'Order 2026-01-01/000172 of the wallet application; ' +
  'to be shown to the user with the amount, the fees, and the rate of exchange';

/**
 * Creates the notification. `id` must have 36 characters like a UUID, so that all notifications with the same memo have
 * the same size.
 */
export function buyNotification(id: string, memo = MEMO): Notification {
  return {
    id,
    type: 'CAAS',
    at: 1_767_225_600,
    data: {
      type: 'BUY',
      providerId: 'payment-provider-17',
      transactionId: '7f1d2f7e-6a8b-4f0e-9f0a-5f5f3f1b9c11',
      metadata: {
        orderStatus: 'COMPLETED',
        blockchainData: {
          targetWalletAddress: '0x52908400098527886E0F7030069857D2E4169EE7',
          blockchainMemo: memo,
          currency: 'USDC',
          chain: 'ETHEREUM',
          refundWalletAddress: '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
          sourceWalletAddress: '0xde709f2102306220921060314715629080e2fb77',
          blockchainTransactionId: '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b',
        },
      },
      errorData: null,
    },
  };
}

/** Returns the id of the delivery with this number, which is the same in every run. */
export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}
