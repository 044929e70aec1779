/** Verifies a certificate offline. Pure. */

import type { KeyObject } from 'node:crypto';
import { type Scheme, SERVICE_SCHEME } from '../../contract/signing/index.ts';
import type { Profile } from '../../scenarios/index.ts';
import { sha256 } from './canonical-json.ts';
import { type Envelope, isSignedBy, readEnvelope } from './dsse.ts';
import { isForScheme, profileDigest, urlDigest } from './issue.ts';
import { keyIdOf } from './keys.ts';
import { type CertificateStatement, type CertifiedScheme, PAYLOAD_TYPE, readStatement } from './statement.ts';

export interface VerifyOptions {
  /** The trusted public keys: during a rotation, the old and the new key. */
  readonly keys: readonly KeyObject[];
  readonly at: Date;
  /** The newest known revision, and the digest of each known one. */
  readonly revisions: { readonly current: number; digestOf(revision: number): string | null };
  /** If given, it must be the certified result document. */
  readonly result?: Uint8Array;
  /** If given, the certificate must be for this endpoint and this profile. */
  readonly url?: string;
  readonly profile?: Profile;
  /** If given, the certificate must be for this scheme: a name, or a scheme with the same definition. */
  readonly scheme?: Scheme | string;
  /** If given, the certificate must have at least this evidence level. */
  readonly evidenceLevel?: number;
  /** Whether warnings make the certificate invalid. */
  readonly strict?: boolean;
}

type VerifyCode =
  | 'malformed'
  | 'unknown-key'
  | 'wrong-signature'
  | 'wrong-payload-type'
  | 'not-yet-valid'
  | 'expired'
  | 'other-result'
  | 'other-endpoint'
  | 'other-profile'
  | 'other-scheme'
  | 'lower-evidence'
  | 'other-revision'
  | 'superseded-profile'
  | 'superseded-revision'
  | 'unknown-revision';

/** A reason to reject a certificate, or a warning. */
export interface Reason {
  readonly code: VerifyCode;
  readonly message: string;
  readonly fix: string;
}

export interface Verification {
  readonly valid: boolean;
  readonly reasons: readonly Reason[];
  /** Observations that do not make the certificate invalid. */
  readonly warnings: readonly Reason[];
  /** The content of the certificate; null unless its signature is valid. */
  readonly statement: CertificateStatement | null;
}

/**
 * Verifies a certificate and returns all reasons to reject it. Content without the signature of a known key is not
 * read, and no message repeats it.
 *
 * A superseded revision is only a warning: a certificate is valid until it expires, so that a new revision does not
 * invalidate every certificate at once. With `strict`, warnings are reasons.
 */
export function verifyCertificate(bytes: Uint8Array, options: VerifyOptions): Verification {
  const statement = signedStatement(bytes, options.keys);
  if ('code' in statement) return { valid: false, reasons: [statement], warnings: [], statement: null };
  const reasons = [...checkDates(statement, options.at), ...checkSubjects(statement, options)];
  const { reasons: more, warnings } = checkRevision(statement, options.revisions);
  reasons.push(...more);
  const strict = options.strict === true;
  if (strict) reasons.push(...warnings);
  return { valid: reasons.length === 0, reasons, warnings: strict ? [] : warnings, statement };
}

function signedStatement(bytes: Uint8Array, keys: readonly KeyObject[]): CertificateStatement | Reason {
  const envelope = readEnvelope(bytes);
  if (typeof envelope === 'string') return malformed(`the file ${envelope}`);
  const failure = checkSignature(envelope, keys);
  if (failure !== null) return failure;
  if (envelope.payloadType !== PAYLOAD_TYPE) {
    const message = 'the signature is valid, but the signed content is not an in-toto statement';
    return reason('wrong-payload-type', message, 'The key also signs other content. Give the certificate file.');
  }
  const statement = readStatement(envelope.payload);
  if (typeof statement === 'string') return malformed(`the signature is valid, but the signed content ${statement}`);
  if (statement.predicate.hookproofCertificate.keyId !== envelope.keyId)
    return malformed('the signed key id differs from the key id of the envelope');
  return statement;
}

function reason(code: VerifyCode, message: string, fix: string): Reason {
  return { code, message, fix };
}

function malformed(message: string): Reason {
  const fix =
    'Get the original file from the issuer; it must not be reformatted. To verify a certificate of a newer ' +
    'hookproof, update hookproof.';
  return reason('malformed', message, fix);
}

function checkSignature(envelope: Envelope, keys: readonly KeyObject[]): Reason | null {
  const key = keys.find((one) => keyIdOf(one) === envelope.keyId);
  if (key === undefined) {
    const message = `the certificate names the key ${envelope.keyId}, which is not one of the trusted keys`;
    const fix =
      'Give the public key of the issuer with `--key`. Get the key from the issuer, not from the sender of the ' +
      'certificate.';
    return reason('unknown-key', message, fix);
  }
  if (isSignedBy(envelope, key)) return null;
  const message =
    'the signature is invalid: the certificate was changed after it was signed, or was not signed with this key';
  return reason('wrong-signature', message, 'Do not trust it. Get the original from the issuer.');
}

function checkDates({ predicate: { hookproofCertificate } }: CertificateStatement, at: Date): Reason[] {
  const { issuedAt, expiresAt } = hookproofCertificate;
  if (at.getTime() < Date.parse(issuedAt)) {
    const message = `the certificate is not valid before ${issuedAt}; the time is ${at.toISOString()}`;
    return [reason('not-yet-valid', message, 'Check the clocks of this machine and of the issuing machine.')];
  }
  if (at.getTime() >= Date.parse(expiresAt)) {
    const message = `the certificate expired at ${expiresAt}; the time is ${at.toISOString()}`;
    return [reason('expired', message, 'Certify the endpoint again.')];
  }
  return [];
}

function checkSubjects(
  statement: CertificateStatement,
  { evidenceLevel = 0, profile, result, scheme, url }: VerifyOptions,
): Reason[] {
  const { predicate, subject } = statement;
  const [document, endpoint] = subject;
  const { hookproofCertificate: certificate } = predicate;
  const reasons: Reason[] = [];
  if (result !== undefined && sha256(result) !== document.digest.sha256) {
    const message = 'the result document is not the certified one: its SHA-256 differs';
    reasons.push(reason('other-result', message, 'Give the unchanged run.json that was saved with the certificate.'));
  }
  if (url !== undefined && urlDigest(url) !== endpoint.digest.sha256) {
    const message = `the certificate is for another endpoint: ${certificate.endpoint.url}`;
    const fix = 'Compare host, port, path and query. Each endpoint needs its own certificate.';
    reasons.push(reason('other-endpoint', message, fix));
  }
  if (profile !== undefined && profile !== certificate.profile) {
    const message = `the certificate is for the profile ${certificate.profile}, not for ${profile}`;
    reasons.push(reason('other-profile', message, `Certify the endpoint with \`--profile ${profile}\`.`));
  }
  if (scheme !== undefined && !isForScheme(statement, scheme)) {
    const message = `the certificate is for ${schemeInWords(certificate.scheme)}, not for ${schemeInWords(scheme)}`;
    const fix =
      'If your sender signs as certified, give its name with --scheme. Otherwise, certify the endpoint again.';
    reasons.push(reason('other-scheme', message, fix));
  }
  const { level } = certificate.evidence;
  if (level < evidenceLevel) {
    const message = `the certificate has evidence level ${level}, but level ${evidenceLevel} is required`;
    const fix = `Certify the endpoint with \`--evidence-level ${evidenceLevel}\`.`;
    reasons.push(reason('lower-evidence', message, fix));
  }
  return reasons;
}

/** Names a scheme in a sentence: "the scheme stripe". */
export function schemeInWords(scheme: CertifiedScheme | Scheme | string): string {
  const name = typeof scheme === 'string' ? scheme : (scheme?.name ?? SERVICE_SCHEME.name);
  return name === SERVICE_SCHEME.name ? 'the scheme of the specification' : `the scheme ${name}`;
}

function checkRevision({ predicate }: CertificateStatement, { current, digestOf }: VerifyOptions['revisions']) {
  const { profile, revision } = predicate.hookproofCertificate;
  const reasons: Reason[] = [];
  const warnings: Reason[] = [];
  const known = digestOf(revision);
  if (known === null) {
    const message = `the certificate is for revision ${revision} of the catalogue, which is not known here`;
    warnings.push(reason('unknown-revision', message, 'Verify it with a newer version of hookproof.'));
  } else if (known !== predicate.configuration[3].digest.sha256) {
    const message = `revision ${revision} of the catalogue differs between this installation and the issuer`;
    const fix = 'Find out which installation was modified, and reinstall hookproof there.';
    reasons.push(reason('other-revision', message, fix));
  } else if (revision < current) {
    const message = `the certificate is for revision ${revision} of the catalogue; the newest is ${current}`;
    const fix = 'It is valid until it expires. Certify again to score the newer checks, too.';
    warnings.push(reason('superseded-revision', message, fix));
  }
  if (predicate.configuration[2].digest.sha256 !== profileDigest(profile)) {
    const message = `the requirements of the profile ${profile} have changed since the certificate was issued`;
    const fix = 'It is valid until it expires. Certify again with the current profile.';
    warnings.push(reason('superseded-profile', message, fix));
  }
  return { reasons, warnings };
}
