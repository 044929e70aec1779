export { CATALOGUE, catalogueDigest, currentId, findScenario, scenariosOwning } from './catalogue.ts';
export { defectOf, hasDefect } from './defect.ts';
export { accepted, acceptedOrLimited, handled, refused, refusedMalformed } from './expectations.ts';
export type {
  ChainExpectation,
  HelloExpectation,
  HelloMatch,
  HelloOffer,
  SuiteGroup,
} from './handshake.ts';
export {
  configureSources,
  EVIDENCE_LEVELS,
  EVIDENCE_RULES,
  type EvidenceLevel,
  evidenceLevel,
  evidenceStatement,
  isEvidenceSource,
  levelWith,
  PROFILE_RULES,
  PROFILES,
  type Profile,
  type ProfileRules,
  SOURCE_TEXTS,
} from './profiles.ts';
export { type Level, REQUIREMENTS, type Requirement, type RequirementId, requirement } from './requirements.ts';
export * as samples from './samples.ts';
export { type ControlKind, ID_FIELDS, newTestId, TEST_ID_PREFIX } from './samples.ts';
export {
  type AddressChange,
  type AnswerMatch,
  type ChainScenario,
  type Change,
  CLIENT_FIXTURES,
  type ClientCertificate,
  type ClientFixture,
  type ConnectChange,
  changedStages,
  type Delivery,
  type EffectsAudit,
  EVIDENCE_SOURCES,
  type EvidenceSource,
  type Expectation,
  type ExpectedEffect,
  FEATURES,
  type Feature,
  type FlowScenario,
  type FollowUp,
  type HandshakeScenario,
  type Kit,
  type KnownSamples,
  LEAKS,
  type Leak,
  LOG_LEAKS,
  LOG_RUN_OVER,
  type LogFile,
  type LogFinding,
  type LogLeak,
  type Observation,
  type ObservationScenario,
  type ProbeScenario,
  type RequestHead,
  ROTATION_STEPS,
  type RotatedSecret,
  type RotationStep,
  type RunObservations,
  SAMPLE_KINDS,
  type SampleKind,
  type Scenario,
  SENDING_STAGES,
  type SecretSwitch,
  type SendingStage,
  type SignChange,
  type Suite,
  type Transmission,
} from './scenario.ts';
export { STATEMENTS, type Statement } from './statements.ts';
export { NOT_JSON } from './suites/malformed-json.ts';
export { signedAs } from './suites/rotation.ts';
