/** What a handler threw, in words. It can be anything: text, nothing, an error whose fields throw when they are read. */
import { errorFields } from '../logger.ts';

/** Characters of an error that are kept with the entry. */
const MAX_LENGTH = 500;

/** As text for the inbox. NUL has no place in a text of PostgreSQL. */
export function describeThrown(thrown: unknown): string {
  const text = attempted(() =>
    thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `threw ${thrown === null ? 'null' : typeof thrown}`,
  );
  return (text ?? 'threw what cannot be read').replaceAll('\0', '').slice(0, MAX_LENGTH);
}

/** As fields for the log. */
export function thrownFields(thrown: unknown): object {
  return attempted(() => errorFields(thrown)) ?? { name: 'unreadable' };
}

function attempted<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
