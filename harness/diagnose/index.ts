/** The diagnosis of a run: which fault the endpoint probably has. */
export { diagnose } from './diagnose.ts';
export { type DictionaryFault, type FaultDictionary, isMeant, loadDictionary } from './fault-dictionary.ts';
export {
  explainCertificates,
  explainClientCertificate,
  explainPreflight,
  type Finding,
  type PreflightAttempts,
} from './preflight-findings.ts';
export { explainRejection, explainWords } from './rejected-credentials.ts';
