/** Errors without secrets: message, stack, hint, and the same for every cause. */
import { HookproofError } from '../../contract/index.ts';
import type { Redactor } from './redactor.ts';

/** Chains of causes that are longer than this are cut; it also ends a chain that is a circle. */
const DEEPEST = 8;

function redactOther(error: Error, cause: { cause?: unknown }, redactor: Redactor, depth: number): Error {
  const message = redactor.text(error.message);
  const copy =
    error instanceof AggregateError
      ? new AggregateError(
          error.errors.map((inner: unknown) => redactDeep(inner, redactor, depth + 1)),
          message,
          cause,
        )
      : new Error(message, cause);
  copy.name = redactor.text(error.name);
  if ('code' in error && typeof error.code === 'string') Object.assign(copy, { code: redactor.text(error.code) });
  return copy;
}

function redactDeep(error: unknown, redactor: Redactor, depth: number): Error {
  if (!(error instanceof Error)) return new Error(redactor.text(String(error)));
  const inner =
    error.cause === undefined || depth >= DEEPEST ? undefined : redactDeep(error.cause, redactor, depth + 1);
  const cause = inner === undefined ? {} : { cause: inner };
  const copy =
    error instanceof HookproofError
      ? new HookproofError(error.code, redactor.text(error.message), {
          hint: redactor.text(error.hint),
          kind: error.kind,
          ...cause,
        })
      : redactOther(error, cause, redactor, depth);
  copy.stack = redactor.text(error.stack ?? '');
  return copy;
}

/**
 * A copy of the error that may be shown. A {@link HookproofError} stays one, with its code and kind; of any other error the
 * name, the code, the causes and the errors of an AggregateError are kept, and properties of its own are dropped: nobody
 * knows what they hold. Anything that is no error becomes one.
 */
export function redactError(error: unknown, redactor: Redactor): Error {
  return redactDeep(error, redactor, 0);
}
