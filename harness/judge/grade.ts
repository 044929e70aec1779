/** Grades one answer against what was due. Pure. */
import type { AnswerMatch, Expectation } from '../../scenarios/index.ts';
import type { Attempt, TransportError } from '../transport/index.ts';
import type { ProbeEvidence } from './evidence.ts';

/** `forged` marks the failures that need no second control: a delivery was accepted that had to be refused. */
export type Grade =
  | { readonly grade: 'pass' | 'note' | 'warn' | 'inconclusive'; readonly reason: string }
  | { readonly grade: 'fail'; readonly reason: string; readonly forged: boolean }
  | { readonly grade: 'harness-error'; readonly reason: string };

/** Whether a plain valid delivery was accepted: exactly 200 (ruling), and nothing less than a whole answer. */
export function isAccepted(attempt: Attempt): boolean {
  return attempt.answer?.status === 200;
}

/** The ellipsis tells the redaction that a credential may be cut here. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
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

/** Whether a connection ended without an answer and without a TLS alert. */
export function wasClosed({ answer, error }: Attempt): boolean {
  if (answer !== null || error === null) return false;
  return error.kind === 'reset' || (error.kind === 'tls' && error.alert === undefined && RESETS.has(error.code));
}

/** The set that an answer falls in; an exact status, which comes first, beats a class of statuses. */
function setOf(expect: Expectation, ...matches: readonly AnswerMatch[]): 'pass' | 'note' | 'warn' | null {
  for (const match of matches) {
    if (expect.pass.includes(match)) return 'pass';
    if (expect.note?.includes(match)) return 'note';
    if (expect.warn?.includes(match)) return 'warn';
  }
  return null;
}

/** The codes with which a connection ends without a word. */
const RESETS: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE']);

const STATUS_CLASSES: Readonly<Record<number, AnswerMatch>> = { 2: '2xx', 3: '3xx', 4: '4xx', 5: '5xx' };

function gradeStatus(status: number, expect: Expectation): Grade {
  const group = STATUS_CLASSES[Math.floor(status / 100)] ?? status;
  const set = setOf(expect, status, group);
  const due = `${expect.text} was due`;
  if (set === 'pass') return { grade: 'pass', reason: '' };
  if (expect.unclear?.includes(status))
    return { grade: 'inconclusive', reason: `unavailable: the endpoint answered ${status}` };
  if (status === 429) return { grade: 'inconclusive', reason: 'rate-limited: the endpoint answered 429' };
  if (set === 'note') return { grade: 'note', reason: `answered ${status}, which is allowed; ${due}` };
  if (set === 'warn') return { grade: 'warn', reason: `answered ${status} where ${due}` };
  // A receiver that is busy says nothing about the probe; on a malformed payload a 5xx of any kind is a crash of the handler.
  if (status === 503 && expect.malformed !== true)
    return { grade: 'inconclusive', reason: 'unavailable: the endpoint answered 503' };
  if (group === '2xx' && (!expect.authentic || expect.pass.includes('alert'))) {
    return { grade: 'fail', reason: `accepted with ${status} a delivery that had to be refused`, forged: true };
  }
  if (group === '5xx' && expect.malformed === true) {
    return { grade: 'fail', reason: `answered ${status}: the handler crashed on the payload`, forged: false };
  }
  if (group === '3xx')
    return { grade: 'fail', reason: `answered ${status}: a sender does not follow a redirect`, forged: false };
  if (group === '2xx') return { grade: 'fail', reason: `answered ${status}; only 200 means accepted`, forged: false };
  if (expect.authentic && (status === 401 || status === 403)) {
    return { grade: 'fail', reason: `refused with ${status} a delivery whose credentials were right`, forged: false };
  }
  return { grade: 'fail', reason: `answered ${status} where ${due}`, forged: false };
}

function gradeError(error: TransportError, expect: Expectation): Grade {
  switch (error.kind) {
    case 'local':
      return { grade: 'harness-error', reason: `the probe could not be sent: ${error.message}` };
    case 'dns':
    case 'refused':
    case 'unreachable':
      return { grade: 'inconclusive', reason: `not delivered: ${error.message}` };
    case 'tls-untrusted':
      return {
        grade: setOf(expect, 'untrusted') ?? 'inconclusive',
        reason: `not delivered: ${error.message}`,
      };
    case 'tls': {
      // Only a delivery over a connection that is wrong on purpose may be refused in the handshake; of any other it says nothing.
      const set =
        error.alert !== undefined ? setOf(expect, 'alert') : RESETS.has(error.code) ? setOf(expect, 'closed') : null;
      if (set === 'pass') return { grade: 'pass', reason: '' };
      if (set === 'note') return { grade: 'note', reason: `refused: ${error.message}` };
      return { grade: 'inconclusive', reason: `not delivered: ${error.message}` };
    }
    case 'reset': {
      const set = expect.pass.includes('none') ? 'pass' : setOf(expect, 'closed');
      if (set === 'pass') return { grade: 'pass', reason: '' };
      if (set !== null) return { grade: set, reason: 'closed the connection without an answer' };
      return {
        grade: 'fail',
        reason: `closed the connection without an answer where ${expect.text} was due`,
        forged: false,
      };
    }
    case 'timeout':
      if (expect.pass.includes('none')) return { grade: 'pass', reason: '' };
      if (expect.unclear?.includes('none')) return { grade: 'inconclusive', reason: 'silence proves nothing' };
      if (expect.warn?.includes('none'))
        return { grade: 'warn', reason: `gave no whole answer in time where ${expect.text} was due` };
      return { grade: 'fail', reason: `gave no whole answer in time where ${expect.text} was due`, forged: false };
    case 'invalid-http':
    case 'headers-too-large':
      if (setOf(expect, 'unreadable', 'unreadable') === 'note')
        return {
          grade: 'note',
          reason: `gave an answer that cannot be read, which is allowed; ${expect.text} was due`,
        };
      return { grade: 'fail', reason: `gave an answer that cannot be read: ${error.message}`, forged: false };
  }
}

/** Grades one probe: its own correctness first, then the answer, then what the answer gives away. */
export function gradeProbe(probe: ProbeEvidence): Grade {
  if (probe.probeFault !== null)
    return { grade: 'harness-error', reason: `the probe was not what it should be: ${probe.probeFault}` };
  const { answer, error } = probe.attempt;
  if (answer === null) {
    if (error === null) return { grade: 'harness-error', reason: 'the attempt has neither an answer nor an error' };
    return gradeError(error, probe.expect);
  }
  const found = probe.leaks.filter((leak) => probe.expect.absent?.includes(leak));
  if (found.length > 0) return { grade: 'fail', reason: `the answer gives away: ${found.join(', ')}`, forged: false };
  return gradeStatus(answer.status, probe.expect);
}
