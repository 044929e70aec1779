export { diagnose } from './diagnose.ts';
export { type DictionaryFault, type FaultDictionary, isMeant, loadDictionary } from './fault-dictionary.ts';
export {
  explainCertificates,
  explainClientCertificate,
  explainGate,
  type Finding,
  type Gate,
} from './preflight-findings.ts';
export { explainRefusal } from './rejected-credentials.ts';
