import { withoutHeader } from '../changes/addressing.ts';
import { wrongKey } from '../changes/keying.ts';
import { signedWith, unsigned } from '../changes/signing.ts';
import { refused } from '../expectations.ts';
import type { Change, Feature, ProbeScenario } from '../scenario.ts';

function behindCertificate(slug: string, title: string, feature: Feature, change: Change, what: string): ProbeScenario {
  return {
    id: `mtls/${slug}`,
    title,
    level: 'must',
    requirements: ['mtls-verified', 'features-independent'],
    needs: ['https', 'mtls', feature],
    change: { connect: { label: 'a new connection with the right client certificate' }, ...change },
    expect: refused,
    why: `The certificate says who connected, and nothing about the delivery. Where it replaces the ${what}, whoever gets hold of the certificate, or of a way through the proxy, can deliver anything.`,
    fix: `Keep the check of the ${what} whatever the connection looks like: do not return early when a client certificate is there.`,
  };
}

/** The right client certificate does not replace the other credentials. Specification: Authentication (independent features). */
export const mtlsCredentials: readonly ProbeScenario[] = [
  behindCertificate(
    'unsigned',
    'Refuses an unsigned delivery although the client certificate is right',
    'hmac',
    { sign: unsigned },
    'signature',
  ),
  behindCertificate(
    'wrong-signature',
    'Refuses a wrong signature although the client certificate is right',
    'hmac',
    { sign: signedWith('signed with a random secret', (kit) => kit.nonce(40)) },
    'signature',
  ),
  behindCertificate(
    'no-key',
    'Refuses a missing API key although the client certificate is right',
    'api-key',
    { address: withoutHeader('api-key', 'no API key header') },
    'API key',
  ),
  behindCertificate(
    'wrong-key',
    'Refuses a wrong API key although the client certificate is right',
    'api-key',
    { address: wrongKey },
    'API key',
  ),
];
