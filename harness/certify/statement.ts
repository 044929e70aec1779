/**
 * What a certificate says: an in-toto Statement v1 with the test-result predicate v0.1 (github.com/in-toto/attestation). What that predicate has no
 * field for (endpoint, profile, dates, key) stands in one extension field of it, `hookproofCertificate`, as its parsing rules allow. A
 * second predicate would be a second file that can be lost or paired wrongly; so a tool that knows test results reads this one, and whoever
 * decides on dates and endpoint finds them under the same signature. Pure.
 */
import * as z from 'zod';
import { FEATURES, PROFILES } from '../../scenarios/index.ts';
import { canonicalJson, type Json } from './canonical-json.ts';
import { parseJson } from './dsse.ts';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';

const digest = z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/) });
const named = <Name extends string>(name: Name) => z.strictObject({ name: z.literal(name), digest });
const testIds = z.array(z.string().regex(/^[a-z0-9-]+\/[a-z0-9-]+$/));
/** UTC, in whole seconds. */
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

const certificate = z.strictObject({
  format: z.literal(1),
  endpoint: z.strictObject({
    /** Origin and path. A query may hold a token, so it is left out; the digest of the subject `endpoint` is over the whole URL. */
    url: z.string().max(4096),
    tls: z.enum(['TLSv1.2', 'TLSv1.3']),
    /** `public`: the chain ends at an authority that Node trusts by itself; `configured`: at one that the operator has added. */
    trust: z.enum(['public', 'configured']),
  }),
  expiresAt: time,
  /** The features that were on: what is agreed on with the partner beyond what the profile needs. */
  features: z.array(z.enum(FEATURES)),
  issuedAt: time,
  keyId: z.string().regex(/^[0-9a-f]{64}$/),
  notApplicableTests: testIds,
  /** Judged and not scored: they are newer than the revision. */
  notScoredTests: testIds,
  profile: z.enum(PROFILES),
  revision: z.int().positive(),
  run: z.strictObject({ seed: z.string().max(64), startedAt: z.string().max(32) }),
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
  /** The result document, byte for byte; the URL of the endpoint; the public key of its certificate (SubjectPublicKeyInfo, DER). */
  subject: z.tuple([named('result document'), named('endpoint'), named('endpoint key')]),
});

export type Statement = z.infer<typeof statement>;

export function statementBytes(given: Statement): Buffer {
  return Buffer.from(canonicalJson(statement.parse(given) as Json));
}

/** The statement in a payload, or why it is none, as the end of the sentence "what is signed …". */
export function readStatement(payload: Uint8Array): Statement | string {
  const value = parseJson(payload);
  if (value === undefined) return 'is no JSON text in UTF-8';
  const { success, data, error } = statement.safeParse(value);
  if (!success) {
    const [issue] = error.issues;
    const place = issue === undefined || issue.path.length === 0 ? 'its top level' : issue.path.join('.');
    return `is no certificate of this format (at ${place.slice(0, 200)})`;
  }
  if (canonicalJson(data as Json) !== Buffer.from(payload).toString())
    return 'is not spelt as hookproof writes it (canonical JSON)';
  const { warnedTests, result, hookproofCertificate } = data.predicate;
  if ((result === 'WARNED') !== warnedTests.length > 0) return 'has a result that its warned tests contradict';
  const { issuedAt, expiresAt } = hookproofCertificate;
  if (!(Date.parse(issuedAt) < Date.parse(expiresAt))) return 'has dates that are none, or in the wrong order';
  return data;
}
