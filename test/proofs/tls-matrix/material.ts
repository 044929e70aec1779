/**
 * What every endpoint of the matrix shares: credentials, new in every run, and the TLS versions that a server speaks.
 */
import { randomBytes } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';

export const SECRET = randomBytes(32).toString('hex');
export const API_KEY = randomBytes(24).toString('hex');

/** Of the right client certificate: whom it is for, and who issued it. */
export const CLIENT_NAME = 'hookproof client';
export const CLIENT_AUTHORITY = 'hookproof client authority';

/** The versions that a server speaks. */
export const SPOKEN = ['TLS 1.2 only', 'TLS 1.3 only', 'both'] as const;
export type Spoken = (typeof SPOKEN)[number];

/** For a server of Node. */
export function protocolsOf(spoken: Spoken): Pick<SecureContextOptions, 'minVersion' | 'maxVersion'> {
  return {
    minVersion: spoken === 'TLS 1.3 only' ? 'TLSv1.3' : 'TLSv1.2',
    maxVersion: spoken === 'TLS 1.2 only' ? 'TLSv1.2' : 'TLSv1.3',
  };
}

/** For nginx. */
export function nginxProtocolsOf(spoken: Spoken): string {
  const { minVersion, maxVersion } = protocolsOf(spoken);
  return `ssl_protocols ${minVersion === maxVersion ? minVersion : `${minVersion} ${maxVersion}`};`;
}
