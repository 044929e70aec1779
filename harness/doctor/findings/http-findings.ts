/** Whether HTTP answers. The request is no delivery, so hardly any status is wrong. Pure. */
import type { FactsOf } from '../doctor-document.ts';
import { advice, type DoctorFinding, info, problem } from './finding.ts';

/** Statuses with which a proxy says that nothing stands behind it. */
const NOTHING_BEHIND: ReadonlySet<number> = new Set([502, 503, 504, 521, 522, 523, 530]);
const SLOW_MS = 5_000;

/** `toldElsewhere`: the failure is one of TLS or of the client certificate, which have sections of their own. */
export function httpFindings(http: FactsOf<'http'>, toldElsewhere: boolean): DoctorFinding[] {
  if (http.answer === null) return toldElsewhere ? [] : [noAnswer(http)];
  return [...ofStatus(http.answer), ...slow(http), ...allowed(http.answer)];
}

function noAnswer({ error }: FactsOf<'http'>): DoctorFinding {
  switch (error?.kind) {
    case 'timeout':
      return problem(
        'http-silent',
        'The endpoint takes the connection and does not answer HTTP within the time limit.',
        'Look at what listens there: a handler that waits for a body that never comes, a proxy that waits for something behind it, or another service.',
      );
    case 'reset':
      return problem(
        'closes-without-answer',
        'The endpoint closes the connection without an answer.',
        'Look at its log: a crash, a proxy with nothing behind it, or a firewall that reads along.',
      );
    case 'invalid-http':
      return problem('not-http', error.message, 'Check the port, and whether the URL should begin with https.');
    default:
      return problem('no-answer', error?.message ?? 'There is no answer.', 'Look at what the other sections say.');
  }
}

function ofStatus({ status, location }: NonNullable<FactsOf<'http'>['answer']>): DoctorFinding[] {
  if (status >= 300 && status < 400) {
    const to = location === null ? '' : ` to ${location}`;
    return [
      advice(
        'redirects',
        `The endpoint redirects${to} (${status}). A sender does not follow redirects.`,
        'Register the final URL. Usual causes are http in place of https, a slash at the end, and a login page.',
      ),
    ];
  }
  if (NOTHING_BEHIND.has(status)) {
    const title = `A proxy answers and says that nothing stands behind it (${status}).`;
    return [problem('nothing-behind-proxy', title, 'Start the receiver, and check where the proxy sends requests.')];
  }
  if (status === 404) {
    const title =
      'Nothing is known of this path by its OPTIONS request (404). A route for POST alone can look like this.';
    return [info('path-unknown', title, 'Send one delivery with --deliver to see whether the path takes it.')];
  }
  if (status === 429) {
    return [
      advice('rate-limited', 'The endpoint limits the rate of requests (429).', 'Let it pass, or raise the limit.'),
    ];
  }
  if (status < 500 || status === 501) return [];
  const title = `The endpoint fails on a plain OPTIONS request (${status}).`;
  return [advice('http-fails', title, 'Look at its log. `--deliver` shows whether deliveries fail too.')];
}

function slow({ timings }: FactsOf<'http'>): DoctorFinding[] {
  if (timings.totalMs < SLOW_MS) return [];
  const title = `The answer took ${(timings.totalMs / 1000).toFixed(1)} s.`;
  return [advice('slow-answer', title, 'Answer at once and work afterwards: a delivery has 10 s in all.')];
}

function allowed({ allow }: NonNullable<FactsOf<'http'>['answer']>): DoctorFinding[] {
  if (allow === null || /\bPOST\b|\*/i.test(allow)) return [];
  const title = `The endpoint says that this path takes ${allow}, and POST is not among it.`;
  return [advice('post-not-listed', title, 'Compare the path of the URL with the route of the receiver.')];
}
