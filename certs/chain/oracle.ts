/** Compares what the analysis found with what OpenSSL says of the chain. When they disagree, both are reported. */
import type { ChainFaultCode } from '../../contract/index.ts';
import { visibleText } from '../facts/wording.ts';
import { type ChainFault, nameOf } from './chain-analysis.ts';
import { type Link, misfits } from './chain-path.ts';

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
  // The handshake itself fails, for example because the client does not offer the curve of the key.
  EPROTO: ['weak-key', 'weak-signature'],
  UNSPECIFIED: ['issuer-not-authority', 'weak-signature', 'weak-key', 'path-too-long', 'wrong-purpose'],
};

/** These end the handshake of OpenSSL with one code or another. */
const SELF_EVIDENT: readonly ChainFaultCode[] = ['unreadable', 'unexplained'];

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
  return believed(
    faults.filter(({ code }) => code !== 'unexplained'),
    anchored,
  );
}

function believed(faults: readonly ChainFault[], anchored: boolean): ChainFault[] {
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
  if (faults.some(({ code }) => explaining.includes(code) || SELF_EVIDENT.includes(code))) return [...faults];
  const found = faults.length === 0 ? 'found nothing wrong' : `found only ${faults.map(({ code }) => code).join(', ')}`;
  const text = `OpenSSL refuses the chain (${visibleText(oracle, 80)}), while this analysis ${found}${guess(path, oracle)}.`;
  return [...faults, { code: 'unexplained', at: null, text, fix: SHOW }];
}

const CLOCK = 'the clock of this machine, or the time given to the analysis, may be wrong';

const GUESSES: Readonly<Record<string, string>> = {
  CERT_REVOKED: 'the certificate is revoked',
  CERT_HAS_EXPIRED: `OpenSSL may have followed another of the certificates sent up to one that has expired, or ${CLOCK}`,
  CERT_NOT_YET_VALID: CLOCK,
  UNSPECIFIED:
    'Node has no name for the reason; it may be an authority that may not certify this name (name constraints), or a critical extension that OpenSSL does not know',
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
