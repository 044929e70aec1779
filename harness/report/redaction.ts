/** The output boundary: documents, events and errors without secrets. */
import { HookproofError } from '../../contract/index.ts';
import type { Redactor } from './redactor.ts';
import type { ResultDocument, RunEvent } from './result-document.ts';

/**
 * The document without secrets and valid signatures in any string, bodies in base64 included. Keys, numbers and fields
 * with a closed list of values are unchanged, so the result is a valid document. Redacting is idempotent.
 */
export function redactDocument(document: ResultDocument, redactor: Redactor): ResultDocument {
  return redactValue(document, '', remembering(redactor), false) as ResultDocument;
}

/** Most texts of the catalogue are in a document several times. */
function remembering(redactor: Redactor): Redactor {
  const known = new Map<string, string>();
  return {
    ...redactor,
    wording(input) {
      let redacted = known.get(input);
      if (redacted === undefined) {
        redacted = redactor.wording(input);
        known.set(input, redacted);
      }
      return redacted;
    },
  };
}

/** An event without secrets, for the progress display and the ndjson reporter. */
export function redactEvent(event: RunEvent, redactor: Redactor): RunEvent {
  return redactValue(event, '', redactor, false) as RunEvent;
}

/**
 * A copy of the error that may be shown. A {@link HookproofError} keeps its code and kind. Any other error keeps its
 * name, code, causes and the errors of an AggregateError; other properties are dropped, because they may contain
 * anything. A value that is not an error becomes one.
 */
export function redactError(error: unknown, redactor: Redactor): Error {
  return redactDeep(error, redactor, 0);
}

/** Fields with a closed list of values: they are never changed, whatever the secrets are. */
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
  'windows',
]);

/** Texts of the catalogue and of hookproof, which are the same in every run. */
const WORDING: ReadonlySet<string> = new Set([
  'alike',
  'catalogue',
  'cipher',
  'code',
  'defect',
  'decidedBy',
  'evidence',
  'expected',
  'expectedOutcomes',
  'fault',
  'fix',
  'id',
  'kind',
  'method',
  'notVerified',
  'outcome',
  'phase',
  'preflightFinding',
  'protocol',
  'requirements',
  'retried',
  'scoring',
  'seen',
  'stage',
  'startedAt',
  'statement',
  'suite',
  'title',
  'version',
  'why',
]);

function redactBase64(base64: string, redactor: Redactor): string {
  return Buffer.from(redactor.bytes(Buffer.from(base64, 'base64'))).toString('base64');
}

/** Keys and numbers are unchanged; a string belongs to its nearest key. */
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

/** Longer chains of causes are cut, which also ends a circular chain. */
const MAX_CAUSES = 8;

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
    error.cause === undefined || depth >= MAX_CAUSES ? undefined : redactDeep(error.cause, redactor, depth + 1);
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
