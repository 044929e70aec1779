/**
 * Creates valid notifications of every type and status, as JSON. Specification: Resources and their fields.
 *
 * Every call creates a notification with a new id. All other values come from the seed of the run, so a run can be
 * repeated. They are recognisable as test data (`test-...`).
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
import type { Kit, SampleKind } from './scenario.ts';

/** A listed code, for samples that may have any code. */
const SOME_CODE = '352-000-S1';

/** Returns the time of the run in epoch seconds, the format of `at` in CAAS, PAYMENT_METHOD and REFUND. */
export function epochSeconds(kit: Kit): number {
  return Math.floor(kit.now.getTime() / 1000);
}

/** Returns the time of the run in ISO 8601 and UTC, the format of `at` in WALLET and CAAS_BLOCKCHAIN. */
export function isoTime(kit: Kit): string {
  return kit.now.toISOString();
}

/** Creates a blockchain address. */
export function address(kit: Kit): string {
  return `0x${kit.bytes(20).toString('hex')}`;
}

/** Creates a blockchain transaction hash. */
export function hash(kit: Kit): string {
  return `0x${kit.bytes(32).toString('hex')}`;
}

const WORDS: Readonly<Record<SampleKind, string>> = {
  transaction: 'transaction',
  customer: 'customer',
  account: 'customer',
  'payment-method': 'card',
  provider: 'provider',
};

/** Fields of `data` that contain ids, and the kind of each id. */
export const ID_FIELDS: Readonly<Record<string, SampleKind>> = {
  transactionId: 'transaction',
  partnerTransactionId: 'transaction',
  customerId: 'customer',
  accountId: 'account',
  paymentMethodId: 'payment-method',
  providerId: 'provider',
};

/** Returns a configured id that the partner knows, or a new id if none is configured. */
export function knownId(kit: Kit, kind: SampleKind): string {
  return kit.knownId?.(kind, false) ?? reference(kit, WORDS[kind]);
}

/** Like {@link knownId}, but the id is used by no other scenario. See `owns`. */
export function ownId(kit: Kit, kind: SampleKind): string {
  return kit.knownId?.(kind, true) ?? reference(kit, WORDS[kind]);
}

/** Creates an identifier that no partner knows: `test-<what>-<letters and digits>`. */
export function reference(kit: Kit, what: string): string {
  return `test-${what}-${kit.nonce(12)}`;
}

/** Creates the error object of a failed order or refund. */
export function errorData(code = SOME_CODE): JsonObject {
  return { code, message: `Sent by a test with the code ${code}.` };
}

function envelope(kit: Kit, type: string, at: JsonValue, data: JsonObject): JsonObject {
  const notification = { id: kit.newId(), type, at, data };
  return (kit.fields ?? []).reduce<JsonObject>(
    (whole, [path, value]) => withValueAt(whole, path.split('.'), value),
    notification,
  );
}

/** Returns the value at a path of a notification. Undefined if there is none. */
export function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, name) => {
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return isObject ? (inner as JsonObject)[name] : undefined;
  }, value);
}

/** Copies an object and sets the value at the path. Missing objects on the path are created. */
export function withValueAt(object: JsonObject, [key = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  const inner = object[key];
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  const next = rest.length === 0 ? value : withValueAt(isObject ? (inner as JsonObject) : {}, rest, value);
  return { ...object, [key]: next };
}

/** How an order or refund differs from the sample. */
export interface OrderDetails {
  readonly transactionId?: string;
  /** The code of `errorData`. Default: only a FAILED order has one. */
  readonly code?: string;
  /** The transaction hash. Default: only confirmed and completed orders have one. */
  readonly hash?: string;
}

const WITH_HASH: ReadonlySet<string> = new Set(['CONFIRMED', 'COMPLETED']);

/** Creates `CAAS` with a BUY or SELL order. */
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
    providerId: kit.knownId?.('provider', false) ?? 'test-provider',
    transactionId: details.transactionId ?? knownId(kit, 'transaction'),
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

/** Creates `CAAS` with ORDER_TRACKING, the physical cash step. `description` is free text. */
export function tracking(
  kit: Kit,
  orderType: 'BUY' | 'SELL',
  status: TrackingStatus,
  description = 'The cash step at the kiosk was reported by a test.',
): JsonObject {
  return envelope(kit, 'CAAS', epochSeconds(kit), {
    type: 'ORDER_TRACKING',
    providerId: kit.knownId?.('provider', false) ?? 'test-provider',
    transactionId: knownId(kit, 'transaction'),
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

/** Creates `REFUND` after an external sell. A SUCCESS contains the hash, a FAIL the error. */
export function refund(kit: Kit, status: RefundStatus, details: OrderDetails = {}): JsonObject {
  const done = status === 'SUCCESS';
  return envelope(kit, 'REFUND', epochSeconds(kit), {
    providerId: kit.knownId?.('provider', false) ?? 'test-provider',
    transactionId: details.transactionId ?? knownId(kit, 'transaction'),
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

/** Creates `PAYMENT_METHOD`. DECLINED contains the error code. */
export function paymentMethod(
  kit: Kit,
  status: NotifiedPaymentMethodStatus,
  details: { readonly paymentMethodId?: string; readonly accountId?: string; readonly code?: string } = {},
): JsonObject {
  return envelope(kit, 'PAYMENT_METHOD', epochSeconds(kit), {
    status,
    paymentMethodId: details.paymentMethodId ?? knownId(kit, 'payment-method'),
    accountId: details.accountId ?? knownId(kit, 'account'),
    ...(status === 'DECLINED' ? { errorCode: details.code ?? '313-701-S1' } : {}),
  });
}

/** Creates `WALLET` for a new custodial wallet. */
export function wallet(
  kit: Kit,
  customerId = knownId(kit, 'customer'),
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
 * Creates `CAAS_BLOCKCHAIN`, a confirmed deposit. `hashes` contains its hash members; a deposit within the custodial
 * ledger has none.
 */
export function deposit(kit: Kit, hashes: JsonObject = { blockchainTransactionId: hash(kit) }): JsonObject {
  return envelope(kit, 'CAAS_BLOCKCHAIN', isoTime(kit), {
    type: 'RECEIVE',
    status: 'COMPLETED',
    partnerTransactionId: kit.knownId?.('transaction', false) ?? reference(kit, 'deposit'),
    customerId: knownId(kit, 'customer'),
    metadata: {
      sourceAddress: address(kit),
      destinationAddress: address(kit),
      asset: { amount: '125000000000000000', currency: 'ETH' },
      ...hashes,
    },
  });
}

/**
 * The notifications that the plain valid delivery may contain. The first is the default; the others are for an endpoint
 * that rejects it.
 */
export const CONTROLS = {
  'BUY COMPLETED': (kit: Kit) => order(kit, 'BUY', 'COMPLETED'),
  'BUY CONFIRMED': (kit: Kit) => order(kit, 'BUY', 'CONFIRMED'),
  'BUY CREATED': (kit: Kit) => order(kit, 'BUY', 'CREATED'),
  WALLET: (kit: Kit) => wallet(kit),
  REFUND: (kit: Kit) => refund(kit, 'SUCCESS'),
} as const;

export type ControlKind = keyof typeof CONTROLS;

/** Creates the plain valid notification, which every control sends: a completed BUY, unless the endpoint rejects it. */
export function plainNotification(kit: Kit, kind: ControlKind = 'BUY COMPLETED'): JsonObject {
  return CONTROLS[kind](kit);
}

/** The prefix of the id of every test notification, by which a partner can find and delete them. */
export const TEST_ID_PREFIX = '7e57ca5e';

/** Creates a notification id (UUID) that can be distinguished from real ones. */
export function newTestId(): string {
  return `${TEST_ID_PREFIX}${randomUUID().slice(8)}`;
}
