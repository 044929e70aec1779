/** Replacements for the compose stage: the plain notification with one field set or left out. */
import { HookproofError, type JsonObject, type JsonValue } from '../../contract/index.ts';
import type { Kit } from '../scenario.ts';

/** Makes the value that a delivery carries. */
export type Composer = (kit: Kit) => JsonValue;

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectAt(value: JsonValue | undefined, path: string): JsonObject {
  if (isObject(value)) return value;
  throw new HookproofError('SCENARIO_PATH', `A scenario changes ${path}, and what it starts from has no such object.`, {
    hint: 'Start from a notification that has the field, or correct the path.',
    kind: 'internal',
  });
}

/** A copy of an object in which the field at a dotted path is `field`. The objects on the way must be there. */
export function withField(value: JsonValue, path: string, field: JsonValue): JsonObject {
  const [name = '', ...rest] = path.split('.');
  const object = objectAt(value, path);
  const below = rest.join('.');
  return { ...object, [name]: below === '' ? field : withField(object[name] ?? null, below, field) };
}

/** A copy of an object without the field at a dotted path. */
export function withoutField(value: JsonValue, path: string): JsonObject {
  const [name = '', ...rest] = path.split('.');
  const { [name]: field, ...others } = objectAt(value, path);
  if (rest.length === 0) return others;
  return { ...objectAt(value, path), [name]: withoutField(field ?? null, rest.join('.')) };
}

/** What a composer makes, with one field set. `field` may depend on the kit. */
export function having(base: Composer, path: string, field: JsonValue | ((kit: Kit) => JsonValue)): Composer {
  return (kit) => withField(base(kit), path, typeof field === 'function' ? field(kit) : field);
}

/** What a composer makes, with one field left out. */
export function lacking(base: Composer, path: string): Composer {
  return (kit) => withoutField(base(kit), path);
}

/** The plain notification, as the controls send it. */
export const plain: Composer = (kit) => kit.notification();
