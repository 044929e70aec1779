/** What the judge receives about a scenario, and what it returns. */

import type { Expectation, Leak } from '../../scenarios/index.ts';
import type { Attempt } from '../transport/index.ts';

/** One probe, its expectation and its result. */
export interface ProbeEvidence {
  readonly label: string;
  readonly expect: Expectation;
  readonly attempt: Attempt;
  /** What the answer contains and must not contain. */
  readonly leaks: readonly Leak[];
  /** What the independent oracle found wrong with the outgoing request, or null. */
  readonly probeFault: string | null;
}

/** The evidence of a scenario: its probes between two controls. */
export interface Evidence {
  /** The plain valid delivery before the probes. */
  readonly before: Attempt;
  readonly probes: readonly ProbeEvidence[];
  /** The plain valid delivery after the probes; null when it could not be sent. */
  readonly after: Attempt | null;
  /** How the receiver stopped answering, when this scenario, alone in flight, caused it; else null. */
  readonly killed: string | null;
  /** Whether the answers to the probes must be the same. */
  readonly uniform: boolean;
}

/** What decided a verdict. */
export type DecidedBy =
  // The answer to a probe.
  | 'expected-answer'
  | 'allowed-answer'
  | 'discouraged-answer'
  | 'wrong-status'
  | 'other-2xx'
  | 'redirect'
  | 'crash'
  | 'forgery-accepted'
  | 'valid-rejected'
  | 'leak'
  | 'answers-differ'
  | 'connection-closed'
  | 'no-answer'
  | 'unreadable-answer'
  | 'receiver-stopped'
  // A TLS handshake or the certificates.
  | 'handshake-accepted'
  | 'handshake-refused'
  | 'certificate-fault'
  | 'certificates-missing'
  | 'hidden-by-tls-1.3'
  | 'hidden-by-another-fault'
  // No conclusion.
  | 'control-rejected'
  | 'rate-limited'
  | 'unavailable'
  | 'silence'
  | 'not-delivered'
  // The harness itself.
  | 'faulty-probe'
  | 'not-sent'
  | 'no-probe';

/** The verdict on a scenario. */
export interface Judgement {
  readonly verdict: 'pass' | 'fail' | 'warn' | 'inconclusive' | 'harness-error';
  readonly observed: string;
  /** Empty when a pass needs no comment. */
  readonly reason: string;
  /** The reason without the delivery that decided; absent when the reason does not name one. */
  readonly cause?: string;
  readonly decidedBy: DecidedBy;
  /** The label of the probe that decided; null when it was none of several. */
  readonly delivery: string | null;
  /**
   * What was observed, without what differs from run to run: a status, the name of a TLS alert, `granted` (a
   * handshake), `closed`, `silence`, `other-protocol`, the codes of certificate faults, or `seen` for everything else.
   */
  readonly outcome: string;
}
