/** The three inboxes, so that one test can be held against each. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type ReceivedNotification, readNotification } from '../../../contract/index.ts';
import { type Inbox, memoryInbox, openInbox } from '../../../receiver/index.ts';
import { newDatabase } from '../../setup/postgres.ts';

export interface Store {
  /** Where it is: another inbox that is opened with it has the same entries. Undefined for memory. */
  readonly url: string | undefined;
  readonly open: () => Promise<Inbox>;
  readonly remove: () => void;
}

export const STORES: Readonly<Record<'memory' | 'sqlite' | 'postgres', () => Promise<Store>>> = {
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

/** Whether the tests of a store are skipped. */
export function lacks(store: keyof typeof STORES): boolean {
  return store === 'postgres' && inject('postgresUrl') === null;
}

/** A notification as the stages hand it on. `at` in seconds. */
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
