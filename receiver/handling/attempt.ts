/** One attempt to handle what was claimed, up to what is to be written about it. */

import { type ReceivedNotification, readNotification } from '../../contract/index.ts';
import { orderStep } from '../inbox/filing.ts';
import type { ClaimedEntry, Settlement } from '../inbox/inbox.ts';
import type { ReceiverLogger } from '../logger.ts';
import { parseSafely } from '../parse-safely.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { Handler, Handlers } from './handlers.ts';
import { type HandlingPolicy, retryDelayMs } from './handling-policy.ts';
import { isBehind } from './order-rules.ts';
import { describeThrown, thrownFields } from './thrown.ts';

interface AttemptParts {
  readonly handlers: Handlers;
  readonly policy: HandlingPolicy;
  readonly logger: ReceiverLogger;
  /** Aborted when the receiver ends. */
  readonly signal: AbortSignal;
}

export interface AttemptResult {
  readonly kind: string;
  /** `interrupted`: the receiver ends, and the handler gave up because of it. It is no failure and does not count. */
  readonly outcome: 'done' | 'failed' | 'dead' | 'superseded' | 'interrupted';
  readonly settlement: Settlement;
}

/** Whatever a handler does, there is something to write. */
export async function attempt(claim: ClaimedEntry, parts: AttemptParts): Promise<AttemptResult> {
  const { handlers, policy, logger, signal } = parts;
  const notification = read(claim.rawBody);
  if (notification === null) {
    const error = 'the stored body cannot be read as a notification any more';
    logger.error({ event: 'handler-dead', id: claim.id, error: { message: error } }, 'stored body cannot be read');
    return { kind: 'UNKNOWN', outcome: 'dead', settlement: { claim, state: 'dead', error } };
  }
  const { kind } = notification;
  const { id } = claim;
  const order = orderStep(notification);
  const handler = handlers[kind] as Handler<ReceivedNotification['kind']> | undefined;
  if (handler === undefined && kind === 'CAAS_SELL' && handlers.REFUND !== undefined) {
    return { kind, outcome: 'done', settlement: { claim, state: 'done', order } };
  }
  if (isBehind(order, claim.progress)) {
    logger.info({ event: 'superseded', id, kind }, 'order status came too late');
    return { kind, outcome: 'superseded', settlement: { claim, state: 'superseded', order } };
  }
  const sellMissing = claim.failedSellSeen === false;
  if (sellMissing) {
    logger.warn({ event: 'refund-without-sell', id, kind }, 'the failed SELL of this REFUND was not handled');
  }
  try {
    // Another receiver wanted it handled: one of another version, or this one before its configuration changed.
    if (handler === undefined) throw new Error(`this receiver has no handler for ${kind}`);
    const context = { logger, idempotencyKey: id, attempt: claim.attempt, sellMissing };
    await withTimeLimit(policy.timeLimitMs, signal, (limited) =>
      handler(notification, { ...context, signal: limited }),
    );
    return { kind, outcome: 'done', settlement: { claim, state: 'done', order } };
  } catch (thrown) {
    const fields = { id, kind, attempt: claim.attempt, error: thrownFields(thrown) };
    const error = describeThrown(thrown);
    if (signal.aborted) {
      logger.info({ event: 'handler-interrupted', ...fields }, 'handler gave up because the receiver ends');
      const settlement = { claim, state: 'pending', delayMs: 0, error, uncounted: true } as const;
      return { kind, outcome: 'interrupted', settlement };
    }
    if (claim.attempt >= policy.attempts) {
      logger.error({ event: 'handler-dead', ...fields }, 'handler failed for the last time');
      return { kind, outcome: 'dead', settlement: { claim, state: 'dead', error } };
    }
    logger.error({ event: 'handler-failed', ...fields }, 'handler failed');
    const delayMs = retryDelayMs(policy, claim.attempt);
    return { kind, outcome: 'failed', settlement: { claim, state: 'pending', delayMs, error } };
  }
}

/** As the stages `parse` and `validate` read it when it came. */
function read(rawBody: Buffer): ReceivedNotification | null {
  try {
    const reading = readNotification(parseSafely(rawBody.toString('utf8')));
    return reading.ok ? reading.notification : null;
  } catch {
    return null;
  }
}
