/** What came of the one delivery, by the diagnosis that a run has too. */
import type { ChainAnalysis } from '../../../certs/index.ts';
import { LIMITS } from '../../../contract/index.ts';
import { explainCertificates, explainGate, type Finding } from '../../diagnose/index.ts';
import type { Attempt } from '../../transport/index.ts';
import { advice, type DoctorFinding, problem } from './finding.ts';

/** `credentials`: a signature or an API key went along. */
export function deliveryFindings(
  attempt: Attempt,
  credentials: boolean,
  analysis: ChainAnalysis | null,
): DoctorFinding[] {
  const untrusted = attempt.error?.kind === 'tls-untrusted' && analysis !== null;
  const found =
    (untrusted ? explainCertificates(analysis) : null) ?? explainGate({ first: attempt, second: null }, credentials);
  if (found !== null) return [problem(found.fault, sentence(found.title), found.fix, whyOf(found))];
  if (attempt.answer === null) {
    const title = attempt.error?.message ?? 'The delivery could not be sent.';
    return [problem('not-delivered', title, 'Look at what the other sections say.')];
  }
  if (attempt.timings.totalMs < LIMITS.slowAnswerMs) return [];
  const title = `The answer to the delivery took ${(attempt.timings.totalMs / 1000).toFixed(1)} s.`;
  return [advice('slow-answer', title, 'Store the notification, answer 200 at once, and do the work afterwards.')];
}

/** One delivery tried no other encodings, and made no pauses. */
function whyOf({ fault, why }: Finding): string {
  if (fault === 'rate-limits') return '';
  if (fault !== 'refuses-right-credentials') return why;
  return 'The same secret, key and header names have to be configured on both sides. `hookproof run` tries the usual wrong encodings too, and names the one that is accepted.';
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
