/** Refunds and payment methods. Specification: type = REFUND; type = PAYMENT_METHOD. */
import * as z from 'zod';
import { epochSeconds } from './envelope-fields.ts';
import { ERROR_CODE_FORM } from './error-codes.ts';
import { group, optionalInReading, requiredOneOf, requiredText, sometimesText, text } from './fields.ts';
import { withRules } from './rules.ts';
import { errorData, notification, providerId, transactionId } from './shape-parts.ts';
import { NOTIFIED_PAYMENT_METHOD_STATUSES, REFUND_STATUSES } from './statuses.ts';
import { groupWithHash } from './transaction-hash.ts';

const DECIMAL = z.string().regex(/^[0-9]+(\.[0-9]+)?$/);

export function refund() {
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
 * On a refund that worked, the sender may also leave errorData out: the specification does not call it nullable here.
 */
function errorDataOfRefund() {
  const { emitted, received } = errorData('Why the refund did not work.');
  return { emitted: emitted.optional(), received };
}

export function paymentMethod() {
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
