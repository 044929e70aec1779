/** Strict schemas of the notifications that the sender emits. Specification: Resources and their fields. */
import * as z from 'zod';
import { findKind, type NotificationKind } from './kinds.ts';
import { SHAPES } from './shapes.ts';

export type BuyNotification = z.infer<(typeof SHAPES)['CAAS_BUY']['emitted']>;
export type SellNotification = z.infer<(typeof SHAPES)['CAAS_SELL']['emitted']>;
export type OrderTrackingNotification = z.infer<(typeof SHAPES)['CAAS_ORDER_TRACKING']['emitted']>;
export type RefundNotification = z.infer<(typeof SHAPES)['REFUND']['emitted']>;
export type PaymentMethodNotification = z.infer<(typeof SHAPES)['PAYMENT_METHOD']['emitted']>;
export type WalletNotification = z.infer<(typeof SHAPES)['WALLET']['emitted']>;
export type DepositNotification = z.infer<(typeof SHAPES)['CAAS_BLOCKCHAIN']['emitted']>;

const { CAAS_BUY, CAAS_SELL, CAAS_ORDER_TRACKING } = SHAPES;

/** The three kinds of CAAS share their envelope and differ in `data.type`. */
const caas = CAAS_BUY.emitted.extend({
  data: z.discriminatedUnion('type', [
    CAAS_BUY.emitted.shape.data,
    CAAS_SELL.emitted.shape.data,
    CAAS_ORDER_TRACKING.emitted.shape.data,
  ]),
});

const anyNotification = z.discriminatedUnion('type', [
  caas,
  SHAPES.REFUND.emitted,
  SHAPES.PAYMENT_METHOD.emitted,
  SHAPES.WALLET.emitted,
  SHAPES.CAAS_BLOCKCHAIN.emitted,
]);

/** Any notification that the sender emits. */
export type Notification =
  | BuyNotification
  | SellNotification
  | OrderTrackingNotification
  | RefundNotification
  | PaymentMethodNotification
  | WalletNotification
  | DepositNotification;

/**
 * The strict schema: no unknown fields, only listed values, a UUID as `id`, `at` in the form of the type, and the rules
 * between fields (errorData only on a failure, the hash only on a successful refund, errorCode only on DECLINED).
 */
export const emittedNotification: z.ZodType<Notification> = anyNotification as z.ZodType<Notification>;

/** Returns the kind of a notification that the sender emits. */
export function kindOf(notification: Notification): NotificationKind {
  const kind = findKind(notification.type, 'type' in notification.data ? notification.data.type : undefined);
  if (kind === undefined) throw new TypeError(`no kind has the type ${notification.type}`);
  return kind;
}
