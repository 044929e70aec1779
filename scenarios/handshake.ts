/**
 * Describes TLS scenarios: a ClientHello that differs from the sender's in one point, and how the endpoint may respond.
 */
import type { ChainFaultCode, TlsVersion } from '../contract/index.ts';

/** Groups of cipher suites by strength or weakness. */
export type SuiteGroup =
  | 'modern'
  | 'tls13'
  | 'legacy'
  | 'cbc'
  | 'rc4'
  | '3des'
  | 'null'
  | 'export'
  | 'anonymous'
  | 'static-rsa';

/** What a ClientHello offers. The handshake is never completed. */
export interface HelloOffer {
  /** The highest version that is offered. TLS 1.3 is offered alone. */
  readonly version: TlsVersion;
  readonly suites: readonly SuiteGroup[];
  /** Offers DEFLATE in addition to no compression. */
  readonly compression?: true;
  /**
   * If set, checks whether the endpoint requests a client certificate. `granted` then means that it requests one, and
   * `declined` that the server's flight ends without a request. With `of-private-authority`, a list that contains a
   * public CA is `declined`, and everything else is `granted`.
   */
  readonly clientCertificate?: true | 'of-private-authority';
  /** The protocols that are offered (ALPN). Default: ALPN is not offered. */
  readonly alpn?: readonly string[];
}

/**
 * How an endpoint can respond to an offer.
 *
 * - `granted`: it continues the handshake with the offered version, one of the suites and, if offered, compression.
 * - `declined`: it continues without the special part of the offer.
 * - `alert`: it rejects the offer with a TLS alert.
 * - `closed`: it closes or resets the connection.
 * - `none`: it does not answer in time.
 */
export type HelloMatch = 'granted' | 'declined' | 'alert' | 'closed' | 'none';

/** The permitted responses. A response that is in none of the sets fails. */
export interface HelloExpectation {
  readonly text: string;
  readonly pass: readonly HelloMatch[];
  readonly note?: readonly HelloMatch[];
  readonly warn?: readonly HelloMatch[];
}

/** The certificate faults that fail a scenario. `text` describes the expected state in a few words. */
export interface ChainExpectation {
  readonly text: string;
  readonly faults: readonly ChainFaultCode[];
  /** The certificates whose faults count: only that of the server, or only those of the CAs. Default: all. */
  readonly of?: 'leaf' | 'issuers';
  /** Faults that hide the faults that this scenario checks. */
  readonly hiddenBy?: readonly ChainFaultCode[];
}
