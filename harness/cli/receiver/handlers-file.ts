/** `hookproof receiver --handlers FILE`: loads handlers from a JavaScript module. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HookproofError, NOTIFICATION_KINDS } from '../../../contract/index.ts';
import type { Handlers } from '../receiver-entry.ts';

/** Imports the module and returns its handlers. @throws HookproofError RECEIVER_HANDLERS */
export async function loadHandlers(file: string): Promise<Handlers> {
  const { handlers } = await importModule(file);
  if (typeof handlers !== 'object' || handlers === null) {
    const hint = 'For example: export const handlers = { CAAS_BUY: async (n) => {} };';
    throw unusable(file, 'does not export an object "handlers"', hint);
  }
  const kinds: readonly string[] = [...NOTIFICATION_KINDS, 'UNKNOWN', 'SUPERSEDED'];
  for (const [kind, handler] of Object.entries(handlers)) {
    if (!kinds.includes(kind))
      throw unusable(file, `has a handler for "${kind}"`, `The kinds are ${kinds.join(', ')}.`);
    if (typeof handler !== 'function')
      throw unusable(file, `has a handler for ${kind} that is not a function`, 'Export a function.');
  }
  return handlers as Handlers;
}

async function importModule(file: string): Promise<{ handlers?: unknown }> {
  try {
    // Importing a named pipe would block.
    if (!(await stat(file)).isFile()) throw new Error('it is not a regular file');
    return await import(pathToFileURL(resolve(file)).href);
  } catch (cause) {
    const message = `cannot be loaded (${(cause as Error).message})`;
    throw unusable(file, message, 'Name a JavaScript module, .mjs or .js.', cause);
  }
}

function unusable(file: string, what: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_HANDLERS', `\`--handlers ${file}\` ${what}`, { hint, cause });
}
