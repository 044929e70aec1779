/** Converts a notification to the values that the effects window reports, and creates handlers that record them. */
import type { EffectValues } from '../../contract/effects.ts';
import {
  EFFECT_DECIMALS,
  type JsonObject,
  type JsonValue,
  NOTIFICATION_KINDS,
  type ReceivedKind,
  type ReceivedNotification,
  toDisplayAmount,
} from '../../contract/index.ts';
import type { Handler, HandlerContext, Handlers } from '../handling/handlers.ts';
import { orderStep } from '../inbox/inbox-row.ts';
import type { Effect, EffectsRecord } from './effects-record.ts';

/** Number of decimals of each asset, by symbol: whole numbers from 0 to 255. */
export type Decimals = Readonly<Record<string, number>>;

/**
 * Maximum number of digits of an amount. Real amounts are far shorter, and longer ones would take too long to convert.
 */
const MAX_DIGITS = 1000;

/**
 * Returns the effect that handling a notification records. An amount is omitted when the decimals of its asset are
 * unknown.
 *
 * @throws HookproofError PRECISION_INVALID
 */
export function effectOf(notification: ReceivedNotification, decimals: Decimals = EFFECT_DECIMALS): Effect {
  const step = orderStep(notification);
  return {
    handled: { notification: notification.id, ...valuesOf(notification, decimals) },
    place: { rank: step?.rank ?? 0, at: notification.at?.getTime() ?? 0 },
  };
}

function valuesOf(notification: ReceivedNotification, decimals: Decimals): EffectValues {
  switch (notification.kind) {
    case 'CAAS_BUY':
    case 'CAAS_SELL': {
      const { transactionId: transaction, metadata, errorData } = notification.data;
      return {
        kind: notification.kind,
        status: metadata.orderStatus,
        transaction,
        hash: metadata.blockchainData?.blockchainTransactionId ?? null,
        currency: metadata.blockchainData?.currency ?? null,
        errorCode: errorData?.code ?? null,
      };
    }
    case 'CAAS_ORDER_TRACKING': {
      const { transactionId: transaction, metadata, errorData } = notification.data;
      const { providerTransactionStatus: status } = metadata;
      return { kind: notification.kind, status, transaction, errorCode: errorData?.code ?? null };
    }
    case 'REFUND': {
      const { transactionId: transaction, status, metadata, errorData } = notification.data;
      return {
        kind: notification.kind,
        status,
        transaction,
        hash: metadata?.blockchainTransactionId ?? null,
        amount: metadata?.amount ?? null,
        currency: metadata?.currency ?? null,
        errorCode: errorData?.code ?? null,
      };
    }
    case 'PAYMENT_METHOD': {
      const { status, paymentMethodId: paymentMethod, accountId: customer, errorCode } = notification.data;
      return { kind: notification.kind, status, customer, paymentMethod, errorCode };
    }
    case 'WALLET': {
      const { customerId: customer, walletAddress: address, assetId: currency } = notification.data;
      return { kind: notification.kind, customer, address, currency };
    }
    case 'CAAS_BLOCKCHAIN': {
      const { status, partnerTransactionId: transaction, customerId: customer, metadata } = notification.data;
      const { blockchainTransactionId: hash, asset } = metadata;
      const amount = displayAmount(asset.amount, asset.currency, decimals);
      const { currency } = asset;
      return { kind: notification.kind, status, transaction, customer, hash, currency, ...amount };
    }
    case 'UNKNOWN':
      return unknownValues(notification.type, notification.data);
  }
}

function displayAmount(atomic: string, currency: string, decimals: Decimals): { amount?: string } {
  const precision = Object.hasOwn(decimals, currency) ? decimals[currency] : undefined;
  if (precision === undefined || atomic.length > MAX_DIGITS || !/^[0-9]+$/.test(atomic)) return {};
  return { amount: toDisplayAmount(atomic, precision) };
}

/**
 * Reads the values of a notification of an unknown type from the fields where other types have them. Amounts are
 * omitted, because their units are unknown.
 */
function unknownValues(type: string, data: JsonObject): EffectValues {
  const metadata = objectAt(data, 'metadata');
  const chain = objectAt(metadata, 'blockchainData');
  const found: { [K in keyof EffectValues]: string | undefined } = {
    kind: type === 'CAAS' && typeof data.type === 'string' ? `CAAS_${data.type}` : type,
    status: firstText(metadata.orderStatus, metadata.providerTransactionStatus, data.status),
    transaction: firstText(data.transactionId, data.partnerTransactionId),
    customer: firstText(data.customerId, data.accountId),
    paymentMethod: firstText(data.paymentMethodId),
    address: firstText(data.walletAddress),
    hash: firstText(
      ...[chain, metadata, data].flatMap((part) => [part.blockchainTransactionId, part.blockchainTransctionId]),
    ),
    currency: firstText(chain.currency, objectAt(metadata, 'asset').currency, metadata.currency, data.assetId),
    errorCode: firstText(objectAt(data, 'errorData').code, data.errorCode),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function firstText(...values: (JsonValue | undefined)[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

const HANDLED = [...NOTIFICATION_KINDS, 'UNKNOWN', 'SUPERSEDED'] as const;

type AnyHandler = (notification: ReceivedNotification, context: HandlerContext) => Promise<void> | void;

/** Creates a handler for every kind, and for order statuses that arrive too late. */
export function handlersOfEveryKind(handlerFor: (kind: (typeof HANDLED)[number]) => AnyHandler): Handlers {
  return Object.fromEntries(HANDLED.map((kind) => [kind, handlerFor(kind)]));
}

/**
 * Creates handlers for every kind that record each handling. A handler in `handlers` runs before the recording. An id
 * that is recorded twice counts once, for example when a notification is handled again after a crash.
 *
 * @throws HookproofError PRECISION_INVALID
 */
export function effectHandlers(
  record: Pick<EffectsRecord, 'apply'>,
  options: { readonly decimals?: Decimals; readonly handlers?: Handlers } = {},
): Handlers {
  const { decimals = EFFECT_DECIMALS, handlers = {} } = options;
  for (const precision of Object.values(decimals)) toDisplayAmount('0', precision);
  return handlersOfEveryKind((kind) => {
    const given = handlers[kind] as Handler<ReceivedKind> | undefined;
    return async (notification, context) => {
      await given?.(notification, context);
      await record.apply(effectOf(notification, decimals), context.idempotencyKey);
    };
  });
}
