export { EFFECT_DECIMALS, toAtomicAmount, toDisplayAmount } from './amounts.ts';
export {
  CONTENT_TYPE,
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  headerValues,
  LIMITS,
  RESERVED_HEADERS,
  sameHeaderName,
  TOKEN,
} from './delivery.ts';
export {
  type BuyNotification,
  type DepositNotification,
  emittedNotification,
  kindOf,
  type Notification,
  type OrderTrackingNotification,
  type PaymentMethodNotification,
  type RefundNotification,
  type SellNotification,
  type WalletNotification,
} from './emitted-notification.ts';
export {
  ERROR_CODE_GROUPS,
  ERROR_CODES,
  type ErrorCode,
  type ErrorCodeGroup,
  findErrorCode,
  isErrorCodeShaped,
} from './error-codes.ts';
export type { ForwardedAnswer, ForwardedExchange } from './forwarded-exchange.ts';
export { type ErrorKind, HookproofError } from './hookproof-error.ts';
export { type JsonObject, type JsonSchemas, type JsonValue, jsonSchemas, leavesOf } from './json.ts';
export {
  DEPOSIT_STATUS_MEANINGS,
  DEPOSIT_STATUSES,
  type DepositStatus,
  NOTIFICATION_KINDS,
  NOTIFICATION_TYPES,
  NOTIFIED_PAYMENT_METHOD_STATUSES,
  type NotificationKind,
  type NotificationType,
  type NotifiedPaymentMethodStatus,
  ORDER_STATUS_MEANINGS,
  ORDER_STATUSES,
  type OrderStatus,
  PAYMENT_METHOD_STATUS_MEANINGS,
  PAYMENT_METHOD_STATUSES,
  type PaymentMethodStatus,
  REFUND_STATUS_MEANINGS,
  REFUND_STATUSES,
  type RefundStatus,
  TRACKING_STATUS_MEANINGS,
  TRACKING_STATUSES,
  type TrackingStatus,
} from './kinds.ts';
export {
  type Reading,
  type ReceivedKind,
  type ReceivedNotification,
  type ReceivedOf,
  readNotification,
} from './read-notification.ts';
export {
  effectsServerOf,
  filesOf,
  fixSources,
  type Recipe,
  recipeInScheme,
  recipeOf,
  SCHEME_RECIPES,
  STACKS,
  type Stack,
  titleOfStack,
} from './stacks.ts';
export {
  CHAIN_FAULTS,
  type ChainFaultCode,
  EXPIRY_WARNING_DAYS,
  type OfferedTlsVersion,
  TLS_VERSIONS,
  type TlsVersion,
  tlsVersionName,
} from './tls.ts';
