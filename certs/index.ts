export type { Hash, KeyKind } from './factory/key-kinds.ts';
export {
  type CertificateOptions,
  type ExtendedKeyUsage,
  type IssuedCertificate,
  makeCertificate,
} from './factory/make-certificate.ts';
export { type KeyedCertificate, type QuickStartCertificate, quickStartCertificate } from './factory/quick-start.ts';
