/**
 * What a certification of many partners comes to: `fleet.json`, schema version 1. Everything in it is redacted, and nothing in it comes from
 * an endpoint but numbers and words of ours.
 */
import * as z from 'zod';
import { HookproofError } from '../contract/hookproof-error.ts';
import type { ResultDocument, ScenarioResult } from './report/result-document.ts';
import { isScored, tally } from './report/verdict.ts';

/** How it ended for one partner, the gravest first. */
export const OUTCOMES = ['harness-error', 'failed', 'refused', 'inconclusive', 'not-run', 'certified'] as const;

const text = z.string();
const whole = z.int().nonnegative();
const counts = z.strictObject({
  pass: whole,
  fail: whole,
  warn: whole,
  inconclusive: whole,
  notApplicable: whole,
  harnessError: whole,
});

const partner = z.strictObject({
  /** The name of the partner's file, without its ending. */
  name: text.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  /** Origin and path: a query may hold what is not for everybody. */
  url: text,
  profile: z.enum(['basic', 'staging', 'production']),
  revision: z.int().positive(),
  /** `failed`: the endpoint is in the way; `refused`: what was asked for or this machine is; `inconclusive`: no verdict. */
  outcome: z.enum(OUTCOMES),
  /** The verdict of the run; null where there is no result document. */
  verdict: z.enum(['conformant', 'nonconformant', 'inconclusive', 'harness-error']).nullable(),
  /** The scored checks; null as `verdict`. */
  counts: counts.nullable(),
  /** The same by suite, in the order of the catalogue. */
  suites: z.record(text, counts),
  /** What the endpoint behaves like: `hookproof explain FAULT` says more. */
  diagnosis: z.strictObject({ fault: text, title: text }).nullable(),
  certificate: z.strictObject({ issuedAt: text, expiresAt: text }).nullable(),
  /** Every reason why there is no certificate. */
  refusals: z.array(z.strictObject({ code: text, message: text, fix: text })),
  /** What lies in the folder of the partner, which has its name. */
  files: z.array(text.regex(/^[a-z.]{1,32}$/)),
  startedAt: text.nullable(),
  durationMs: z.number().nonnegative(),
  /** How it ended in the certification before this one; null when there was none, or when the partner is new. */
  previous: z.strictObject({ outcome: z.enum(OUTCOMES) }).nullable(),
});

export const fleetDocument = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('hookproof-fleet'),
  tool: z.strictObject({ name: z.literal('hookproof'), version: text }),
  catalogue: z.strictObject({ digest: text }),
  /** What was asked for all partners, and which partners there are: shards that differ in any of it do not belong together. */
  asked: z.strictObject({
    profile: text.nullable(),
    revision: text.nullable(),
    strict: z.boolean(),
    validForDays: whole,
    partners: whole,
    /** SHA-256 of the sorted names. */
    names: text,
  }),
  shard: z.strictObject({ index: z.int().positive(), of: z.int().positive() }).nullable(),
  startedAt: text,
  durationMs: z.number().nonnegative(),
  /** Whether every partner has come to its end. While it goes on, and after an interruption, it has not. */
  complete: z.boolean(),
  /** When the certification began that `previous` of the partners is about. */
  previous: z.strictObject({ startedAt: text }).nullable(),
  totals: z.strictObject(
    Object.fromEntries(OUTCOMES.map((name) => [name, whole])) as Record<(typeof OUTCOMES)[number], typeof whole>,
  ),
  partners: z.array(partner),
});

export type FleetDocument = z.infer<typeof fleetDocument>;
export type FleetPartner = z.infer<typeof partner>;
export type Outcome = (typeof OUTCOMES)[number];
export const fleetPartner = partner;

/** Joins the shards of one certification. Pure. */

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

/** From a run and what speaks against a certificate to the line of a partner. Pure. */

/** A reason against a certificate, with the exit code that it asks for. */
interface Reason {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  readonly exit: 1 | 2 | 3 | 4;
}

const OUTCOME_OF = { 1: 'failed', 2: 'refused', 3: 'inconclusive', 4: 'harness-error' } as const;

/** The gravest by the table of the house: our own error, the endpoint, what was asked for, no verdict. */
const PRECEDENCE = [4, 1, 2, 3] as const;

const EXIT_OF = {
  certified: 0,
  failed: 1,
  refused: 2,
  inconclusive: 3,
  'not-run': 3,
  'harness-error': 4,
} as const satisfies Record<Outcome, number>;

/** What the result document says of a partner. */
export type RunFacts = Pick<FleetPartner, 'verdict' | 'counts' | 'suites' | 'diagnosis'>;

export const NO_FACTS: RunFacts = { verdict: null, counts: null, suites: {}, diagnosis: null };

export function factsOf(document: ResultDocument): RunFacts {
  const scored = document.results.filter((result) => isScored(document, result));
  const bySuite = new Map<string, ScenarioResult[]>();
  for (const result of scored) bySuite.set(result.suite, [...(bySuite.get(result.suite) ?? []), result]);
  const [main] = document.diagnosis;
  return {
    verdict: document.verdict,
    counts: tally(scored),
    suites: Object.fromEntries([...bySuite].map(([suite, results]) => [suite, tally(results)])),
    diagnosis: main === undefined ? null : { fault: main.fault, title: main.title },
  };
}

/** How it ended, by the reasons against a certificate. */
export function outcomeOf(reasons: readonly Reason[]): Outcome {
  const worst = PRECEDENCE.find((code) => reasons.some(({ exit }) => exit === code));
  return worst === undefined ? 'certified' : OUTCOME_OF[worst];
}

/** Origin and path. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

export function totalsOf(partners: readonly FleetPartner[]): FleetDocument['totals'] {
  const of = (name: Outcome) => partners.filter(({ outcome }) => outcome === name).length;
  return Object.fromEntries(OUTCOMES.map((name) => [name, of(name)])) as FleetDocument['totals'];
}

/** The exit code over all partners. Interruption (130, 143) is decided where the signal is seen. */
export function exitCodeOfFleet({ partners }: Pick<FleetDocument, 'partners'>): 0 | 1 | 2 | 3 | 4 {
  const codes = new Set(partners.map(({ outcome }) => EXIT_OF[outcome]));
  return PRECEDENCE.find((code) => codes.has(code)) ?? (partners.length === 0 ? 3 : 0);
}

export type Change = 'new' | 'better' | 'worse' | 'same';

const RANK: Readonly<Record<Outcome, number>> = {
  certified: 0,
  refused: 1,
  inconclusive: 1,
  'harness-error': 1,
  'not-run': 1,
  failed: 2,
};

/** Against the certification before: certified is best, failed is worst. `new` without one. */
export function changeOf({ outcome, previous }: Pick<FleetPartner, 'outcome' | 'previous'>): Change {
  if (previous === null) return 'new';
  const step = RANK[outcome] - RANK[previous.outcome];
  return step === 0 ? 'same' : step < 0 ? 'better' : 'worse';
}

/** With what the certification before says of each partner. */
export function against(document: FleetDocument, before: FleetDocument | null): FleetDocument {
  if (before === null) return document;
  const earlier = new Map(before.partners.map(({ name, outcome }) => [name, { outcome }]));
  const partners = document.partners.map((one) => ({ ...one, previous: earlier.get(one.name) ?? null }));
  return { ...document, previous: { startedAt: before.startedAt }, partners };
}

/** Works through a list with several hands at a time, and few at the same host. */

export interface Limits<T> {
  /** How many at the same time. */
  readonly parallel: number;
  /** How many at the same time of one group. */
  readonly perGroup: number;
  readonly groupOf: (item: T) => string;
  /** Once it is aborted nothing more is begun; what is under way is waited for. */
  readonly signal: AbortSignal;
}

/**
 * Begins the items in order, but passes over those whose group is busy. Ends when everything that was begun has ended. `work` is to settle
 * its own errors: the first that it throws is thrown on, after the others have ended.
 */
export async function sideBySide<T>(
  items: readonly T[],
  { parallel, perGroup, groupOf, signal }: Limits<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const busy = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const next = () => waiting.findIndex((item) => (busy.get(groupOf(item)) ?? 0) < perGroup);
  for (;;) {
    for (let at = next(); at >= 0 && running.size < parallel && !signal.aborted && failures.length === 0; at = next()) {
      const [item] = waiting.splice(at, 1) as [T];
      const group = groupOf(item);
      busy.set(group, (busy.get(group) ?? 0) + 1);
      const one = work(item)
        .catch((error: unknown) => {
          failures.push(error);
        })
        .then(() => {
          busy.set(group, (busy.get(group) ?? 1) - 1);
          running.delete(one);
        });
      running.add(one);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  if (failures.length > 0) throw failures[0];
}
