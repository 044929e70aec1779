/** The verdict: one pure function from evidence to judgement. A refusal counts only between two accepted controls. */
import type { Level } from '../../scenarios/index.ts';
import type { Attempt } from '../transport/index.ts';
import type { Evidence, Judgement, ProbeEvidence } from './evidence.ts';
import { describeAttempt, type Grade, gradeProbe, isAccepted } from './grade.ts';
import { differenceBetween } from './uniform.ts';

/** From worst to best; the worst probe of a scenario decides. */
const ORDER = ['harness-error', 'fail', 'inconclusive', 'warn', 'note', 'pass'] as const;

function worst(graded: readonly { readonly probe: ProbeEvidence; readonly grade: Grade }[]) {
  return graded.toSorted((a, b) => ORDER.indexOf(a.grade.grade) - ORDER.indexOf(b.grade.grade))[0];
}

function controlReason(when: 'before' | 'after', control: Attempt | null): string {
  const got = control === null ? 'was not sent' : `got ${describeAttempt(control)}`;
  const kind = control?.answer?.status === 429 ? 'rate-limited' : 'control refused';
  return `${kind}: the plain valid delivery ${when} it ${got}`;
}

/** Nothing is proved; when the control could not even be sent, that is our own fault. */
function withoutControl(before: Attempt, observed: string): Judgement {
  const verdict = before.error?.kind === 'local' ? 'harness-error' : 'inconclusive';
  return { verdict, observed, reason: controlReason('before', before) };
}

/** A failure at its level: `must` fails, `should` warns, `info` is recorded. */
export function atLevel(level: Level, observed: string, reason: string): Judgement {
  if (level === 'must') return { verdict: 'fail', observed, reason };
  if (level === 'should') return { verdict: 'warn', observed, reason };
  return { verdict: 'pass', observed, reason: `recorded: ${reason}` };
}

/**
 * Judges one scenario.
 *
 * - A probe that the oracle refuses is a `harness-error`, whatever was answered.
 * - Without an accepted control before, nothing is proved: `inconclusive`.
 * - A probe that stopped the receiver fails, whatever the scenario's level: nobody may be able to switch a receiver off.
 * - A forged delivery that was accepted fails at once; everything else needs the second control as well.
 */
export function judge(level: Level, evidence: Evidence): Judgement {
  const { before, probes, after } = evidence;
  const decisive = worst(probes.map((probe) => ({ probe, grade: gradeProbe(probe) })));
  if (decisive === undefined) {
    // Without an accepted control before them the probes are not even sent.
    return isAccepted(before)
      ? { verdict: 'harness-error', observed: 'nothing', reason: 'the scenario sent no probe' }
      : withoutControl(before, 'nothing');
  }

  const { probe, grade } = decisive;
  const observed = describeAttempt(probe.attempt);
  const reason = probes.length > 1 && grade.reason !== '' ? `${probe.label}: ${grade.reason}` : grade.reason;

  if (grade.grade === 'harness-error') return { verdict: 'harness-error', observed, reason };
  if (!isAccepted(before)) return withoutControl(before, observed);
  if (evidence.killed !== null) {
    return {
      verdict: 'fail',
      observed,
      reason: `the receiver stopped answering after this delivery: ${evidence.killed}`,
    };
  }
  if (grade.grade === 'fail' && grade.forged) return atLevel(level, observed, reason);
  if (after === null || !isAccepted(after)) {
    return { verdict: 'inconclusive', observed, reason: controlReason('after', after) };
  }
  switch (grade.grade) {
    case 'fail':
      return atLevel(level, observed, reason);
    case 'inconclusive':
      return { verdict: 'inconclusive', observed, reason };
    case 'warn':
      return { verdict: 'warn', observed, reason };
    default: {
      const difference = evidence.uniform ? differenceBetween(probes) : null;
      return difference === null ? { verdict: 'pass', observed, reason } : atLevel(level, observed, difference);
    }
  }
}
