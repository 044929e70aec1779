/** The three kinds of inbox, so that a test can run with each. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, inject } from 'vitest';
import { type ReceivedNotification, readNotification } from '../../../contract/index.ts';
import { type DurableInbox, type Inbox, memoryInbox, openInbox } from '../../../receiver/index.ts';
import { newDatabase } from '../../setup/postgres.ts';

export interface Store {
  /** Inboxes that are opened with the same URL have the same entries. Undefined for memory. */
  readonly url: string | undefined;
  readonly open: () => Promise<Inbox>;
  readonly remove: () => void;
}

export type StoreName = 'memory' | 'sqlite' | 'postgres';

export const STORES: Readonly<Record<StoreName, () => Promise<Store>>> = {
  async memory() {
    return { url: undefined, open: async () => memoryInbox(), remove() {} };
  },
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'hookproof-inbox-'));
    const url = `file:${join(folder, 'inbox.db')}`;
    return { url, open: () => openInbox(url), remove: () => rmSync(folder, { recursive: true }) };
  },
  async postgres() {
    const server = inject('postgresUrl');
    if (server === null) throw new Error('PostgreSQL is not installed');
    const url = await newDatabase(server);
    return { url, open: () => openInbox(url), remove() {} };
  },
};

/** Returns whether the tests of a store are skipped. */
function lacks(store: StoreName): boolean {
  return store === 'postgres' && inject('postgresUrl') === null;
}

/** The stores that outlive the process. `npm test` leaves out PostgreSQL. */
const DATABASES: readonly ('sqlite' | 'postgres')[] = inject('whole') ? ['sqlite', 'postgres'] : ['sqlite'];

/** Describes the same behaviour of every store. */
export function onEveryStore(title: string, tests: (name: StoreName) => void): void {
  describe(`${title}, memory`, () => tests('memory'));
  onEveryDatabase(title, tests);
}

/** Describes the same behaviour of every store that outlives the process. */
export function onEveryDatabase(title: string, tests: (name: 'sqlite' | 'postgres') => void): void {
  for (const name of DATABASES) describe.skipIf(lacks(name))(`${title}, ${name}`, () => tests(name));
}

/** Describes the behaviour of PostgreSQL alone. */
export function onPostgres(title: string, tests: () => void): void {
  if (DATABASES.includes('postgres')) describe.skipIf(lacks('postgres'))(title, tests);
}

/** Creates a notification as the stages pass it on. `at` is in seconds since 1970. */
export function received(
  kind: 'BUY' | 'SELL' | 'ORDER_TRACKING' | 'REFUND' | 'WALLET',
  changes: { id?: string; transactionId?: string; status?: string; at?: number } = {},
): { notification: ReceivedNotification; rawBody: Buffer; receivedAt: Date; handle: boolean } {
  const { id = randomUUID(), transactionId = randomUUID(), status = 'CREATED', at = 1_700_000_000 } = changes;
  const failed = status.startsWith('FAIL');
  const errorData = failed ? { code: '352-202-S1', message: 'expired' } : null;
  const order = { type: kind, providerId: 'p', transactionId, metadata: { orderStatus: status }, errorData };
  const refund = { providerId: 'p', transactionId, status, metadata: { amount: '1', currency: 'BTC' }, errorData };
  const wallet = { operation: 'WALLET_CREATED', customerId: 'c', walletAddress: 'w', assetId: 'BTC', chain: 'bitcoin' };
  const tracking = { ...order, metadata: { orderType: 'BUY', providerTransactionStatus: status } };
  const body = {
    REFUND: { id, type: 'REFUND', at, data: refund },
    WALLET: { id, type: 'WALLET', at: new Date(at * 1000).toISOString(), data: wallet },
    BUY: { id, type: 'CAAS', at, data: order },
    SELL: { id, type: 'CAAS', at, data: order },
    ORDER_TRACKING: { id, type: 'CAAS', at, data: tracking },
  }[kind];
  const text = JSON.stringify(body);
  const reading = readNotification(JSON.parse(text));
  if (!reading.ok) throw new Error(reading.issues.join());
  return { notification: reading.notification, rawBody: Buffer.from(text), receivedAt: new Date(), handle: true };
}

/** A body that is not text, with the control sequence that clears a terminal. */
export const BINARY = Buffer.from([0x7b, 0x00, 0x1b, 0x5b, 0x32, 0x4a, 0xff, 0xfe, 0x0a, 0x7d]);
/** C0 and C1 control characters, and one that reverses the direction of text. */
export const HOSTILE = '\u001b[2J\u202e\u009b31m';

/**
 * Fills an inbox: two entries are dead, one is running, one is waiting, one is superseded, and the rest are done.
 * Returns the bodies by id, in the order of arrival.
 */
export async function filledInbox(inbox: DurableInbox, done = 600): Promise<Map<string, Buffer>> {
  const bodies = new Map<string, Buffer>();
  const put = (delivery: ReturnType<typeof received>, handle = true, waitMs = 0) => {
    bodies.set(delivery.notification.id, delivery.rawBody);
    return inbox.put({ ...delivery, handle, waitMs });
  };
  await put(received('BUY', { id: 'dead-buy', transactionId: 'order-1', status: 'COMPLETED' }));
  await put(received('WALLET', { id: 'dead-wallet' }));
  await put(received('BUY', { id: 'runs', transactionId: 'order-2' }));
  await put(received('BUY', { id: 'late', transactionId: 'order-3' }));
  for (const claim of await inbox.claim(10, 3_600_000)) {
    if (claim.id.startsWith('dead')) await inbox.settle({ claim, state: 'dead', error: `Error: broke ${HOSTILE}` });
    if (claim.id === 'late') await inbox.settle({ claim, state: 'superseded', order: null });
  }
  await put(received('REFUND', { id: 'waits', transactionId: 'order-4', status: 'SUCCESS' }), true, 600_000);
  await put({ ...received('SELL', { id: 'not-text', transactionId: HOSTILE }), rawBody: BINARY }, false);
  await put({ ...received('SELL', { id: 'text' }), rawBody: Buffer.from(`{\r\n "a": "${HOSTILE}"\n}`) }, false);
  // The entries so far are written in sequence, so that their order is known. Many at once are one write.
  await Promise.all(Array.from({ length: done }, (_, index) => put(received('BUY', { id: `done-${index}` }), false)));
  return bodies;
}
