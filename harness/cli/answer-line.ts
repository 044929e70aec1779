/** Formats the answer to a delivery as one line, for every command that sends. */
import { hasStatus, type Scheme, SERVICE_SCHEME } from '../../contract/signing/index.ts';
import { visible } from '../../contract/visible.ts';
import type { Redactor } from '../report/index.ts';
import type { Attempt } from '../transport/index.ts';

/**
 * Describes an answer, with a tick if it accepts a delivery in the scheme. The body is redacted before it is shortened:
 * a credential cut in two would not be recognised.
 */
export function describeAnswer(
  { answer, error, timings }: Attempt,
  redactor: Redactor,
  { accepts }: Pick<Scheme, 'accepts'> = SERVICE_SCHEME,
): string {
  const took = `${timings.totalMs.toFixed(0)} ms`;
  if (answer === null) return `✗ no answer after ${took}: ${visible(error?.message ?? 'unknown')}`;
  const body = redactor.text(Buffer.from(answer.body).toString('utf8')).slice(0, 300);
  const sign = hasStatus(accepts, answer.status) ? '✓' : '✗';
  return `${sign} ${answer.status} in ${took}${body === '' ? '' : `: ${visible(body)}`}`;
}
