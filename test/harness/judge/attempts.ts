/** Attempts, probes and evidence for the tests of the judge. */
import type { Evidence, ProbeEvidence } from '../../../harness/judge/index.ts';
import type { Attempt, TransportError, TransportErrorKind } from '../../../harness/transport/index.ts';
import type { Expectation } from '../../../scenarios/index.ts';

const common = {
  startedAt: '2026-01-01T00:00:00.000Z',
  timings: { connectMs: 1, tlsMs: null, firstByteMs: 1, totalMs: 1, reused: false },
};

export function answer(
  status: number,
  body = '',
  headers: readonly (readonly [string, string])[] = [],
  reasonPhrase = '',
): Attempt {
  return {
    ...common,
    answer: { status, reasonPhrase, headers, body: Buffer.from(body), truncated: false },
    error: null,
  };
}

export function failure(kind: TransportErrorKind, more: Partial<TransportError> = {}): Attempt {
  return {
    ...common,
    answer: null,
    error: { kind, phase: 'answer', code: 'X', message: `it was ${kind}`, ...more },
  };
}

/** An attempt that must not occur. */
export const neither: Attempt = { ...common, answer: null, error: null };

export function probe(expect: Expectation, attempt: Attempt, more: Partial<ProbeEvidence> = {}): ProbeEvidence {
  return { label: 'probe', expect, attempt, leaks: [], probeFault: null, ...more };
}

export function evidence(probes: ProbeEvidence[], more: Partial<Evidence> = {}): Evidence {
  return { before: answer(200), probes, after: answer(200), killed: null, uniform: null, ...more };
}
