/** What the operator has configured for one partner. Specification: What the service does; Authentication. */
import type { LookupFunction } from 'node:net';
import type { HeaderLine } from '../contract/index.ts';
import type { ControlKind, KnownSamples } from '../scenarios/index.ts';

/** A partner, as the sender core knows it. Whatever is absent is off. */
export interface Partner {
  /** The registered endpoint: http or https, with path and query. */
  readonly url: string;
  /** HMAC. `header` defaults to X-Service-Signature. */
  readonly signing?: { readonly secret: string; readonly header?: string };
  /** The API key. `header` defaults to X-API-Key. */
  readonly apiKey?: { readonly value: string; readonly header?: string };
  /** Custom headers, added to every delivery in this order. */
  readonly headers?: readonly HeaderLine[];
  /** PEM material: a client certificate with its key, and CAs to trust in addition to the default ones. */
  readonly tls?: {
    readonly clientCert?: string;
    readonly clientKey?: string;
    readonly passphrase?: string;
    readonly ca?: string;
  };
  /** The decimals of the assets that the receiver supports, for the checks of amounts. */
  readonly decimals?: Readonly<Record<string, number>>;
  /** Ids that the receiver looks up, and fields that it needs. Absent: it accepts any id. */
  readonly samples?: KnownSamples;
  /** What plain valid deliveries contain, where the endpoint rejects a completed BUY. A run finds it out. */
  readonly control?: ControlKind;
  /**
   * Where the host of the URL is, from {@link pinEndpoint}. Without it, the system's resolver is asked for each
   * connection.
   */
  readonly lookup?: LookupFunction;
}
