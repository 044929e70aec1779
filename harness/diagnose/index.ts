export { explainCertificates } from './certificate-findings.ts';
export { explainClientCertificate } from './client-certificate-findings.ts';
export {
  type DictionaryFault,
  type FaultDictionary,
  isMeant,
  isUncertain,
  loadFaultDictionary,
} from './fault-dictionary.ts';
export type { Finding } from './finding.ts';
export { explainGate, type Gate } from './gate-findings.ts';
export { explainRefusal } from './refused-control.ts';
export { explainRun } from './run-findings.ts';
