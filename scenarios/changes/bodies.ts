/**
 * Changes to the compose stage (the plain notification with one field set or omitted) and to the serialise stage (JSON
 * written by hand).
 *
 * A body that JSON.stringify wrote does not reveal a receiver that parses and re-serialises it, because the result is
 * identical. The serialisers therefore write the same value in other spellings that JSON allows, or text that no
 * serialiser would write.
 */
import { HookproofError, type JsonObject, type JsonValue } from '../../contract/index.ts';
import type { Kit } from '../scenario.ts';

/** Composes the value that a delivery contains. */
export type Composer = (kit: Kit) => JsonValue;

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectAt(value: JsonValue | undefined, path: string): JsonObject {
  if (isObject(value)) return value;
  throw new HookproofError(
    'SCENARIO_PATH',
    `A scenario changes \`${path}\`, but its notification has no such object.`,
    {
      hint: 'Start from a notification that has the field, or correct the path.',
      kind: 'internal',
    },
  );
}

/** Copies an object and sets the field at a dotted path. The objects on the path must exist. */
export function withField(value: JsonValue, path: string, field: JsonValue): JsonObject {
  const [name = '', ...rest] = path.split('.');
  const object = objectAt(value, path);
  const below = rest.join('.');
  return { ...object, [name]: below === '' ? field : withField(object[name] ?? null, below, field) };
}

/** Copies an object without the field at a dotted path. */
export function withoutField(value: JsonValue, path: string): JsonObject {
  const [name = '', ...rest] = path.split('.');
  const { [name]: field, ...others } = objectAt(value, path);
  if (rest.length === 0) return others;
  return { ...objectAt(value, path), [name]: withoutField(field ?? null, rest.join('.')) };
}

/** Composes a value and sets one field. `field` may depend on the kit. */
export function having(base: Composer, path: string, field: JsonValue | ((kit: Kit) => JsonValue)): Composer {
  return (kit) => withField(base(kit), path, typeof field === 'function' ? field(kit) : field);
}

/** Composes a value and removes one field. */
export function lacking(base: Composer, path: string): Composer {
  return (kit) => withoutField(base(kit), path);
}

/** The plain notification, as the controls send it. */
export const plain: Composer = (kit) => kit.notification();

/** Converts the composed value to the exact bytes of the body. */
export type Serialiser = (value: JsonValue) => Buffer;

export function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

/** Writes the value as the sender does: compactly, with its keys in their original order. */
export function compact(value: JsonValue): string {
  return JSON.stringify(value);
}

/** Serialises by rewriting the compact text. */
export function rewritten(rewrite: (json: string) => string): Serialiser {
  return (value) => utf8(rewrite(compact(value)));
}

/** Always serialises to this text, whatever was composed. */
export function fixedText(text: string): Serialiser {
  return () => utf8(text);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Rewrites each token of compact JSON text: a string with its quotes, one of `{ } [ ] , :`, a number or a literal. */
export function respelt(json: string, spell: (token: string) => string): string {
  return json.replace(TOKEN, spell);
}

/** Rewrites the strings of JSON text, including keys. `spell` receives a string with its quotes. */
export function respeltStrings(json: string, spell: (token: string) => string): string {
  return respelt(json, (token) => (token.startsWith('"') ? spell(token) : token));
}

/** Puts whitespace around every token. */
export function spacedOut(json: string): string {
  return respelt(json, (token) => (token === '{' || token === ',' ? `${token} ` : token === ':' ? ' : ' : ` ${token}`));
}

/** Writes every non-ASCII character as `\uXXXX` with lower-case hexadecimal digits. */
export function asciiOnly(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const PLACE = '@@place@@';

/** Returns the path, or its last name alone where the delivery of another service has no object for the field. */
function placeIn(value: JsonValue, path: string): string {
  const names = path.split('.');
  let parent: JsonValue | undefined = value;
  for (const name of names.slice(0, -1)) parent = isObject(parent) ? parent[name] : undefined;
  return isObject(parent) ? path : (names.at(-1) ?? '');
}

/**
 * Serialises compactly, with the field at a dotted path written as the given token (UTF-8 or raw bytes). A missing
 * field is added as the last one of its object.
 */
export function spelt(path: string, token: string | Uint8Array): Serialiser {
  return (value) => {
    const [before = '', after = ''] = compact(withField(value, placeIn(value, path), PLACE)).split(`"${PLACE}"`);
    return Buffer.concat([utf8(before), Buffer.from(token), utf8(after)]);
  };
}

/** Serialises compactly, with one more member (`"name":value`, as text) at the end of the object at a dotted path. */
export function withMember(parent: string, member: string): Serialiser {
  const path = parent === '' ? PLACE : `${parent}.${PLACE}`;
  return (value) => utf8(compact(withField(value, placeIn(value, path), 0)).replace(`"${PLACE}":0`, () => member));
}

function reordered(value: JsonValue, order: (keys: string[]) => string[]): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => reordered(entry, order));
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject = {};
  for (const key of order(Object.keys(value))) copy[key] = reordered(value[key] ?? null, order);
  return copy;
}

/** Copies a value with the keys of every object in reverse order. */
export function keysReversed(value: JsonValue): JsonValue {
  return reordered(value, (keys) => keys.toReversed());
}

/** Copies a value with the keys of every object sorted. */
export function keysSorted(value: JsonValue): JsonValue {
  return reordered(value, (keys) => keys.toSorted());
}
