/** Verdicts: pure functions from evidence to judgement, and the baseline of known failures. */
export {
  type Baseline,
  type BaselineEntry,
  baselineOutcome,
  knownIn,
  updateBaseline,
} from './baseline.ts';
export {
  type Credential,
  type Dialect,
  is2xx,
  isPlainForgery,
  missingRejection,
  PLAIN_FORGERIES,
  PREFLIGHT_SCENARIO,
  STANDARD,
  STATUS_SCENARIOS,
  usualRejection,
} from './dialect.ts';
export { DECISIONS, type DecidedBy, type Evidence, type Judgement, type ProbeEvidence } from './evidence.ts';
export {
  describeAttempt,
  isAccepted,
  isCompared,
  isNamed,
  mustBeRejected,
  outcomeOfAttempt,
  wasClosed,
} from './grade.ts';
export { judge } from './judge.ts';
export { type EffectEvidence, judgeEffects } from './judge-effects.ts';
export { describeHello, type HandshakeEvidence, isAnswered, judgeChain, judgeHandshake } from './judge-tls.ts';
export { differenceBetween } from './uniform.ts';
