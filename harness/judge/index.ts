export type { Evidence, Judgement, ProbeEvidence } from './evidence.ts';
export { describeAttempt, isAccepted, wasClosed } from './grade.ts';
export { judge } from './judge.ts';
export { judgeChain } from './judge-chain.ts';
export { describeHello, type HandshakeEvidence, isAnswered, judgeHandshake } from './judge-handshake.ts';
