import { errorFields, type ReceiverLogger } from '../logger.ts';
import { withinTime } from '../time-limit.ts';

/** Something that the receiver needs in order to accept deliveries. */
export interface ReadinessCheck {
  /** A short word of ours: it stands in the answer. */
  readonly name: string;
  /** Rejects when it is not there. Why goes to the log only: it may name a database and its user. */
  readonly check: () => Promise<void>;
}

/**
 * Asks all checks at the same time, each for at most `limitMs` milliseconds, and gives the names of those that failed. What fails is logged when
 * it begins and when it ends, and not at every probe.
 */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  limitMs: number,
  logger: ReceiverLogger,
): () => Promise<string[]> {
  const failing = new Set<string>();

  async function fails({ name, check }: ReadinessCheck): Promise<boolean> {
    try {
      await withinTime(check, limitMs);
      if (failing.delete(name)) logger.info({ event: 'ready-check', check: name }, `${name} is ready again`);
      return false;
    } catch (error) {
      if (!failing.has(name)) {
        failing.add(name);
        logger.warn({ event: 'ready-check', check: name, error: errorFields(error) }, `${name} is not ready`);
      }
      return true;
    }
  }

  return async () => {
    const failed = await Promise.all(checks.map(fails));
    return checks.filter((_check, index) => failed[index]).map(({ name }) => name);
  };
}
