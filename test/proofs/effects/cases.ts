/** The receivers of the proof of effects, and what a run must find about each of them. */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Stack } from '../../../contract/index.ts';
import { RECIPE_FACTS } from '../../recipes/recipe-facts.ts';
import type { Fault } from '../durability/faulty-receivers.ts';
import type { EffectsSetup } from '../durability/receiver-process.ts';

export interface Case {
  readonly name: string;
  /** The part of the page that contains the case. */
  readonly part: 'reference' | 'faulty' | 'recipes';
  readonly receiver: ProgramReceiver | ScriptReceiver | { readonly how: 'recipe'; readonly stack: Stack };
  readonly store: 'memory' | 'SQLite' | 'PostgreSQL' | 'a file';
  readonly level: 1 | 2;
  /** Checks of which at least one must fail. Empty for a conformant receiver. */
  readonly red: readonly string[];
  /** Checks that may warn. */
  readonly warnings?: readonly string[];
  /** The names that the diagnosis may give, including `not-known`. Each of them and its mistake are correct. */
  readonly diagnosis?: readonly string[];
}

/** A receiver that `hookproof receiver` starts. */
interface ProgramReceiver {
  readonly how: 'program';
  readonly flags?: readonly string[];
  /** Set if one in five runs of a handler fails. */
  readonly isFailing?: true;
  /** Set if the effects record is also in memory. */
  readonly isForgetful?: true;
}

/** The receiver of the durability proof, with one of its faults. */
interface ScriptReceiver {
  readonly how: 'script';
  readonly fault?: Fault;
  readonly backgroundMs?: number;
  readonly effects?: Omit<EffectsSetup, 'file' | 'windowPort'>;
}

/** Returns the URL of the inbox of a case. Undefined for an inbox in memory. */
export function inboxUrl(store: Case['store'], folder: string, database: string): string | undefined {
  if (store === 'SQLite') return pathToFileURL(join(folder, 'inbox.db')).href;
  return store === 'PostgreSQL' ? database : undefined;
}

const AFTER_KILL = ['effects/survives-kill', 'effects/copies-after-restart'];
/** A duration, in milliseconds, that is longer than a restart command takes to kill the receiver. */
const LONG_MS = 500;

const RECIPES: readonly Stack[] = ['express', 'python', 'php', 'ruby', 'go'];

const mutant = (name: string, what: string): Case => ({
  name: `mutant \`${name}\`: ${what}`,
  part: 'faulty',
  receiver: { how: 'program', flags: ['--fault', name] },
  store: 'SQLite',
  level: 2,
  red: AFTER_KILL,
  diagnosis: [name],
});

export const CASES: readonly Case[] = [
  {
    name: 'inbox and record in memory',
    part: 'reference',
    receiver: { how: 'program', isForgetful: true },
    store: 'memory',
    level: 1,
    red: [],
  },
  ...(['SQLite', 'PostgreSQL'] as const).map(
    (store): Case => ({
      name: 'handlers that fail one time in five',
      part: 'reference',
      receiver: { how: 'program', isFailing: true },
      store,
      level: 2,
      red: [],
    }),
  ),
  {
    name: 'inbox in memory, handlers that fail one time in five',
    part: 'faulty',
    receiver: { how: 'program', isFailing: true },
    store: 'memory',
    level: 2,
    red: AFTER_KILL,
    diagnosis: ['queue-in-memory'],
  },
  ...(['SQLite', 'PostgreSQL'] as const).flatMap((store): Case[] => [
    {
      name: '*acknowledges first*: answers 200, and stores half a second later',
      part: 'faulty',
      receiver: { how: 'script', fault: 'acknowledges first', backgroundMs: LONG_MS },
      store,
      level: 2,
      red: AFTER_KILL,
      diagnosis: ['queue-in-memory', 'not-known'],
    },
    {
      name: '*settles first*: marks as handled, and runs the handler afterwards',
      part: 'faulty',
      receiver: { how: 'script', fault: 'settles first', effects: { failures: 0, beforeMs: LONG_MS } },
      store,
      level: 2,
      red: AFTER_KILL,
      diagnosis: ['queue-in-memory', 'not-known'],
    },
    {
      name: '*handles first*: runs the handler, stores, and runs it again; its effects have no key',
      part: 'faulty',
      receiver: { how: 'script', fault: 'handles first', effects: { failures: 0, ignoresKeys: true } },
      store,
      level: 2,
      red: ['effects/accepted-once'],
      diagnosis: ['handler-fails-after-its-effect', 'copies-handled', 'not-known'],
    },
    {
      name: '*ignores keys*: its effects have no key, and the kill comes between effect and settling',
      part: 'faulty',
      receiver: { how: 'script', effects: { failures: 0, ignoresKeys: true, afterMs: LONG_MS } },
      store,
      level: 2,
      red: AFTER_KILL,
      diagnosis: ['killed-between-effect-and-record', 'effect-and-id-apart'],
    },
  ]),
  {
    name: '*settles first*, with handlers that fail one time in five: those are lost without a kill',
    part: 'faulty',
    receiver: { how: 'script', fault: 'settles first', effects: { failures: 0.2 } },
    store: 'SQLite',
    level: 2,
    red: ['effects/accepted-handled'],
    diagnosis: ['acknowledged-before-stored'],
  },
  {
    name: '*ignores keys*, with handlers that fail one time in five, before or after the effect',
    part: 'faulty',
    receiver: { how: 'script', effects: { failures: 0.2, ignoresKeys: true } },
    store: 'SQLite',
    level: 2,
    red: ['effects/accepted-once'],
    diagnosis: ['effect-and-id-apart'],
  },
  mutant('queue-in-memory', 'lost when it is killed'),
  mutant('known-ids-in-memory', 'copies are handled again after a restart'),
  mutant('killed-between-effect-and-record', 'handled again when it is killed in between'),
  {
    name: '*does not wait for the disk*: not visible, because written data survives a killed process',
    part: 'faulty',
    receiver: { how: 'script', fault: 'does not wait for the disk' },
    store: 'SQLite',
    level: 2,
    red: [],
  },
  ...RECIPES.map(
    (stack): Case => ({
      name: stack,
      part: 'recipes',
      receiver: { how: 'recipe', stack },
      store: 'a file',
      level: 1,
      red: [],
      warnings: Object.keys(RECIPE_FACTS[stack]?.warnings ?? {}),
    }),
  ),
];
