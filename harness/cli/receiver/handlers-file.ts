/** `hookproof receiver --handlers FILE`: your own handlers, from a module. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HookproofError, NOTIFICATION_KINDS } from '../../../contract/index.ts';
import type { Handlers } from '../receiver-entry.ts';

/** Throws {@link HookproofError} `RECEIVER_HANDLERS`. */
export async function loadHandlers(file: string): Promise<Handlers> {
  const { handlers } = await importModule(file);
  if (typeof handlers !== 'object' || handlers === null) {
    throw unusable(
      file,
      'exports no object "handlers"',
      'For example: export const handlers = { CAAS_BUY: async (n) => {} };',
    );
  }
  for (const [kind, handler] of Object.entries(handlers)) {
    const kinds: readonly string[] = [...NOTIFICATION_KINDS, 'UNKNOWN'];
    if (!kinds.includes(kind))
      throw unusable(file, `has a handler for "${kind}"`, `The kinds are ${kinds.join(', ')}.`);
    if (typeof handler !== 'function')
      throw unusable(file, `has a handler for ${kind} that is no function`, 'Make it one.');
  }
  return handlers as Handlers;
}

async function importModule(file: string): Promise<{ handlers?: unknown }> {
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } catch (cause) {
    throw unusable(
      file,
      `cannot be loaded (${(cause as Error).message})`,
      'Give a JavaScript module, .mjs or .js.',
      cause,
    );
  }
}

function unusable(file: string, what: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_HANDLERS', `--handlers ${file} ${what}`, { hint, cause });
}
