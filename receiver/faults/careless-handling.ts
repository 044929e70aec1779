/** How careless code reads a payload. Shared by the mutants of the stages that look into it. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from 'express';
import { type DeliveryState, refuse, required, type Stage } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

type Replacement = StageFault['replace'];

/** The field at a dotted path, or undefined when it or anything on the way to it is missing. */
export function fieldAt(payload: unknown, path: string): unknown {
  let here = payload;
  for (const name of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}

/** The same as `payload.a.b.c` reads it: throws a TypeError when something on the way is undefined or null. */
export function unguarded(payload: unknown, path: string): unknown {
  return path.split('.').reduce((here, name) => (here as Record<string, unknown>)[name], payload);
}

/** What an error that nobody catches in a handler is: the framework answers 500. */
export function fault(why: string): never {
  throw new TypeError(why);
}

/** Every object and array in a value, the value first. Not recursive: nesting may be deep. */
export function* containersIn(value: unknown): Generator<object> {
  const open = [value];
  while (open.length > 0) {
    const here = open.pop();
    if (typeof here !== 'object' || here === null) continue;
    yield here;
    for (const below of Object.values(here)) open.push(below);
  }
}

/** Whether any text of a value, its keys left out, is such a one. */
export function someText(value: unknown, such: (text: string) => boolean): boolean {
  if (typeof value === 'string') return such(value);
  for (const container of containersIn(value)) {
    for (const below of Object.values(container)) if (typeof below === 'string' && such(below)) return true;
  }
  return false;
}

/** In place of `validate`: the right one, except that such a payload is refused. */
export function refusing(such: (payload: unknown) => boolean, status = 400): Replacement {
  return ({ right }) =>
    (req, res, next) =>
      such(required(res, 'payload')) ? refuse(res, status, 'not-accepted') : right.validate(req, res, next);
}

/** In place of `validate`: code that may throw reads the payload before anything has validated it. */
export function readingBefore(read: (payload: unknown) => void): Replacement {
  return ({ right }) =>
    (req, res, next) => {
      read(required(res, 'payload'));
      return right.validate(req, res, next);
    };
}

/** In place of `validate`: code that may throw reads the payload after it was found right. */
export function readingAfter(read: (payload: unknown) => void): Replacement {
  return ({ right }) =>
    (req, res, next) =>
      right.validate(req, res, (error?: unknown) => {
        if (error === undefined) read(required(res, 'payload'));
        next(error);
      });
}

/** In place of `validate`: such a payload ends the process, and a supervisor starts it again. */
export function dyingOf(such: (payload: unknown) => boolean): Replacement {
  return ({ right, crash }) =>
    (req, res, next) =>
      such(required(res, 'payload')) ? crash(100) : right.validate(req, res, next);
}

/** How careless code keeps what it has seen. Shared by the mutants that remember notifications wrongly. */

/** Looks at a notification before it is stored: a status turns it away, undefined lets it through, and what it throws is answered 500. */
export type Guard = (payload: unknown) => number | undefined | Promise<number | undefined>;

const idOf = (payload: unknown) => String(fieldAt(payload, 'id'));

/** In place of `store`: a guard decides about every notification whose id is new. Copies are taken for what they are. */
export function guardingNew(makeGuard: () => Guard): Replacement {
  return ({ right }) => {
    const guard = makeGuard();
    const known = new Set<string>();
    return async (req, res, next) => {
      const payload = required(res, 'payload');
      const id = idOf(payload);
      if (known.has(id)) return right.store(req, res, next);
      known.add(id);
      try {
        const status = await guard(payload);
        if (status === undefined) return right.store(req, res, next);
        known.delete(id);
        refuse(res, status, 'not-accepted');
      } catch (error) {
        known.delete(id);
        throw error;
      }
    };
  };
}

/** In place of `store`: `turnAway` says what becomes of the nth copy (1 is the first repetition) of a notification. */
export function countingCopies(
  turnAway: (copy: number, payload: unknown) => number | undefined,
  status?: (res: Response<unknown, DeliveryState>) => void,
): Replacement {
  return ({ right }) => {
    const seen = new Map<string, number>();
    return (req, res, next) => {
      const payload = required(res, 'payload');
      const copy = seen.get(idOf(payload)) ?? 0;
      seen.set(idOf(payload), copy + 1);
      const refused = copy === 0 ? undefined : turnAway(copy, payload);
      if (refused === undefined) return right.store(req, res, next);
      if (status === undefined) refuse(res, refused, 'duplicate');
      else status(res);
    };
  };
}

/**
 * Only one at a time may work on what has this key; whoever comes in meanwhile gets an error of the database. `workMs` is how long the work
 * takes. A key that is undefined belongs to nobody.
 */
export function failingTogether(keyOf: (payload: unknown) => string | undefined, workMs: number): () => Guard {
  return () => {
    const busy = new Set<string>();
    return async (payload) => {
      const key = keyOf(payload);
      if (key === undefined) return undefined;
      if (busy.has(key)) fault('could not serialize access due to concurrent update');
      busy.add(key);
      await delay(workMs);
      busy.delete(key);
      return undefined;
    };
  };
}

/**
 * A claim of an id that is made before the delivery has passed every check, and that nobody takes back when it is refused: what
 * comes with the same id afterwards is turned away. Copies of what was accepted are let through.
 */
export function claiming(idFrom: (res: Response<unknown, DeliveryState>) => string | undefined, then: Stage): Stage {
  const claims = new Map<string, Promise<boolean>>();
  return async (req, res, next) => {
    const id = idFrom(res);
    if (id === undefined) return then(req, res, next);
    const earlier = claims.get(id);
    if (earlier === undefined) {
      claims.set(id, new Promise((resolve) => res.once('close', () => resolve(res.statusCode === 200))));
    } else if (!(await earlier)) {
      return refuse(res, 409, 'in-progress');
    }
    return then(req, res, next);
  };
}

/** The id in a body that nobody has verified, or undefined when it is no JSON. */
export function idInBody(res: Response<unknown, DeliveryState>): string | undefined {
  try {
    return idOf(JSON.parse(required(res, 'rawBody').toString('utf8')));
  } catch {
    return undefined;
  }
}

/** The id at the beginning of a body, as a parser meets it that reports fields while it reads. */
export function idInStream(res: Response<unknown, DeliveryState>): string | undefined {
  return /"id":\s*"([^"]*)"/.exec(required(res, 'rawBody').toString('latin1'))?.[1];
}

/** A value as text, or undefined when it is nested too deeply to be written. */
export function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
