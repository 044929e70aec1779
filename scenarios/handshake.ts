/** TLS scenarios: a ClientHello that differs from the sender's in one point, and what the endpoint may do with it. */
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
  /** The highest version that is offered; for TLS 1.3 the only one. */
  readonly version: TlsVersion;
  readonly suites: readonly SuiteGroup[];
  /** Offers DEFLATE in addition to no compression. */
  readonly compression?: true;
  /**
   * Checks whether the endpoint requests a client certificate: `granted` means that it does, `declined` that the
   * server's flight ends without a request. With `of-private-authority`, a list with a public CA is `declined`, and
   * everything else is `granted`.
   */
  readonly clientCertificate?: true | 'of-private-authority';
  /** Protocols to choose from (ALPN). Default: no such offer. */
  readonly alpn?: readonly string[];
}

/**
 * What an endpoint can do with an offer.
 *
 * - `granted`: it continues with the offer: the version and one of the suites, and compression when it was offered.
 * - `declined`: it continues without the special part of the offer.
 * - `alert`: it rejects the offer with a TLS alert.
 * - `closed`: it closes or resets the connection.
 * - `none`: it does not answer in time.
 */
export type HelloMatch = 'granted' | 'declined' | 'alert' | 'closed' | 'none';

/** The permitted reactions. A reaction that is in none of the sets fails. */
export interface HelloExpectation {
  readonly text: string;
  readonly pass: readonly HelloMatch[];
  readonly note?: readonly HelloMatch[];
  readonly warn?: readonly HelloMatch[];
}

/** Faults of the certificates that fail a scenario. `text` describes the expected state in a few words. */
export interface ChainExpectation {
  readonly text: string;
  readonly faults: readonly ChainFaultCode[];
  /** Counts only faults of the server certificate, or only those of the CA certificates. Default: all. */
  readonly of?: 'leaf' | 'issuers';
  /** Faults that make it impossible to detect these. */
  readonly hiddenBy?: readonly ChainFaultCode[];
}
