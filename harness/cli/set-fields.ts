/** `--set path=value`: sets fields of a JSON document. */
import { HookproofError, type JsonObject, type JsonValue } from '../../contract/index.ts';
import { jsonOr } from '../config/index.ts';

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Returns a copy with the assignment `path=value` applied. Dots separate the names in the path; missing objects on the
 * path are created. A value that is not JSON is used as text.
 *
 * @throws HookproofError SET_INVALID for text that is not an assignment, or a path through a value that is not an
 * object
 */
export function setPath(target: JsonObject, assignment: string): JsonObject {
  const equals = assignment.indexOf('=');
  const names = assignment.slice(0, equals).split('.');
  if (equals < 1 || names.some((name) => name === '' || FORBIDDEN.has(name))) {
    throw new HookproofError('SET_INVALID', `\`--set ${assignment.slice(0, 60)}\` is not an assignment`, {
      hint: 'Write `--set path=value`, for example `--set data.metadata.orderStatus=PENDING`.',
    });
  }
  const copy = structuredClone(target);
  let place = copy;
  for (const [depth, name] of names.slice(0, -1).entries()) {
    place[name] ??= {};
    const next = place[name];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) {
      throw new HookproofError('SET_INVALID', `--set: ${names.slice(0, depth + 1).join('.')} is not an object`, {
        hint: 'Only fields of objects can be set.',
      });
    }
    place = next;
  }
  place[names.at(-1) ?? ''] = jsonOr(assignment.slice(equals + 1));
  return copy;
}

/**
 * Returns a JSON body with assignments applied, re-serialised.
 *
 * @throws HookproofError SET_INVALID, including for a body that is not a JSON object
 */
export function withFields(body: Uint8Array, assignments: readonly string[]): Buffer {
  const value = jsonIn(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HookproofError('SET_INVALID', '`--set` needs a body that is a JSON object', {
      hint: 'Change the bytes in a file, and send it with `--body`.',
    });
  }
  return Buffer.from(JSON.stringify(assignments.reduce(setPath, value)));
}

function jsonIn(body: Uint8Array): JsonValue {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return null;
  }
}
