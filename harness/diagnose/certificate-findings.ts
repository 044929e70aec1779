/** Explains certificates that the sender does not trust, from their analysis. Pure. */
import type { ChainAnalysis } from '../../certs/index.ts';
import type { ChainFaultCode } from '../../contract/index.ts';
import type { Finding } from './finding.ts';

/** The faults for which a sender does not connect, the most telling first. */
const FATAL: readonly ChainFaultCode[] = [
  'missing-intermediate',
  'expired',
  'not-yet-valid',
  'host-mismatch',
  'self-signed',
  'forged-issuer',
  'issuer-not-authority',
  'path-too-long',
  'wrong-purpose',
  'weak-signature',
  'unknown-authority',
  'unreadable',
  'unexplained',
];

/** The reason why the chain is not trusted, or null when the analysis knows none. */
export function explainCertificates({ faults }: ChainAnalysis): Finding | null {
  const [first] = FATAL.flatMap((code) => faults.filter((fault) => fault.code === code));
  if (first === undefined) return null;
  return {
    fault: `certificate-${first.code}`,
    title: first.text.replace(/\.$/, ''),
    why: 'The sender verifies the certificate like any HTTPS client and delivers nothing to an endpoint that it cannot tell from an impostor.',
    fix: first.fix,
  };
}
