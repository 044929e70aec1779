/** The evidence that the judge receives about a scenario, and the judgement that it returns. */

import type { Expectation, Leak } from '../../scenarios/index.ts';
import type { AnswerClass } from '../report/result-document.ts';
import type { Attempt } from '../transport/index.ts';
import type { Credential, Dialect } from './dialect.ts';

/** One probe, its expectation and its result. */
export interface ProbeEvidence {
  readonly label: string;
  readonly expect: Expectation;
  readonly attempt: Attempt;
  /** What the answer reveals although it must not. */
  readonly leaks: readonly Leak[];
  /** What the independent oracle found wrong with the outgoing request. Null if nothing. */
  readonly probeFault: string | null;
  /** The credentials for which the request has no header. */
  readonly lacking?: readonly Credential[];
  /** The answers to similar requests without a notification. See `FollowUp`. */
  readonly comparisons?: readonly Attempt[];
  /** The first attempt, if the delivery got the expected answer only when it was repeated with a new id. */
  readonly intermittent?: Attempt;
}

/** The evidence of a scenario: its probes between two controls. */
export interface Evidence {
  /** The plain valid delivery before the probes. */
  readonly before: Attempt;
  readonly probes: readonly ProbeEvidence[];
  /** The plain valid delivery after the probes. Null if it could not be sent. */
  readonly after: Attempt | null;
  /** How the receiver stopped answering. Null unless this scenario caused it while nothing else was in flight. */
  readonly killed: string | null;
  /** Which part of the answers to the probes must be equal. Null if they may differ. */
  readonly uniform: 'status' | 'answer' | null;
  /**
   * Whether the endpoint leaves even plain valid deliveries unanswered. A missing answer to a probe then allows no
   * conclusion.
   */
  readonly unreliable?: boolean;
  /** The dialect of the endpoint. Default: the statuses of the specification. */
  readonly dialect?: Dialect;
  /** The credentials that the scenario tests. */
  readonly credentials?: readonly Credential[];
}

/** What can decide a verdict, with an explanation for each. */
export const DECISIONS = {
  // The answer to a probe.
  'expected-answer': 'the answer is the expected one',
  'allowed-answer': 'the answer is allowed, but another one is preferred',
  'discouraged-answer': 'the answer is discouraged, so the check warns',
  'wrong-status': 'the answer does not have the expected status',
  'other-2xx': 'a valid delivery was accepted with a 2xx other than 200',
  redirect: 'the answer is a redirect, which a sender does not follow',
  crash: 'the answer is a 5xx where only a clear answer is allowed',
  'forgery-accepted': 'a delivery that must be rejected was accepted',
  'valid-rejected': 'a valid delivery was rejected',
  leak: 'the answer contains something that no answer may contain',
  'answers-differ': 'deliveries that must get the same answer got different ones',
  'connection-closed': 'the connection was closed without an answer',
  'no-answer': 'no complete answer arrived in time',
  'unreadable-answer': 'the answer is not readable HTTP',
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
  // The handling of notifications, as the effects window reports it.
  'expected-effect': 'the effects window shows the expected effect',
  'effect-missing': 'an accepted notification was not handled in time',
  'effect-repeated': 'a notification was handled more than once',
  'effect-of-rejected': 'a rejected delivery was handled',
  'effect-value': 'a value in the effects window differs from that in the notification',
  'effect-overwritten': 'a transaction does not have the expected status or hash',
  // No conclusion.
  'effects-unknown': 'the effects window gave no answer',
  'control-rejected':
    'the plain valid delivery before or after the probe was not accepted, so the probe proves nothing',
  'rate-limited': 'the endpoint limits the rate of deliveries',
  intermittent: 'the same delivery was answered as expected when it was sent again, so the failure is intermittent',
  unavailable: 'the endpoint answered that it is not available',
  silence: 'no answer arrived, which allows no conclusion about this delivery',
  'not-delivered': 'the delivery did not reach the endpoint',
  // Errors of the harness itself.
  'faulty-probe': 'the probe is not what the check claims: a bug in hookproof',
  'not-sent': 'the probe was not sent: a bug in hookproof',
  'no-probe': 'the check has no probe: a bug in hookproof',
} as const;

/** What decided a verdict. */
export type DecidedBy = keyof typeof DECISIONS;

/** The verdict on a scenario. */
export interface Judgement {
  readonly verdict: 'pass' | 'fail' | 'warn' | 'inconclusive' | 'harness-error';
  readonly observed: string;
  /** Empty when a pass needs no comment. */
  readonly reason: string;
  /** The reason without the name of the decisive delivery. Absent if the reason does not name one. */
  readonly cause?: string;
  readonly decidedBy: DecidedBy;
  /** The label of the decisive probe. Null if the scenario has only one, or if no single probe decided. */
  readonly delivery: string | null;
  /**
   * What was observed, as a code that is the same in every run: a status, the name of a TLS alert, `granted` (a
   * handshake), `closed`, `silence`, `other-protocol`, the codes of certificate faults, or `seen` for everything else.
   * Statuses are those of the specification: an endpoint that accepts with 202 and rejects with 403 has the outcomes
   * 200 and 401.
   */
  readonly outcome: string;
  /** The class of the decisive answer, and its status as received. Absent if the check sends no delivery. */
  readonly answered?: { readonly class: AnswerClass; readonly status: number | null };
}
