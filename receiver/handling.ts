/** Runs the handlers after the answer, a few at a time, and never lets one of them take the process down. */
import type { ReceivedNotification } from '../contract/index.ts';
import type { Handler, Handlers } from './handlers.ts';
import type { Inbox } from './inbox.ts';
import { errorFields, type ReceiverLogger } from './logger.ts';

export interface Handling {
  /** Handles a stored notification soon, in the order of submission. */
  submit(notification: ReceivedNotification): void;
  /** Whether so many are waiting that no more should be accepted. */
  isFull(): boolean;
  /** Resolves when nothing is waiting or running. */
  settled(): Promise<void>;
}

/** How many handlers run at the same time, and how many notifications may wait for one. */
const CONCURRENCY = 16;
const MAX_WAITING = 10_000;

export function createHandling(config: { handlers: Handlers; inbox: Inbox; logger: ReceiverLogger }): Handling {
  const { handlers, inbox, logger } = config;
  const waiting: ReceivedNotification[] = [];
  let running = 0;
  let onSettled: (() => void)[] = [];

  async function handle(notification: ReceivedNotification): Promise<void> {
    const { id, kind } = notification;
    // The handler of a kind takes the notifications of that kind, which TypeScript cannot follow through the table.
    const handler = handlers[kind] as Handler<ReceivedNotification['kind']> | undefined;
    if (handler === undefined) return;
    try {
      await handler(notification, { logger });
    } catch (error) {
      logger.error({ event: 'handler-failed', id, kind, error: errorFields(error) }, 'handler failed');
      // Without this, a second delivery of it would be a duplicate, and the notification lost for good.
      await inbox.release(id);
    }
  }

  function pump(): void {
    while (running < CONCURRENCY) {
      const notification = waiting.shift();
      if (notification === undefined) break;
      running += 1;
      handle(notification)
        .catch((error: unknown) => {
          logger.error({ event: 'release-failed', id: notification.id, error: errorFields(error) }, 'release failed');
        })
        .finally(() => {
          running -= 1;
          pump();
        });
    }
    if (running > 0 || waiting.length > 0) return;
    for (const resolve of onSettled) resolve();
    onSettled = [];
  }

  return {
    submit(notification) {
      waiting.push(notification);
      // Not at once: first the answer goes out.
      setImmediate(pump);
    },
    isFull: () => waiting.length >= MAX_WAITING,
    settled() {
      if (running === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise((resolve) => onSettled.push(resolve));
    },
  };
}
