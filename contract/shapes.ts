/**
 * Defines the seven shapes of notifications. Each field is defined once, for both sender and receiver (see
 * ./fields.ts). Specification: Resources and their fields.
 */
import * as z from 'zod';
import { epochSeconds, notification, timestamp } from './envelope.ts';
import { ERROR_CODE_FORM } from './error-codes.ts';
import {
  alwaysNull,
  discriminator,
  type Field,
  group,
  groupWithHash,
  oneOf,
  optionalInReading,
  requiredOneOf,
  requiredText,
  sometimesText,
  text,
  withRules,
} from './fields.ts';
import {
  DEPOSIT_STATUSES,
  NOTIFIED_PAYMENT_METHOD_STATUSES,
  type NotificationKind,
  ORDER_STATUSES,
  REFUND_STATUSES,
  TRACKING_STATUSES,
} from './kinds.ts';

const providerId = text('The payment provider, by the identifier that the operator gives out.');
const transactionId = requiredText(
  "The transaction, by the partner's own identifier from the request that created it.",
);

/** Error details, which the sender fills in only on a failure. All of them are optional for a receiver. */
function errorData(description: string) {
  const { emitted, received } = optionalInReading(
    group(
      {
        code: text(
          'The error code. The listed codes are examples: others may follow.',
          z.string().regex(ERROR_CODE_FORM),
        ),
        message: text('The error in words.'),
      },
      description,
    ),
  );
  return { emitted: emitted.nullable(), received };
}

// Specification: type = CAAS.

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

function order<T extends 'BUY' | 'SELL'>(type: T) {
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

const orderTracking = notification(
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

// Specification: type = REFUND; type = PAYMENT_METHOD.

const DECIMAL = z.string().regex(/^[0-9]+(\.[0-9]+)?$/);

function refund() {
  const { emitted, received } = group(
    {
      providerId,
      transactionId,
      status: requiredOneOf(REFUND_STATUSES, 'Whether the refund worked.'),
      metadata: optionalInReading(
        groupWithHash(
          {
            amount: text('The amount refunded, as decimal text.', DECIMAL),
            currency: text('Symbol of the currency.'),
            walletAddress: text('Wallet address that the refund was made to.'),
          },
          'The refund.',
          'Hash of the refund on the blockchain; filled when the refund worked.',
        ),
      ),
      errorData: errorDataOfRefund(),
    },
    'A refund after a failed external sell.',
  );
  const rules = [
    { field: 'errorData', when: 'status', is: 'FAIL' },
    { field: 'metadata.blockchainTransactionId', when: 'status', is: 'SUCCESS' },
  ];
  return notification('REFUND', epochSeconds, { emitted: withRules(emitted, rules), received });
}

/**
 * The sender may also omit errorData on a successful refund, because the specification does not call it nullable there.
 */
function errorDataOfRefund() {
  const { emitted, received } = errorData('Why the refund did not work.');
  return { emitted: emitted.optional(), received };
}

function paymentMethod() {
  const { emitted, received } = group(
    {
      status: requiredOneOf(NOTIFIED_PAYMENT_METHOD_STATUSES, 'What became of the payment method.'),
      paymentMethodId: requiredText('The payment method.'),
      accountId: text('The customer.'),
      errorCode: sometimesText('Why the payment method was declined.', z.string().regex(ERROR_CODE_FORM)),
    },
    'A payment method that was declined, or can now be verified.',
  );
  const rules = [{ field: 'errorCode', when: 'status', is: 'DECLINED' }];
  return notification('PAYMENT_METHOD', epochSeconds, { emitted: withRules(emitted, rules), received });
}

// Specification: type = WALLET; type = CAAS_BLOCKCHAIN.

const DIGITS = z.string().regex(/^[0-9]+$/);

const wallet = notification(
  'WALLET',
  timestamp,
  group(
    {
      operation: oneOf(['WALLET_CREATED'], 'What happened to the wallet. The list is open.'),
      customerId: requiredText('The customer whose wallet it is.'),
      walletAddress: requiredText('Address of the wallet.'),
      assetId: text('Symbol of the asset or token.'),
      chain: text('Blockchain network.'),
    },
    'A custodial wallet.',
  ),
);

const deposit = notification(
  'CAAS_BLOCKCHAIN',
  timestamp,
  group(
    {
      type: oneOf(['RECEIVE'], 'The direction: an inbound deposit.'),
      status: requiredOneOf(DEPOSIT_STATUSES, 'Where the deposit stands. The list is open.'),
      partnerTransactionId: requiredText('The deposit, by the identifier at the level of the partner.'),
      customerId: text('The customer whose wallet it is.'),
      metadata: groupWithHash(
        {
          sourceAddress: text('Address that the funds come from, on a blockchain or custodial.'),
          destinationAddress: text('Address of the custodial wallet that received them.'),
          asset: group(
            {
              amount: requiredText('The amount in atomic units.', DIGITS),
              currency: requiredText('Symbol of the asset.'),
            },
            'What was deposited.',
          ),
        },
        'The deposit.',
        'Hash of the transaction on the blockchain; a deposit inside the custodial ledger may lack it.',
      ),
    },
    'A deposit into a custodial wallet.',
  ),
);

/** The schemas of every kind, for the sender and for a receiver. */
export const SHAPES = {
  CAAS_BUY: order('BUY'),
  CAAS_SELL: order('SELL'),
  CAAS_ORDER_TRACKING: orderTracking,
  REFUND: refund(),
  PAYMENT_METHOD: paymentMethod(),
  WALLET: wallet,
  CAAS_BLOCKCHAIN: deposit,
} satisfies Record<NotificationKind, Field>;
