/** Compares what the analysis found with what OpenSSL says of the chain. When they disagree, both are reported. */
import type { ChainFaultCode } from '../../contract/index.ts';
import type { ChainFault } from './chain-analysis.ts';
import { misfits } from './find-path.ts';
import type { Link } from './link.ts';
import { visibleText } from './visible-text.ts';
import { nameOf } from './wording.ts';

const NO_ISSUER: readonly ChainFaultCode[] = [
  'unknown-authority',
  'missing-intermediate',
  'forged-issuer',
  'self-signed',
  'issuer-not-authority',
];

/** Which faults explain a code of Node's. Node has `UNSPECIFIED` for what it has no name for. */
const EXPLAINED_BY: Readonly<Record<string, readonly ChainFaultCode[]>> = {
  UNABLE_TO_GET_ISSUER_CERT: NO_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NO_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NO_ISSUER,
  SELF_SIGNED_CERT_IN_CHAIN: NO_ISSUER,
  DEPTH_ZERO_SELF_SIGNED_CERT: ['self-signed'],
  CERT_UNTRUSTED: NO_ISSUER,
  CERT_SIGNATURE_FAILURE: ['forged-issuer', 'weak-signature'],
  CERT_HAS_EXPIRED: ['expired'],
  CERT_NOT_YET_VALID: ['not-yet-valid'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['host-mismatch', 'no-alternative-name'],
  HOSTNAME_MISMATCH: ['host-mismatch', 'no-alternative-name'],
  PATH_LENGTH_EXCEEDED: ['path-too-long'],
  INVALID_PURPOSE: ['wrong-purpose', 'issuer-not-authority'],
  INVALID_CA: ['issuer-not-authority', 'wrong-purpose'],
  UNSPECIFIED: ['issuer-not-authority', 'weak-signature', 'weak-key', 'path-too-long', 'wrong-purpose'],
};

/** In these OpenSSL is at least as strict as the analysis: when it trusts the chain, one of the two is mistaken. */
const STRICT_CODES: readonly ChainFaultCode[] = [...NO_ISSUER, 'path-too-long', 'wrong-purpose'];

const SHOW =
  'Compare with `openssl s_client -connect HOST:443 -servername HOST -showcerts`, and report a wrong analysis as a fault of hookproof.';

/** The faults after the comparison. `anchored`: the analysis found the path to end at a trusted root. */
export function reconcile(
  faults: readonly ChainFault[],
  path: readonly Link[],
  anchored: boolean,
  oracle: string | null | undefined,
): ChainFault[] {
  if (oracle === undefined) return [...faults];
  if (oracle !== null) return refused(faults, path, oracle);
  // With an intermediate from the trust list the chain is trusted, and still incomplete: no contradiction.
  const doubtful = faults.filter(
    ({ code }) => STRICT_CODES.includes(code) && !(anchored && code === 'missing-intermediate'),
  );
  if (doubtful.length === 0) return [...faults];
  const texts = doubtful.map(({ code, text }) => `${code}: ${text}`).join(' ');
  const text = `OpenSSL trusts the chain that it got, while this analysis of the certificates sent says ${texts} The server may send different chains to different clients.`;
  return [...faults.filter((fault) => !doubtful.includes(fault)), { code: 'unexplained', at: null, text, fix: SHOW }];
}

function refused(faults: readonly ChainFault[], path: readonly Link[], oracle: string): ChainFault[] {
  const explaining = Object.hasOwn(EXPLAINED_BY, oracle) ? (EXPLAINED_BY[oracle] ?? []) : [];
  // What cannot be read ends the handshake of OpenSSL with codes of its own.
  if (faults.some(({ code }) => explaining.includes(code) || code === 'unreadable')) return [...faults];
  const found = faults.length === 0 ? 'found nothing wrong' : `found only ${faults.map(({ code }) => code).join(', ')}`;
  const text = `OpenSSL refuses the chain (${visibleText(oracle, 80)}), while this analysis ${found}${guess(path, oracle)}.`;
  return [...faults, { code: 'unexplained', at: null, text, fix: SHOW }];
}

const GUESSES: Readonly<Record<string, string>> = {
  PERMITTED_VIOLATION: 'an authority of the chain may issue certificates for other names only (name constraints)',
  EXCLUDED_VIOLATION: 'an authority of the chain may not issue certificates for this name (name constraints)',
  CERT_REVOKED: 'the certificate is revoked',
  CERT_HAS_EXPIRED: 'the clock of this machine, or the time given to the analysis, may be wrong',
  CERT_NOT_YET_VALID: 'the clock of this machine, or the time given to the analysis, may be wrong',
};

/** What is known to make OpenSSL refuse a chain whose names and signatures are right. */
function guess(path: readonly Link[], oracle: string): string {
  const [leaf] = path;
  if (Object.hasOwn(GUESSES, oracle)) return `: ${GUESSES[oracle]}`;
  if (leaf !== undefined && !leaf.selfSigned && leaf.certificate.subject.key === leaf.certificate.issuer.key) {
    return `: ${nameOf(leaf.certificate)} has the same name as the authority that issued it, so OpenSSL takes it for self-signed`;
  }
  if (misfits(path) > 0) return ': the key identifier of an issuer is not the one that the certificate below it names';
  return '';
}
