/** Handles a claimed entry once, and returns the settlement to write. */
import { type ReceivedNotification, readNotification } from '../../contract/index.ts';
import { parseSafely } from '../../contract/parse-json.ts';
import type { ClaimedEntry, OrderProgress, Settlement } from '../inbox/inbox.ts';
import { orderStep } from '../inbox/inbox-row.ts';
import { errorFields, type ReceiverLogger } from '../logger.ts';
import { type Handler, type Handlers, type HandlingPolicy, retryDelayMs } from './handlers.ts';

interface HandlingParts {
  readonly handlers: Handlers;
  readonly policy: HandlingPolicy;
  readonly logger: ReceiverLogger;
  /** Aborted when the receiver stops. */
  readonly signal: AbortSignal;
}

interface HandlingResult {
  readonly kind: string;
  /** `interrupted` means that the handler gave up because the receiver is stopping. The attempt is not counted. */
  readonly outcome: 'done' | 'failed' | 'dead' | 'superseded' | 'interrupted';
  readonly settlement: Settlement;
}

/** Runs the handler. Resolves with a settlement even when the handler fails. */
export async function handleEntry(claim: ClaimedEntry, parts: HandlingParts): Promise<HandlingResult> {
  const { handlers, policy, logger, signal } = parts;
  const notification = readStored(claim.rawBody);
  if (notification === null) {
    const error = 'the stored body cannot be read as a notification';
    logger.error({ event: 'handler-dead', id: claim.id, error: { message: error } }, 'stored body cannot be read');
    return { kind: 'UNKNOWN', outcome: 'dead', settlement: { claim, state: 'dead', error } };
  }
  const { kind } = notification;
  const { id } = claim;
  const order = orderStep(notification);
  if (handlers[kind] === undefined && kind === 'CAAS_SELL' && handlers.REFUND !== undefined) {
    return { kind, outcome: 'done', settlement: { claim, state: 'done', order } };
  }
  const isLate = isSuperseded(order, claim.progress);
  const end = isLate ? 'superseded' : 'done';
  const handler = handlers[isLate ? 'SUPERSEDED' : kind] as Handler<ReceivedNotification['kind']> | undefined;
  if (isLate) logger.info({ event: 'superseded', id, kind }, 'order status arrived too late');
  if (isLate && handler === undefined) return { kind, outcome: end, settlement: { claim, state: end, order } };
  const sellMissing = claim.failedSellSeen === false;
  if (sellMissing) {
    logger.warn({ event: 'refund-without-sell', id, kind }, 'the failed SELL of this REFUND was not handled');
  }
  try {
    // When the entry was stored, there was a handler for its kind: in another version or configuration of the receiver.
    if (handler === undefined) throw new Error(`this receiver has no handler for ${kind}`);
    const context = { logger, idempotencyKey: id, attempt: claim.attempt, sellMissing };
    await withTimeLimit(policy.timeLimitMs, signal, (limited) =>
      handler(notification, { ...context, signal: limited }),
    );
    return { kind, outcome: end, settlement: { claim, state: end, order } };
  } catch (thrown) {
    const fields = { id, kind, attempt: claim.attempt, error: thrownFields(thrown) };
    const error = describeThrown(thrown);
    if (signal.aborted) {
      logger.info({ event: 'handler-interrupted', ...fields }, 'handler gave up because the receiver is stopping');
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

/** Reads the stored body with the same steps as the stages `parse` and `validate`. */
function readStored(rawBody: Buffer): ReceivedNotification | null {
  try {
    const reading = readNotification(parseSafely(rawBody.toString('utf8')));
    return reading.ok ? reading.notification : null;
  } catch {
    return null;
  }
}

/**
 * Returns true when a status arrives too late, because the order has already progressed further. Handling it would move
 * the order backwards. An unlisted status has rank 0 and is never late, because its position is unknown. Specification:
 * Order status.
 */
export function isSuperseded(step: OrderProgress | null, progress: OrderProgress | null): boolean {
  if (step === null || progress === null || step.rank === 0) return false;
  return step.rank < progress.rank || (step.rank === progress.rank && step.at < progress.at);
}

/**
 * Runs a handler with a signal that is aborted after `timeLimitMs` milliseconds, or when `stopping` is. Rejects when
 * the handler rejects or the time is up. The handler may continue to run, because it can only be asked to stop.
 */
async function withTimeLimit(
  timeLimitMs: number,
  stopping: AbortSignal,
  run: (signal: AbortSignal) => Promise<void> | void,
): Promise<void> {
  const limited = new AbortController();
  // AbortSignal.any is not used: Node 20 would keep the combined signals in memory as long as the receiver runs.
  const stop = () => limited.abort(stopping.reason);
  if (stopping.aborted) stop();
  stopping.addEventListener('abort', stop, { once: true });
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`the handler took longer than ${timeLimitMs} ms`);
      // Rejects before aborting, so that this error is reported instead of the one that the aborted handler may throw.
      reject(error);
      limited.abort(error);
    }, timeLimitMs);
    // A handler that never ends must not keep the process alive.
    timer.unref();
  });
  try {
    await Promise.race([run(limited.signal), overdue]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', stop);
  }
}

/** Maximum length of the error text that is stored with an entry, in characters. */
const MAX_ERROR_LENGTH = 500;

/**
 * Describes for the inbox what a handler threw, which can be anything: text, undefined, or an error whose getters
 * throw. Removes NUL, because PostgreSQL cannot store it.
 */
export function describeThrown(thrown: unknown): string {
  const text = tryToRead(() =>
    thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `threw ${thrown === null ? 'null' : typeof thrown}`,
  );
  return (text ?? 'threw a value that cannot be read').replaceAll('\0', '').slice(0, MAX_ERROR_LENGTH);
}

function thrownFields(thrown: unknown): object {
  return tryToRead(() => errorFields(thrown)) ?? { name: 'unreadable' };
}

function tryToRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
