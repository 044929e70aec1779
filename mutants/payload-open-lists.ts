/** Mutants that reject unknown kinds, statuses, types or fields. */
import { ERROR_CODES, NOTIFICATION_TYPES, ORDER_STATUSES } from '../contract/index.ts';
import type { MistakeId } from '../contract/mistakes/index.ts';
import {
  all,
  any,
  type Condition,
  hasContainer,
  isContainer,
  isObject,
  refusing,
  throwAfter,
  where,
} from './careless-handling.ts';
import { family, type Row } from './family.ts';
import type { StageFault } from './fault.ts';

/** Makes rows that share a mistake. A row states what is rejected, and with which status. */
function rejects(mistake: MistakeId, own: Partial<StageFault> = {}) {
  return (title: string, such: Condition, status?: number): Row<StageFault> => {
    return [title, refusing(such, status), mistake, own];
  };
}

const rejectsKind = rejects('valid-kind-rejected');
const closesList = rejects('unknown-values-rejected', { forbidden: false });
const restrictsCodes = rejects('error-code-restricted');
const closesFields = rejects('unknown-fields-forbidden', { forbidden: false });

const STATUS = 'data.metadata.orderStatus';
const TRACKING_STATUS = 'data.metadata.providerTransactionStatus';

/** Matches if a field has a value outside a list. */
const outside = (path: string, list: readonly string[]) =>
  where(path, (value) => typeof value === 'string' && value !== '' && !list.includes(value));

const LISTED_CODES: readonly string[] = ERROR_CODES.map(({ code }) => code);

/** Matches if `such` returns true for the error code of a notification, in the field in which its type has one. */
const errorCode = (such: (code: string) => boolean) =>
  where(['data.errorData.code', 'data.errorCode'], (code) => typeof code === 'string' && code !== '' && such(code));

const unlistedCode = errorCode((code) => !LISTED_CODES.includes(code));

const ENVELOPE = ['id', 'type', 'at', 'data'];

const BLOCKCHAIN_DATA = [
  ...['targetWalletAddress', 'blockchainTransactionId', 'blockchainTransctionId', 'blockchainMemo'],
  ...['currency', 'chain', 'refundWalletAddress', 'sourceWalletAddress'],
];

const EVERY_FIELD = [
  ...ENVELOPE,
  ...BLOCKCHAIN_DATA,
  ...['providerId', 'transactionId', 'metadata', 'orderStatus', 'blockchainData', 'errorData', 'code', 'message'],
  ...['orderType', 'providerTransactionId', 'providerTransactionRef', 'providerTransactionStatus', 'errorCode'],
  ...['trackingStateDescription', 'status', 'amount', 'walletAddress', 'paymentMethodId', 'accountId', 'operation'],
  ...['customerId', 'assetId', 'partnerTransactionId', 'sourceAddress', 'destinationAddress', 'asset'],
];

/** Matches an object that has fields other than these. */
const hasOthers =
  (names: readonly string[]): Condition =>
  (value) =>
    isContainer(value) && !Object.keys(value).every((name) => names.includes(name));

export const payloadOpenListsFaults = family<StageFault>(
  { area: 'payload', stage: 'validate' },
  {
    // Mutants that accept some kinds of notification and reject others. The first of them have no handler for a kind.
    'refuses-refunds': rejectsKind('Rejects notifications of type REFUND', where('type', 'REFUND'), 404),
    'refuses-payment-methods': rejectsKind(
      'Rejects notifications of type PAYMENT_METHOD',
      where('type', 'PAYMENT_METHOD'),
      404,
    ),
    'refuses-wallets': rejectsKind('Rejects notifications of type WALLET', where('type', 'WALLET'), 404),
    'refuses-deposits': rejectsKind(
      'Rejects all or most notifications of type CAAS_BLOCKCHAIN',
      where('type', 'CAAS_BLOCKCHAIN'),
      404,
    ),
    'refuses-sells': rejectsKind('Rejects orders of type SELL', all(where('type', 'CAAS'), where('data.type', 'SELL'))),
    'reads-tracking-as-order': [
      'Reads the metadata of ORDER_TRACKING as that of an order and answers 500 to the missing status',
      throwAfter(
        'orderStatus is undefined',
        all(
          where('type', 'CAAS'),
          where(STATUS, (status) => typeof status !== 'string'),
        ),
      ),
      'one-shape-for-all-types',
    ],
    'requires-data-type': [
      'Rejects a notification without data.type, whatever its type',
      refusing(where('data.type', undefined)),
      'one-shape-for-all-types',
    ],
    'requires-transaction-id-everywhere': [
      'Rejects a notification without data.transactionId, whatever its type',
      refusing(where('data.transactionId', undefined), 422),
      'one-shape-for-all-types',
    ],
    'takes-only-caas': rejectsKind(
      'Rejects every type other than CAAS',
      where('type', (type) => type !== 'CAAS'),
    ),
    // Mutants that treat lists of values and fields as complete.
    'closes-the-list-of-types': closesList(
      'Rejects a notification of an unlisted type',
      outside('type', NOTIFICATION_TYPES),
    ),
    'closes-the-list-of-caas-types': closesList(
      'Rejects a CAAS notification whose data.type is not BUY, SELL or ORDER_TRACKING',
      all(where('type', 'CAAS'), outside('data.type', ['BUY', 'SELL', 'ORDER_TRACKING'])),
      422,
    ),
    'closes-the-list-of-order-statuses': closesList(
      'Rejects an order with an unlisted status',
      outside(STATUS, ORDER_STATUSES),
    ),
    'closes-the-list-of-deposit-statuses': closesList(
      'Rejects a deposit with any status other than COMPLETED',
      all(where('type', 'CAAS_BLOCKCHAIN'), outside('data.status', ['COMPLETED'])),
    ),
    'closes-the-list-of-tracking-statuses': closesList(
      'Rejects a tracking notification with an unlisted provider status',
      outside(TRACKING_STATUS, ['COMPLETED', 'EXPIRED']),
    ),
    'closes-the-list-of-wallet-operations': closesList(
      'Rejects a wallet notification with an operation other than WALLET_CREATED',
      outside('data.operation', ['WALLET_CREATED']),
    ),
    'closes-the-list-of-error-codes': restrictsCodes('Rejects a failure with an unlisted error code', unlistedCode),
    'closes-the-rarer-lists': closesList(
      'Rejects an unlisted status of a refund or payment method, or an unlisted data.type of a deposit',
      any(
        all(where('type', 'REFUND'), outside('data.status', ['SUCCESS', 'FAIL'])),
        all(where('type', 'PAYMENT_METHOD'), outside('data.status', ['STAGED', 'DECLINED'])),
        all(where('type', 'CAAS_BLOCKCHAIN'), outside('data.type', ['RECEIVE'])),
      ),
    ),
    'closes-the-list-of-refund-codes': restrictsCodes(
      'Rejects a failed refund with an unlisted error code',
      all(where('type', 'REFUND'), unlistedCode),
    ),
    'wants-codes-of-cards-from-their-group': restrictsCodes(
      'Rejects a declined payment method whose error code does not begin with 313',
      where('data.errorCode', /^(?!313-)[\s\S]/),
    ),
    'wants-three-digits-in-error-codes': [
      'Rejects an error code whose middle group does not have three digits',
      refusing(errorCode((code) => !/^\d{3}-\d{3}-[A-Z]\d$/.test(code))),
      'error-code-restricted',
      { note: 'The code for errors without a specific code has two digits there.' },
    ],
    'lacks-one-error-code': [
      'Rejects a failure with one of the listed error codes, which is missing from its own list',
      refusing(errorCode((code) => code === '207-002-S3')),
      'error-code-restricted',
      { note: 'Everything works until exactly that failure occurs, perhaps months later.' },
    ],
    'knows-error-codes-by-their-first-number': restrictsCodes(
      'Rejects an error code whose first number is not 204, 313 or 352',
      errorCode((code) => !/^(?:204|313|352|999)-/.test(code)),
    ),
    'lacks-status-blockchain-accepted': rejectsKind(
      'Rejects an order with status BLOCKCHAIN_ACCEPTED',
      where(STATUS, 'BLOCKCHAIN_ACCEPTED'),
      422,
    ),
    'lacks-status-pending': rejectsKind('Rejects an order with status PENDING', where(STATUS, 'PENDING')),
    'lacks-status-failed': rejectsKind('Rejects an order with status FAILED', where(STATUS, 'FAILED'), 422),
    'lacks-status-staged': rejectsKind('Rejects a payment method with status STAGED', where('data.status', 'STAGED')),
    'lacks-status-expired': rejectsKind(
      'Rejects a tracking notification with status EXPIRED',
      where(TRACKING_STATUS, 'EXPIRED'),
    ),
    'forbids-unknown-fields': closesFields(
      'Rejects unknown fields at any depth',
      hasContainer(all(isObject, hasOthers(EVERY_FIELD))),
    ),
    'forbids-unknown-fields-in-envelope': closesFields(
      'Rejects unknown fields in the envelope, next to id, type, at and data',
      hasOthers(ENVELOPE),
    ),
    'forbids-unknown-fields-in-blockchain-data': closesFields(
      'Rejects unknown fields in blockchainData',
      where('data.metadata.blockchainData', hasOthers(BLOCKCHAIN_DATA)),
    ),
    'forbids-unknown-fields-in-error-data': closesFields(
      'Rejects unknown fields in errorData',
      where('data.errorData', hasOthers(['code', 'message'])),
    ),
    'forbids-unknown-fields-in-wallets': closesFields(
      'Rejects unknown fields in the data of wallet notifications',
      all(where('type', 'WALLET'), where('data', hasOthers(EVERY_FIELD))),
    ),
  },
);
