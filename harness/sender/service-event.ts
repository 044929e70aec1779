/**
 * The events of the service that partners may be notified of. {@link notificationsFor} decides which notifications an
 * event leads to, if any. Specification: States and transitions; Events.
 */

import type {
  BuyNotification,
  DepositStatus,
  OrderStatus,
  PaymentMethodStatus,
  TrackingStatus,
} from '../../contract/index.ts';

export type OrderType = 'BUY' | 'SELL';

/** What is currently known about the transfer on the blockchain. */
export type BlockchainData = BuyNotification['data']['metadata']['blockchainData'];

export interface ErrorDetails {
  readonly code: string;
  readonly message: string;
}

interface OrderEvent {
  readonly orderType: OrderType;
  readonly providerId: string;
  /** The partner's own id of the transaction. */
  readonly transactionId: string;
  readonly blockchainData: BlockchainData;
}

/**
 * The status of an order changed. Acceptance by the blockchain and failure are separate events, because they carry more
 * data.
 */
export interface OrderStatusChanged extends OrderEvent {
  readonly event: 'order-status-changed';
  readonly status: Exclude<OrderStatus, 'BLOCKCHAIN_ACCEPTED' | 'FAILED'>;
}

/**
 * The transfer of an order was sent on the blockchain. The event is raised once the hash is known, so that the
 * acceptance without a hash is always followed by the notification with the hash.
 */
export interface OrderAcceptedByBlockchain extends OrderEvent {
  readonly event: 'order-accepted-by-blockchain';
  readonly blockchainTransactionId: string;
}

/** The outcome of a refund. */
export type RefundOutcome =
  | {
      readonly status: 'SUCCESS';
      readonly blockchainTransactionId: string;
      /** Decimal text. */
      readonly amount: string;
      readonly currency: string;
    }
  | { readonly status: 'FAIL'; readonly amount: string; readonly currency: string; readonly error: ErrorDetails };

/** An order failed. */
export interface OrderFailed extends OrderEvent {
  readonly event: 'order-failed';
  readonly error: ErrorDetails;
  /** For a sell from an external wallet only. */
  readonly externalSell?: {
    /** Whether the crypto was received from the external wallet. */
    readonly cryptoReceived: boolean;
    /** The refund wallet given when the sell was started, if any. */
    readonly refundWalletAddress?: string;
    /** Present exactly when the crypto was received and a refund wallet was given. */
    readonly refund?: RefundOutcome;
  };
}

/** A payment provider reported the outcome of a step of an order. */
export interface OrderTrackingReported {
  readonly event: 'order-tracking-reported';
  readonly orderType: OrderType;
  readonly providerId: string;
  readonly transactionId: string;
  /** Whether the provider sends the user to a physical site, such as an ATM or a kiosk. */
  readonly physicalSite: boolean;
  readonly providerTransactionId: string;
  readonly providerTransactionRef: string;
  readonly status: TrackingStatus;
  readonly description: string;
}

/** The status of a payment method changed. */
export interface PaymentMethodStatusChanged {
  readonly event: 'payment-method-status-changed';
  readonly status: PaymentMethodStatus;
  readonly paymentMethodId: string;
  /** The customer. */
  readonly accountId: string;
  /** Why the payment method was declined; ignored for other statuses. */
  readonly errorCode?: string;
}

/** A customer was created through customer onboarding, together with their custodial wallets. */
export interface CustomerOnboarded {
  readonly event: 'customer-onboarded';
  readonly customerId: string;
  /** Whether custodial wallets are switched on for the partner. */
  readonly walletFeature: boolean;
  readonly wallets: readonly { readonly walletAddress: string; readonly assetId: string; readonly chain: string }[];
}

/** A deposit into a custodial wallet was confirmed. */
export interface DepositConfirmed {
  readonly event: 'deposit-confirmed';
  readonly status: DepositStatus;
  readonly partnerTransactionId: string;
  readonly customerId: string;
  readonly sourceAddress: string;
  readonly destinationAddress: string;
  /** `amount` is in atomic units. */
  readonly asset: { readonly amount: string; readonly currency: string };
  /** Where the deposit was made. A deposit on a blockchain has a hash; one in the custodial ledger may lack it. */
  readonly via:
    | { readonly ledger: 'blockchain'; readonly blockchainTransactionId: string }
    | { readonly ledger: 'custodial'; readonly blockchainTransactionId?: string };
}

export type ServiceEvent =
  | OrderStatusChanged
  | OrderAcceptedByBlockchain
  | OrderFailed
  | OrderTrackingReported
  | PaymentMethodStatusChanged
  | CustomerOnboarded
  | DepositConfirmed;
