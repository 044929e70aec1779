/** Creates the TLS contexts of the client certificates that a run presents, each once, on first use. */

import { createSecureContext, type SecureContext } from 'node:tls';
import { issuedByClient, rogueCertificates } from '../../certs/index.ts';
import { LIMITS, type OfferedTlsVersion } from '../../contract/index.ts';
import type { ClientCertificate, ClientFixture } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { createTrustingContext, tlsOptionsFor } from '../transport/index.ts';

/** Client certificates that only the partner's CA can issue, in PEM. */
export type ClientFixtures = Partial<Record<ClientFixture, { readonly cert: string; readonly key: string }>>;

export interface Identities {
  /**
   * Returns a context that presents this certificate. Without a version, it offers TLS 1.2 and 1.3. It trusts the CAs
   * that are configured for the partner.
   */
  contextFor(certificate: 'own' | ClientCertificate, version?: OfferedTlsVersion): SecureContext;
}

interface Material {
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
}

/**
 * @param privateCa whether the endpoint's chain ends at the partner's extra CA. The contexts then trust no other CA,
 * which makes creating each of them three times as fast.
 */
export function createIdentities(
  partner: Pick<Partner, 'tls'>,
  fixtures: ClientFixtures,
  privateCa: boolean,
): Identities {
  const { clientCert, clientKey, passphrase, ca } = partner.tls ?? {};
  const contexts = new Map<string, SecureContext>();
  let rogues: ReturnType<typeof rogueCertificates> | undefined;
  let issued: Material | undefined;

  function materialOf(certificate: 'own' | ClientCertificate): Material {
    switch (certificate) {
      case 'none':
        return {};
      case 'own':
        return {
          ...(clientCert !== undefined && { cert: clientCert }),
          ...(clientKey !== undefined && { key: clientKey }),
          ...(passphrase !== undefined && { passphrase }),
        };
      case 'self-signed':
      case 'unknown-authority':
      case 'same-names':
        rogues ??= rogueCertificates(clientCert ?? '');
        return rogues[certificate];
      case 'issued-by-client':
        issued ??= issuedByClient(clientCert ?? '', { key: clientKey ?? '', passphrase });
        return issued;
      default: {
        const fixture = fixtures[certificate];
        if (fixture === undefined) throw new TypeError(`There is no fixture ${certificate}.`);
        return fixture;
      }
    }
  }

  function create(certificate: 'own' | ClientCertificate, version?: OfferedTlsVersion): SecureContext {
    if (certificate === 'own' && version === undefined) return tlsOptionsFor(partner).secureContext;
    const options = {
      minVersion: version ?? LIMITS.minimumTlsVersion,
      ...(version !== undefined && { maxVersion: version }),
      ...materialOf(certificate),
    };
    return privateCa ? createSecureContext({ ...options, ca }) : createTrustingContext(ca, options);
  }

  return {
    contextFor(certificate, version) {
      const key = `${certificate} ${version ?? ''}`;
      const context = contexts.get(key) ?? create(certificate, version);
      contexts.set(key, context);
      return context;
    },
  };
}
