/** Reports the result of each delivery, after it has ended, to the log, the metrics and the inspector. */
import type { IncomingMessage } from 'node:http';
import type { ReceivedNotification } from '../contract/index.ts';
import type { ReceiverLogger } from './logger.ts';

export interface DeliveryReport {
  /** `aborted` means that the connection ended before an answer was sent. */
  readonly outcome: 'accepted' | 'refused' | 'aborted';
  /** Status of the answer. Undefined when no answer was sent. */
  readonly status: number | undefined;
  /**
   * Why the delivery was not accepted, as text for the log: the code and the detail. Undefined when it was accepted.
   */
  readonly reason: string | undefined;
  /** The code of the reason, such as `signature-mismatch`, `client-certificate-untrusted` or `inbox-failed`. */
  readonly reasonCode: string | undefined;
  /** Details in addition to the code, such as the message of an error. */
  readonly reasonDetail: string | undefined;
  readonly duplicate: boolean;
  /** Set only after the credentials were verified and the payload was validated. */
  readonly notification: ReceivedNotification | undefined;
  /**
   * Index, from 0, of the secret and of the API key that matched. Undefined when none matched or none is configured.
   */
  readonly secretIndex: number | undefined;
  readonly keyIndex: number | undefined;
  readonly receivedAt: Date;
  /** Milliseconds from the head of the request to the end of the answer. */
  readonly durationMs: number;
  /** The request as received. Its headers contain credentials. */
  readonly request: IncomingMessage;
  /**
   * The body as received. Undefined when it was not read completely, or was not kept. A body is not kept if the headers
   * already showed that the credentials are invalid and no observer has `needsRejectedBodies`.
   */
  readonly rawBody: Buffer | undefined;
}

export interface DeliveryObserver {
  /** Called when the delivery has ended. Must not throw. */
  (report: DeliveryReport): void;
  /**
   * Keeps the bodies of deliveries that are already rejected because of their headers (no valid API key, or a missing
   * or malformed signature). For debugging.
   */
  readonly needsRejectedBodies?: true;
}

/** Maximum length of an id in a log line, in characters. */
const MAX_ID_LENGTH = 100;

/**
 * Writes one log line per delivery: outcome, reason, notification, and duration in milliseconds. The line contains no
 * header and no body, and an id only after the credentials were verified and the payload was validated.
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
      // Logged only for an old credential during a rotation: its position in the list, never the secret or the key.
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
 * and the old credential cannot be removed yet. Each credential causes at most one warning per minute, which states the
 * number of deliveries since the previous one. The warning contains the index of the credential (1 for the second in
 * the list), never its value.
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
