/** What a fleet document has to say about a test fleet, and what is compared of two. */
import type { FleetDocument } from '../../../harness/fleet.ts';
import type { Kind } from './kinds.ts';

/** A line for each partner whose outcome is not what its kind demands. */
export function surprises(document: FleetDocument, kindOf: ReadonlyMap<string, Kind>): string[] {
  const seen = new Set(document.partners.map(({ name }) => name));
  const absent = [...kindOf.keys()].filter((name) => !seen.has(name)).map((name) => `${name}: not in the document`);
  const wrong = document.partners.flatMap(({ name, outcome, refusals }) => {
    const kind = kindOf.get(name);
    if (kind?.outcome === outcome) return [];
    const asked = `${kind?.outcome} for ${kind?.fault ?? kind?.behaviour ?? kind?.name}`;
    return [
      `${name}: ${outcome}, not ${asked} (${refusals.map(({ code, message }) => `${code}: ${message}`).join('; ')})`,
    ];
  });
  return [...absent, ...wrong];
}

const TIMES: ReadonlySet<string> = new Set(['startedAt', 'durationMs', 'issuedAt', 'expiresAt']);

/** The document without its times, as text. */
export function withoutTimes(document: FleetDocument): string {
  return JSON.stringify(document, (key, value) => (TIMES.has(key) ? null : value), 1);
}
