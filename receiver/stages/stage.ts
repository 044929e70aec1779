/** What every stage is made of: the state of one delivery, and the two ways to end it. */
import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { HookproofError, type ReceivedNotification } from '../../contract/index.ts';

/** What the stages have found out about one delivery so far. It lives in `res.locals`. */
export interface DeliveryState {
  /** Since stage `readBody`: the bytes of the body, as they came. */
  rawBody?: Buffer;
  /** Since stage `verifySignature`: which of the secrets matched. Shows how far a rotation has come. */
  secretIndex?: number;
  /** Since stage `checkApiKey`: which of the keys matched. */
  keyIndex?: number;
  /** Since stage `parse`: any JSON value. */
  payload?: unknown;
  /** Since stage `validate`. */
  notification?: ReceivedNotification;
  /** Since stage `store`. */
  stored?: 'stored' | 'duplicate';
  /** Why the delivery was not accepted, for the log. */
  reason?: string;
}

/** A stage is an Express middleware: it answers, or calls `next` to hand the delivery to the stage that follows. */
export type Stage = (req: Request, res: Response<unknown, DeliveryState>, next: NextFunction) => void | Promise<void>;

/** Answers with JSON. `body` holds words of ours only: nothing that the request brought, and no secret. */
export function answer(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  // A text and not a Buffer: Node then sends head and body in one piece.
  const text = JSON.stringify(body);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...headers });
  res.end(text);
}

/**
 * Refuses a delivery. The answer holds `error`, a fixed word, and what `detail` adds; `reason` goes to the log only.
 */
export function refuse(
  res: Response<unknown, DeliveryState>,
  status: number,
  error: string,
  options: { reason?: string; detail?: object; headers?: Record<string, string> } = {},
): void {
  res.locals.reason = options.reason ?? error;
  answer(res, status, { error, ...options.detail }, options.headers);
}

/** The one answer to wrong credentials. Whatever is wrong, a forger sees the same bytes. */
export function refuseUnauthorized(res: Response<unknown, DeliveryState>, reason: string): void {
  refuse(res, 401, 'unauthorized', { reason });
}

/** The value of a state field that an earlier stage must have set: a pipeline wired in the wrong order fails closed. */
export function required<K extends keyof DeliveryState>(
  res: Response<unknown, DeliveryState>,
  field: K,
): Exclude<DeliveryState[K], undefined> {
  if (!Object.hasOwn(res.locals, field)) {
    throw new HookproofError('RECEIVER_STAGE_ORDER', `A stage needs "${field}", which no earlier stage has set.`, {
      hint: 'Run the stages in the order of receiver/create-receiver.ts.',
      kind: 'internal',
    });
  }
  return res.locals[field] as Exclude<DeliveryState[K], undefined>;
}
