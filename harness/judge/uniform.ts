/** Whether a set of refusals can be told apart: a difference is an oracle for somebody who guesses credentials. */
import type { Answer } from '../sender/index.ts';
import type { ProbeEvidence } from './evidence.ts';

/** Headers that differ from answer to answer for good reasons. Everything else has to be the same. */
const VOLATILE =
  /^(date|age|connection|keep-alive|etag|server-timing|set-cookie|via|x-request-id|x-correlation-id|x-trace-id|traceparent|x-amz.*|x-amzn.*|cf-.*|x-runtime|x-response-time|x-ratelimit-.*|ratelimit.*|fly-request-id|x-vercel-id)$/i;

/** Numbers and long tokens in a body are taken for request ids and times. */
function withoutVolatileParts(body: string): string {
  return body.replace(/[0-9a-fA-F-]{16,}|\d[\d.:TZ-]*/g, '#');
}

function shapeOf(answer: Answer): { status: string; headers: string; body: string } {
  const names = answer.headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !VOLATILE.test(name))
    .map(([name, value]) => (name === 'content-length' ? name : `${name}: ${value}`));
  return {
    status: String(answer.status),
    headers: names.toSorted().join('\n'),
    body: withoutVolatileParts(Buffer.from(answer.body).toString('latin1')),
  };
}

/** Names the first difference between the answers of the probes, or null when they cannot be told apart. */
export function differenceBetween(probes: readonly ProbeEvidence[]): string | null {
  const [first, ...others] = probes;
  if (first === undefined || first.attempt.answer === null) return null;
  const reference = shapeOf(first.attempt.answer);
  for (const other of others) {
    if (other.attempt.answer === null) continue;
    const shape = shapeOf(other.attempt.answer);
    for (const part of ['status', 'headers', 'body'] as const) {
      if (shape[part] !== reference[part]) {
        return `the answers can be told apart by their ${part}: "${first.label}" against "${other.label}"`;
      }
    }
  }
  return null;
}
