/** Receivers with one known fault each. A proof that does not catch its faulty receiver proves nothing. */
import { fileURLToPath } from 'node:url';
import type { ReceivedKind } from '../../../contract/index.ts';
import type { Pipeline } from '../../../receiver/create-receiver.ts';
import type { Handler } from '../../../receiver/handling/handlers.ts';
import type { Handling } from '../../../receiver/handling/handling.ts';
import { toInboxRow } from '../../../receiver/inbox/inbox-row.ts';
import { SQLITE } from '../../../receiver/inbox/schema.ts';
import { rowValues } from '../../../receiver/inbox/sql-inbox.ts';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';
import { statements } from '../../../receiver/inbox/statements.ts';
import type { Handlers, Inbox } from '../../../receiver/index.ts';
import { answer, required } from '../../../receiver/stages/stage.ts';

export const FAULTS = {
  'acknowledges first': 'answers 200, and stores afterwards',
  'handles first': 'runs the handler, stores afterwards, and then answers 200',
  'does not wait for the disk': 'commits with synchronous = NORMAL (SQLite)',
  'settles first': 'marks a notification as handled, and runs the handler afterwards',
} as const;
export type Fault = keyof typeof FAULTS;

/** Returns the pipeline with the faulty stages. */
export function faultyPipeline(
  way: Fault | undefined,
  parts: {
    readonly correct: Pipeline;
    readonly inbox: Inbox;
    readonly handling: Handling;
    readonly handlers: Handlers;
    /** Time from the answer until the receiver stores, in milliseconds, like background work under load. */
    readonly backgroundMs?: number | undefined;
  },
): Pipeline {
  const { correct, inbox, handling, handlers, backgroundMs = 10 } = parts;
  if (way === 'acknowledges first') {
    return {
      ...correct,
      store(_req, res, next) {
        const delivery = { notification: required(res, 'notification'), rawBody: required(res, 'rawBody') };
        const put = () => inbox.put({ ...delivery, receivedAt: new Date(), ...handling.plan(delivery.notification) });
        res.once('finish', () =>
          setTimeout(
            () =>
              void put().then(
                () => handling.wake(),
                () => {},
              ),
            backgroundMs,
          ),
        );
        next();
      },
      reply: (_req, res) => answer(res, 200, { status: 'accepted' }),
    };
  }
  if (way === 'handles first') {
    const logger = { info() {}, warn() {}, error() {} };
    return {
      ...correct,
      async store(req, res, next) {
        const notification = required(res, 'notification');
        const context = { logger, idempotencyKey: notification.id, attempt: 1, sellMissing: false };
        const handle = handlers[notification.kind] as Handler<ReceivedKind> | undefined;
        await handle?.(notification, { ...context, signal: new AbortController().signal });
        await correct.store(req, res, next);
      },
    };
  }
  return correct;
}

/** Returns the inbox with the fault. */
export async function faultyInbox(way: Fault | undefined, inbox: Inbox, url: string): Promise<Inbox> {
  if (way === 'does not wait for the disk') {
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(fileURLToPath(url));
    database.exec('PRAGMA synchronous = NORMAL');
    const insert = database.prepare(statements(SQLITE).put);
    return {
      ...inbox,
      put: async (delivery) => (insert.run(...rowValues(toInboxRow(delivery))).changes === 1 ? 'stored' : 'duplicate'),
      // Keeps a reference: the package closes an unreferenced database, even while its statements are in use.
      async close() {
        database.close();
        await inbox.close();
      },
    };
  }
  if (way !== 'settles first') return inbox;
  return {
    ...inbox,
    async claim(limit, leaseMs) {
      const claims = await inbox.claim(limit, leaseMs);
      await Promise.all(claims.map((claim) => inbox.settle({ claim, state: 'done', order: null })));
      return claims;
    },
    settle: async () => true,
  };
}
