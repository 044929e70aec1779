/**
 * The result of a certification of many partners (`fleet.json`, schema version 1): its schema, how it is computed, and
 * how shards are joined. The result is redacted, and contains no text from endpoints.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { HookproofError } from '../contract/hookproof-error.ts';
import { EVIDENCE_LEVELS } from '../scenarios/profiles.ts';
import type { ResultDocument, ScenarioResult } from './report/result-document.ts';
import { causesIn } from './report/shown-causes.ts';
import { isScored, tally } from './report/verdict.ts';

/** The outcomes of a partner, the most severe first. */
export const OUTCOMES = ['harness-error', 'failed', 'refused', 'inconclusive', 'not-run', 'certified'] as const;

const text = z.string();
/** ISO 8601, UTC. */
const time = z.iso.datetime();
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
  /** The name of the partner's file, without its extension. */
  name: text.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  /** Origin and path. The query is omitted because it may contain a secret. */
  url: text,
  profile: z.enum(['basic', 'staging', 'production']),
  revision: z.int().positive(),
  /** The name of the scheme of another service; absent for that of the specification. */
  scheme: text.optional(),
  /**
   * `failed`: because of the endpoint; `refused`: because of the options or this machine; `inconclusive`: no verdict.
   */
  outcome: z.enum(OUTCOMES),
  /** The verdict of the run; null without a result document. */
  verdict: z.enum(['conformant', 'nonconformant', 'inconclusive', 'harness-error']).nullable(),
  /** The scored checks; null without a result document. */
  counts: counts.nullable(),
  /** The scored checks by suite, in the order of the catalogue. */
  suites: z.record(text, counts),
  /**
   * The first cause in the report; `hookproof explain FAULT` describes it. Null without a diagnosis. `more` is the
   * number of other causes; absent if there are none.
   */
  diagnosis: z.strictObject({ fault: text, title: text, more: whole.optional() }).nullable(),
  /** The evidence level of the run; null if it has none. */
  evidenceLevel: z.literal(EVIDENCE_LEVELS).nullable(),
  certificate: z.strictObject({ issuedAt: time, expiresAt: time }).nullable(),
  /** Every reason why there is no certificate. */
  refusals: z.array(z.strictObject({ code: text, message: text, fix: text })),
  /** The files in the partner's folder, which is named after the partner. */
  files: z.array(text.regex(/^[a-z.]{1,32}$/)),
  startedAt: time.nullable(),
  durationMs: z.number().nonnegative(),
  /** The partner's outcome in the previous certification; null if there was none, or if the partner is new. */
  previous: z.strictObject({ outcome: z.enum(OUTCOMES) }).nullable(),
});

export const fleetDocument = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('hookproof-fleet'),
  tool: z.strictObject({ name: z.literal('hookproof'), version: text }),
  catalogue: z.strictObject({ digest: text }),
  /** The flags and the partners of the certification, which must be the same in all shards. */
  settings: z.strictObject({
    profile: text.nullable(),
    revision: text.nullable(),
    evidenceLevel: text.nullable(),
    strict: z.boolean(),
    validForDays: whole,
    partners: whole,
    /** SHA-256 of the sorted partner names. */
    names: text,
  }),
  shard: z.strictObject({ index: z.int().positive(), of: z.int().positive() }).nullable(),
  startedAt: time,
  durationMs: z.number().nonnegative(),
  /** Whether every partner is finished. False during the certification and after an interruption. */
  complete: z.boolean(),
  /** When the certification that `previous` refers to began. */
  previous: z.strictObject({ startedAt: time }).nullable(),
  totals: z.strictObject(
    Object.fromEntries(OUTCOMES.map((name) => [name, whole])) as Record<(typeof OUTCOMES)[number], typeof whole>,
  ),
  partners: z.array(partner),
});

export type FleetDocument = z.infer<typeof fleetDocument>;
export type FleetPartner = z.infer<typeof partner>;
export type PartnerOutcome = (typeof OUTCOMES)[number];
export const fleetPartner = partner;

/** The facts about a partner that come from its result document. */
export type RunFacts = Pick<FleetPartner, 'verdict' | 'counts' | 'suites' | 'diagnosis' | 'evidenceLevel'>;

export const NO_FACTS: RunFacts = { verdict: null, counts: null, suites: {}, diagnosis: null, evidenceLevel: null };

export function factsOf(document: ResultDocument): RunFacts {
  const scored = document.results.filter((result) => isScored(document, result));
  const bySuite = new Map<string, ScenarioResult[]>();
  for (const result of scored) bySuite.set(result.suite, [...(bySuite.get(result.suite) ?? []), result]);
  const { causes, warnings } = causesIn(document);
  const shown = causes.length > 0 ? causes : warnings;
  const main = shown.find(({ diagnosis }) => diagnosis !== null)?.diagnosis;
  const more = shown.length - 1;
  return {
    verdict: document.verdict,
    counts: tally(scored),
    suites: Object.fromEntries([...bySuite].map(([suite, results]) => [suite, tally(results)])),
    diagnosis: main == null ? null : { fault: main.fault, title: main.title, ...(more > 0 && { more }) },
    evidenceLevel: document.evidence?.level ?? null,
  };
}

/** A reason why there is no certificate, with its exit code. */
interface Reason {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  readonly exit: 1 | 2 | 3 | 4;
}

const OUTCOME_OF = { 1: 'failed', 2: 'refused', 3: 'inconclusive', 4: 'harness-error' } as const;

/** The exit codes by severity: our own error, the endpoint, the options, no verdict. */
const PRECEDENCE = [4, 1, 2, 3] as const;

/** Returns the outcome of a partner from the reasons why there is no certificate. */
export function partnerOutcomeOf(reasons: readonly Reason[]): PartnerOutcome {
  const worst = PRECEDENCE.find((code) => reasons.some(({ exit }) => exit === code));
  return worst === undefined ? 'certified' : OUTCOME_OF[worst];
}

/** Returns the origin and path of a URL. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** Returns the title of a cause and the number of others, such as "Accepts unsigned requests, +2 more causes". */
export function headlineOf({ title, more = 0 }: NonNullable<FleetPartner['diagnosis']>): string {
  return more === 0 ? title : `${title}, +${more} more ${more === 1 ? 'cause' : 'causes'}`;
}

/** Returns text such as "certified with 8 warnings: Accepts TLS 1.1"; null without warnings. */
export function warnedInWords({ diagnosis, suites }: Pick<FleetPartner, 'diagnosis' | 'suites'>): string | null {
  const warned = Object.values(suites).reduce((sum, { warn }) => sum + warn, 0);
  if (warned === 0) return null;
  const what = `certified with ${warned} ${warned === 1 ? 'warning' : 'warnings'}`;
  return diagnosis === null ? what : `${what}: ${headlineOf(diagnosis)}`;
}

export function totalsOf(partners: readonly FleetPartner[]): FleetDocument['totals'] {
  const of = (name: PartnerOutcome) => partners.filter(({ outcome }) => outcome === name).length;
  return Object.fromEntries(OUTCOMES.map((name) => [name, of(name)])) as FleetDocument['totals'];
}

export const EXIT_ON = ['partners', 'harness'] as const;
export type ExitOn = (typeof EXIT_ON)[number];

const EXIT_OF = {
  certified: 0,
  failed: 1,
  refused: 2,
  inconclusive: 3,
  'not-run': 3,
  'harness-error': 4,
} as const satisfies Record<PartnerOutcome, number>;

/** Outcomes of partners that were not judged, the only ones that affect the exit code with `--exit-on harness`. */
const UNJUDGED: readonly PartnerOutcome[] = ['harness-error', 'not-run'];

/**
 * Returns the exit code for all partners. With `harness`, it is 0 if every partner was judged, whatever the outcome,
 * and for a shard without a partner. The signal handler sets the codes of an interruption (130, 143).
 */
export function exitCodeOfFleet(
  { partners }: Pick<FleetDocument, 'partners'>,
  on: ExitOn = 'partners',
): 0 | 1 | 2 | 3 | 4 {
  const counted = on === 'harness' ? partners.filter(({ outcome }) => UNJUDGED.includes(outcome)) : partners;
  const codes = new Set(counted.map(({ outcome }) => EXIT_OF[outcome]));
  return PRECEDENCE.find((code) => codes.has(code)) ?? (partners.length === 0 && on === 'partners' ? 3 : 0);
}

export type PartnerChange = 'new' | 'better' | 'worse' | 'same';

const RANK: Readonly<Record<PartnerOutcome, number>> = {
  certified: 0,
  refused: 1,
  inconclusive: 1,
  'harness-error': 1,
  'not-run': 1,
  failed: 2,
};

/** Outcomes that allow no conclusion about the endpoint. */
const NO_RESULT: readonly PartnerOutcome[] = ['refused', 'not-run', 'harness-error'];

/**
 * Compares the outcome with the previous one: `certified` is best, `failed` is worst. Returns `new` if there is no
 * previous result.
 */
export function changeOf({ outcome, previous }: Pick<FleetPartner, 'outcome' | 'previous'>): PartnerChange {
  if (previous === null || NO_RESULT.includes(previous.outcome)) return 'new';
  const step = RANK[outcome] - RANK[previous.outcome];
  return step === 0 ? 'same' : step < 0 ? 'better' : 'worse';
}

/** Returns the document with the outcomes of the previous certification added. */
export function withPrevious(document: FleetDocument, before: FleetDocument | null): FleetDocument {
  if (before === null) return document;
  const earlier = new Map(before.partners.map(({ name, outcome }) => [name, { outcome }]));
  const partners = document.partners.map((one) => ({ ...one, previous: earlier.get(one.name) ?? null }));
  return { ...document, previous: { startedAt: before.startedAt }, partners };
}

/** Returns the SHA-256 digest of the sorted partner names. */
export function namesDigest(names: readonly string[]): string {
  return createHash('sha256').update(names.toSorted().join('\n')).digest('hex');
}

export interface NamedFleet {
  /** The name of the shard, as the user gave it. */
  readonly name: string;
  readonly fleet: FleetDocument;
}

/** Joins the shards of one certification. Throws {@link HookproofError} `FLEET_NOT_MERGED` with every reason. */
export function mergeFleets(given: readonly NamedFleet[]): FleetDocument {
  const found = mergeProblems(given);
  const [first] = given;
  if (found.length > 0 || first === undefined) {
    throw new HookproofError('FLEET_NOT_MERGED', `the shards cannot be joined: ${found.join('; ')}`, {
      hint: 'Join all shards (1/n to n/n) of one certification, made with the same partners, flags and version.',
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
    complete: partners.every(({ outcome }) => outcome !== 'not-run'),
    previous: fleets.find(({ previous }) => previous !== null)?.previous ?? null,
    totals: totalsOf(partners),
    partners,
  };
}

const MUST_BE_EQUAL = [
  ['the version of hookproof', ({ tool }: FleetDocument) => tool.version],
  ['the catalogue', ({ catalogue }: FleetDocument) => catalogue.digest],
  ['--profile', ({ settings }: FleetDocument) => settings.profile],
  ['--revision', ({ settings }: FleetDocument) => settings.revision],
  ['--evidence-level', ({ settings }: FleetDocument) => settings.evidenceLevel],
  ['--strict', ({ settings }: FleetDocument) => settings.strict],
  ['--valid-for', ({ settings }: FleetDocument) => settings.validForDays],
  ['the list of partners', ({ settings }: FleetDocument) => settings.names],
  ['the number of shards', ({ shard }: FleetDocument) => shard?.of ?? null],
] as const;

/** Returns every reason why the shards cannot be joined. */
function mergeProblems(given: readonly NamedFleet[]): string[] {
  const [first, ...others] = given;
  if (first === undefined) return ['none is given'];
  const found: string[] = [];
  for (const { name, fleet } of given) if (fleet.shard === null) found.push(`${name} is not a shard`);
  for (const other of others) {
    for (const [what, of] of MUST_BE_EQUAL) {
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
      found.push(
        `partners in more than one shard: ${doubled.slice(0, 8).join(', ')}${doubled.length > 8 ? ', ...' : ''}`,
      );
    }
    for (const partner of fleet.partners) seen.set(partner.name, name);
  }
  const of = first.fleet.shard?.of ?? 0;
  const missing = Array.from({ length: of }, (_, at) => at + 1).filter((index) => !indices.has(index));
  if (missing.length > 0) found.push(`shard ${missing.join(', ')} of ${of} is missing`);
  else if (found.length === 0 && seen.size !== first.fleet.settings.partners) {
    found.push(`they contain ${seen.size} of ${first.fleet.settings.partners} partners`);
  } else if (found.length === 0 && namesDigest([...seen.keys()]) !== first.fleet.settings.names) {
    found.push('their partners are not those of the certification');
  }
  return found;
}

export interface Concurrency<T> {
  /** Maximum number of concurrent items. */
  readonly parallel: number;
  /** Maximum number of concurrent items of one group. */
  readonly perGroup: number;
  readonly groupOf: (item: T) => string;
  /** Once aborted, no further item is started; running items are waited for. */
  readonly signal: AbortSignal;
}

/**
 * Runs `work` for the items in order, several at a time, but skips items whose group is busy. Resolves when all started
 * items have ended. `work` should handle its own errors: the first one is rethrown after the other items have ended.
 */
export async function runLimited<T>(
  items: readonly T[],
  { parallel, perGroup, groupOf, signal }: Concurrency<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const busy = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const findRunnable = () => waiting.findIndex((item) => (busy.get(groupOf(item)) ?? 0) < perGroup);
  for (;;) {
    for (
      let at = findRunnable();
      at >= 0 && running.size < parallel && !signal.aborted && failures.length === 0;
      at = findRunnable()
    ) {
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
