/** The whole catalogue against the durable receiver: what is stored and handled makes no difference to the sender. */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { NOTIFICATION_KINDS } from '../../../contract/index.ts';
import { type ResultDocument, run } from '../../../harness/index.ts';
import {
  type DeliveryReport,
  type DurableInbox,
  type Handlers,
  type Inbox,
  startReceiver,
} from '../../../receiver/index.ts';
import { STORES } from '../inbox/stores.ts';
import { DURABLE_NAMES, lacking, type StoreName } from './rig.ts';

interface Played {
  readonly document: ResultDocument;
  /** Ids that were answered 200, each once. */
  readonly accepted: Set<string>;
  readonly handled: string[];
  readonly superseded: string[];
  readonly inbox: Inbox;
  readonly close: () => Promise<void>;
}

/** HMAC and API key on, and a handler for every kind. */
async function play(name: StoreName): Promise<Played> {
  const secret = randomBytes(32).toString('base64');
  const apiKey = randomBytes(24).toString('base64url');
  const accepted = new Set<string>();
  const handled: string[] = [];
  const superseded: string[] = [];
  const store = await STORES[name]();
  const inbox = await store.open();
  const handle = ({ id }: { id: string }) => void handled.push(id);
  const handlers = Object.fromEntries([...NOTIFICATION_KINDS, 'UNKNOWN'].map((kind) => [kind, handle])) as Handlers;
  const receiver = await startReceiver({
    signing: { secrets: [secret] },
    apiKey: { keys: [apiKey] },
    inbox,
    handlers,
    handling: { refundWaitMs: 20 },
    observers: [
      ({ outcome, notification }: DeliveryReport) =>
        void (outcome === 'accepted' && notification && accepted.add(notification.id)),
    ],
    logger: {
      info: (fields) =>
        void (
          'event' in fields &&
          fields.event === 'superseded' &&
          'id' in fields &&
          superseded.push(String(fields.id))
        ),
      warn() {},
      error() {},
    },
  });
  const document = await run({ partner: { url: receiver.url, signing: { secret }, apiKey: { value: apiKey } } });
  await receiver.settled();
  return {
    document,
    accepted,
    handled,
    superseded,
    inbox,
    async close() {
      await receiver.close();
      await inbox.close();
      store.remove();
    },
  };
}

const judgedOtherwise = ({ results }: ResultDocument) =>
  results
    .filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable')
    .map(({ id, verdict }) => `${id} ${verdict}`);

describe('the catalogue', () => {
  let inMemory: ResultDocument;
  beforeAll(async () => {
    const played = await play('memory');
    inMemory = played.document;
    await played.close();
  });

  it.each(DURABLE_NAMES)(
    'passes against the receiver on %s as it does in memory, and handlers see all of it',
    async (name) => {
      if (lacking(name)) return;
      const { document, accepted, handled, superseded, inbox, close } = await play(name);
      expect(document.verdict).toBe('conformant');
      expect(document.judged).toBe(document.planned);
      expect(judgedOtherwise(document)).toEqual(judgedOtherwise(inMemory));
      expect(document.counts).toEqual(inMemory.counts);
      expect(accepted.size).toBeGreaterThan(500);
      await expect.poll(async () => (await inbox.depths()).pending + (await inbox.depths()).running).toBe(0);
      expect([...handled, ...superseded].toSorted()).toEqual([...accepted].toSorted());
      const entries = await (inbox as DurableInbox).list({}, { limit: 100_000 });
      expect(entries.map(({ id }) => id).toSorted()).toEqual([...accepted].toSorted());
      await close();
    },
  );
});
