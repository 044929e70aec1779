/** Helpers for mutants of several stages: careless ways to read a payload and to remember earlier deliveries. */

import type { Response } from 'express';
import { type DeliveryState, refuse, required } from '../receiver/stages/stage.ts';
import type { StageFault } from './fault.ts';

type Replacement = StageFault['replace'];

/** A test of a value, usually of the whole payload. */
export type Condition = (value: unknown) => boolean;

/** Returns the field at a dotted path. Undefined if it or a parent is missing. */
export function fieldAt(payload: unknown, path: string): unknown {
  let here = payload;
  for (const name of path.split('.')) {
    if (!isContainer(here) || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}

/** Returns the text at a dotted path. Undefined if there is none. */
export function textAt(payload: unknown, path: string): string | undefined {
  const value = fieldAt(payload, path);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the status of an order or of another notification. */
export function statusOf(payload: unknown): unknown {
  return fieldAt(payload, 'data.metadata.orderStatus') ?? fieldAt(payload, 'data.status');
}

/** Returns true if a body is valid JSON. */
export function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Matches if the value at one of these dotted paths is the expected one. A pattern matches only text. */
export function where(
  paths: string | readonly string[],
  expected: string | null | undefined | RegExp | Condition,
): Condition {
  const matches: Condition = (value) => {
    if (typeof expected === 'function') return expected(value);
    return expected instanceof RegExp ? typeof value === 'string' && expected.test(value) : value === expected;
  };
  return (payload) => [paths].flat().some((path) => matches(fieldAt(payload, path)));
}

/** Matches any value except undefined. */
export const isPresent: Condition = (value) => value !== undefined;

/** Matches values that are not text, on which text functions fail. */
export const isNotText: Condition = (value) => typeof value !== 'string';

/** Returns true for an object or a list. */
export const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns true for an object that is not a list. */
export const isObject = (value: unknown): value is object => isContainer(value) && !Array.isArray(value);

/** Matches values whose fields cannot be read without an exception. */
export const isNullish: Condition = (value) => value === undefined || value === null;

/** Matches if every condition matches. */
export function all(...conditions: readonly Condition[]): Condition {
  return (payload) => conditions.every((meets) => meets(payload));
}

/** Matches if at least one of the conditions matches. */
export function any(...conditions: readonly Condition[]): Condition {
  return (payload) => conditions.some((meets) => meets(payload));
}

/** Throws an uncaught error, to which the framework answers 500. */
export function throwTypeError(why: string): never {
  throw new TypeError(why);
}

/**
 * Yields every object and array in a value, starting with the value itself. Does not use recursion, because nesting may
 * be deep.
 */
export function* containersIn(value: unknown): Generator<object> {
  const open = [value];
  while (open.length > 0) {
    const here = open.pop();
    if (!isContainer(here)) continue;
    yield here;
    for (const below of Object.values(here)) open.push(below);
  }
}

/** Matches a value if the value itself, or any object or array in it, matches. */
export function hasContainer(such: (container: object) => boolean): Condition {
  return (value) => {
    for (const container of containersIn(value)) if (such(container)) return true;
    return false;
  };
}

/** Matches a value when any text in it matches. Keys are excluded. */
export function hasText(pattern: RegExp): Condition {
  const matches: Condition = (value) => typeof value === 'string' && pattern.test(value);
  const inside = hasContainer((container) => Object.values(container).some(matches));
  return (value) => matches(value) || inside(value);
}

/** Replaces `validate`: rejects matching payloads, and validates others correctly. */
export function refusing(such: Condition, status = 400): Replacement {
  return ({ correct }) =>
    (req, res, next) =>
      such(required(res, 'payload')) ? refuse(res, status, 'not-accepted') : correct.validate(req, res, next);
}

/** Replaces `validate`: throws before it validates a matching payload, and if the condition itself throws. */
export function throwBefore(error: string, such: Condition): Replacement {
  return ({ correct }) =>
    (req, res, next) =>
      such(required(res, 'payload')) ? throwTypeError(error) : correct.validate(req, res, next);
}

/** Replaces `validate`: throws after it has validated a matching payload, and if the condition itself throws. */
export function throwAfter(error: string, such: Condition): Replacement {
  return ({ correct }) =>
    (req, res, next) =>
      correct.validate(req, res, (refused?: unknown) => {
        if (refused === undefined && such(required(res, 'payload'))) throwTypeError(error);
        next(refused);
      });
}

/** Replaces `validate`: a matching payload ends the process, which a supervisor restarts. */
export function crashWhen(such: Condition): Replacement {
  return ({ correct, crash }) =>
    (req, res, next) =>
      such(required(res, 'payload')) ? crash(100) : correct.validate(req, res, next);
}

/**
 * Decides about a notification before it is stored. A status rejects the notification, undefined accepts it, and an
 * exception leads to a 500.
 */
export type Guard = (payload: unknown) => number | undefined | Promise<number | undefined>;

export const idOf = (payload: unknown) => String(fieldAt(payload, 'id'));

/** Replaces `store`: a guard decides about every notification with a new id. Duplicates are accepted. */
export function guardNew(makeGuard: () => Guard): Replacement {
  return ({ correct }) => {
    const guard = makeGuard();
    const known = new Set<string>();
    return async (req, res, next) => {
      const payload = required(res, 'payload');
      const id = idOf(payload);
      if (known.has(id)) return correct.store(req, res, next);
      known.add(id);
      try {
        const status = await guard(payload);
        if (status === undefined) return correct.store(req, res, next);
        known.delete(id);
        refuse(res, status, 'not-accepted');
      } catch (error) {
        known.delete(id);
        throw error;
      }
    };
  };
}

/**
 * Replaces `store`: `collide` decides about a notification whose key is already known. Undefined keys are not recorded.
 */
export function uniqueBy(keyOf: (payload: unknown) => string | undefined, collide: () => number): Replacement {
  return guardNew(() => {
    const keys = new Set<string>();
    return (payload) => {
      const key = keyOf(payload);
      if (key === undefined) return undefined;
      if (keys.has(key)) return collide();
      keys.add(key);
      return undefined;
    };
  });
}

/** Throws the database error for an insert whose key already exists. */
export function throwDuplicateKey(): never {
  throwTypeError('duplicate key value violates unique constraint');
}

/** Returns the id in an unverified body. Undefined if the body is not JSON. */
export function idInBody(res: Response<unknown, DeliveryState>): string | undefined {
  try {
    return idOf(JSON.parse(required(res, 'rawBody').toString('utf8')));
  } catch {
    return undefined;
  }
}
