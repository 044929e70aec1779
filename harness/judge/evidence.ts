/** What the judge gets to see of a scenario: the answers, and what was due. */
import type { Expectation, Leak } from '../../scenarios/index.ts';
import type { Attempt } from '../transport/index.ts';

/** One probe and what came of it. */
export interface ProbeEvidence {
  readonly label: string;
  readonly expect: Expectation;
  readonly attempt: Attempt;
  /** What the answer holds that it must not. */
  readonly leaks: readonly Leak[];
  /** What the independent oracle found wrong with the outgoing request, or null. */
  readonly probeFault: string | null;
}

/** A scenario's evidence: the probes between two controls. */
export interface Evidence {
  /** The plain valid delivery before the probes. */
  readonly before: Attempt;
  readonly probes: readonly ProbeEvidence[];
  /** The plain valid delivery after them; null when it could not be sent any more. */
  readonly after: Attempt | null;
  /** Set when this scenario, alone in flight, stopped the receiver from answering: how that showed. */
  readonly killed: string | null;
  /** Whether the answers of the probes must be the same. */
  readonly uniform: boolean;
}

/** The judge's word. `reason` is empty when a pass needs no comment. */
export interface Judgement {
  readonly verdict: 'pass' | 'fail' | 'warn' | 'inconclusive' | 'harness-error';
  readonly observed: string;
  readonly reason: string;
}
