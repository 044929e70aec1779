export type { Evidence, Judgement, ProbeEvidence } from './evidence.ts';
export { describeAttempt, isAccepted } from './grade.ts';
export { judge } from './judge.ts';
