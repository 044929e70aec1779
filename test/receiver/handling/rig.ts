/** Handlers on an inbox, without HTTP: what the stages `store` and `reply` do, and everything that is told meanwhile. */
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { type HandlingPolicy, resolveHandlingPolicy } from '../../../receiver/handling/handlers.ts';
import { createHandling, type Handling } from '../../../receiver/handling/handling.ts';
import type { DurableInbox, EntryState, Handlers, Inbox } from '../../../receiver/index.ts';
import { lacks, received, STORES, type Store } from '../inbox/stores.ts';

export type StoreName = keyof typeof STORES;
export const STORE_NAMES = Object.keys(STORES) as StoreName[];
export const DURABLE_NAMES = STORE_NAMES.filter((name) => name !== 'memory');

type Line = Record<string, unknown>;
type Changes = NonNullable<Parameters<typeof received>[1]>;

export interface Rig {
  readonly handling: Handling;
  readonly inbox: Inbox;
  /** What was logged. */
  readonly lines: Line[];
  /** What the meter was told: "CAAS_BUY done". */
  readonly outcomes: string[];
  /** Stores a notification as the stages do. Gives what the inbox says. */
  give(kind: Parameters<typeof received>[0], changes?: Changes): Promise<'stored' | 'duplicate'>;
  /** The events that were logged, by name. */
  events(name: string): Line[];
  /** Where every entry stands, by id. Of a durable inbox only. */
  states(): Promise<Record<string, EntryState>>;
}

export interface Shop {
  readonly store: Store;
  /** Another receiver on the same store. `change` makes its inbox a faulty one. */
  open(handlers: Handlers, policy?: Partial<HandlingPolicy>, change?: (inbox: Inbox) => Inbox): Promise<Rig>;
}

/** No pause that a test would have to wait for, and no poll that would hide a lost wake-up. */
const QUICK: Partial<HandlingPolicy> = { firstDelayMs: 1, maxDelayMs: 8, pollMs: 600_000 };

export function lacking(name: StoreName): boolean {
  return lacks(name);
}

/** One database for a whole file, emptied after each test: to make one takes longer than most of the tests. */
let database: Promise<Store> | undefined;

export async function shop(name: StoreName): Promise<Shop> {
  if (name === 'postgres') database ??= STORES.postgres();
  const store = await (name === 'postgres' && database !== undefined ? database : STORES[name]());
  // What began last ends first. A hook of this module would be one of the first file alone that imports it, as files share their modules.
  onTestFinished(async () => (name === 'postgres' ? emptied(store) : store.remove()));
  return { store, open: (...given) => openRig(store, ...given) };
}

async function emptied({ url }: Store): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('TRUNCATE hookproof_inbox, hookproof_orders');
  await client.end();
}

/** One receiver on a store of its own. */
export async function rig(name: StoreName, ...given: Parameters<Shop['open']>): Promise<Rig> {
  return (await shop(name)).open(...given);
}

const openRig = async (
  store: Store,
  handlers: Handlers,
  policy: Partial<HandlingPolicy> = {},
  change: (inbox: Inbox) => Inbox = (inbox) => inbox,
): Promise<Rig> => {
  const real = await store.open();
  const inbox = change(real);
  const lines: Line[] = [];
  const outcomes: string[] = [];
  const log = (level: string) => (fields: object, message: string) => void lines.push({ level, message, ...fields });
  const handling = createHandling({
    handlers,
    inbox,
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    handling: resolveHandlingPolicy({ ...QUICK, ...policy }),
    meter: { stored() {}, committed() {}, handled: (kind, outcome) => void outcomes.push(`${kind} ${outcome}`) },
  });
  onTestFinished(async () => {
    await handling.stop(500);
    await real.close();
  });
  return {
    handling,
    inbox,
    lines,
    outcomes,
    async give(kind, changes) {
      const { notification, rawBody, receivedAt } = received(kind, changes);
      const stored = await inbox.put({ notification, rawBody, receivedAt, ...handling.plan(notification) });
      if (stored === 'stored') handling.wake();
      return stored;
    },
    events: (event) => lines.filter((line) => line.event === event),
    async states() {
      const entries = await (real as DurableInbox).list({}, { limit: 1000 });
      return Object.fromEntries(entries.map(({ id, state }) => [id, state]));
    },
  };
};

/** Waits until it holds. */
export function until(holds: () => unknown): Promise<void> {
  return vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error(`never: ${holds}`);
    },
    { timeout: 10_000, interval: 2 },
  );
}

/** A door that handlers wait at. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

/** Lets the event loop turn many times: whatever runs without a pause would show. */
export async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
}
