/** What a run presents as client certificate, and the TLS contexts for it: each made once, when it is first needed. */
import { createSecureContext, type SecureContext } from 'node:tls';
import { issuedByClient, rogueCertificates } from '../../certs/index.ts';
import { LIMITS, type OfferedTlsVersion } from '../../contract/index.ts';
import type { ClientCertificate, ClientFixture } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { trustedRoots } from '../transport/index.ts';

/** The partner's certificates that only its authority can make, PEM. */
export type ClientFixtures = Partial<Record<ClientFixture, { readonly cert: string; readonly key: string }>>;

export interface Identities {
  /** The context that presents this certificate over this version, or both. It trusts what the partner's configuration trusts. */
  contextFor(certificate: 'own' | ClientCertificate, version?: OfferedTlsVersion): SecureContext;
}

interface Material {
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
}

/**
 * `privateAuthority` says that the endpoint's chain ends at the partner's extra authority: the system's roots are then left out of the
 * contexts, because reading them takes longer than all the rest.
 */
export function createIdentities(
  { tls = {} }: Pick<Partner, 'tls'>,
  fixtures: ClientFixtures,
  privateAuthority: boolean,
): Identities {
  const { clientCert, clientKey, passphrase, ca } = tls;
  const made = new Map<string, SecureContext>();
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

  function make(certificate: 'own' | ClientCertificate, version?: OfferedTlsVersion): SecureContext {
    return createSecureContext({
      minVersion: version ?? LIMITS.minimumTlsVersion,
      ...(version !== undefined && { maxVersion: version }),
      ...(ca !== undefined && { ca: privateAuthority ? ca : [...trustedRoots(), ca] }),
      ...materialOf(certificate),
    });
  }

  return {
    contextFor(certificate, version) {
      const key = `${certificate} ${version ?? ''}`;
      const context = made.get(key) ?? make(certificate, version);
      made.set(key, context);
      return context;
    },
  };
}
