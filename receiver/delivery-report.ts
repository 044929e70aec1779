/** What came of a delivery, told once it is over: to the log, and to whoever else wants to know (metrics, a page). */
import type { IncomingMessage } from 'node:http';
import type { ReceivedNotification } from '../contract/index.ts';
import type { Stage } from './stages/stage.ts';

export interface DeliveryReport {
  /** `aborted`: the connection ended before an answer went out. */
  readonly outcome: 'accepted' | 'refused' | 'aborted';
  /** Of the answer. Undefined when there was none. */
  readonly status: number | undefined;
  /** Why it was not accepted: a fixed word, at times with more in brackets. Undefined when it was. */
  readonly reason: string | undefined;
  readonly duplicate: boolean;
  /** Only once the credentials were right and the payload was understood. */
  readonly notification: ReceivedNotification | undefined;
  /** Which of the secrets and which of the API keys matched: 0 for the first. Undefined where none did or none is asked for. */
  readonly secretIndex: number | undefined;
  readonly keyIndex: number | undefined;
  readonly receivedAt: Date;
  /** From the head of the request to the end of the answer, in milliseconds. */
  readonly durationMs: number;
  /** The request as it came. Its headers hold credentials. */
  readonly request: IncomingMessage;
  /** The body as it came. Undefined when it was not read, or not to its end. */
  readonly rawBody: Buffer | undefined;
}

/** Must not throw: it runs after the answer, when nobody is left to tell. */
export type DeliveryObserver = (report: DeliveryReport) => void;

/** The middleware in front of the stages that tells every observer, when the delivery is over. */
export function reportDeliveries(observers: readonly DeliveryObserver[]): Stage {
  return (req, res, next) => {
    const startedAt = performance.now();
    const receivedAt = new Date();
    res.on('close', () => {
      const { notification, stored, secretIndex, keyIndex, rawBody, reason } = res.locals;
      const answered = res.headersSent;
      const outcome = !answered ? 'aborted' : res.statusCode !== 200 ? 'refused' : 'accepted';
      const report: DeliveryReport = {
        outcome,
        status: answered ? res.statusCode : undefined,
        reason: outcome === 'accepted' ? undefined : (reason ?? 'connection closed'),
        duplicate: stored === 'duplicate',
        notification,
        secretIndex,
        keyIndex,
        receivedAt,
        durationMs: performance.now() - startedAt,
        request: req,
        rawBody,
      };
      for (const observe of observers) observe(report);
    });
    next();
  };
}
