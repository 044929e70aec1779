import type { DeliveryObserver } from './delivery-report.ts';
import type { ReceiverLogger } from './logger.ts';

/** How often a warning about one credential may come, in milliseconds. */
const INTERVAL_MS = 60_000;

/**
 * Warns when a delivery came with a secret or an API key that is not the first of its list: a rotation is not over, and the old one cannot be
 * taken out yet. At most one warning a minute for each credential, with the number of deliveries since the one before. It names the position
 * (1 for the second in the list) and never the value.
 */
export function warnOfOldCredentials(
  logger: ReceiverLogger,
  now: () => number = () => performance.now(),
): DeliveryObserver {
  const uses = new Map<string, { warnedAt: number; deliveries: number }>();

  function note(credential: 'signature secret' | 'API key', index: number): void {
    const name = `${credential} ${index}`;
    const use = uses.get(name) ?? { warnedAt: Number.NEGATIVE_INFINITY, deliveries: 0 };
    use.deliveries += 1;
    if (now() - use.warnedAt >= INTERVAL_MS) {
      const { deliveries } = use;
      logger.warn({ event: 'old-credential', credential, index, deliveries }, `an older ${credential} is still in use`);
      use.warnedAt = now();
      use.deliveries = 0;
    }
    uses.set(name, use);
  }

  return ({ secretIndex = 0, keyIndex = 0 }) => {
    if (secretIndex > 0) note('signature secret', secretIndex);
    if (keyIndex > 0) note('API key', keyIndex);
  };
}
