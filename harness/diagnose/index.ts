/** The diagnosis of a run: which fault the endpoint probably has. */
export { diagnose } from './diagnose.ts';
export { type DictionaryFault, type FaultDictionary, loadDictionary, matchesAny } from './fault-dictionary.ts';
export type { Finding } from './finding.ts';
export { lossOf, repetitionOf } from './handlings.ts';
export { loggedIn } from './logged.ts';
export { namedFindings } from './named-findings.ts';
export {
  explainCertificates,
  explainClientCertificate,
  explainPreflight,
  hasEnded,
  type PreflightAttempts,
  preflightFindings,
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
  rejectsForm,
  rejectsKind,
  type Stage,
  stageOf,
  underscoreIn,
  waitsAfterCheck,
} from './refused-delivery.ts';
export { configuredCredentials, explainRejection, explainWords } from './rejected-credentials.ts';
export { acceptsAfterValid } from './run-findings.ts';
export { SETTING_TEXTS } from './setting-texts.ts';
export { guessStack } from './stack.ts';
