/** Grades the answer to one probe against its expectation. Pure. */

import type { AnswerMatch, Expectation, Level } from '../../scenarios/index.ts';
import type { Answer, Attempt, TransportError } from '../transport/index.ts';
import { type Credential, type Dialect, is2xx, translateStatus } from './dialect.ts';
import type { DecidedBy, ProbeEvidence } from './evidence.ts';
import { isAlike } from './uniform.ts';

export interface Grade {
  readonly grade: 'pass' | 'note' | 'warn' | 'inconclusive' | 'fail' | 'harness-error';
  readonly decidedBy: DecidedBy;
  /** Empty for a pass that needs no comment. */
  readonly reason: string;
  /** Whether the failure counts as certain: it then fails even a check of level *should*. */
  readonly isCertain?: true;
}

/** Returns whether the endpoint accepted a delivery, which means that it answered with any 2xx. */
export function isAccepted(attempt: Attempt): boolean {
  return attempt.answer !== null && is2xx(attempt.answer.status);
}

/** Describes the result of an attempt: "401", "no answer: the connection was reset". */
export function describeAttempt(attempt: Attempt): string {
  if (attempt.answer !== null) {
    const location = attempt.answer.headers.find(([name]) => name.toLowerCase() === 'location');
    return location === undefined
      ? `${attempt.answer.status}`
      : `${attempt.answer.status} to ${shortened(location[1])}`;
  }
  if (attempt.error === null) return 'nothing';
  const { message } = attempt.error;
  return `no answer: ${message.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()).replace(/\.$/, '')}`;
}

/** Shortens a text. The ellipsis shows redaction that a credential may be cut here. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** How to interpret the statuses of one scenario. */
export interface GradingContext {
  readonly dialect: Dialect;
  readonly credentials: readonly Credential[];
}

/** Returns the result of an attempt as a code that is the same in every run. See `Judgement.outcome`. */
export function outcomeOfAttempt({ answer, error }: Attempt): string {
  if (answer !== null) return `${answer.status}`;
  switch (error?.kind) {
    // To the sender, a refused connection and one that is closed a moment later look almost the same, and chance
    // decides which of the two it sees.
    case 'refused':
    case 'reset':
      return 'closed';
    case 'tls':
      return error.alert ?? (CLOSE_CODES.has(error.code) ? 'closed' : 'seen');
    case 'timeout':
    case 'unreachable':
      return 'silence';
    case 'invalid-http':
      return 'other-protocol';
    default:
      return 'seen';
  }
}

/** Like {@link outcomeOfAttempt}, but with the statuses of the specification. */
export function outcomeOfProbe(
  { attempt, expect, lacking }: ProbeEvidence,
  { dialect, credentials }: GradingContext,
): string {
  if (attempt.answer === null) return outcomeOfAttempt(attempt);
  const translated = translateStatus(attempt.answer.status, expect, dialect, credentials, lacking);
  return `${translated.kind === 'status' ? translated.status : attempt.answer.status}`;
}

/** Returns whether a connection ended without an answer and without a TLS alert. */
export function wasClosed({ answer, error }: Attempt): boolean {
  if (answer !== null || error === null) return false;
  return error.kind === 'reset' || (error.kind === 'tls' && error.alert === undefined && CLOSE_CODES.has(error.code));
}

/** Error codes of a connection that ended without a TLS alert. */
const CLOSE_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);

/**
 * Grades one probe. Checks first whether the probe itself is correct, then whether the answer leaks anything, then the
 * status or the transport error.
 */
export function gradeProbe(probe: ProbeEvidence, level: Level, context: GradingContext): Grade {
  if (probe.probeFault !== null) {
    return { grade: 'harness-error', decidedBy: 'faulty-probe', reason: `the probe is faulty: ${probe.probeFault}` };
  }
  const { answer, error } = probe.attempt;
  if (probe.intermittent !== undefined) {
    const seen = `${describeAttempt(probe.intermittent)}, and ${describeAttempt(probe.attempt)} when it was sent again`;
    return inconclusive('intermittent', `answered ${seen}: the failure is intermittent (see valid/steady)`);
  }
  if (answer === null) {
    if (error !== null) return gradeError(error, probe.expect);
    return { grade: 'harness-error', decidedBy: 'not-sent', reason: 'the attempt has neither an answer nor an error' };
  }
  if (isCompared(answer, probe.expect) && isPage(answer, probe.comparisons ?? [])) {
    const reason = `answered ${answer.status}, as it did to the comparison requests: it treats all of them alike`;
    return { grade: 'note', decidedBy: 'allowed-answer', reason };
  }
  const found = probe.leaks.filter((leak) => probe.expect.absent?.includes(leak));
  if (found.length > 0) return failed('leak', `the answer leaks: ${found.join(', ')}`);
  const { dialect, credentials } = context;
  const translated = translateStatus(answer.status, probe.expect, dialect, credentials, probe.lacking);
  if (translated.kind === 'ambiguous') {
    const both = `answered ${answer.status}, the status of both forged and malformed deliveries`;
    return inconclusive('statuses-alike', `${both}, so the order of the checks cannot be seen`);
  }
  return gradeStatus(answer.status, translated.status, probe.expect, level);
}

/**
 * Returns whether a 2xx would be wrong, because the credentials or the certificate are invalid or the request is not a
 * delivery.
 */
export function mustBeRejected({ authentic, pass, note = [], warn = [] }: Expectation): boolean {
  const allowed = [...pass, ...note, ...warn];
  return !authentic || (allowed.length > 0 && allowed.every((one) => groupOf(one) !== '2xx'));
}

/** Returns whether comparison requests show what this answer means. See `FollowUp.role`. */
export function isCompared({ status }: Pick<Answer, 'status'>, expect: Expectation): boolean {
  return mustBeRejected(expect) ? is2xx(status) : status >= 500;
}

/** Returns whether all comparison requests got the same answer. */
function isPage(answer: Answer, comparisons: readonly Attempt[]): boolean {
  return comparisons.length > 0 && comparisons.every((other) => other.answer !== null && isAlike(answer, other.answer));
}

const PASS: Grade = { grade: 'pass', decidedBy: 'expected-answer', reason: '' };

function failed(decidedBy: DecidedBy, reason: string): Grade {
  return { grade: 'fail', decidedBy, reason };
}

function inconclusive(decidedBy: DecidedBy, reason: string): Grade {
  return { grade: 'inconclusive', decidedBy, reason };
}

/**
 * Returns the set of the expectation that contains an answer. Matches are tried in order, exact statuses before
 * classes.
 */
function setOf(expect: Expectation, ...matches: readonly AnswerMatch[]): 'pass' | 'note' | 'warn' | null {
  for (const match of matches) {
    if (expect.pass.includes(match)) return 'pass';
    if (expect.note?.includes(match)) return 'note';
    if (expect.warn?.includes(match)) return 'warn';
  }
  return null;
}

/** Returns whether an expectation allows a status, even if only with a note or a warning. */
export function isNamed(status: number, expect: Expectation): boolean {
  return setOf(expect, status, groupOf(status)) !== null;
}

/** What a gateway answers if the receiver closes the connection or does not answer. */
const BY_GATEWAY: Readonly<Record<number, { readonly match: AnswerMatch; readonly text: string }>> = {
  502: { match: 'closed', text: 'what a gateway answers when the receiver closes the connection' },
  504: { match: 'none', text: 'what a gateway answers when the receiver does not answer in time' },
};

const STATUS_CLASSES: Readonly<Record<number, AnswerMatch>> = { 2: '2xx', 3: '3xx', 4: '4xx', 5: '5xx' };

/** Returns the class of a status. Any other match is returned unchanged. */
function groupOf(match: AnswerMatch): AnswerMatch {
  return STATUS_CLASSES[Math.floor(Number(match) / 100)] ?? match;
}

/** Marks an answer that loses the delivery as a certain failure, whatever the level of the scenario. */
function lost(grade: Grade, { fail = [] }: Expectation, match: AnswerMatch): Grade {
  return fail.includes(match) ? { ...grade, isCertain: true } : grade;
}

/** Grades the translated status `meant`. Reasons contain the status as received. */
function gradeStatus(status: number, meant: number, expect: Expectation, level: Level): Grade {
  const group = groupOf(meant);
  const byGateway = BY_GATEWAY[status];
  const set = setOf(expect, meant, ...(byGateway === undefined ? [] : [byGateway.match]), group);
  const expected = `expected ${expect.text}`;
  if (set === 'pass') return PASS;
  if (expect.unclear?.includes(status))
    return inconclusive('unavailable', `unavailable: the endpoint answered ${status}`);
  if (status === 429) return inconclusive('rate-limited', 'rate-limited: the endpoint answered 429');
  if (set === 'note') {
    return {
      grade: 'note',
      decidedBy: 'allowed-answer',
      reason: `answered ${status}, which is allowed; preferred: ${expect.text}`,
    };
  }
  if (set === 'warn') {
    return { grade: 'warn', decidedBy: 'discouraged-answer', reason: `answered ${status}, ${expected}` };
  }
  // The request has been repeated, so a rate limit would have ended.
  if (status === 503) return failed('crash', 'answered 503 each time: the receiver fails on this delivery');
  if (group === '2xx' && mustBeRejected(expect)) {
    return failed(
      'forgery-accepted',
      `accepted (${status}) a delivery that ${level === 'must' ? 'must' : 'should'} be rejected`,
    );
  }
  if (group === '5xx' && expect.malformed === true) {
    const text = byGateway === undefined ? `, ${expected}` : `: ${byGateway.text}`;
    return failed('crash', `answered ${status}${text}`);
  }
  if (group === '3xx') {
    return lost(failed('redirect', `answered ${status}: a sender does not follow redirects`), expect, group);
  }
  if (group === '2xx') return failed('other-2xx', `answered ${status}: only 200 means accepted`);
  if (expect.authentic && (meant === 401 || meant === 403)) {
    return failed('valid-rejected', `rejected a delivery with valid credentials (${status})`);
  }
  return failed('wrong-status', `answered ${status}, ${expected}`);
}

function gradeError(error: TransportError, expect: Expectation): Grade {
  const sentence = error.message.replace(/^(?:The|There|No)\b/, (word) => word.toLowerCase());
  const notDelivered = `not delivered: ${sentence.replace(/\.$/, '')}`;
  const expected = `expected ${expect.text}`;
  switch (error.kind) {
    case 'local':
      return {
        grade: 'harness-error',
        decidedBy: 'not-sent',
        reason: `the probe could not be sent: ${error.message}`,
      };
    case 'dns':
    case 'refused':
    case 'unreachable':
      return inconclusive('not-delivered', notDelivered);
    case 'tls-untrusted':
      return { grade: setOf(expect, 'untrusted') ?? 'inconclusive', decidedBy: 'not-delivered', reason: notDelivered };
    case 'tls': {
      // A failed handshake allows a conclusion only if the connection was faulty on purpose.
      const ofClose = CLOSE_CODES.has(error.code) ? setOf(expect, 'closed') : null;
      const set = error.alert === undefined ? ofClose : setOf(expect, 'alert');
      if (set === 'pass') return PASS;
      if (set === 'note') return { grade: 'note', decidedBy: 'handshake-refused', reason: `refused: ${error.message}` };
      return inconclusive('not-delivered', notDelivered);
    }
    case 'reset': {
      const set = expect.pass.includes('none') ? 'pass' : setOf(expect, 'closed');
      const reason = 'closed the connection without an answer';
      if (set === 'pass') return PASS;
      if (set !== null) return { grade: set, decidedBy: 'connection-closed', reason };
      return lost(failed('connection-closed', `${reason}, ${expected}`), expect, 'closed');
    }
    case 'timeout': {
      if (expect.pass.includes('none')) return PASS;
      if (expect.unclear?.includes('none')) {
        return inconclusive('silence', 'no answer in time, which allows no conclusion');
      }
      const reason = `gave no complete answer in time, ${expected}`;
      const set = setOf(expect, 'none');
      if (set === null) return lost(failed('no-answer', reason), expect, 'none');
      return { grade: set, decidedBy: 'no-answer', reason };
    }
    case 'invalid-http':
    case 'headers-too-large': {
      const reason = `sent an answer that cannot be read: ${error.message}`;
      if (expect.unclear?.includes('unreadable')) return inconclusive('unreadable-answer', reason);
      if (setOf(expect, 'unreadable') !== 'note') return failed('unreadable-answer', reason);
      return { grade: 'note', decidedBy: 'unreadable-answer', reason: `${reason}; preferred: ${expect.text}` };
    }
  }
}
