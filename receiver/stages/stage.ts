/** What the stages share: the state of a delivery, how to read a header, and how to answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { HookproofError, type ReceivedNotification } from '../../contract/index.ts';

/** What the stages know about a delivery so far. It is kept in `res.locals`. */
export interface DeliveryState {
  /** Set by `readBody`: the bytes of the body as received. */
  rawBody?: Buffer;
  /** Set by `requireSignature`: which of the secrets matched. Shows the progress of a rotation. */
  secretIndex?: number;
  /** Set by `requireApiKey`: which of the keys matched. */
  keyIndex?: number;
  /** Set by `parse`: any JSON value. */
  payload?: unknown;
  /** Set by `validate`. */
  notification?: ReceivedNotification;
  /** Set by `store`. */
  stored?: 'stored' | 'duplicate';
  /** Why the delivery was not accepted, as a code. */
  reason?: string;
  /** What the log adds to the reason. */
  reasonDetail?: string;
}

/** A stage is an Express middleware: it answers, or calls `next` to pass the delivery to the next stage. */
export type Stage = (req: Request, res: Response<unknown, DeliveryState>, next: NextFunction) => void | Promise<void>;

/**
 * A header as sent: undefined when absent, an array when repeated. `req.headers` hides the difference: it joins the
 * lines of some headers with a comma and drops all but the first of others. `name` is in lower case.
 */
export function requestHeader(req: IncomingMessage, name: string): string | string[] | undefined {
  const values: string[] = [];
  for (let index = 0; index + 1 < req.rawHeaders.length; index += 2) {
    const line = req.rawHeaders[index] ?? '';
    // The length is compared first, so that few names have to be converted to lower case.
    if (line.length === name.length && line.toLowerCase() === name) values.push(req.rawHeaders[index + 1] ?? '');
  }
  return values.length > 1 ? values : values[0];
}

/** Answers with JSON. `body` contains nothing from the request, and no secret. */
export function answer(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  // A string and not a Buffer: Node then sends head and body together.
  const text = JSON.stringify(body);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...headers });
  res.end(text);
}

/**
 * Rejects a delivery. The answer contains `error`, a fixed code, and `detail`; `reason`, a code too, and `reasonDetail`
 * go to the log only.
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

/** The one answer to invalid credentials: an attacker gets the same bytes whatever is invalid. */
export function refuseUnauthorized(
  res: Response<unknown, DeliveryState>,
  reason: string,
  reasonDetail?: string | undefined,
): void {
  refuse(res, 401, 'unauthorized', { reason, reasonDetail });
}

/** Sets why the delivery is not accepted. */
export function setReason({ locals }: Response<unknown, DeliveryState>, reason: string, detail?: string): void {
  locals.reason = reason;
  if (detail === undefined) delete locals.reasonDetail;
  else locals.reasonDetail = detail;
}

/**
 * The value of a field that an earlier stage must have set. Throws otherwise: a pipeline in the wrong order fails
 * closed.
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
