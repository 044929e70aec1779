/** One attempt to handle what was claimed, up to what is to be written about it. */
import { type ReceivedNotification, readNotification } from '../../contract/index.ts';
import { orderStep } from '../inbox/filing.ts';
import type { ClaimedEntry, Settlement } from '../inbox/inbox.ts';
import { errorFields, type ReceiverLogger } from '../logger.ts';
import type { Handler, Handlers } from './handlers.ts';
import { type HandlingPolicy, retryDelayMs } from './handling-policy.ts';
import { isBehind } from './order-rules.ts';

/** Characters of an error that are kept with the entry. */
const MAX_ERROR_LENGTH = 500;

interface AttemptParts {
  readonly handlers: Handlers;
  readonly policy: HandlingPolicy;
  readonly logger: ReceiverLogger;
  /** Aborted when the receiver ends. */
  readonly signal: AbortSignal;
}

export interface AttemptResult {
  readonly kind: string;
  readonly outcome: 'done' | 'failed' | 'dead' | 'superseded';
  readonly settlement: Settlement;
}

/** Never rejects: whatever a handler does, there is something to write. */
export async function attempt(claim: ClaimedEntry, parts: AttemptParts): Promise<AttemptResult> {
  const notification = read(claim.rawBody);
  if (notification === null) {
    const error = 'the stored body cannot be read as a notification any more';
    return { kind: 'UNKNOWN', outcome: 'dead', settlement: { claim, state: 'dead', error } };
  }
  const { id, kind } = notification;
  const order = orderStep(notification);
  const { handlers, policy, logger } = parts;
  const handler = handlers[kind] as Handler<ReceivedNotification['kind']> | undefined;
  if (handler === undefined) return { kind, outcome: 'done', settlement: { claim, state: 'done', order } };
  if (isBehind(order, claim.progress)) {
    logger.info({ event: 'superseded', id, kind }, 'order status came too late');
    return { kind, outcome: 'superseded', settlement: { claim, state: 'superseded' } };
  }
  if (claim.failedSellSeen === false) {
    logger.warn({ event: 'refund-without-sell', id, kind }, 'the failed SELL of this REFUND did not come');
  }
  try {
    await withTimeLimit(parts, (signal) =>
      handler(notification, {
        logger,
        idempotencyKey: id,
        attempt: claim.attempt,
        signal,
        sellMissing: claim.failedSellSeen === false,
      }),
    );
    return { kind, outcome: 'done', settlement: { claim, state: 'done', order } };
  } catch (thrown) {
    const fields = { id, kind, attempt: claim.attempt, error: errorFields(thrown) };
    const error = describe(thrown);
    if (claim.attempt >= policy.attempts) {
      logger.error({ event: 'handler-dead', ...fields }, 'handler failed for the last time');
      return { kind, outcome: 'dead', settlement: { claim, state: 'dead', error } };
    }
    logger.error({ event: 'handler-failed', ...fields }, 'handler failed');
    const delayMs = retryDelayMs(policy, claim.attempt);
    return { kind, outcome: 'failed', settlement: { claim, state: 'pending', delayMs, error } };
  }
}

function read(rawBody: Buffer): ReceivedNotification | null {
  try {
    const reading = readNotification(JSON.parse(rawBody.toString('utf8')));
    return reading.ok ? reading.notification : null;
  } catch {
    return null;
  }
}

/** Rejects when the handler does, or when its time is over. It cannot be stopped, only told. */
async function withTimeLimit(
  { policy, signal }: AttemptParts,
  handle: (signal: AbortSignal) => Promise<void> | void,
): Promise<void> {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`the handler took longer than ${policy.timeLimitMs} ms`);
      limit.abort(error);
      reject(error);
    }, policy.timeLimitMs);
  });
  try {
    await Promise.race([handle(AbortSignal.any([signal, limit.signal])), overdue]);
  } finally {
    clearTimeout(timer);
  }
}

function describe(thrown: unknown): string {
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `threw ${typeof thrown}`;
  // NUL has no place in a text of PostgreSQL.
  return text.replaceAll('\0', '').slice(0, MAX_ERROR_LENGTH);
}
