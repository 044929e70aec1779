/** Shared by the stages: the state of a delivery, reading a header, and answering. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { HookproofError, type ReceivedNotification } from '../../contract/index.ts';
import type { SinkResult } from '../inbox/notification-sink.ts';

/** What the stages have learnt about a delivery so far, stored in `res.locals`. */
export interface DeliveryState {
  /** Set by `readBody`: the bytes of the body as received. */
  rawBody?: Buffer;
  /** Set by `requireSignature`: index of the secret that matched. */
  secretIndex?: number;
  /** Set by `requireApiKey`: index of the key that matched. */
  keyIndex?: number;
  /** Set by `parse`: any JSON value. */
  payload?: unknown;
  /** Set by `validate`. */
  notification?: ReceivedNotification;
  /** Set by `store`: the result of the inbox or the sink. */
  stored?: 'stored' | SinkResult;
  /** Why the delivery was not accepted, as a code. */
  reason?: string;
  /** Details for the log in addition to the reason. */
  reasonDetail?: string;
}

/** A stage is an Express middleware: it either answers, or calls `next` to pass the delivery to the next stage. */
export type Stage = (req: Request, res: Response<unknown, DeliveryState>, next: NextFunction) => void | Promise<void>;

/**
 * Returns a header as sent: undefined when absent, an array when repeated. `req.headers` hides repetitions, because it
 * joins the lines of some headers with a comma and drops all but the first line of others. `name` is in lower case.
 */
export function requestHeader(req: IncomingMessage, name: string): string | string[] | undefined {
  const values: string[] = [];
  for (let index = 0; index + 1 < req.rawHeaders.length; index += 2) {
    const line = req.rawHeaders[index] ?? '';
    // Comparing the length first avoids converting most names to lower case.
    if (line.length === name.length && line.toLowerCase() === name) values.push(req.rawHeaders[index + 1] ?? '');
  }
  return values.length > 1 ? values : values[0];
}

/** Answers with JSON. `body` must contain no secret and nothing from the request. */
export function answer(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  // Node writes head and body together only when the body is a string, not a Buffer.
  const text = JSON.stringify(body);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...headers });
  res.end(text);
}

/**
 * Rejects a delivery. The answer contains `error`, a fixed code, and `detail`. `reason`, which is also a code, and
 * `reasonDetail` are only logged.
 */
export function refuse(
  res: Response<unknown, DeliveryState>,
  status: number,
  error: string,
  options: {
    reason?: string;
    reasonDetail?: string | undefined;
    detail?: object;
    headers?: Record<string, string>;
  } = {},
): void {
  setReason(res, options.reason ?? error, options.reasonDetail);
  answer(res, status, { error, ...options.detail }, options.headers);
}

/** Sends the same answer for all invalid credentials, so that an attacker cannot find out which of them is invalid. */
export function refuseUnauthorized(
  res: Response<unknown, DeliveryState>,
  reason: string,
  reasonDetail?: string | undefined,
): void {
  refuse(res, 401, 'unauthorized', { reason, reasonDetail });
}

/** Records why the delivery is not accepted. */
export function setReason({ locals }: Response<unknown, DeliveryState>, reason: string, detail?: string): void {
  locals.reason = reason;
  if (detail === undefined) delete locals.reasonDetail;
  else locals.reasonDetail = detail;
}

/**
 * Returns a field that an earlier stage has set. Throws when it is missing, so that a pipeline in the wrong order
 * rejects all deliveries.
 */
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
