/**
 * What a scenario of the TLS handshake is: a ClientHello that offers one thing more, or one thing else, than a right
 * sender's.
 */
import type { ChainFaultCode, TlsVersion } from '../contract/index.ts';

/** Groups of cipher suites, by what is good or bad about them. */
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

/** What a ClientHello offers. The handshake is never finished. */
export interface HelloOffer {
  /** The highest version; for TLS 1.3 the only one. */
  readonly version: TlsVersion;
  readonly suites: readonly SuiteGroup[];
  /** Offers DEFLATE beside no compression. */
  readonly compression?: true;
  /**
   * Looks for a request for a client certificate: it is what `granted` then means, and `declined` is a whole flight
   * without one. With
   * `of-private-authority`, a list of authorities with a public one among them is `declined`, and everything else is
   * `granted`.
   */
  readonly clientCertificate?: true | 'of-private-authority';
  /** Protocols to choose from (ALPN). Absent: no such offer. */
  readonly alpn?: readonly string[];
}

/**
 * What an endpoint can do with an offer.
 *
 * - `granted`: it goes on with what was offered: the version and one of the suites; with `compression`, compressed.
 * - `declined`: it goes on without what was special about the offer.
 * - `alert`: it refuses with a TLS alert. `closed`: it closes or resets the connection. `none`: it says nothing in
 *   time.
 */
export type HelloMatch = 'granted' | 'declined' | 'alert' | 'closed' | 'none';

/** Which reactions are right; what is in none of the sets fails. */
export interface HelloExpectation {
  readonly text: string;
  readonly pass: readonly HelloMatch[];
  readonly note?: readonly HelloMatch[];
  readonly warn?: readonly HelloMatch[];
}

/** Faults of the certificates that fail a scenario. `text` is the right state in a few words. */
export interface ChainExpectation {
  readonly text: string;
  readonly faults: readonly ChainFaultCode[];
  /**
   * Counts only faults of the endpoint's own certificate, or only those of the certificates above it. Absent: of all.
   */
  readonly of?: 'leaf' | 'issuers';
  /** Faults that, as long as they are there, leave no way to see these. */
  readonly hiddenBy?: readonly ChainFaultCode[];
}
