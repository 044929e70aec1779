/** Judges the certificates that an endpoint sends, and TLS handshakes. Pure. */

import type { ChainAnalysis, ChainFault } from '../../certs/index.ts';
import { type ChainFaultCode, tlsVersionName } from '../../contract/index.ts';
import type { ChainExpectation, HelloExpectation, HelloOffer, Level } from '../../scenarios/index.ts';
import { type HelloOutcome, matchHello } from '../probe/index.ts';
import type { Judgement } from './evidence.ts';
import { atLevel } from './judge.ts';

/** Faults that are visible only in the certificate list as sent. TLS 1.3 encrypts this list. */
const NEEDS_EXACT: ReadonlySet<ChainFaultCode> = new Set(['misordered', 'duplicate', 'unrelated', 'root-sent']);

interface ChainJudgement extends Omit<Judgement, 'verdict'> {
  readonly verdict: Judgement['verdict'] | 'not-applicable';
}

/**
 * Judges one expectation about the certificate chain. If no certificates were received, `analysis` is null and
 * `problem` says why.
 */
export function judgeChain(
  level: Level,
  expect: ChainExpectation,
  analysis: ChainAnalysis | null,
  problem: string,
): ChainJudgement {
  const none = { observed: '', delivery: null, outcome: 'seen' } as const;
  if (analysis === null || analysis.certificates.length === 0) {
    const reason = `the certificates were not received: ${problem}`;
    return { ...none, verdict: 'inconclusive', decidedBy: 'certificates-missing', reason };
  }
  if (!analysis.exact && expect.faults.every((code) => NEEDS_EXACT.has(code))) {
    const reason = 'the endpoint supports only TLS 1.3, which hides the list of certificates as sent';
    return { ...none, verdict: 'not-applicable', decidedBy: 'hidden-by-tls-1.3', reason };
  }
  const has = (codes: readonly ChainFaultCode[] | undefined) =>
    analysis.faults.filter(({ code }) => codes?.includes(code));
  const isLeaf = ({ at }: ChainFault) => at !== null && analysis.certificates[at]?.role === 'leaf';
  const found = has(expect.faults).filter(
    (fault) => expect.of === undefined || isLeaf(fault) === (expect.of === 'leaf'),
  );
  const [first] = found;
  if (first !== undefined) {
    const codes = [...new Set(found.map(({ code }) => code))];
    return {
      ...atLevel(level, found.map(({ text }) => text).join(' ')),
      observed: codes.join(', '),
      decidedBy: 'certificate-fault',
      delivery: null,
      outcome: codes.toSorted().join(', '),
    };
  }
  const observed = describeChain(analysis);
  const [hiding] = has(expect.hiddenBy);
  if (hiding !== undefined) {
    const reason = `cannot be checked until another fault is fixed: ${hiding.text}`;
    return { ...none, verdict: 'inconclusive', decidedBy: 'hidden-by-another-fault', observed, reason };
  }
  return { ...none, verdict: 'pass', decidedBy: 'expected-answer', observed, reason: '' };
}

function describeChain({ certificates, anchor }: ChainAnalysis): string {
  const names = certificates.map(({ subject }) => subject).slice(0, 5);
  const more = certificates.length > 5 ? ' < ...' : '';
  return `${names.join(' < ')}${more}${anchor === null ? '' : `, trusted by ${anchor}`}`;
}

/**
 * The outcomes of a valid ClientHello before the probe, of the probe (if it was sent twice, the second time), and of a
 * valid ClientHello after it.
 */
export interface HandshakeEvidence {
  readonly before: HelloOutcome;
  readonly probe: HelloOutcome;
  readonly after: HelloOutcome;
}

/** Returns whether the endpoint answered a ClientHello with a ServerHello. */
export function isAnswered(outcome: HelloOutcome): boolean {
  return outcome.kind === 'server-hello';
}

/** Describes the answer to a ClientHello in words. */
export function describeHello(outcome: HelloOutcome): string {
  switch (outcome.kind) {
    case 'server-hello': {
      const compressed = outcome.compressed ? ', compressed' : '';
      return `a handshake with ${tlsVersionName(outcome.version)}, ${outcome.suite.name}${compressed}`;
    }
    case 'alert':
      return `the alert ${outcome.alert}`;
    case 'closed':
      return 'the connection was closed';
    case 'reset':
      return 'the connection was reset';
    case 'timeout':
      return 'no answer within the time limit';
    case 'not-tls':
      return 'an answer that is not TLS';
    case 'connect-error':
      return outcome.error.message;
  }
}

/** Returns the outcome as a code that is the same in every run. See `Judgement.outcome`. */
function outcomeOfHello(outcome: HelloOutcome): string {
  switch (outcome.kind) {
    case 'server-hello':
      return 'granted';
    case 'alert':
      return outcome.alert;
    case 'closed':
    case 'reset':
      return 'closed';
    case 'timeout':
      return 'silence';
    case 'not-tls':
      return 'other-protocol';
    case 'connect-error':
      return 'seen';
  }
}

/**
 * Judges one handshake. A refusal counts only between two answered controls; a wrongly accepted offer counts after the
 * first one. An alert, a close or a reset is a refusal. A missing answer, or a probe that could not be sent, allows no
 * conclusion.
 */
export function judgeHandshake(
  level: Level,
  offer: HelloOffer,
  expect: HelloExpectation,
  { before, probe, after }: HandshakeEvidence,
): Judgement {
  const observed = describeHello(probe);
  const seen = { observed, delivery: null, outcome: outcomeOfHello(probe) } as const;
  if (!isAnswered(before)) return { ...seen, ...withoutControl('before', before) };
  const match = matchHello(probe, offer);
  if (match === null) {
    const reason = `the answer allows no conclusion: ${observed}`;
    return { ...seen, verdict: 'inconclusive', decidedBy: 'not-delivered', reason };
  }
  const expected = `expected ${expect.text}`;
  const isExpected = expect.pass.includes(match);
  const isNoted = expect.note?.includes(match) === true;
  const decidedBy = match === 'granted' ? 'handshake-accepted' : 'handshake-refused';
  if (match === 'granted' && !isExpected && !isNoted) {
    return { ...seen, decidedBy, ...atLevel(level, `accepted the offer: ${observed}; ${expected}`) };
  }
  if (!isAnswered(after)) return { ...seen, ...withoutControl('after', after) };
  if (isExpected) return { ...seen, decidedBy: 'expected-answer', verdict: 'pass', reason: '' };
  if (isNoted) return { ...seen, decidedBy: 'allowed-answer', verdict: 'pass', reason: `recorded: ${observed}` };
  if (match === 'none') {
    const reason = `a missing answer allows no conclusion; ${expected}`;
    return { ...seen, decidedBy: 'silence', verdict: 'inconclusive', reason };
  }
  return { ...seen, decidedBy, ...atLevel(level, `${observed}; ${expected}`) };
}

function withoutControl(
  when: 'before' | 'after',
  control: HelloOutcome,
): Pick<Judgement, 'verdict' | 'decidedBy' | 'reason'> {
  const reason = `control rejected: the valid ClientHello ${when} the probe got: ${describeHello(control)}`;
  return { verdict: 'inconclusive', decidedBy: 'control-rejected', reason };
}
