/**
 * Certification: decides whether a run can be certified, issues and verifies certificates, and rechecks endpoints.
 * Independent of the command line.
 */

export { sha256 } from './canonical-json.ts';
export { type CertificationRun, certificationRun, type EndpointIdentity } from './certification-run.ts';
export { configurationBytes, issueCertificate, urlDigest } from './issue.ts';
export { keyIdOf, makeKeyPair, readPrivateKey, readPublicKey } from './keys.ts';
export { type Drift, missingFeatures, type Recheck, type RecheckOptions, recheck, schemeMismatch } from './recheck.ts';
export { type CertificationPlan, exitCodeOfRefusals, type Refusal, refusalsAfter, refusalsBefore } from './refusals.ts';
export { CURRENT_REVISION, KNOWN_REVISIONS, loadRevision, type Revision } from './revision.ts';
export { type Reason, type Verification, verifyCertificate } from './verify.ts';
