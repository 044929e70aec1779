/** How careless code reads a payload. Shared by the mutants of the stages that look into it. */
import { refuse, required } from '../stages/stage.ts';
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
