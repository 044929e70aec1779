/** The diagnosis of a run: which fault the endpoint probably has. */
export { diagnose } from './diagnose.ts';
export { type DictionaryFault, type FaultDictionary, isMeant, loadDictionary } from './fault-dictionary.ts';
export type { Finding } from './finding.ts';
export { namedFindings } from './named-findings.ts';
export {
  explainCertificates,
  explainClientCertificate,
  explainPreflight,
  type PreflightAttempts,
  rejectsCredentials,
  TLS_ON_PORT,
} from './preflight-findings.ts';
export {
  acceptsForgeries,
  answersByTimeout,
  EXPLAIN_FORGERIES,
  explainAfter,
  explainBefore,
  limitsDeliveries,
  type Refusal,
  type RejectedKind,
  rejectsKind,
  type Stage,
  stageOf,
  underscoreIn,
} from './refused-delivery.ts';
export { credentialsOf, explainRejection, explainWords } from './rejected-credentials.ts';
