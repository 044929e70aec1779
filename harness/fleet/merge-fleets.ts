/** Joins the shards of one certification. Pure. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import type { FleetDocument } from './fleet-document.ts';
import { totalsOf } from './outcome.ts';

export interface NamedFleet {
  /** As the user named it. */
  readonly name: string;
  readonly fleet: FleetDocument;
}

const WHAT = [
  ['the version of hookproof', ({ tool }: FleetDocument) => tool.version],
  ['the catalogue', ({ catalogue }: FleetDocument) => catalogue.digest],
  ['--profile', ({ asked }: FleetDocument) => asked.profile],
  ['--revision', ({ asked }: FleetDocument) => asked.revision],
  ['--strict', ({ asked }: FleetDocument) => asked.strict],
  ['--valid-for', ({ asked }: FleetDocument) => asked.validForDays],
  ['the list of partners', ({ asked }: FleetDocument) => asked.names],
  ['the number of shards', ({ shard }: FleetDocument) => shard?.of ?? null],
] as const;

/** Everything that speaks against joining them, a sentence each. */
function obstacles(given: readonly NamedFleet[]): string[] {
  const [first, ...others] = given;
  if (first === undefined) return ['there is nothing to join'];
  const found: string[] = [];
  for (const { name, fleet } of given) if (fleet.shard === null) found.push(`${name} is no shard, but whole`);
  for (const other of others) {
    for (const [what, of] of WHAT) {
      if (of(first.fleet) !== of(other.fleet)) found.push(`${what} differs between ${first.name} and ${other.name}`);
    }
  }
  const seen = new Map<string, string>();
  const indices = new Map<number, string>();
  for (const { name, fleet } of given) {
    const index = fleet.shard?.index;
    const same = index === undefined ? undefined : indices.get(index);
    if (same !== undefined) found.push(`${same} and ${name} are both shard ${index}`);
    else if (index !== undefined) indices.set(index, name);
    const doubled = fleet.partners.filter((partner) => seen.has(partner.name)).map((partner) => partner.name);
    if (doubled.length > 0 && same === undefined) {
      found.push(`in more than one: ${doubled.slice(0, 8).join(', ')}${doubled.length > 8 ? ', ...' : ''}`);
    }
    for (const partner of fleet.partners) seen.set(partner.name, name);
  }
  const of = first.fleet.shard?.of ?? 0;
  const missing = Array.from({ length: of }, (_, at) => at + 1).filter((index) => !indices.has(index));
  if (missing.length > 0) found.push(`shard ${missing.join(', ')} of ${of} is missing`);
  else if (found.length === 0 && seen.size !== first.fleet.asked.partners) {
    found.push(`they hold ${seen.size} partners of ${first.fleet.asked.partners}`);
  }
  return found;
}

/** The whole, partners sorted by name. Throws {@link HookproofError} `FLEET_NOT_MERGED` with every reason. */
export function mergeFleets(given: readonly NamedFleet[]): FleetDocument {
  const found = obstacles(given);
  const [first] = given;
  if (found.length > 0 || first === undefined) {
    throw new HookproofError('FLEET_NOT_MERGED', `these do not belong together: ${found.join('; ')}`, {
      hint: 'Join all shards of one certification: the same partners, flags and version of hookproof, --shard 1/n to n/n.',
    });
  }
  const fleets = given.map(({ fleet }) => fleet);
  const started = Math.min(...fleets.map(({ startedAt }) => Date.parse(startedAt)));
  const ended = Math.max(...fleets.map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs));
  const partners = fleets.flatMap((fleet) => fleet.partners).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    ...first.fleet,
    shard: null,
    startedAt: new Date(started).toISOString(),
    durationMs: ended - started,
    complete: fleets.every(({ complete }) => complete),
    previous: fleets.find(({ previous }) => previous !== null)?.previous ?? null,
    totals: totalsOf(partners),
    partners,
  };
}
