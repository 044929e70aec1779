export { type KeyedCertificate, type QuickStartCertificate, quickStartCertificate } from './quick-start.ts';
