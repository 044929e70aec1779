/** What an endpoint did with a ClientHello, and whether it took what was offered. Specification: TLS. */
import { isPublicAuthority } from '../../../certs/index.ts';
import type { TlsVersion } from '../../../contract/index.ts';
import type { HelloMatch, HelloOffer } from '../../../scenarios/index.ts';
import type { TransportError } from '../../sender/index.ts';
import { allWeak } from './cipher-suites.ts';
import { VERSION_NUMBERS } from './client-hello.ts';

interface Measured {
  readonly bytesReceived: number;
  /** Milliseconds from the start of the connection, with fractions. */
  readonly ms: number;
}

/** It goes on with the handshake. A HelloRetryRequest counts as the answer of TLS 1.3 that it is. */
export interface ServerHelloOutcome extends Measured {
  readonly kind: 'server-hello';
  readonly version: TlsVersion;
  readonly suite: { readonly id: number; readonly name: string };
  /** Whether the suite is one of the offered ones. */
  readonly suiteOffered: boolean;
  readonly compressed: boolean;
  /** DER, exactly as sent. Empty at TLS 1.3, which seals them, and when there is no readable Certificate message. */
  readonly certificates: readonly Uint8Array[];
  /** Whether an OCSP answer came along; only seen below TLS 1.3. */
  readonly stapled: boolean;
  readonly secureRenegotiation: boolean;
  /** The names (DER) of the authorities when it asks for a client certificate; only seen below TLS 1.3. */
  readonly certificateRequest: { readonly authorities: readonly Uint8Array[] } | null;
  /** Whether the flight came to its end, so that what was not seen (a certificate request) was not sent. */
  readonly whole: boolean;
  /** The name of a fatal alert that followed: it began the handshake and then gave it up, before the client had said more. */
  readonly alertAfter?: string;
  readonly alpn?: string;
}

/**
 * What came back.
 *
 * - `alert`: a TLS alert; of level `warning` when the connection was closed or reset behind it.
 * - `closed`, `reset`: the connection ended with no answer begun. `timeout`: no answer, or no whole one, in time.
 * - `not-tls`: something else than TLS came, or an answer that breaks off; its first 40 bytes.
 * - `connect-error`: the hello could not be sent. Nothing can be said about the endpoint.
 */
export type HelloOutcome =
  | ServerHelloOutcome
  | (Measured & { readonly kind: 'alert'; readonly alert: string; readonly level: 'warning' | 'fatal' })
  | (Measured & { readonly kind: 'closed' | 'reset' | 'timeout' })
  | (Measured & { readonly kind: 'not-tls'; readonly received: Uint8Array })
  | (Measured & { readonly kind: 'connect-error'; readonly error: TransportError });

/** @returns what the outcome means for the offer; null when nothing can be said about the endpoint */
export function matchHello(outcome: HelloOutcome, offer: HelloOffer): HelloMatch | null {
  switch (outcome.kind) {
    case 'server-hello':
      return matchServerHello(outcome, offer);
    case 'alert':
      return 'alert';
    case 'closed':
    case 'reset':
      return 'closed';
    case 'timeout':
      return 'none';
    case 'not-tls':
    case 'connect-error':
      return null;
  }
}

function matchServerHello(outcome: ServerHelloOutcome, offer: HelloOffer): HelloMatch | null {
  const { version, suiteOffered, compressed, alertAfter } = outcome;
  // It took the offer and could not keep to it, perhaps for want of something else in the hello: neither a refusal nor a grant.
  if (alertAfter !== undefined) return null;
  if (offer.clientCertificate === true) return matchRequest(outcome);
  if (offer.clientCertificate === 'of-private-authority') return matchAuthorities(outcome);
  if (offer.compression === true) {
    if (!compressed) return 'declined';
  } else if (!suiteOffered) return 'declined';
  else if (version !== offer.version) {
    // A weak suite is taken at whatever version it is taken.
    const lower = VERSION_NUMBERS[version] < VERSION_NUMBERS[offer.version];
    if (!lower || !allWeak(offer.suites)) return 'declined';
  }
  return 'granted';
}

/** TLS 1.3 seals the request: nothing can be said. */
function matchRequest({ certificateRequest, whole, version }: ServerHelloOutcome): HelloMatch | null {
  if (certificateRequest !== null) return 'granted';
  return whole && version !== 'TLSv1.3' ? 'declined' : null;
}

/** A request of TLS 1.3 is sealed, and one that never came names nobody. */
function matchAuthorities({ certificateRequest, whole, version }: ServerHelloOutcome): HelloMatch | null {
  if (certificateRequest === null) return whole && version !== 'TLSv1.3' ? 'granted' : null;
  return certificateRequest.authorities.some(isPublicAuthority) ? 'declined' : 'granted';
}
