/** Renders the document and the events as JSON. */
import type { ResultDocument, RunEvent } from './result-document.ts';

/** The version of the published schema of events (`hookproof list --schemas`). */
const EVENT_VERSION = 1;

/**
 * Matches characters that control a terminal or are invisible, and that JSON does not require to be escaped. In JSON,
 * they occur only inside strings.
 */
const UNSEEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

/**
 * Serialises a value as JSON with escapes for control and invisible characters, and for `##[`, which starts a command
 * in a GitHub Actions log. Parsing restores the value.
 */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSEEN, escapeOf).replaceAll('##[', '##\\u005b');
}

/**
 * Renders the document as indented JSON, ending with a newline, with escapes for control and invisible characters.
 */
export function renderJson(document: ResultDocument): string {
  return `${visibleJson(document, 2)}\n`;
}

/** Renders one event as one line of NDJSON with its newline: the schema version, then the event. */
export function renderEvent(event: RunEvent): string {
  return `${visibleJson({ schemaVersion: EVENT_VERSION, ...event })}\n`;
}

/** Yields the events of the run, except notices, which a document does not contain. */
function* eventsOf(document: ResultDocument): Generator<RunEvent> {
  const { target, seed, planned, startedAt, results } = document;
  yield { type: 'run-started', url: target.url, seed, planned, startedAt };
  for (const [index, result] of results.entries()) {
    yield { type: 'scenario-finished', finished: index + 1, planned, result };
  }
  yield { type: 'run-finished', document };
}

/** Renders a finished run as NDJSON: the lines that {@link renderEvent} returns during a run, without notices. */
export function renderNdjson(document: ResultDocument): string {
  return Array.from(eventsOf(document), renderEvent).join('');
}
