import { certificateBlocks } from '../../certs/index.ts';
import type { Partner } from '../sender/index.ts';

/** The client's own certificate in PEM, with which its bundle begins; empty when the partner has none. */
export function clientCertificateOf({ tls }: Pick<Partner, 'tls'>): string {
  return certificateBlocks(tls?.clientCert ?? '')[0]?.text ?? '';
}
