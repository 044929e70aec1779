/** Findings about HTTP and about the one delivery. Pure. */

import type { ChainAnalysis } from '../../certs/index.ts';
import { LIMITS } from '../../contract/index.ts';
import { explainCertificates, explainPreflight, type Finding } from '../diagnose/index.ts';
import type { Attempt } from '../transport/index.ts';
import type { DoctorFinding, FactsOf } from './doctor-document.ts';
import { advice, info, present, problem, seconds } from './sections.ts';

/** Statuses with which a proxy reports that it cannot reach the server behind it. */
const BAD_GATEWAY: ReadonlySet<number> = new Set([502, 503, 504, 521, 522, 523, 530]);

/**
 * Returns the findings about the request. It is not a delivery, so few statuses are problems. `explained`: the
 * failure is due to TLS or the client certificate, which have separate sections.
 */
export function httpFindings(http: FactsOf<'http'>, explained: boolean): DoctorFinding[] {
  const { answer, timings } = http;
  if (answer === null) return explained ? [] : [noAnswer(http)];
  const { allow } = answer;
  const slow = 'Answer at once and do the work afterwards: a delivery must be answered within 10 s.';
  const methods = `The endpoint allows only ${allow} for this path, not POST.`;
  return present([
    statusFinding(answer),
    timings.totalMs >= LIMITS.slowAnswerMs &&
      advice('slow-answer', `The answer took ${seconds(timings.totalMs)}.`, slow),
    allow !== null &&
      !/\bPOST\b|\*/i.test(allow) &&
      advice('post-not-listed', methods, 'Compare the path of the URL with the route of the receiver.'),
  ]);
}

function noAnswer({ error }: FactsOf<'http'>): DoctorFinding {
  switch (error?.kind) {
    case 'timeout':
      return problem(
        'http-silent',
        'The endpoint accepts the connection but does not answer HTTP within the time limit.',
        'Check what is listening there: a handler that waits for a body, a proxy that waits for its server, or ' +
          'another service.',
      );
    case 'reset':
      return problem(
        'closes-without-answer',
        'The endpoint closes the connection without an answer.',
        'Check its log: usual causes are a crash, a proxy without a server behind it, and a firewall.',
      );
    case 'invalid-http':
      return problem('not-http', error.message, 'Check the port, and whether the URL should begin with https.');
    default:
      return problem('no-answer', error?.message ?? 'There is no answer.', 'See the findings of the other sections.');
  }
}

function statusFinding({ status, location }: NonNullable<FactsOf<'http'>['answer']>): DoctorFinding | null {
  if (status >= 300 && status < 400) {
    const to = location === null ? '' : ` to ${location}`;
    const fix = 'Register the final URL. Usual causes are http instead of https, a trailing slash, and a login page.';
    return advice('redirects', `The endpoint redirects${to} (${status}). A sender does not follow redirects.`, fix);
  }
  if (BAD_GATEWAY.has(status)) {
    const title = `A proxy answers, but cannot reach the server behind it (${status}).`;
    return problem('nothing-behind-proxy', title, 'Start the receiver, and check where the proxy sends requests.');
  }
  if (status === 404) {
    const title = 'The path answers 404 to an OPTIONS request. A route that handles only POST may do that.';
    return info('path-unknown', title, 'Send one delivery with `--deliver` to see whether the path accepts it.');
  }
  if (status === 429) {
    const title = 'The endpoint limits the rate of requests (429).';
    return advice('rate-limited', title, 'Wait until the limit ends, or raise it.');
  }
  if (status < 500 || status === 501) return null;
  const title = `The endpoint fails on a plain OPTIONS request (${status}).`;
  return advice('http-fails', title, 'Check its log. `--deliver` shows whether deliveries fail too.');
}

/**
 * Returns the findings about the delivery, as a run would diagnose them. `credentials`: it had a signature or an API
 * key.
 */
export function deliveryFindings(
  attempt: Attempt,
  credentials: boolean,
  analysis: ChainAnalysis | null,
): DoctorFinding[] {
  const untrusted = attempt.error?.kind === 'tls-untrusted' && analysis !== null;
  const found =
    (untrusted ? explainCertificates(analysis) : null) ??
    explainPreflight({ first: attempt, second: null }, { secret: credentials, apiKey: credentials });
  if (found !== null) return [problem(found.fault, found.title.replace(/\.?$/, '.'), found.fix, whyOf(found))];
  if (attempt.answer === null) {
    const title = attempt.error?.message ?? 'The delivery could not be sent.';
    return [problem('not-delivered', title, 'See the findings of the other sections.')];
  }
  if (attempt.timings.totalMs < LIMITS.slowAnswerMs) return [];
  const title = `The answer to the delivery took ${seconds(attempt.timings.totalMs)}.`;
  return [advice('slow-answer', title, 'Store the notification, answer 200 at once, and do the work afterwards.')];
}

/** Adapts a finding's reason: unlike a run, the doctor sends one delivery, without signing mistakes or pauses. */
function whyOf({ fault, why }: Finding): string {
  if (fault === 'rate-limits') return '';
  if (fault !== 'refuses-right-credentials') return why;
  return (
    'Secret, key and header names must be the same on both sides. `hookproof run` also tries the usual signing ' +
    'mistakes, and names the one that is accepted.'
  );
}
