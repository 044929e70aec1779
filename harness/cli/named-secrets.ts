/** The values that redaction has to know: the secrets of a configuration, and what probes make of them by leaving a little out. */
import type { NamedSecret } from '../report/index.ts';

/** Fragments of shorter values are ordinary words, or the whole value in all but name. */
const SHORTEST_CUT = 8;
const SHORTEST_HALVED = 16;

/** The value without its first or last character, and its halves: an endpoint that echoes what it got may show these. */
function fragmentsOf(value: string): string[] {
  if (value.length < SHORTEST_CUT) return [];
  const middle = Math.floor(value.length / 2);
  const halves = value.length < SHORTEST_HALVED ? [] : [value.slice(0, middle), value.slice(middle + 1)];
  return [value.slice(0, -1), value.slice(1), ...halves];
}

export function namedSecrets(values: readonly string[]): NamedSecret[] {
  return values.flatMap((value) => [value, ...fragmentsOf(value)].map((part) => ({ name: 'secret', value: part })));
}
