/** The judge: a pure function from evidence to judgement. A rejection counts only between two accepted controls. */

import type { Level } from '../../scenarios/index.ts';
import type { Attempt } from '../transport/index.ts';
import { classOfAttempt, rejectionsOf, STANDARD } from './dialect.ts';
import type { DecidedBy, Evidence, Judgement, ProbeEvidence } from './evidence.ts';
import { describeAttempt, type Grade, gradeProbe, isAccepted, outcomeOfProbe } from './grade.ts';
import { differenceBetween } from './uniform.ts';

/** Grades from worst to best. The worst probe decides the verdict of a scenario. */
const ORDER = ['harness-error', 'fail', 'inconclusive', 'warn', 'note', 'pass'] as const;

function worst(graded: readonly { readonly probe: ProbeEvidence; readonly grade: Grade }[]) {
  return graded.toSorted((a, b) => ORDER.indexOf(a.grade.grade) - ORDER.indexOf(b.grade.grade))[0];
}

/**
 * Judges one scenario.
 *
 * - A probe that the oracle refuses is a `harness-error`, whatever the answer.
 * - If the control before the probe was not accepted, the verdict is `inconclusive`.
 * - A probe that stopped the receiver fails at every level, because no sender may be able to stop a receiver.
 * - A lost delivery (`fail` of an expectation) fails even at level *should*.
 * - An accepted forgery fails without the second control. Everything else requires it.
 */
export function judge(level: Level, evidence: Evidence): Judgement {
  const { before, probes, after } = evidence;
  const reading = { dialect: evidence.dialect ?? STANDARD, credentials: evidence.credentials ?? [] };
  const decisive = worst(probes.map((probe) => ({ probe, grade: gradeProbe(probe, level, reading) })));
  if (decisive === undefined) {
    const none = { observed: 'nothing', delivery: null, outcome: 'seen' };
    // Without an accepted control before them, the probes are not sent at all.
    return isAccepted(before)
      ? { ...none, verdict: 'harness-error', decidedBy: 'no-probe', reason: 'the scenario sent no probe' }
      : { ...none, ...withoutControl('before', before) };
  }

  const { probe, grade } = decisive;
  const isOneOfSeveral = probes.length > 1 && grade.reason !== '';
  const seen = {
    observed: describeAttempt(probe.attempt),
    delivery: isOneOfSeveral ? probe.label : null,
    outcome: outcomeOfProbe(probe, reading),
    answered: {
      class: classOfAttempt(probe.attempt, rejectionsOf(reading.dialect, reading.credentials, probe.lacking)),
      status: probe.attempt.answer?.status ?? null,
    },
  };
  const reason = isOneOfSeveral ? `${probe.label}: ${grade.reason}` : grade.reason;
  const cause = isOneOfSeveral ? { cause: grade.reason } : {};
  const graded = { ...seen, ...cause, decidedBy: grade.decidedBy, reason };

  if (grade.grade === 'harness-error') return { ...graded, verdict: 'harness-error' };
  if (!isAccepted(before)) return { ...seen, ...withoutControl('before', before) };
  if (evidence.killed !== null) {
    return {
      ...seen,
      verdict: 'fail',
      decidedBy: 'receiver-stopped',
      reason: `the receiver stopped answering after this delivery: ${evidence.killed}`,
    };
  }
  if (grade.decidedBy === 'forgery-accepted') return { ...graded, ...atLevel(level, reason) };
  if (after === null || !isAccepted(after)) return { ...seen, ...withoutControl('after', after) };
  if (grade.decidedBy === 'no-answer' && evidence.unreliable === true) {
    const both = 'no answer in time, but the endpoint leaves plain valid deliveries unanswered as well';
    return { ...seen, verdict: 'inconclusive', decidedBy: 'silence', reason: both };
  }
  switch (grade.grade) {
    case 'fail':
      return { ...graded, ...atLevel(grade.isCertain === true && level !== 'info' ? 'must' : level, reason) };
    case 'inconclusive':
    case 'warn':
      return { ...graded, verdict: grade.grade };
    default: {
      const difference = evidence.uniform === null ? null : differenceBetween(probes);
      if (difference === null) return { ...graded, verdict: 'pass' };
      const isRecorded = evidence.uniform === 'status' && difference.part !== 'status';
      const differs = atLevel(isRecorded ? 'info' : level, difference.text);
      return { ...seen, delivery: null, decidedBy: 'answers-differ', ...differs };
    }
  }
}

/** Returns the verdict for a failure: `must` fails, `should` warns, and `info` only records it. */
export function atLevel(level: Level, reason: string): Pick<Judgement, 'verdict' | 'reason'> {
  if (level === 'must') return { verdict: 'fail', reason };
  if (level === 'should') return { verdict: 'warn', reason };
  return { verdict: 'pass', reason: `recorded: ${reason}` };
}

/**
 * Returns the verdict for a control that was not accepted. If the control before the probes could not be sent for a
 * local reason, this is an error of the harness.
 */
function withoutControl(
  when: 'before' | 'after',
  control: Attempt | null,
): Pick<Judgement, 'verdict' | 'reason' | 'decidedBy'> & { readonly delivery: null } {
  const got = control === null ? 'was not sent' : `got ${describeAttempt(control)}`;
  const isLimited = control?.answer?.status === 429;
  const isLocal = control?.error?.kind === 'local';
  const decidedBy: DecidedBy = isLimited ? 'rate-limited' : 'control-rejected';
  return {
    verdict: when === 'before' && isLocal ? 'harness-error' : 'inconclusive',
    reason: `${isLimited ? 'rate-limited' : 'control rejected'}: the plain valid delivery ${when} the probe ${got}`,
    decidedBy,
    delivery: null,
  };
}
