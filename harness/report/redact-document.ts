/** The one output boundary: a document, a result or an event without any secret in any of its strings. */
import type { ResultDocument } from '../result/result-document.ts';
import type { RunEvent } from '../result/run-event.ts';
import type { Redactor } from './redactor.ts';

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
  'evidence',
  'expected',
  'fault',
  'fix',
  'id',
  'kind',
  'method',
  'notVerified',
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
 * The document without secrets and right signatures in any string, bodies in base64 included. Keys, numbers and the closed
 * lists of the schema are untouched, so the result is a valid document again. Redacting twice changes nothing more.
 */
export function redactDocument(document: ResultDocument, redactor: Redactor): ResultDocument {
  return redactPart(document, redactor);
}

/** An event without secrets, for whoever listens to a run while it goes on: progress and the ndjson reporter. */
export function redactEvent(event: RunEvent, redactor: Redactor): RunEvent {
  return redactPart(event, redactor);
}
