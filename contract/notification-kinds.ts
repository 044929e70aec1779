/**
 * The types of the envelope and the kinds of notification. Specification: Notification envelope; Events.
 *
 * `type` is what stands in the envelope. A *kind* is finer: it is `type`, and for CAAS also `data.type`, so that each
 * kind has one fixed shape of `data`.
 */

/** Every value of `type`. */
export const NOTIFICATION_TYPES = ['CAAS', 'PAYMENT_METHOD', 'REFUND', 'CAAS_BLOCKCHAIN', 'WALLET'] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

/** Every kind of notification. */
export const NOTIFICATION_KINDS = [
  'CAAS_BUY',
  'CAAS_SELL',
  'CAAS_ORDER_TRACKING',
  'REFUND',
  'PAYMENT_METHOD',
  'WALLET',
  'CAAS_BLOCKCHAIN',
] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

const KIND_BY_TYPE: ReadonlyMap<string, NotificationKind> = new Map([
  ['REFUND', 'REFUND'],
  ['PAYMENT_METHOD', 'PAYMENT_METHOD'],
  ['WALLET', 'WALLET'],
  ['CAAS_BLOCKCHAIN', 'CAAS_BLOCKCHAIN'],
]);

const KIND_BY_CAAS_TYPE: ReadonlyMap<unknown, NotificationKind> = new Map([
  ['BUY', 'CAAS_BUY'],
  ['SELL', 'CAAS_SELL'],
  ['ORDER_TRACKING', 'CAAS_ORDER_TRACKING'],
]);

/** The kind that belongs to `type` and `data.type` (which matters for CAAS only), or undefined when there is none. */
export function findKind(type: string, dataType: unknown): NotificationKind | undefined {
  return type === 'CAAS' ? KIND_BY_CAAS_TYPE.get(dataType) : KIND_BY_TYPE.get(type);
}
