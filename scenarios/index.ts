export { CATALOGUE, catalogueDigest, findScenario, ownersOf } from './catalogue.ts';
export { defectOf, hasDefect } from './defect.ts';
export { accepted, acceptedOrLimited, handled, refused, refusedMalformed } from './expectations.ts';
export type {
  ChainExpectation,
  HelloExpectation,
  HelloMatch,
  HelloOffer,
  SuiteGroup,
} from './handshake.ts';
export { PROFILE_RULES, PROFILES, type Profile, type ProfileRules } from './profiles.ts';
export { type Level, REQUIREMENTS, type Requirement, type RequirementId, requirement } from './requirements.ts';
export * as samples from './samples.ts';
export { ID_FIELDS, newTestId, TEST_ID_PREFIX } from './samples.ts';
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
  type LogFinding,
  type LogLeak,
  type Observation,
  type ObservationScenario,
  type ProbeScenario,
  type RequestHead,
  type RunObservations,
  SAMPLE_KINDS,
  type SampleKind,
  type Scenario,
  SENDING_STAGES,
  type SendingStage,
  type SignChange,
  type Suite,
  type Transmission,
  WINDOWS,
  type Window,
} from './scenario.ts';
export { STATEMENTS, type Statement } from './statements.ts';
