/** What speaks against a certificate whose signature is right: its dates, what it is for, its revision. Pure. */
import { sha256 } from './digest.ts';
import { profileDigest, urlDigest } from './issue.ts';
import type { Statement } from './statement.ts';
import type { VerifyOptions } from './verify.ts';

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

export function reasonsOfDates({ predicate: { hookproofCertificate } }: Statement, at: Date): Reason[] {
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

export function reasonsOfMatch({ predicate, subject }: Statement, { profile, result, url }: VerifyOptions): Reason[] {
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
export function reasonsOfRevision({ predicate }: Statement, { current, digestOf }: VerifyOptions['revisions']) {
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
