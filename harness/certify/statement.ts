/**
 * The content of a certificate: an in-toto Statement v1 with the test-result predicate v0.1
 * (github.com/in-toto/attestation). Data for which the predicate has no field (endpoint, profile, dates, key) is in
 * the extension field `hookproofCertificate`, which the parsing rules allow. So a certificate is one signed file that
 * tools for test results can read. Pure.
 */

import * as z from 'zod';
import { EVIDENCE_LEVELS, evidenceLevel, FEATURES, PROFILES } from '../../scenarios/index.ts';
import { canonicalJson, type Json } from './canonical-json.ts';
import { parseJson } from './dsse.ts';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';

const digest = z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/) });
const named = <Name extends string>(name: Name) => z.strictObject({ name: z.literal(name), digest });
const testIds = z.array(z.string().regex(/^[a-z0-9-]+\/[a-z0-9-]+$/));
/** A time in UTC, to the second. */
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

const statuses = z.array(z.union([z.int(), z.enum(['2xx', '4xx'])]));

/** What defines the scheme of another service: the signed claim holds for no other one. */
const scheme = z.strictObject({
  name: z.string().max(64),
  headers: z.record(z.string(), z.string()),
  signed: z.string(),
  algorithm: z.enum(['sha1', 'sha256', 'sha512', 'ed25519']),
  encoding: z.enum(['base64', 'hex']),
  secret: z.strictObject({ prefix: z.string().optional(), encoding: z.enum(['utf8', 'base64']) }),
  signature: z.string(),
  separator: z.string().optional(),
  toleranceSeconds: z.int().positive().optional(),
  isFutureUnlimited: z.literal(true).optional(),
  aliases: z.array(z.string()).optional(),
  accepts: statuses,
  rejects: statuses,
});

const certificate = z.strictObject({
  format: z.literal(1),
  endpoint: z.strictObject({
    /**
     * Origin and path. The query is omitted because it may contain a token, but the digest of the subject `endpoint`
     * covers it.
     */
    url: z.string().max(4096),
    tls: z.enum(['TLSv1.2', 'TLSv1.3']),
    /** The CA at the end of the chain. `public`: Node trusts it by default; `configured`: the operator added it. */
    trust: z.enum(['public', 'configured']),
  }),
  /** The evidence that the run judged. Effects are the receiver's own statement. */
  evidence: z.strictObject({ level: z.literal(EVIDENCE_LEVELS), statement: z.string().max(400) }),
  expiresAt: time,
  /** The features that were on, including those beyond the profile. */
  features: z.array(z.enum(FEATURES)),
  issuedAt: time,
  keyId: z.string().regex(/^[0-9a-f]{64}$/),
  notApplicableTests: testIds,
  /** The checks that were run but not scored, because they are newer than the revision. */
  notScoredTests: testIds,
  profile: z.enum(PROFILES),
  revision: z.int().positive(),
  run: z.strictObject({ seed: z.string().max(64), startedAt: z.string().max(32) }),
  /** Absent for the scheme of the specification. */
  scheme: scheme.optional(),
  tool: z.strictObject({ name: z.literal('hookproof'), version: z.string().max(64) }),
});

const statement = z.strictObject({
  _type: z.literal(STATEMENT_TYPE),
  predicate: z.strictObject({
    configuration: z.tuple([named('catalogue'), named('configuration'), named('profile'), named('revision')]),
    failedTests: z.tuple([]),
    hookproofCertificate: certificate,
    passedTests: testIds.min(1),
    result: z.enum(['PASSED', 'WARNED']),
    warnedTests: testIds,
  }),
  predicateType: z.literal(PREDICATE_TYPE),
  /** The digests of the result document, of the endpoint's URL, and of its public key (SubjectPublicKeyInfo, DER). */
  subject: z.tuple([named('result document'), named('endpoint'), named('endpoint key')]),
});

export type CertificateStatement = z.infer<typeof statement>;
export type CertifiedScheme = CertificateStatement['predicate']['hookproofCertificate']['scheme'];

export function statementBytes(given: CertificateStatement): Buffer {
  return Buffer.from(canonicalJson(statement.parse(given) as Json));
}

/** Reads a statement. Returns the reason if it is invalid, as the end of the sentence "the signed content …". */
export function readStatement(payload: Uint8Array): CertificateStatement | string {
  const value = parseJson(payload);
  if (value === undefined) return 'is not JSON in UTF-8';
  const { success, data, error } = statement.safeParse(value);
  if (!success) {
    const [issue] = error.issues;
    const place = issue === undefined || issue.path.length === 0 ? 'its top level' : issue.path.join('.');
    return `is not a certificate in this format (at ${place.slice(0, 200)})`;
  }
  if (!isCanonical(data as Json, payload)) return 'is not canonical JSON';
  const { warnedTests, result, hookproofCertificate } = data.predicate;
  if ((result === 'WARNED') !== warnedTests.length > 0) return 'has a result that contradicts its warned tests';
  const { issuedAt, expiresAt } = hookproofCertificate;
  if (!(Date.parse(issuedAt) < Date.parse(expiresAt))) return 'has invalid dates';
  if (hookproofCertificate.evidence.level > evidenceLevel(hookproofCertificate.features))
    return 'has an evidence level that its features do not allow';
  return data;
}

function isCanonical(value: Json, bytes: Uint8Array): boolean {
  try {
    return canonicalJson(value) === Buffer.from(bytes).toString();
  } catch {
    // A lone surrogate has no canonical form.
    return false;
  }
}
