/** An inbox with entries in every state. */
import type { DurableInbox } from '../../../receiver/index.ts';
import { received } from './stores.ts';

/** No text, and what would clear a terminal. */
export const BINARY = Buffer.from([0x7b, 0x00, 0x1b, 0x5b, 0x32, 0x4a, 0xff, 0xfe, 0x0a, 0x7d]);
/** Controls of both kinds, and what turns the direction of writing around. */
export const HOSTILE = '\u001b[2J\u202e\u009b31m';

/** Two dead ones, one that is running, one that waits, one superseded, and the rest done. Gives the bodies by id, in the order of arrival. */
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
  // One after the other, so that their order is known; many at once are one write.
  await Promise.all(Array.from({ length: done }, (_, index) => put(received('BUY', { id: `done-${index}` }), false)));
  return bodies;
}
