/** Runs handlers on an inbox without HTTP: the work of the stages `store` and `reply`, and the log. */
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { type HandlingPolicy, resolveHandlingPolicy } from '../../../receiver/handling/handlers.ts';
import { Handling } from '../../../receiver/handling/handling.ts';
import type { DurableInbox, EntryState, Handlers, Inbox } from '../../../receiver/index.ts';
import { received, STORES, type Store, type StoreName } from '../inbox/stores.ts';
import { collectLogs } from '../logs.ts';

export interface Rig extends Pick<ReturnType<typeof collectLogs>, 'lines' | 'events'> {
  readonly handling: Handling;
  readonly inbox: Inbox;
  /** The outcomes that the meter counted: "CAAS_BUY done". */
  readonly outcomes: string[];
  /** Stores a notification as the stages do, and returns the result of the inbox. */
  give(...delivery: Parameters<typeof received>): Promise<'stored' | 'duplicate'>;
  /** Returns the state of every entry, by id. Durable inboxes only. */
  states(): Promise<Record<string, EntryState>>;
}

export interface SharedStore {
  readonly store: Store;
  /** Opens another receiver on the same store. `change` wraps its inbox. */
  open(handlers: Handlers, policy?: Partial<HandlingPolicy>, change?: (inbox: Inbox) => Inbox): Promise<Rig>;
}

/** A policy without pauses for which a test would wait, and without polling, which would hide a lost wake-up. */
const QUICK: Partial<HandlingPolicy> = { firstDelayMs: 1, maxDelayMs: 8, pollMs: 600_000 };

/**
 * One database for the whole process. It is emptied after each test, because creating one takes longer than most of the
 * tests.
 */
let database: Promise<Store> | undefined;

export async function openStore(name: StoreName): Promise<SharedStore> {
  if (name === 'postgres') database ??= STORES.postgres();
  const store = await (name === 'postgres' && database !== undefined ? database : STORES[name]());
  // This callback is registered first, so it runs last. A hook of this module would belong only to the first file that
  // imports it.
  onTestFinished(async () => (name === 'postgres' ? empty(store) : store.remove()));
  return { store, open: (...given) => openRig(store, ...given) };
}

/** Creates one receiver on its own store. */
export async function rig(name: StoreName, ...given: Parameters<SharedStore['open']>): Promise<Rig> {
  return (await openStore(name)).open(...given);
}

async function empty({ url }: Store): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('TRUNCATE hookproof_inbox, hookproof_orders');
  await client.end();
}

async function openRig(
  store: Store,
  handlers: Handlers,
  policy: Partial<HandlingPolicy> = {},
  change: (inbox: Inbox) => Inbox = (inbox) => inbox,
): Promise<Rig> {
  const real = await store.open();
  const inbox = change(real);
  const { logger, lines, events } = collectLogs();
  const outcomes: string[] = [];
  const handling = new Handling({
    handlers,
    inbox,
    logger,
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
    events,
    outcomes,
    async give(...delivery) {
      const { notification, rawBody, receivedAt } = received(...delivery);
      const stored = await inbox.put({ notification, rawBody, receivedAt, ...handling.plan(notification) });
      if (stored === 'stored') handling.wake();
      return stored;
    },
    async states() {
      const entries = await (real as DurableInbox).list({}, { limit: 1000 });
      return Object.fromEntries(entries.map(({ id, state }) => [id, state]));
    },
  };
}

/** Waits until a condition holds. */
export function until(holds: () => unknown): Promise<void> {
  return vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error(`never: ${holds}`);
    },
    { timeout: 120_000, interval: 2 },
  );
}

/** Creates a promise that handlers await until the test resolves it. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

/** Runs the event loop many times, to reveal code that loops without a pause. */
export async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
}
