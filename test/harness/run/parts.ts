import { randomBytes } from 'node:crypto';
import type { Partner } from '../../../harness/partner.ts';
import { type Assembled, assemble } from '../../../harness/run/assemble.ts';
import { createContext, DEFAULT_LIMITS, type RunContext } from '../../../harness/run/context.ts';
import { createKit } from '../../../harness/run/kit.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import type { Change } from '../../../scenarios/index.ts';

/**
 * A secret that starts with letters of both cases and a digit, because only a mixed beginning of a secret counts as
 * revealed.
 */
export const SECRET = `aB3${randomBytes(32).toString('base64')}`;
/**
 * An API key of letters and digits. Its last six characters contain both, so its end counts as revealed, and is also
 * part of a word.
 */
export const API_KEY = `${randomBytes(23).toString('hex')}a1`;
export const NOW = new Date('2026-01-02T03:04:05Z');

export function partnerAt(url = 'http://127.0.0.1:9/hooks'): Partner {
  return { url, signing: { secret: SECRET }, apiKey: { value: API_KEY } };
}

export function contextOf(partner: Partner, limits = DEFAULT_LIMITS): RunContext {
  return createContext({
    partner,
    seed: 'seed',
    flags: '',
    now: NOW,
    limits,
    emit: () => {},
    signal: new AbortController().signal,
    endsAtMs: Number.POSITIVE_INFINITY,
    onSignature: () => {},
  });
}

export function assembled(change: Change = {}, partner = partnerAt()): Assembled {
  return assemble(change, createKit(partner, 'seed', 'made-up', NOW), partner);
}

const TIMINGS = { connectMs: 1, tlsMs: null, firstByteMs: 2, totalMs: 3, reused: false };

export function answered(
  status: number,
  body = '',
  headers: readonly (readonly [string, string])[] = [],
  reasonPhrase = '',
): Attempt {
  const answer = { status, reasonPhrase, headers, body: Buffer.from(body), truncated: false };
  return { startedAt: NOW.toISOString(), timings: TIMINGS, answer, error: null };
}
