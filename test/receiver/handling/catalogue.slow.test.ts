/** The catalogue against the durable receiver. `lift-out.test.ts` plays the whole catalogue in memory. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { NOTIFICATION_KINDS } from '../../../contract/index.ts';
import { run } from '../../../harness/index.ts';
import { type DurableInbox, effectHandlers, type Handlers, memoryEffects } from '../../../receiver/index.ts';
import { onEveryDatabase, STORES } from '../inbox/stores.ts';
import { collectLogs } from '../logs.ts';
import { receiverForTest } from '../raw-http.ts';

onEveryDatabase('the receiver', (name) => {
  it('passes the catalogue, and stores and handles exactly what it accepts', async () => {
    const secret = randomBytes(32).toString('base64');
    const apiKey = randomBytes(24).toString('base64url');
    const store = await STORES[name]();
    const inbox = (await store.open()) as DurableInbox;
    const accepted = new Set<string>();
    const handled: string[] = [];
    const handle = ({ id }: { id: string }) => void handled.push(id);
    const handlers = Object.fromEntries([...NOTIFICATION_KINDS, 'UNKNOWN'].map((kind) => [kind, handle])) as Handlers;
    const record = memoryEffects();
    const { logger, events } = collectLogs();
    const receiver = await receiverForTest({
      signing: { secrets: [secret] },
      apiKey: { keys: [apiKey] },
      inbox,
      handlers: effectHandlers(record, { handlers }),
      handling: { refundWaitMs: 20 },
      observers: [
        ({ outcome, notification }) => void (outcome === 'accepted' && notification && accepted.add(notification.id)),
      ],
      logger,
    });
    const partner = { url: receiver.url, signing: { secret }, apiKey: { value: apiKey } };
    const document = await run({ partner });
    const findings = document.results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
    expect(findings.map(({ id, verdict, reason }) => `${verdict} ${id}: ${reason}`)).toEqual([]);
    expect([document.verdict, document.judged]).toEqual(['conformant', document.planned]);

    await receiver.settled();
    expect(accepted.size).toBeGreaterThan(500);
    await expect.poll(async () => (await inbox.depths()).pending + (await inbox.depths()).running).toBe(0);
    const superseded = events('superseded').map(({ id }) => String(id));
    expect([...handled, ...superseded].toSorted()).toEqual([...accepted].toSorted());
    const recorded = await record.answer({ notifications: [...accepted] });
    expect(recorded.handled.map(({ notification }) => notification).toSorted()).toEqual([...accepted].toSorted());
    expect(recorded.total).toBe(accepted.size);
    const entries = await inbox.list({}, { limit: 100_000 });
    expect(entries.map(({ id }) => id).toSorted()).toEqual([...accepted].toSorted());
    await receiver.close();
    await inbox.close();
    store.remove();
  });
});
