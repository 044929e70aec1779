/** The one output boundary: a document, a result or an event without any secret in any of its strings. */

import { HookproofError } from '../../contract/index.ts';
import type { Redactor } from './redactor.ts';
import type { ResultDocument, RunEvent } from './result-document.ts';

/** Closed lists of the schema: whatever the secrets are, these stay what the schema allows. */
const CLOSED: ReadonlySet<string> = new Set([
  'features',
  'leak',
  'level',
  'partialReasons',
  'problem',
  'profile',
  'relation',
  'role',
  'stackGiven',
  'type',
  'verdict',
]);

/** Wording of the catalogue and of ours: the same in every run. */
const WORDING: ReadonlySet<string> = new Set([
  'alike',
  'catalogue',
  'cipher',
  'code',
  'decidedBy',
  'evidence',
  'expected',
  'fault',
  'fix',
  'id',
  'kind',
  'method',
  'notVerified',
  'outcome',
  'phase',
  'protocol',
  'requirements',
  'retried',
  'scoring',
  'seen',
  'stage',
  'startedAt',
  'suite',
  'title',
  'version',
  'why',
]);

function redactBase64(base64: string, redactor: Redactor): string {
  return Buffer.from(redactor.bytes(Buffer.from(base64, 'base64'))).toString('base64');
}

/** Keys and numbers are untouched; a string belongs to the nearest key above it. */
function redactValue(value: unknown, key: string, redactor: Redactor, wording: boolean): unknown {
  if (typeof value === 'string') {
    if (key === 'base64') return redactBase64(value, redactor);
    return wording ? redactor.wording(value) : redactor.text(value);
  }
  if (Array.isArray(value)) return value.map((item) => redactValue(item, key, redactor, wording));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => {
        const closed = CLOSED.has(name) || (key === 'tool' && name === 'name');
        return [name, closed ? item : redactValue(item, name, redactor, wording || WORDING.has(name))];
      }),
    );
  }
  return value;
}

/** Any part of a document, redacted. What comes out has the shape of what went in, because only strings change. */
function redactPart<T>(part: T, redactor: Redactor): T {
  return redactValue(part, '', redactor, false) as T;
}

/**
 * The document without secrets and right signatures in any string, bodies in base64 included. Keys, numbers and the
 * closed lists of the schema are untouched, so the result is a valid document again. Redacting twice changes nothing
 * more.
 */
export function redactDocument(document: ResultDocument, redactor: Redactor): ResultDocument {
  return redactPart(document, redactor);
}

/** An event without secrets, for whoever listens to a run while it goes on: progress and the ndjson reporter. */
export function redactEvent(event: RunEvent, redactor: Redactor): RunEvent {
  return redactPart(event, redactor);
}

/** Errors without secrets: message, stack, hint, and the same for every cause. */

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
 * A copy of the error that may be shown. A {@link HookproofError} stays one, with its code and kind; of any other error
 * the name, the code, the causes and the errors of an AggregateError are kept, and properties of its own are dropped:
 * nobody knows what they hold. Anything that is no error becomes one.
 */
export function redactError(error: unknown, redactor: Redactor): Error {
  return redactDeep(error, redactor, 0);
}
