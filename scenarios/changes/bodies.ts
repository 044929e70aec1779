/**
 * Changes of the compose stage (the plain notification with one field set or left out) and of the serialise stage (JSON
 * written by hand).
 *
 * A body that JSON.stringify wrote proves nothing about a receiver that parses and serialises again: it comes out the
 * same. So the serialisers spell the same value in other ways that JSON allows, or write text that no serialiser would
 * write.
 */
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

/** A copy of an object in which the field at a dotted path is `field`. The objects on the path must exist. */
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

/** A composer's value with one field set. `field` may depend on the kit. */
export function having(base: Composer, path: string, field: JsonValue | ((kit: Kit) => JsonValue)): Composer {
  return (kit) => withField(base(kit), path, typeof field === 'function' ? field(kit) : field);
}

/** A composer's value without one field. */
export function lacking(base: Composer, path: string): Composer {
  return (kit) => withoutField(base(kit), path);
}

/** The plain notification, as the controls send it. */
export const plain: Composer = (kit) => kit.notification();

/** Turns the composed value into the exact bytes of the body. */
export type Serialiser = (value: JsonValue) => Buffer;

/** The bytes of a text in UTF-8. */
export function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

/** The value as the sender writes it: compact, in the order of its keys. */
export function compact(value: JsonValue): string {
  return JSON.stringify(value);
}

/** Serialises by rewriting the compact text. */
export function rewritten(rewrite: (json: string) => string): Serialiser {
  return (value) => utf8(rewrite(compact(value)));
}

/** A body that is this text, whatever was composed. */
export function fixedText(text: string): Serialiser {
  return () => utf8(text);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/**
 * Rewrites each token of a compact JSON text: a string with its quotes, one of `{ } [ ] , :`, a number or a literal.
 */
export function respelt(json: string, spell: (token: string) => string): string {
  return json.replace(TOKEN, spell);
}

/** Rewrites the strings of a JSON text, keys included. `spell` gets a string with its quotes. */
export function respeltStrings(json: string, spell: (token: string) => string): string {
  return respelt(json, (token) => (token.startsWith('"') ? spell(token) : token));
}

/** Puts white space around every token. */
export function spacedOut(json: string): string {
  return respelt(json, (token) => (token === '{' || token === ',' ? `${token} ` : token === ':' ? ' : ' : ` ${token}`));
}

/** Every character outside of ASCII as `\uXXXX`, with the hexadecimal digits in lower case. */
export function asciiOnly(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const PLACE = '@@place@@';

/**
 * The compact text of a value in which the field at a dotted path is spelt as the given token, in UTF-8 or as raw
 * bytes. When it is missing, the field is added as the last of its object.
 */
export function spelt(path: string, token: string | Uint8Array): Serialiser {
  return (value) => {
    const [before = '', after = ''] = compact(withField(value, path, PLACE)).split(`"${PLACE}"`);
    return Buffer.concat([utf8(before), Buffer.from(token), utf8(after)]);
  };
}

/**
 * The compact text of a value with one more member (`"name":value`, as text) at the end of the object at a dotted path.
 */
export function withMember(parent: string, member: string): Serialiser {
  const path = parent === '' ? PLACE : `${parent}.${PLACE}`;
  return (value) => utf8(compact(withField(value, path, 0)).replace(`"${PLACE}":0`, () => member));
}

function reordered(value: JsonValue, order: (keys: string[]) => string[]): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => reordered(entry, order));
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject = {};
  for (const key of order(Object.keys(value))) copy[key] = reordered(value[key] ?? null, order);
  return copy;
}

/** A copy with the keys of every object in reverse. */
export function keysReversed(value: JsonValue): JsonValue {
  return reordered(value, (keys) => keys.toReversed());
}

/** A copy with the keys of every object sorted. */
export function keysSorted(value: JsonValue): JsonValue {
  return reordered(value, (keys) => keys.toSorted());
}
