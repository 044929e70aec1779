import type { OfferedTlsVersion } from '../../contract/index.ts';
import type { HelloOffer } from '../../scenarios/index.ts';

/** The offer of a right sender, for one version: the control of every handshake that is probed. */
export function controlOffer(version: OfferedTlsVersion): HelloOffer {
  return { version, suites: version === 'TLSv1.3' ? ['tls13'] : ['modern', 'cbc'] };
}
