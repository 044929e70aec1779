/** `--set path=value`: changes one field of a notification. */
import { HookproofError, type JsonObject, type JsonValue } from '../../contract/index.ts';

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

function parseValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/**
 * Gives a copy with the field set. The path has dots between its names; the value is JSON when it is that, and text otherwise.
 * Objects on the way are made. Throws {@link HookproofError} for what is no assignment, or goes through something that is no object.
 */
export function setPath(target: JsonObject, assignment: string): JsonObject {
  const equals = assignment.indexOf('=');
  const names = assignment.slice(0, equals).split('.');
  if (equals < 1 || names.some((name) => name === '' || FORBIDDEN.has(name))) {
    throw new HookproofError('SET_INVALID', `--set ${assignment.slice(0, 60)} is no assignment`, {
      hint: 'Write --set path=value, for example --set data.metadata.orderStatus=PENDING.',
    });
  }
  const copy = structuredClone(target);
  let place = copy;
  for (const [depth, name] of names.slice(0, -1).entries()) {
    place[name] ??= {};
    const next = place[name];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) {
      throw new HookproofError('SET_INVALID', `--set: ${names.slice(0, depth + 1).join('.')} is no object`, {
        hint: 'Only fields of objects can be set.',
      });
    }
    place = next;
  }
  place[names.at(-1) ?? ''] = parseValue(assignment.slice(equals + 1));
  return copy;
}
