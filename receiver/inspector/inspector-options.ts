import type { DeliveryObserver } from '../delivery-report.ts';
import type { ReceiverOptions } from '../options.ts';

export interface InspectorOptions {
  /** The address to listen on. 127.0.0.1 by default. On any other than a loopback address the page needs the token in its URL. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** As the receiver has it: to say why a signature does not match, and to mask the secrets by value. They are kept in memory only. */
  readonly signing?: ReceiverOptions['signing'];
  /** As the receiver has it. */
  readonly apiKey?: ReceiverOptions['apiKey'];
  /** How many deliveries are kept: 500 by default. The oldest go first. */
  readonly maxDeliveries?: number;
  /** How much memory they may take, in bytes: 32 MiB by default. The oldest go first. */
  readonly maxBytes?: number;
  /** Where deliveries are to be sent, for the page that has none to show yet. */
  readonly receiverUrl?: () => string | undefined;
}

export interface RunningInspector {
  /** The page. Holds the token where one is required. */
  readonly url: string;
  readonly port: number;
  /** Takes what came of a delivery. Quick, and never throws. */
  readonly observe: DeliveryObserver;
  /** Ends every stream and stops listening. */
  close(): Promise<void>;
}
