/** The result of each delivery, reported when it is over: to the log, to metrics, to the inspector. */
import type { IncomingMessage } from 'node:http';
import type { ReceivedNotification } from '../contract/index.ts';
import type { ReceiverLogger } from './logger.ts';

export interface DeliveryReport {
  /** `aborted`: the connection ended before an answer was sent. */
  readonly outcome: 'accepted' | 'refused' | 'aborted';
  /** Of the answer. Undefined when there was none. */
  readonly status: number | undefined;
  /** Why it was not accepted, as text for the log: the code and the detail. Undefined when it was accepted. */
  readonly reason: string | undefined;
  /** The same as a code: `signature-mismatch`, `client-certificate-untrusted`, `inbox-failed`. */
  readonly reasonCode: string | undefined;
  /** What the text adds to the code, such as the message of an error. */
  readonly reasonDetail: string | undefined;
  readonly duplicate: boolean;
  /** Only after the credentials were verified and the payload was understood. */
  readonly notification: ReceivedNotification | undefined;
  /**
   * Which of the secrets and which of the API keys matched: 0 for the first. Undefined when none matched or none is
   * required.
   */
  readonly secretIndex: number | undefined;
  readonly keyIndex: number | undefined;
  readonly receivedAt: Date;
  /** From the head of the request to the end of the answer, in milliseconds. */
  readonly durationMs: number;
  /** The request as received. Its headers contain credentials. */
  readonly request: IncomingMessage;
  /**
   * The body as received. Undefined when it was not read completely, and when it was not kept: the head showed that the
   * credentials are invalid, and no observer has `needsRejectedBodies`.
   */
  readonly rawBody: Buffer | undefined;
}

export interface DeliveryObserver {
  /** Must not throw: it runs after the answer has been sent. */
  (report: DeliveryReport): void;
  /**
   * Keeps bodies although the head shows that they will be rejected: without the API key, or with a malformed
   * signature. For debugging.
   */
  readonly needsRejectedBodies?: true;
}

/** Characters of an id in a log line. */
const MAX_ID_LENGTH = 100;

/**
 * Writes one log line per delivery: outcome, reason, notification and duration in milliseconds. No header and no body,
 * and an id only after the credentials were verified and the payload was understood.
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
      // Only during a rotation: the position in the list, never the secret or the key.
      secretIndex: secretIndex === 0 ? undefined : secretIndex,
      keyIndex: keyIndex === 0 ? undefined : keyIndex,
      durationMs: Math.round(durationMs * 1000) / 1000,
    };
    if (status !== undefined && status >= 500) logger.error(fields, 'delivery failed');
    else logger.info(fields, `delivery ${outcome}`);
  };
}

/** At most one warning per credential in this time, in milliseconds. */
const WARNING_INTERVAL_MS = 60_000;

/**
 * Warns when a delivery used a secret or an API key that is not the first of its list: a rotation is not complete, and
 * the old one cannot be removed yet. At most one warning a minute per credential, with the number of deliveries since
 * the previous one. It contains the position (1 for the second in the list) and never the value.
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
