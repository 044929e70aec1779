/** The verdict on a scenario of the certificates that an endpoint sends. Pure. */
import type { ChainAnalysis, ChainFault } from '../../certs/index.ts';
import type { ChainFaultCode } from '../../contract/index.ts';
import type { ChainExpectation, Level } from '../../scenarios/index.ts';
import type { Judgement } from './evidence.ts';
import { atLevel } from './judge.ts';

/** What shows only in the list of certificates as it was sent, which TLS 1.3 hides. */
const NEEDS_EXACT: ReadonlySet<ChainFaultCode> = new Set(['misordered', 'duplicate', 'unrelated', 'root-sent']);

/** A judgement, and how to mend what was found when the analysis knows better than the scenario. */
export interface ChainJudgement extends Omit<Judgement, 'verdict'> {
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
