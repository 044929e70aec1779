/** What the judge receives about a scenario, and what it returns. */

import type { Expectation, Leak } from '../../scenarios/index.ts';
import type { AnswerClass } from '../report/result-document.ts';
import type { Attempt } from '../transport/index.ts';
import type { Credential, Dialect } from './dialect.ts';

/** One probe, its expectation and its result. */
export interface ProbeEvidence {
  readonly label: string;
  readonly expect: Expectation;
  readonly attempt: Attempt;
  /** What the answer contains and must not contain. */
  readonly leaks: readonly Leak[];
  /** What the independent oracle found wrong with the outgoing request, or null. */
  readonly probeFault: string | null;
  /** The credentials whose header the request does not have. */
  readonly lacking?: readonly Credential[];
  /** After an acceptance: the same kind of request without a notification. See `FollowUp`. */
  readonly comparisons?: readonly Attempt[];
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
  /** Whether the endpoint leaves plain valid deliveries unanswered too, so that silence says nothing about a probe. */
  readonly unreliable?: boolean;
  /** How the endpoint accepts and rejects. Absent: with the statuses of the specification. */
  readonly dialect?: Dialect;
  /** The credentials that the scenario is about. */
  readonly credentials?: readonly Credential[];
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
  | 'statuses-alike'
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
   * The status is that of the specification: an endpoint that accepts with 202 and rejects with 403 has the outcomes
   * 200 and 401.
   */
  readonly outcome: string;
  /** The answer that decided, as a class and with the status as it was sent. Absent without a delivery. */
  readonly answered?: { readonly class: AnswerClass; readonly status: number | null };
}
