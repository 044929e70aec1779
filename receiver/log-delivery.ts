import type { ReceiverLogger } from './logger.ts';
import type { Stage } from './stages/stage.ts';

/** Characters of an id that go into a log line. */
const MAX_ID_LENGTH = 100;

/**
 * Writes one line for each delivery when it is over: what came of it, why, which notification, how long it took (milliseconds).
 * No header and no body, and an id only once the credentials were right and the payload was understood.
 */
export function logDelivery(logger: ReceiverLogger): Stage {
  return (_req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const { notification, stored, secretIndex } = res.locals;
      const answered = res.headersSent;
      const outcome = !answered ? 'aborted' : res.statusCode !== 200 ? 'refused' : 'accepted';
      const fields = {
        event: 'delivery',
        outcome,
        status: answered ? res.statusCode : undefined,
        reason: outcome === 'accepted' ? undefined : (res.locals.reason ?? 'connection closed'),
        duplicate: stored === 'duplicate' ? true : undefined,
        id: notification?.id.slice(0, MAX_ID_LENGTH),
        kind: notification?.kind,
        // Only while a rotation is under way: the position in the list, never the secret.
        secretIndex: secretIndex === 0 ? undefined : secretIndex,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
      };
      if (res.statusCode >= 500) logger.error(fields, 'delivery failed');
      else logger.info(fields, `delivery ${outcome}`);
    });
    next();
  };
}
