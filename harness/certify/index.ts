/** Certification: which runs deserve a certificate, the certificates, and what is left of them later. Free of command line and terminal. */
export { type CertificationRun, certificationRun } from './certification-run.ts';
export { type CertificateInput, configurationBytes, issueCertificate, urlDigest } from './issue.ts';
export { keyIdOf, makeKeyPair, readPrivateKey, readPublicKey } from './keys.ts';
export { KNOWN_REVISIONS } from './known-revisions.ts';
export type { EndpointLook } from './look-at-endpoint.ts';
export type { Reason } from './reasons.ts';
export { type Drift, missingFeatures, recheck } from './recheck.ts';
export { exitCodeOfRefusals, type Refusal } from './refusal.ts';
export { refusalsAfter } from './refusals-after.ts';
export { type CertificationPlan, refusalsBefore } from './refusals-before.ts';
export { CURRENT_REVISION, loadRevision, type Revision } from './revision.ts';
export { type Verification, verifyCertificate } from './verify.ts';
