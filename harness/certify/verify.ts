/** Verifies a certificate offline. Pure: bytes, keys and a time in; reasons out. */
import type { KeyObject } from 'node:crypto';
import type { Profile } from '../../scenarios/index.ts';
import { sha256 } from './canonical-json.ts';
import { type Envelope, isSignedBy, readEnvelope } from './dsse.ts';
import { profileDigest, urlDigest } from './issue.ts';
import { keyIdOf } from './keys.ts';
import { PAYLOAD_TYPE, readStatement, type Statement } from './statement.ts';

export interface VerifyOptions {
  /** The public keys that are trusted: during a rotation the old and the new one. */
  readonly keys: readonly KeyObject[];
  readonly at: Date;
  /** The newest revision that is known here, and the digest of each that is. */
  readonly revisions: { readonly current: number; digestOf(revision: number): string | null };
  /** The saved result document, to be sure that it is the one. */
  readonly result?: Uint8Array;
  /** The endpoint that the certificate is to be for, and the profile. */
  readonly url?: string;
  readonly profile?: Profile;
  /** Whether warnings refuse too. */
  readonly strict?: boolean;
}

export interface Verification {
  readonly valid: boolean;
  readonly reasons: readonly Reason[];
  /** They do not make it invalid. */
  readonly warnings: readonly Reason[];
  /** What the certificate says; null unless its signature is right, because nothing else in it can be believed. */
  readonly statement: Statement | null;
}

/**
 * Every reason that can be told. What is not signed by a known key is not read any further, so nothing of it is repeated.
 *
 * A revision that has been superseded is a warning: a certificate is good until it expires, and a new revision must not take three hundred
 * partners out of production overnight. `strict` is for those who want it otherwise.
 */
export function verifyCertificate(bytes: Uint8Array, options: VerifyOptions): Verification {
  const statement = signedStatement(bytes, options.keys);
  if ('code' in statement) return { valid: false, reasons: [statement], warnings: [], statement: null };
  const reasons = [...reasonsOfDates(statement, options.at), ...reasonsOfMatch(statement, options)];
  const { refused, warnings } = reasonsOfRevision(statement, options.revisions);
  reasons.push(...refused);
  const strict = options.strict === true;
  if (strict) reasons.push(...warnings);
  return { valid: reasons.length === 0, reasons, warnings: strict ? [] : warnings, statement };
}

function signedStatement(bytes: Uint8Array, keys: readonly KeyObject[]): Statement | Reason {
  const envelope = readEnvelope(bytes);
  if (typeof envelope === 'string') return malformed(`the file ${envelope}`);
  const unsigned = reasonOfSignature(envelope, keys);
  if (unsigned !== null) return unsigned;
  if (envelope.payloadType !== PAYLOAD_TYPE) {
    const message = 'the signature is right, and what is signed is no in-toto statement';
    return {
      code: 'wrong-payload-type',
      message,
      fix: 'This key signs other things too: give the certificate itself.',
    };
  }
  const statement = readStatement(envelope.payload);
  if (typeof statement === 'string') return malformed(`the signature is right, but what is signed ${statement}`);
  if (statement.predicate.hookproofCertificate.keyId !== envelope.keyId)
    return malformed('the key id that is signed is not the one of the envelope');
  return statement;
}

function malformed(message: string): Reason {
  const fix =
    'Get the file again from whoever issued it, byte for byte: nothing may reformat it on its way. A certificate of a newer hookproof needs that one.';
  return { code: 'malformed', message, fix };
}

function reasonOfSignature(envelope: Envelope, keys: readonly KeyObject[]): Reason | null {
  const key = keys.find((one) => keyIdOf(one) === envelope.keyId);
  if (key === undefined) {
    const message = `the certificate is signed with the key ${envelope.keyId}, or says so, and that is none of those given`;
    const fix =
      'Give the public key of the issuer with --key; get it from the issuer, and not from where the certificate comes from.';
    return { code: 'unknown-key', message, fix };
  }
  if (isSignedBy(envelope, key)) return null;
  const message =
    'the signature is wrong: the certificate was changed after it was signed, or was never signed with this key';
  return { code: 'wrong-signature', message, fix: 'Do not trust it. Get it again from the issuer.' };
}

/** What speaks against a certificate whose signature is right: its dates, what it is for, its revision. Pure. */

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
  | 'other-revision'
  | 'superseded-profile'
  | 'superseded-revision'
  | 'unknown-revision';

/** Something that speaks against the certificate, or that should be known about it. */
export interface Reason {
  readonly code: VerifyCode;
  readonly message: string;
  readonly fix: string;
}

function reasonsOfDates({ predicate: { hookproofCertificate } }: Statement, at: Date): Reason[] {
  const { issuedAt, expiresAt } = hookproofCertificate;
  if (at.getTime() < Date.parse(issuedAt)) {
    const message = `the certificate is not valid before ${issuedAt}, and it is ${at.toISOString()}`;
    return [{ code: 'not-yet-valid', message, fix: 'Check the clock of this machine, and of the one that issued it.' }];
  }
  if (at.getTime() >= Date.parse(expiresAt)) {
    const message = `the certificate expired at ${expiresAt}, and it is ${at.toISOString()}`;
    return [{ code: 'expired', message, fix: 'Certify the endpoint again.' }];
  }
  return [];
}

function reasonsOfMatch({ predicate, subject }: Statement, { profile, result, url }: VerifyOptions): Reason[] {
  const [document, endpoint] = subject;
  const { hookproofCertificate: said } = predicate;
  const reasons: Reason[] = [];
  if (result !== undefined && sha256(result) !== document.digest.sha256) {
    const message = 'the result document is not the one that was certified: its SHA-256 is another';
    reasons.push({
      code: 'other-result',
      message,
      fix: 'Give the run.json that lies beside the certificate, unchanged.',
    });
  }
  if (url !== undefined && urlDigest(url) !== endpoint.digest.sha256) {
    const message = `the certificate is for another endpoint: ${said.endpoint.url}`;
    reasons.push({
      code: 'other-endpoint',
      message,
      fix: 'Compare host, port, path and query. Each endpoint needs a certificate of its own.',
    });
  }
  if (profile !== undefined && profile !== said.profile) {
    const message = `the certificate is for the profile ${said.profile} and not for ${profile}`;
    reasons.push({ code: 'other-profile', message, fix: `Certify the endpoint with --profile ${profile}.` });
  }
  return reasons;
}

/** What refuses, and what is only to be known. */
function reasonsOfRevision({ predicate }: Statement, { current, digestOf }: VerifyOptions['revisions']) {
  const { profile, revision } = predicate.hookproofCertificate;
  const refused: Reason[] = [];
  const warnings: Reason[] = [];
  const known = digestOf(revision);
  if (known === null) {
    const message = `the certificate is of revision ${revision} of the catalogue, which this hookproof does not know`;
    warnings.push({ code: 'unknown-revision', message, fix: 'Verify it with a newer hookproof.' });
  } else if (known !== predicate.configuration[3].digest.sha256) {
    const message = `revision ${revision} of the catalogue is not the same here as where the certificate was issued`;
    refused.push({
      code: 'other-revision',
      message,
      fix: 'Find out which of the two installations was changed, and install hookproof again.',
    });
  } else if (revision < current) {
    const message = `the certificate is of revision ${revision} of the catalogue; the newest is ${current}`;
    warnings.push({
      code: 'superseded-revision',
      message,
      fix: 'It is good until it expires. Certify again to have the newer checks scored too.',
    });
  }
  if (predicate.configuration[2].digest.sha256 !== profileDigest(profile)) {
    const message = `the profile ${profile} asks for something else here than it did where the certificate was issued`;
    warnings.push({
      code: 'superseded-profile',
      message,
      fix: 'It is good until it expires. Certify again under the profile as it is now.',
    });
  }
  return { refused, warnings };
}
