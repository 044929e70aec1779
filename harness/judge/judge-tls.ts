/** The verdict on a scenario of the certificates that an endpoint sends. Pure. */
import type { ChainAnalysis, ChainFault } from '../../certs/index.ts';
import { type ChainFaultCode, tlsVersionName } from '../../contract/index.ts';
import type { ChainExpectation, HelloExpectation, HelloOffer, Level } from '../../scenarios/index.ts';
import { type HelloOutcome, matchHello } from '../probe/index.ts';
import type { Judgement } from './evidence.ts';
import { atLevel } from './judge.ts';

/** What shows only in the list of certificates as it was sent, which TLS 1.3 hides. */
const NEEDS_EXACT: ReadonlySet<ChainFaultCode> = new Set(['misordered', 'duplicate', 'unrelated', 'root-sent']);

/** A judgement, and how to mend what was found when the analysis knows better than the scenario. */
interface ChainJudgement extends Omit<Judgement, 'verdict'> {
  readonly verdict: Judgement['verdict'] | 'not-applicable';
  readonly fix: string | null;
}

function describeChain({ certificates, anchor }: ChainAnalysis): string {
  const names = certificates.map(({ subject }) => subject).slice(0, 5);
  return `${names.join(' < ')}${certificates.length > 5 ? ' < ...' : ''}${anchor === null ? '' : `, trusted by ${anchor}`}`;
}

/** Judges one expectation about the chain. `analysis` is null when the certificates could not be had, and `problem` says why. */
export function judgeChain(
  level: Level,
  expect: ChainExpectation,
  analysis: ChainAnalysis | null,
  problem: string,
): ChainJudgement {
  if (analysis === null || analysis.certificates.length === 0) {
    return {
      verdict: 'inconclusive',
      observed: '',
      reason: `the certificates could not be had: ${problem}`,
      fix: null,
    };
  }
  const observed = describeChain(analysis);
  if (!analysis.exact && expect.faults.every((code) => NEEDS_EXACT.has(code))) {
    const reason = 'the endpoint speaks TLS 1.3 alone, which does not show the list of certificates as it was sent';
    return { verdict: 'not-applicable', observed: '', reason, fix: null };
  }
  const has = (codes: readonly ChainFaultCode[]) =>
    analysis.faults.filter((fault: ChainFault) => codes.includes(fault.code));
  const isLeaf = ({ at }: ChainFault) => at !== null && analysis.certificates[at]?.role === 'leaf';
  const found = has(expect.faults).filter(
    (fault) => expect.of === undefined || isLeaf(fault) === (expect.of === 'leaf'),
  );
  const [first] = found;
  if (first !== undefined) {
    const reason = found.map(({ text }) => text).join(' ');
    return { ...atLevel(level, [...new Set(found.map(({ code }) => code))].join(', '), reason), fix: first.fix };
  }
  const [hiding] = has(expect.hiddenBy ?? []);
  if (hiding !== undefined) {
    return { verdict: 'inconclusive', observed, reason: `it cannot be seen as long as ${hiding.text}`, fix: null };
  }
  return { verdict: 'pass', observed, reason: '', fix: null };
}

/** The verdict on a scenario of the TLS handshake: the probe between two hellos of a right sender. Pure. */

/** One hello of a right sender before the probe, the probe (the second try when the first was not clear), one after it. */
export interface HandshakeEvidence {
  readonly before: HelloOutcome;
  readonly probe: HelloOutcome;
  readonly after: HelloOutcome;
}

/** Whether an endpoint took the hello of a right sender. */
export function isAnswered(outcome: HelloOutcome): boolean {
  return outcome.kind === 'server-hello';
}

/** What came back, in words. */
export function describeHello(outcome: HelloOutcome): string {
  switch (outcome.kind) {
    case 'server-hello':
      return `a handshake with ${tlsVersionName(outcome.version)}, ${outcome.suite.name}${outcome.compressed ? ', compressed' : ''}`;
    case 'alert':
      return `the alert ${outcome.alert}`;
    case 'closed':
      return 'the connection was closed';
    case 'reset':
      return 'the connection was reset';
    case 'timeout':
      return 'nothing came within the time limit';
    case 'not-tls':
      return 'an answer that is no TLS';
    case 'connect-error':
      return outcome.error.message;
  }
}

function withoutControl(when: 'before' | 'after', control: HelloOutcome, observed: string): Judgement {
  const reason = `control refused: the hello of a right sender ${when} it got: ${describeHello(control)}`;
  return { verdict: 'inconclusive', observed, reason };
}

/**
 * Judges one handshake. A refusal counts only between two answered controls; an offer that was taken needs none of them. An alert, a close
 * or a reset is a refusal; silence and what could not be sent prove nothing.
 */
export function judgeHandshake(
  level: Level,
  offer: HelloOffer,
  expect: HelloExpectation,
  { before, probe, after }: HandshakeEvidence,
): Judgement {
  const observed = describeHello(probe);
  if (!isAnswered(before)) return withoutControl('before', before, observed);
  const match = matchHello(probe, offer);
  if (match === null) return { verdict: 'inconclusive', observed, reason: `the probe proves nothing: ${observed}` };
  const due = `${expect.text} was due`;
  const right = expect.pass.includes(match);
  const noted = expect.note?.includes(match) === true;
  if (match === 'granted' && !right && !noted) return atLevel(level, observed, `took the offer: ${observed}; ${due}`);
  if (!isAnswered(after)) return withoutControl('after', after, observed);
  if (right) return { verdict: 'pass', observed, reason: '' };
  if (noted) return { verdict: 'pass', observed, reason: `recorded: ${observed}` };
  if (match === 'none') return { verdict: 'inconclusive', observed, reason: `silence proves nothing; ${due}` };
  return atLevel(level, observed, `${observed}; ${due}`);
}
