/**
 * The seven shapes, each field defined once, for the sender and for a receiver alike (see ./fields.ts for how).
 * Specification: Resources and their fields.
 */
import { deposit, wallet } from './custody-shapes.ts';
import type { Field } from './fields.ts';
import type { NotificationKind } from './notification-kinds.ts';
import { order, orderTracking } from './order-shapes.ts';
import { paymentMethod, refund } from './payment-shapes.ts';

/** Both shapes of every kind. */
export const SHAPES = {
  CAAS_BUY: order('BUY'),
  CAAS_SELL: order('SELL'),
  CAAS_ORDER_TRACKING: orderTracking,
  REFUND: refund(),
  PAYMENT_METHOD: paymentMethod(),
  WALLET: wallet,
  CAAS_BLOCKCHAIN: deposit,
} satisfies Record<NotificationKind, Field>;
