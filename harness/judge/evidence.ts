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
  /** What the answer contains although it must not. */
  readonly leaks: readonly Leak[];
  /** What the independent oracle found wrong with the outgoing request, or null. */
  readonly probeFault: string | null;
  /** The credentials whose header the request does not have. */
  readonly lacking?: readonly Credential[];
  /** Requests of the same kind without a notification. See `FollowUp`. */
  readonly comparisons?: readonly Attempt[];
  /** The first attempt at a delivery that was answered as expected when it was sent again with a new id. */
  readonly intermittent?: Attempt;
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
  /** Which part of the answers to the probes must be the same; null: none. */
  readonly uniform: 'status' | 'answer' | null;
  /** Whether the endpoint leaves plain valid deliveries unanswered too, so that silence says nothing about a probe. */
  readonly unreliable?: boolean;
  /** How the endpoint accepts and rejects. Absent: with the statuses of the specification. */
  readonly dialect?: Dialect;
  /** The credentials that the scenario is about. */
  readonly credentials?: readonly Credential[];
}

/** What can decide a verdict, each with what it means. */
export const DECISIONS = {
  // The answer to a probe.
  'expected-answer': 'the answer is the expected one',
  'allowed-answer': 'the answer is allowed, and another one is preferred',
  'discouraged-answer': 'the answer is one that warns',
  'wrong-status': 'the answer has another status than expected',
  'other-2xx': 'a valid delivery was accepted with another 2xx than 200',
  redirect: 'the answer is a redirect, which a sender does not follow',
  crash: 'the answer is a 5xx where only a clear answer is allowed',
  'forgery-accepted': 'a delivery that must be rejected was accepted',
  'valid-rejected': 'a valid delivery was rejected',
  leak: 'the answer contains something that no answer may contain',
  'answers-differ': 'the answers to deliveries that must be answered alike differ',
  'connection-closed': 'the connection was closed without an answer',
  'no-answer': 'no complete answer came in time',
  'unreadable-answer': 'the answer is not HTTP that can be read',
  'receiver-stopped': 'the receiver stopped answering after this delivery',
  'statuses-alike':
    'the endpoint uses one status for several kinds of rejections, so the order of its checks is hidden',
  // A TLS handshake or the certificates.
  'handshake-accepted': 'the endpoint accepted the offered handshake',
  'handshake-refused': 'the endpoint refused the offered handshake',
  'certificate-fault': 'a certificate of the endpoint has a fault',
  'certificates-missing': 'the certificates of the endpoint were not received',
  'hidden-by-tls-1.3': 'TLS 1.3 hides what this check examines',
  'hidden-by-another-fault': 'another fault of the certificates hides what this check examines',
  // What the receiver did, by its effects window.
  'expected-effect': 'the effects window shows the expected effect',
  'effect-missing': 'an accepted notification was not handled in time',
  'effect-repeated': 'a notification was handled more than once',
  'effect-of-rejected': 'a rejected delivery was handled',
  'effect-value': 'a value that was taken from a notification is another one',
  'effect-overwritten': 'a transaction has another status or hash than it should have',
  // No conclusion.
  'effects-unknown': 'the effects window gave no answer',
  'control-rejected':
    'the plain valid delivery before or after the probe was not accepted, so the probe proves nothing',
  'rate-limited': 'the endpoint limits the rate of deliveries',
  intermittent: 'the same delivery was answered as expected when it was sent again, so the failure is intermittent',
  unavailable: 'the endpoint answered that it is not available',
  silence: 'no answer came, which says nothing about this delivery',
  'not-delivered': 'the delivery did not reach the endpoint',
  // The harness itself.
  'faulty-probe': 'the probe is not what the check claims: an error of hookproof',
  'not-sent': 'the probe was not sent: an error of hookproof',
  'no-probe': 'the check has no probe: an error of hookproof',
} as const;

/** What decided a verdict. */
export type DecidedBy = keyof typeof DECISIONS;

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
