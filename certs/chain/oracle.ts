/** Compares the faults that the analysis found with OpenSSL's verdict. If the two disagree, both are reported. */

import type { ChainFaultCode } from '../../contract/index.ts';
import { keyFactsOf, keyInWords, keyStrength, publicKeyOf } from '../facts/key-facts.ts';
import { visibleText } from '../facts/wording.ts';
import { type ChainFault, nameOf } from './chain-analysis.ts';
import { countMismatches, type Link } from './chain-path.ts';

const NO_ISSUER: readonly ChainFaultCode[] = [
  'unknown-authority',
  'missing-intermediate',
  'forged-issuer',
  'self-signed',
  'issuer-not-authority',
];

/** The faults that explain each of Node's error codes. Node uses `UNSPECIFIED` for errors without a code. */
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
  // The handshake fails, for example because the client does not offer the curve of the key.
  EPROTO: ['weak-key', 'weak-signature'],
  UNSPECIFIED: ['issuer-not-authority', 'weak-signature', 'weak-key', 'path-too-long', 'wrong-purpose'],
};

/** Faults that make the handshake fail with various codes. */
const SELF_EVIDENT: readonly ChainFaultCode[] = ['unreadable', 'unexplained'];

/**
 * Faults for which OpenSSL is at least as strict as the analysis. If OpenSSL trusts the chain, one of the verdicts is
 * wrong.
 */
const STRICT_CODES: readonly ChainFaultCode[] = [...NO_ISSUER, 'path-too-long', 'wrong-purpose'];

/**
 * Compares the faults with OpenSSL's verdict, and returns the faults to report. `anchored` is true when the path ends
 * at a trusted root.
 */
export function reconcile(
  faults: readonly ChainFault[],
  path: readonly Link[],
  anchored: boolean,
  oracle: string | null | undefined,
): ChainFault[] {
  if (oracle === undefined) return [...faults];
  if (oracle !== null) return withRejection(faults, path, oracle);
  return withTrust(
    faults.filter(({ code }) => code !== 'unexplained'),
    anchored,
  );
}

function withTrust(faults: readonly ChainFault[], anchored: boolean): ChainFault[] {
  // A chain can be trusted although the server omits an intermediate that the trust list contains. This is not a
  // contradiction.
  const contradicted = faults.filter(
    ({ code }) => STRICT_CODES.includes(code) && !(anchored && code === 'missing-intermediate'),
  );
  if (contradicted.length === 0) return [...faults];
  const texts = contradicted.map(({ code, text }) => `${code}: ${text}`).join(' ');
  const text =
    `OpenSSL trusts the chain, but the analysis found ${texts} The server may send different chains to ` +
    'different clients.';
  return [...faults.filter((fault) => !contradicted.includes(fault)), { code: 'unexplained', at: null, text }];
}

function withRejection(faults: readonly ChainFault[], path: readonly Link[], oracle: string): ChainFault[] {
  const explaining = Object.hasOwn(EXPLAINED_BY, oracle) ? (EXPLAINED_BY[oracle] ?? []) : [];
  if (faults.some(({ code }) => explaining.includes(code) || SELF_EVIDENT.includes(code))) return [...faults];
  const found = faults.length === 0 ? 'found no fault' : `found only ${faults.map(({ code }) => code).join(', ')}`;
  const reason = visibleText(oracle, 80);
  const text = `OpenSSL rejects the chain (${reason}), but the analysis ${found}${guess(path, oracle)}.`;
  return [...faults, { code: 'unexplained', at: null, text }];
}

const CLOCK = 'the clock of this machine or the time given to the analysis may be wrong';

const GUESSES: Readonly<Record<string, string>> = {
  CERT_REVOKED: 'the certificate is revoked',
  CERT_HAS_EXPIRED: `OpenSSL may have followed another path to an expired certificate, or ${CLOCK}`,
  CERT_NOT_YET_VALID: CLOCK,
  UNSPECIFIED:
    'Node does not name the reason; a CA may not be allowed to certify this name (name constraints), or a ' +
    'critical extension is unknown to OpenSSL',
};

/**
 * Returns a likely reason for OpenSSL to reject a chain in which the analysis found no such fault. Returns '' if there
 * is none.
 */
function guess(path: readonly Link[], oracle: string): string {
  const [leaf] = path;
  if (Object.hasOwn(GUESSES, oracle)) return `: ${GUESSES[oracle]}`;
  if (leaf !== undefined && !leaf.selfSigned && leaf.certificate.subject.key === leaf.certificate.issuer.key) {
    return `: ${nameOf(leaf.certificate)} has the same name as its issuer, so OpenSSL considers it self-signed`;
  }
  if (countMismatches(path) > 0)
    return ': the key identifier of an issuer differs from the one in the certificate below it';
  const key = leaf === undefined ? undefined : publicKeyOf(leaf.certificate.x509);
  if (oracle === 'EPROTO' && key !== undefined && keyStrength(keyFactsOf(key)) === 'unusual') {
    return `: the key of the certificate is ${keyInWords(key)}, which TLS clients do not offer`;
  }
  return '';
}
