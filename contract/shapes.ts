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

const providerId = text('Identifier of the payment provider, assigned by the operator.');
const transactionId = requiredText(
  "The partner's own identifier of the transaction, from the request that created it.",
);

/** Defines the error details, which the sender fills in only on a failure. A receiver requires none of these fields. */
function errorData(description: string) {
  const { emitted, received } = optionalInReading(
    group(
      {
        code: text(
          'The error code. The listed codes are examples: others may follow.',
          z.string().regex(ERROR_CODE_FORM),
        ),
        message: text('Description of the error.'),
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
      targetWalletAddress: sometimesText('Address of the wallet that receives the crypto.'),
      blockchainMemo: sometimesText('Memo or tag of the transfer.'),
      currency: sometimesText('Symbol of the currency.'),
      chain: sometimesText('Blockchain network.'),
      refundWalletAddress: sometimesText('Address of the wallet that would receive a refund.'),
      sourceWalletAddress: sometimesText('Address of the wallet that sends the crypto.'),
    },
    'The transfer on the blockchain. The specification does not state which fields have a value at which order status.',
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
        { orderStatus: requiredOneOf(ORDER_STATUSES, 'Status of the order. Other values may follow.'), blockchainData },
        'The state of the order.',
      ),
      errorData: errorData('Why the order failed. Null unless it failed.'),
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
          orderType: oneOf(['BUY', 'SELL'], 'Type of the tracked order.'),
          providerTransactionId: text("The payment provider's identifier of the transaction."),
          providerTransactionRef: text('The reference that the user presents at the physical site.'),
          providerTransactionStatus: requiredOneOf(TRACKING_STATUSES, 'Result of the step at the physical site.'),
          trackingStateDescription: text('State of the tracking, as free text.', z.string()),
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
      status: requiredOneOf(REFUND_STATUSES, 'Whether the refund succeeded.'),
      metadata: optionalInReading(
        groupWithHash(
          {
            amount: text('The refunded amount, as decimal text.', DECIMAL),
            currency: text('Symbol of the currency.'),
            walletAddress: text('Address of the wallet that received the refund.'),
          },
          'The refund.',
          'Hash of the refund on the blockchain. It has a value when the refund succeeded.',
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
 * Defines the error details of a refund. The sender may also omit them on a successful refund, because the
 * specification does not call them nullable there.
 */
function errorDataOfRefund() {
  const { emitted, received } = errorData('Why the refund failed.');
  return { emitted: emitted.optional(), received };
}

function paymentMethod() {
  const { emitted, received } = group(
    {
      status: requiredOneOf(NOTIFIED_PAYMENT_METHOD_STATUSES, 'New status of the payment method.'),
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
      operation: oneOf(['WALLET_CREATED'], 'What happened to the wallet. Other values may follow.'),
      customerId: requiredText('The customer who owns the wallet.'),
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
      status: requiredOneOf(DEPOSIT_STATUSES, 'Status of the deposit. Other values may follow.'),
      partnerTransactionId: requiredText('The partner-level identifier of the deposit.'),
      customerId: text('The customer who owns the wallet.'),
      metadata: groupWithHash(
        {
          sourceAddress: text('Address from which the funds were sent, on a blockchain or custodial.'),
          destinationAddress: text('Address of the custodial wallet that received the funds.'),
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
