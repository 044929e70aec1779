export { explainCertificates } from './certificate-findings.ts';
export { explainClientCertificate } from './client-certificate-findings.ts';
export { diagnose } from './diagnose.ts';
export { type DictionaryFault, type FaultDictionary, isMeant, loadDictionary } from './fault-dictionary.ts';
export type { Finding } from './finding.ts';
export { explainGate, type Gate } from './gate-findings.ts';
export { explainRefusal } from './refused-control.ts';
export { STACKS, type Stack } from './stack.ts';
