export { analyseChain } from './chain/analyse-chain.ts';
export type {
  ChainAnalysis,
  ChainCertificate,
  ChainFault,
  ChainInput,
  ChainRole,
} from './chain/chain-analysis.ts';
export { drawChain } from './chain/draw-chain.ts';
export type { TrustedCertificates } from './chain/trust-list.ts';
export type { Hash, KeyKind } from './factory/key-kinds.ts';
export {
  type CertificateOptions,
  type ExtendedKeyUsage,
  type IssuedCertificate,
  makeCertificate,
} from './factory/make-certificate.ts';
export { type KeyedCertificate, type QuickStartCertificate, quickStartCertificate } from './factory/quick-start.ts';
export { type CertificateFacts, certificateFacts } from './facts/certificate-facts.ts';
export { distinguishedName } from './facts/distinguished-name.ts';
export { authorityKeyId, isIssuedBy } from './facts/issuing.ts';
export { type KeyFacts, keyInWords } from './facts/key-facts.ts';
export { issuerInWords, subjectInWords } from './facts/names-in-words.ts';
export { isPublicAuthority } from './facts/public-authorities.ts';
export type { Purpose } from './facts/purpose.ts';
export { sentence } from './facts/sentence.ts';
export {
  CLIENT_MATERIAL_NAMES,
  type ClientFault,
  type ClientMaterial,
  type ClientMaterialName,
  clientMaterial,
} from './fixtures/client-materials.ts';
export {
  issuedByClient,
  ROGUE_CERTIFICATES,
  type RogueCertificate,
  rogueCertificates,
} from './fixtures/rogue-certificates.ts';
export {
  SERVER_FIXTURE_NAMES,
  type ServerFixture,
  type ServerFixtureName,
  serverFixture,
  serverFixtures,
} from './fixtures/server-fixtures.ts';
export type { DerKind } from './loader/der-kind.ts';
export {
  type MaterialAdvice,
  type MaterialAdviceCode,
  type MaterialFinding,
  type MaterialProblem,
  type MaterialProblemCode,
  type MaterialReading,
  type MaterialSource,
  usableMaterial,
} from './loader/finding.ts';
export { certificateBlocks, type LineFault, type PemBlock } from './loader/pem.ts';
export { readAuthorities } from './loader/read-authorities.ts';
export { certificatesPem, readCertificates } from './loader/read-certificates.ts';
export { type Identity, type IdentityOptions, type MaterialFile, readIdentity } from './loader/read-identity.ts';
export { type PrivateKey, privateKeyTexts, readPrivateKey } from './loader/read-private-key.ts';
export { type OtherKind, type Sniffed, sniff } from './loader/sniff.ts';
export {
  makeWorkingSet,
  WORKING_SET_FILES,
  WORKING_SET_FIXTURES,
  type WorkingSet,
  type WorkingSetFile,
  type WorkingSetOptions,
} from './working-set.ts';
export type { GuideSection } from './working-set-guide.ts';
