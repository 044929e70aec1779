export { explainCertificates } from './certificate-findings.ts';
export { explainClientCertificate } from './client-certificate-findings.ts';
export { diagnose } from './diagnose.ts';
export { type DictionaryFault, type FaultDictionary, isMeant } from './fault-dictionary.ts';
export type { Finding } from './finding.ts';
export { explainGate, type Gate } from './gate-findings.ts';
export { loadDictionary } from './load-dictionary.ts';
export { explainRefusal } from './refused-control.ts';
export { STACKS, type Stack } from './stack.ts';
