/**
 * Plain valid notifications of every kind and status, as JSON. Specification: Resources and their fields.
 *
 * Every call makes a new notification with an id of its own. What stands in them is recognisably a test's (`test-...`)
 * and comes from the run's seed, so a run can be repeated.
 */

import { randomUUID } from 'node:crypto';
import type {
  JsonObject,
  JsonValue,
  NotifiedPaymentMethodStatus,
  OrderStatus,
  RefundStatus,
  TrackingStatus,
} from '../contract/index.ts';
import type { Kit } from './scenario.ts';

/** A listed code of the general group, for samples in which any code will do. */
const SOME_CODE = '352-000-S1';

/** The time of the run as epoch seconds: `at` of CAAS, PAYMENT_METHOD and REFUND. */
export function epochSeconds(kit: Kit): number {
  return Math.floor(kit.now.getTime() / 1000);
}

/** The time of the run as ISO 8601 in UTC: `at` of WALLET and CAAS_BLOCKCHAIN. */
export function isoTime(kit: Kit): string {
  return kit.now.toISOString();
}

/** A new blockchain address. */
export function address(kit: Kit): string {
  return `0x${kit.bytes(20).toString('hex')}`;
}

/** A new blockchain transaction hash. */
export function hash(kit: Kit): string {
  return `0x${kit.bytes(32).toString('hex')}`;
}

/** A new identifier of something that belongs to the partner: `test-<what>-<letters and digits>`. */
export function reference(kit: Kit, what: string): string {
  return `test-${what}-${kit.nonce(12)}`;
}

/** An error object, as a failed order or refund carries it. */
export function errorData(code = SOME_CODE): JsonObject {
  return { code, message: `Sent by a test with the code ${code}.` };
}

function envelope(kit: Kit, type: string, at: JsonValue, data: JsonObject): JsonObject {
  return { id: kit.newId(), type, at, data };
}

/** What an order can differ in from the sample. */
export interface OrderDetails {
  readonly transactionId?: string;
  /** The code of `errorData`; a FAILED order has one without being asked. */
  readonly code?: string;
  /** The transaction hash; without it the order has one once it is on the blockchain and done. */
  readonly hash?: string;
}

const WITH_HASH: ReadonlySet<string> = new Set(['CONFIRMED', 'COMPLETED']);

/** `CAAS` of a buy or a sell at an order status. */
export function order(
  kit: Kit,
  type: 'BUY' | 'SELL',
  orderStatus: OrderStatus,
  details: OrderDetails = {},
): JsonObject {
  const chainHash = details.hash ?? (WITH_HASH.has(orderStatus) ? hash(kit) : '');
  const failed = orderStatus === 'FAILED' || details.code !== undefined;
  return envelope(kit, 'CAAS', epochSeconds(kit), {
    type,
    providerId: 'test-provider',
    transactionId: details.transactionId ?? reference(kit, 'transaction'),
    metadata: {
      orderStatus,
      blockchainData: {
        targetWalletAddress: address(kit),
        blockchainTransactionId: chainHash,
        blockchainMemo: 'test memo',
        currency: 'ETH',
        chain: 'ETHEREUM',
        refundWalletAddress: address(kit),
        sourceWalletAddress: address(kit),
      },
    },
    errorData: failed ? errorData(details.code) : null,
  });
}

/** The plain valid notification that every control sends: a buy that is done. */
export function plainNotification(kit: Kit): JsonObject {
  return order(kit, 'BUY', 'COMPLETED');
}

/** `CAAS` of the physical cash step. `description` is the free text. */
export function tracking(
  kit: Kit,
  orderType: 'BUY' | 'SELL',
  status: TrackingStatus,
  description = 'The cash step at the kiosk was reported by a test.',
): JsonObject {
  return envelope(kit, 'CAAS', epochSeconds(kit), {
    type: 'ORDER_TRACKING',
    providerId: 'test-provider',
    transactionId: reference(kit, 'transaction'),
    metadata: {
      orderType,
      providerTransactionId: reference(kit, 'provider'),
      providerTransactionRef: kit.nonce(8),
      providerTransactionStatus: status,
      trackingStateDescription: description,
    },
    errorData: null,
  });
}

/** `REFUND` after an external sell: with the hash when it worked, with the error when it did not. */
export function refund(kit: Kit, status: RefundStatus, details: OrderDetails = {}): JsonObject {
  const done = status === 'SUCCESS';
  return envelope(kit, 'REFUND', epochSeconds(kit), {
    providerId: 'test-provider',
    transactionId: details.transactionId ?? reference(kit, 'transaction'),
    status,
    metadata: {
      ...(done ? { blockchainTransactionId: hash(kit) } : {}),
      amount: '0.125',
      currency: 'ETH',
      walletAddress: address(kit),
    },
    errorData: done ? null : errorData(details.code),
  });
}

/** `PAYMENT_METHOD`: with the error code when it was declined. */
export function paymentMethod(
  kit: Kit,
  status: NotifiedPaymentMethodStatus,
  details: { readonly paymentMethodId?: string; readonly accountId?: string; readonly code?: string } = {},
): JsonObject {
  return envelope(kit, 'PAYMENT_METHOD', epochSeconds(kit), {
    status,
    paymentMethodId: details.paymentMethodId ?? reference(kit, 'card'),
    accountId: details.accountId ?? reference(kit, 'customer'),
    ...(status === 'DECLINED' ? { errorCode: details.code ?? '313-701-S1' } : {}),
  });
}

/** `WALLET`: a custodial wallet was created. */
export function wallet(
  kit: Kit,
  customerId = reference(kit, 'customer'),
  assetId = 'ETH',
  chain = 'ETHEREUM',
): JsonObject {
  return envelope(kit, 'WALLET', isoTime(kit), {
    operation: 'WALLET_CREATED',
    customerId,
    walletAddress: address(kit),
    assetId,
    chain,
  });
}

/**
 * `CAAS_BLOCKCHAIN`: a confirmed deposit. `hashes` are the members that carry the transaction hash: none for the
 * custodial ledger.
 */
export function deposit(kit: Kit, hashes: JsonObject = { blockchainTransactionId: hash(kit) }): JsonObject {
  return envelope(kit, 'CAAS_BLOCKCHAIN', isoTime(kit), {
    type: 'RECEIVE',
    status: 'COMPLETED',
    partnerTransactionId: reference(kit, 'deposit'),
    customerId: reference(kit, 'customer'),
    metadata: {
      sourceAddress: address(kit),
      destinationAddress: address(kit),
      asset: { amount: '125000000000000000', currency: 'ETH' },
      ...hashes,
    },
  });
}

/** Every id of a test notification starts with this, so that a partner can find and purge them. */
export const TEST_ID_PREFIX = '7e57ca5e';

/** A new notification id (UUID) that can be told from real ones. */
export function newTestId(): string {
  return `${TEST_ID_PREFIX}${randomUUID().slice(8)}`;
}
