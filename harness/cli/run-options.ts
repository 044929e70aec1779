import type { ResolvedConfig } from '../config/index.ts';
import type { RunOptions } from '../run/index.ts';

/** What every run takes from the configuration, whoever conducts it: the endpoint, the limits, and how it is judged. */
export function runOptions({ run, partner, clientFixtures, advice }: ResolvedConfig): RunOptions {
  return {
    partner,
    clientFixtures,
    limits: { concurrency: run.concurrency, timeoutMs: run.timeoutMs, recoveryMs: run.recoveryMs, maxMs: run.maxMs },
    profile: run.profile,
    ...(run.seed === null ? {} : { seed: run.seed }),
    strict: run.strict,
    stack: run.stack,
    evidence: run.evidence,
    advice,
  };
}
