/** Reports the result of each delivery when it has ended: to the log, to metrics, to the inspector. */
import type { IncomingMessage } from 'node:http';
import type { ReceivedNotification } from '../contract/index.ts';
import type { ReceiverLogger } from './logger.ts';

export interface DeliveryReport {
  /** `aborted` means that the connection ended before an answer was sent. */
  readonly outcome: 'accepted' | 'refused' | 'aborted';
  /** Status of the answer. Undefined when there was none. */
  readonly status: number | undefined;
  /** Why it was not accepted, as text for the log: the code and the detail. Undefined when it was accepted. */
  readonly reason: string | undefined;
  /** The code of the reason: `signature-mismatch`, `client-certificate-untrusted`, `inbox-failed`. */
  readonly reasonCode: string | undefined;
  /** Details in addition to the code, such as the message of an error. */
  readonly reasonDetail: string | undefined;
  readonly duplicate: boolean;
  /** Set only after the credentials were verified and the payload was understood. */
  readonly notification: ReceivedNotification | undefined;
  /** Index of the secret and the API key that matched, from 0. Undefined when none matched or none is required. */
  readonly secretIndex: number | undefined;
  readonly keyIndex: number | undefined;
  readonly receivedAt: Date;
  /** Milliseconds from the head of the request to the end of the answer. */
  readonly durationMs: number;
  /** The request as received. Its headers contain credentials. */
  readonly request: IncomingMessage;
  /**
   * The body as received. Undefined when it was not read completely, or not kept: the head showed that the credentials
   * are invalid, and no observer has `needsRejectedBodies`.
   */
  readonly rawBody: Buffer | undefined;
}

export interface DeliveryObserver {
  /** Called after the answer has been sent. Must not throw. */
  (report: DeliveryReport): void;
  /**
   * Keeps the bodies of deliveries whose head already shows that they will be rejected (no API key, or a malformed
   * signature). For debugging.
   */
  readonly needsRejectedBodies?: true;
}

/** Maximum length of an id in a log line, in characters. */
const MAX_ID_LENGTH = 100;

/**
 * Writes one log line per delivery: outcome, reason, notification and duration in milliseconds. It contains no header
 * and no body, and an id only after the credentials were verified and the payload was understood.
 */
export function logDelivery(logger: ReceiverLogger): DeliveryObserver {
  return ({ outcome, status, reason, duplicate, notification, secretIndex, keyIndex, durationMs }) => {
    const fields = {
      event: 'delivery',
      outcome,
      status,
      reason,
      duplicate: duplicate ? true : undefined,
      id: notification?.id.slice(0, MAX_ID_LENGTH),
      kind: notification?.kind,
      // Logged only during a rotation: the position in the list, never the secret or the key.
      secretIndex: secretIndex === 0 ? undefined : secretIndex,
      keyIndex: keyIndex === 0 ? undefined : keyIndex,
      durationMs: Math.round(durationMs * 1000) / 1000,
    };
    if (status !== undefined && status >= 500) logger.error(fields, 'delivery failed');
    else logger.info(fields, `delivery ${outcome}`);
  };
}

/** Minimum interval between two warnings about one credential, in milliseconds. */
const WARNING_INTERVAL_MS = 60_000;

/**
 * Warns when a delivery used a secret or an API key that is not the first in its list: the rotation is not complete,
 * and the old credential cannot be removed yet. There is at most one warning a minute per credential, with the number
 * of deliveries since the previous one. It contains the position (1 for the second in the list), never the value.
 */
export function warnAboutOldCredentials(
  logger: ReceiverLogger,
  now: () => number = () => performance.now(),
): DeliveryObserver {
  const uses = new Map<string, { warnedAt: number; deliveries: number }>();

  function countUse(credential: 'signature secret' | 'API key', index: number): void {
    const name = `${credential} ${index}`;
    const use = uses.get(name) ?? { warnedAt: Number.NEGATIVE_INFINITY, deliveries: 0 };
    use.deliveries += 1;
    if (now() - use.warnedAt >= WARNING_INTERVAL_MS) {
      const { deliveries } = use;
      logger.warn({ event: 'old-credential', credential, index, deliveries }, `an older ${credential} is still in use`);
      use.warnedAt = now();
      use.deliveries = 0;
    }
    uses.set(name, use);
  }

  return ({ secretIndex = 0, keyIndex = 0 }) => {
    if (secretIndex > 0) countUse('signature secret', secretIndex);
    if (keyIndex > 0) countUse('API key', keyIndex);
  };
}
