export { analyseChain } from './chain/analyse-chain.ts';
export type {
  ChainAnalysis,
  ChainCertificate,
  ChainFault,
  ChainInput,
  ChainRole,
} from './chain/chain-analysis.ts';
export type { TrustedCertificates } from './chain/chain-path.ts';
export { type ChainLine, chainLines } from './chain/draw-chain.ts';
export type {
  CertificateOptions,
  ExtendedKeyUsage,
  Hash,
  IssuedCertificate,
  KeyKind,
} from './factory/certificate-options.ts';
export {
  type KeyedCertificate,
  makeCertificate,
  type QuickStartCertificate,
  quickStartCertificate,
} from './factory/make-certificate.ts';
export {
  issuedByClient,
  ROGUE_CERTIFICATES,
  type RogueCertificate,
  rogueCertificates,
} from './factory/rogue-certificates.ts';
export {
  SERVER_FIXTURE_NAMES,
  type ServerFixture,
  type ServerFixtureName,
  serverFixture,
} from './factory/server-fixtures.ts';
export {
  type CertificateFacts,
  certificateFacts,
  isPublicAuthority,
  issuerInWords,
  type Purpose,
  subjectInWords,
} from './facts/certificate-facts.ts';
export { distinguishedName } from './facts/distinguished-name.ts';
export { type KeyFacts, keyInWords } from './facts/key-facts.ts';
export { authorityKeyId, isIssuedBy } from './facts/read-certificate.ts';
export { sentence } from './facts/wording.ts';
export type {
  MaterialAdvice,
  MaterialAdviceCode,
  MaterialFinding,
  MaterialProblem,
  MaterialProblemCode,
  MaterialReading,
  MaterialSource,
} from './loader/finding.ts';
export { certificateBlocks, type LineFault, type PemBlock } from './loader/pem.ts';
export { certificatesPem, readAuthorities, readCertificates } from './loader/read-certificates.ts';
export { type Identity, type IdentityOptions, type MaterialFile, readIdentity } from './loader/read-identity.ts';
export { type PrivateKey, privateKeyTexts, readPrivateKey } from './loader/read-private-key.ts';
export { type DerKind, type OtherKind, type Sniffed, sniff } from './loader/sniff.ts';
export {
  type GuideSection,
  makeWorkingSet,
  WORKING_SET_FILES,
  WORKING_SET_FIXTURES,
  type WorkingSet,
  type WorkingSetFile,
  type WorkingSetOptions,
} from './working-set.ts';
