/** The output boundary: documents, events and errors without secrets. */
import { HookproofError } from '../../contract/index.ts';
import type { Redactor } from './redactor.ts';
import type { ResultDocument, RunEvent } from './result-document.ts';

/**
 * The document without secrets and valid signatures in any string, bodies in base64 included. Keys, numbers and fields
 * with a closed list of values are unchanged, so the result is a valid document. Redacting is idempotent.
 */
export function redactDocument(document: ResultDocument, redactor: Redactor): ResultDocument {
  return redactValue(document, '', remembering(redactor, document), false) as ResultDocument;
}

/** Part of no encoding, escape or line break, so that each text is read as if it were alone. */
const SEPARATOR = '\x01';
/** What may be a list of numbers or of hexadecimal bytes, and is then read together with the rest of its text. */
const MAY_BE_LIST = /(?:[0-9a-f]{1,3}[\s:.,;_=-]{1,12}(?:0x)?){9}/i;

/**
 * The redactor for one document: most texts of the catalogue are in it several times, and hardly ever does one contain
 * a secret. All of them together are searched first, which takes a fraction of the time of as many searches.
 */
function remembering(redactor: Redactor, document: ResultDocument): Redactor {
  const wordings = new Set<string>();
  collectWording(document, '', false, wordings);
  const joined = [...wordings].filter((text) => !MAY_BE_LIST.test(text)).join(SEPARATOR);
  const isClean = redactor.wording(joined) === joined;
  const text = remembered(redactor.text);
  const wording = remembered((input) => (isClean && !MAY_BE_LIST.test(input) ? input : redactor.wording(input)));
  return { ...redactor, text, wording };
}

function remembered(redact: (input: string) => string): (input: string) => string {
  const known = new Map<string, string>();
  return (input) => {
    let redacted = known.get(input);
    if (redacted === undefined) {
      redacted = redact(input);
      known.set(input, redacted);
    }
    return redacted;
  };
}

function collectWording(value: unknown, key: string, wording: boolean, into: Set<string>): void {
  if (typeof value === 'string') {
    if (wording && key !== 'base64') into.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collectWording(item, key, wording, into);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (!isClosed(key, name)) collectWording(item, name, wording || WORDING.has(name), into);
    }
  }
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
  'sources',
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

/** Whether a field of this object is never changed. */
function isClosed(key: string, name: string): boolean {
  return CLOSED.has(name) || (key === 'tool' && name === 'name');
}

/** Keys and numbers are unchanged; a string belongs to its nearest key. What has no secret is not copied. */
function redactValue(value: unknown, key: string, redactor: Redactor, wording: boolean): unknown {
  if (typeof value === 'string') {
    if (key === 'base64') return redactBase64(value, redactor);
    return wording ? redactor.wording(value) : redactor.text(value);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, key, redactor, wording));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (typeof value === 'object' && value !== null) {
    let copy: Record<string, unknown> | undefined;
    for (const [name, item] of Object.entries(value)) {
      if (isClosed(key, name)) continue;
      const redacted = redactValue(item, name, redactor, wording || WORDING.has(name));
      if (redacted === item) continue;
      copy ??= { ...value };
      copy[name] = redacted;
    }
    return copy ?? value;
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
