/** Grades one answer against its expectation. Pure. */

import type { AnswerMatch, Expectation, Level } from '../../scenarios/index.ts';
import type { Answer, Attempt, TransportError } from '../transport/index.ts';
import { type Credential, type Dialect, is2xx, translateStatus } from './dialect.ts';
import type { DecidedBy, ProbeEvidence } from './evidence.ts';
import { isAlike } from './uniform.ts';

export interface Grade {
  readonly grade: 'pass' | 'note' | 'warn' | 'inconclusive' | 'fail' | 'harness-error';
  readonly decidedBy: DecidedBy;
  /** Empty for a plain pass. */
  readonly reason: string;
  /** It fails at every level. */
  readonly isCertain?: true;
}

/** Whether a plain valid delivery was accepted: any 2xx (ruling), and a complete answer. */
export function isAccepted(attempt: Attempt): boolean {
  return attempt.answer !== null && is2xx(attempt.answer.status);
}

/** What came back, in words: "401", "no answer: the connection was reset". */
export function describeAttempt(attempt: Attempt): string {
  if (attempt.answer !== null) {
    const location = attempt.answer.headers.find(([name]) => name.toLowerCase() === 'location');
    return location === undefined
      ? `${attempt.answer.status}`
      : `${attempt.answer.status} to ${shortened(location[1])}`;
  }
  return attempt.error === null ? 'nothing' : `no answer: ${attempt.error.message}`;
}

/** The ellipsis marks for the redaction that a credential may be cut here. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** How the statuses of one scenario are read. */
export interface GradingContext {
  readonly dialect: Dialect;
  readonly credentials: readonly Credential[];
}

/** What came back, as a code that is the same in every run (`Judgement.outcome`). */
export function outcomeOfAttempt({ answer, error }: Attempt): string {
  if (answer !== null) return `${answer.status}`;
  switch (error?.kind) {
    // A refused connection and one that is closed a moment earlier look the same to the sender: chance decides between
    // them.
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

/** Like {@link outcomeOfAttempt}, in the statuses of the specification. */
export function outcomeOfProbe(
  { attempt, expect, lacking }: ProbeEvidence,
  { dialect, credentials }: GradingContext,
): string {
  if (attempt.answer === null) return outcomeOfAttempt(attempt);
  const translated = translateStatus(attempt.answer.status, expect, dialect, credentials, lacking);
  return `${translated.kind === 'status' ? translated.status : attempt.answer.status}`;
}

/** Whether a connection ended without an answer and without a TLS alert. */
export function wasClosed({ answer, error }: Attempt): boolean {
  if (answer !== null || error === null) return false;
  return error.kind === 'reset' || (error.kind === 'tls' && error.alert === undefined && CLOSE_CODES.has(error.code));
}

/** The codes of a connection that ends without a TLS alert. */
const CLOSE_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);

/** Grades one probe: first whether the probe itself is correct, then leaks, then the status or the transport error. */
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

/** Whether a 2xx accepts what must be rejected: invalid credentials, no valid certificate, or no delivery at all. */
export function mustBeRejected({ authentic, pass, note = [], warn = [] }: Expectation): boolean {
  const allowed = [...pass, ...note, ...warn];
  return !authentic || (allowed.length > 0 && allowed.every((one) => groupOf(one) !== '2xx'));
}

/** Whether an answer is one that other requests show the meaning of: `FollowUp.role`. */
export function isCompared({ status }: Pick<Answer, 'status'>, expect: Expectation): boolean {
  return mustBeRejected(expect) ? is2xx(status) : status >= 500;
}

/** Whether requests of the same kind get the same answer. */
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
 * The set of the expectation that an answer is in; an exact status, which comes first, takes precedence over a class.
 */
function setOf(expect: Expectation, ...matches: readonly AnswerMatch[]): 'pass' | 'note' | 'warn' | null {
  for (const match of matches) {
    if (expect.pass.includes(match)) return 'pass';
    if (expect.note?.includes(match)) return 'note';
    if (expect.warn?.includes(match)) return 'warn';
  }
  return null;
}

/** Whether an expectation allows a status, be it with a note or a warning. */
export function isNamed(status: number, expect: Expectation): boolean {
  return setOf(expect, status, groupOf(status)) !== null;
}

/** What a gateway in front answers where the receiver closes the connection, or stays silent. */
const BY_GATEWAY: Readonly<Record<number, { readonly match: AnswerMatch; readonly text: string }>> = {
  502: { match: 'closed', text: 'what a gateway answers when the receiver closes the connection' },
  504: { match: 'none', text: 'what a gateway answers when the receiver does not answer in time' },
};

const STATUS_CLASSES: Readonly<Record<number, AnswerMatch>> = { 2: '2xx', 3: '3xx', 4: '4xx', 5: '5xx' };

/** The class of a status. Everything else is its own class. */
function groupOf(match: AnswerMatch): AnswerMatch {
  return STATUS_CLASSES[Math.floor(Number(match) / 100)] ?? match;
}

/** What loses the delivery fails, whatever the level of the scenario. */
function lost(grade: Grade, { fail = [] }: Expectation, match: AnswerMatch): Grade {
  return fail.includes(match) ? { ...grade, isCertain: true } : grade;
}

/** Grades the translated status `meant`; reasons name the status as received. */
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
  // The request was repeated, and a rate limit would have ended.
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
      // Only a connection that is faulty on purpose may be refused in the handshake; for others this allows no
      // conclusion.
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
