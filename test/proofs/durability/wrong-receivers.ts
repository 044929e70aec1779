/** Receivers that are wrong in one known way. The proofs have to catch them: otherwise they prove nothing. */
import { fileURLToPath } from 'node:url';
import type { Pipeline } from '../../../receiver/create-receiver.ts';
import type { Handling } from '../../../receiver/handling/handling.ts';
import { toInboxRow } from '../../../receiver/inbox/inbox-row.ts';
import { SQLITE } from '../../../receiver/inbox/schema.ts';
import { rowValues } from '../../../receiver/inbox/sql-inbox.ts';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';
import { statements } from '../../../receiver/inbox/statements.ts';
import type { Handlers, Inbox } from '../../../receiver/index.ts';
import { answer, required } from '../../../receiver/stages/stage.ts';

export const WRONG_WAYS = {
  'acknowledges first': 'answers 200, and stores afterwards',
  'handles first': 'runs the handler, stores afterwards, and then answers 200',
  'does not wait for the disk': 'commits with synchronous = NORMAL (SQLite)',
  'settles first': 'writes down that a notification was handled, and runs the handler afterwards',
} as const;
export type WrongWay = keyof typeof WRONG_WAYS;

/** The pipeline with wrong stages. */
export function wrongPipeline(
  way: WrongWay | undefined,
  parts: { readonly right: Pipeline; readonly inbox: Inbox; readonly handling: Handling; readonly handlers: Handlers },
): Pipeline {
  const { right, inbox, handling, handlers } = parts;
  if (way === 'acknowledges first') {
    return {
      ...right,
      store(_req, res, next) {
        const delivery = { notification: required(res, 'notification'), rawBody: required(res, 'rawBody') };
        const put = () => inbox.put({ ...delivery, receivedAt: new Date(), ...handling.plan(delivery.notification) });
        // A little later, as what is done in the background is when there is much to do.
        res.once('finish', () => setTimeout(() => void put().then(handling.wake, () => {}), 10));
        next();
      },
      reply: (_req, res) => answer(res, 200, { status: 'accepted' }),
    };
  }
  if (way === 'handles first') {
    const logger = { info() {}, warn() {}, error() {} };
    return {
      ...right,
      async store(req, res, next) {
        const notification = required(res, 'notification');
        if (notification.kind === 'CAAS_ORDER_TRACKING') {
          const context = { logger, idempotencyKey: notification.id, attempt: 1, sellMissing: false };
          await handlers.CAAS_ORDER_TRACKING?.(notification, { ...context, signal: new AbortController().signal });
        }
        await right.store(req, res, next);
      },
    };
  }
  return right;
}

/** The inbox, used wrongly. */
export async function wrongInbox(way: WrongWay | undefined, inbox: Inbox, url: string): Promise<Inbox> {
  if (way === 'does not wait for the disk') {
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(fileURLToPath(url));
    database.exec('PRAGMA synchronous = NORMAL');
    const insert = database.prepare(statements(SQLITE).put);
    return {
      ...inbox,
      put: async (delivery) => (insert.run(...rowValues(toInboxRow(delivery))).changes === 1 ? 'stored' : 'duplicate'),
      // The package closes a database that nobody refers to any more, whatever its statements do.
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
