/** CAAS: buy, sell and order tracking. Specification: type = CAAS. */
import * as z from 'zod';
import { epochSeconds } from './envelope-fields.ts';
import {
  alwaysNull,
  discriminator,
  group,
  oneOf,
  optionalInReading,
  requiredOneOf,
  sometimesText,
  text,
} from './fields.ts';
import { withRules } from './rules.ts';
import { errorData, notification, providerId, transactionId } from './shape-parts.ts';
import { ORDER_STATUSES, TRACKING_STATUSES } from './statuses.ts';
import { groupWithHash } from './transaction-hash.ts';

const blockchainData = optionalInReading(
  groupWithHash(
    {
      targetWalletAddress: sometimesText('Wallet address that the crypto goes to.'),
      blockchainMemo: sometimesText('Memo or tag of the transfer.'),
      currency: sometimesText('Symbol of the currency.'),
      chain: sometimesText('Blockchain network.'),
      refundWalletAddress: sometimesText('Wallet address that a refund would go to.'),
      sourceWalletAddress: sometimesText('Wallet address that the crypto comes from.'),
    },
    'The transfer on the blockchain. Which fields are filled at which order status is not stated.',
    'Hash of the transaction on the blockchain.',
  ),
);

export function order<T extends 'BUY' | 'SELL'>(type: T) {
  const { emitted, received } = group(
    {
      type: discriminator(type, 'Buy, sell or order tracking.'),
      providerId,
      transactionId,
      metadata: group(
        { orderStatus: requiredOneOf(ORDER_STATUSES, 'Where the order stands. The list is open.'), blockchainData },
        'The state of the order.',
      ),
      errorData: errorData('Why the order failed; null when it has not.'),
    },
    'A buy or sell order.',
  );
  const rules = [{ field: 'errorData', when: 'metadata.orderStatus', is: 'FAILED' }];
  return notification('CAAS', epochSeconds, { emitted: withRules(emitted, rules), received });
}

export const orderTracking = notification(
  'CAAS',
  epochSeconds,
  group(
    {
      type: discriminator('ORDER_TRACKING', 'Buy, sell or order tracking.'),
      providerId,
      transactionId,
      metadata: group(
        {
          orderType: oneOf(['BUY', 'SELL'], 'The flow that the tracking belongs to.'),
          providerTransactionId: text("The transaction, by the payment provider's identifier."),
          providerTransactionRef: text('The reference that the user gives at the physical site.'),
          providerTransactionStatus: requiredOneOf(TRACKING_STATUSES, 'How the step at the physical site ended.'),
          trackingStateDescription: text('The state of the tracking, in free words.', z.string()),
        },
        'The state of the step at the physical site.',
      ),
      errorData: alwaysNull(errorData('Null for order tracking.')),
    },
    'The result of a step at a physical site.',
  ),
);
