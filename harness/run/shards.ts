/**
 * Joins the shards of a run into the document that the run would have given undivided.
 *
 * What looks at a whole run is judged anew, by what all shards have seen; diagnosis, verdict, counts, scoring, baseline and what is not
 * verified are made anew over all results. What stays different from an undivided run: times, ids and random data of the exchanges, the
 * number of requests (each shard has controls of its own, and its own first delivery), and, where it happens, which checks were tried twice.
 */

import { HookproofError } from '../../contract/index.ts';
import { CATALOGUE, catalogueDigest, type ObservationScenario, type RunObservations } from '../../scenarios/index.ts';
import { diagnose } from '../diagnose/index.ts';
import { type Baseline, baselineOutcome, knownIn } from '../judge/index.ts';
import { visible } from '../report/index.ts';
import type { ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { isScored, runVerdict, tally } from '../report/verdict.ts';
import { version } from '../version.ts';
import { notVerifiedIn } from './not-verified.ts';
import type { PlannedScenario } from './plan.ts';
import { resultOfObservation, withoutVerdict } from './results.ts';
import { isObservation } from './trial.ts';

const PLANNED = new Map(
  CATALOGUE.flatMap(({ name, scenarios }) => scenarios.map((scenario) => [scenario.id, { suite: name, scenario }])),
);

/** The plan that the results come from. */
function planOf(results: readonly ScenarioResult[]): PlannedScenario[] {
  return results.flatMap(({ id, reason, verdict }) => {
    const planned = PLANNED.get(id);
    return planned === undefined ? [] : [{ ...planned, obstacle: verdict === 'not-applicable' ? reason : null }];
  });
}

/** What keeps a shard from having seen all of its part; empty when nothing does. */
function troubleOf({ interrupted, shard, shardRecord: { gate } }: Shard): string[] {
  const name = `shard ${shard.index} of ${shard.of}`;
  if (interrupted) return [`${name} was interrupted`];
  return gate?.open === false ? [`${name} could not deliver anything`] : [];
}

const PLACES = new Map([...PLANNED.keys()].map((id, at) => [id, at]));

/** In the order of the catalogue, which is nearly that of a run. */
function byPlace(one: { readonly scenario: string }, other: { readonly scenario: string }): number {
  return (PLACES.get(one.scenario) ?? 0) - (PLACES.get(other.scenario) ?? 0);
}

function allSeen(shards: readonly Shard[]): RunObservations {
  const seen = shards.map(({ shardRecord }) => shardRecord.seen);
  return {
    answerTimesMs: seen.flatMap(({ answerTimesMs }) => answerTimesMs),
    leaks: seen.flatMap(({ leaks }) => leaks).toSorted(byPlace),
    outages: seen.flatMap(({ outages }) => outages),
    failedControls: seen.flatMap(({ failedControls }) => failedControls).toSorted(byPlace),
  };
}

/** Why the run as a whole delivered nothing, when no shard did. */
function gateOf(shards: readonly Shard[]) {
  const gates = shards.flatMap(({ shardRecord: { gate } }) => gate ?? []);
  const shut = gates.length > 0 && gates.every(({ open }) => !open);
  return { shut, finding: shut ? (gates.find(({ finding }) => finding !== null)?.finding ?? null) : null };
}

/** A diagnosis of the shards that could deliver nothing, beside that of the others. */
function besides(shards: readonly Shard[], diagnosis: ResultDocument['diagnosis']): ResultDocument['diagnosis'] {
  const found = [...diagnosis];
  for (const { shardRecord, diagnosis: own } of shards) {
    const [main] = own;
    if (shardRecord.gate?.open !== false || main === undefined) continue;
    if (!found.some(({ fault }) => fault === main.fault)) {
      found.push({ ...main, relation: found.length === 0 ? 'main' : 'also' });
    }
  }
  return found;
}

function baselineOf([first]: readonly Shard[]): Baseline | null {
  const { baseline, shardRecord } = first ?? {};
  if (baseline == null || shardRecord?.entries == null) return null;
  return { file: baseline.file, entries: shardRecord.entries };
}

/** @throws HookproofError SHARDS_DO_NOT_FIT */
export async function joinShards(documents: readonly NamedDocument[]): Promise<ResultDocument> {
  const shards = shardsOfOneRun(documents);
  const [first] = shards as [Shard, ...Shard[]];
  const starts = shards.map(({ startedAt }) => Date.parse(startedAt));
  const ends = shards.map(({ durationMs }, at) => (starts[at] ?? 0) + durationMs);
  const start = Math.min(...starts);
  const now = new Date(start);
  const dealt = dealtBack(shards);
  const plan = planOf(dealt);
  const seen = allSeen(shards);
  const gate = gateOf(shards);
  const troubles = shards.flatMap(troubleOf);
  const baseline = baselineOf(shards);

  const judgedAnew = (planned: PlannedScenario & { readonly scenario: ObservationScenario }): ScenarioResult => {
    const context = { seen, seed: first.seed, partner: { url: first.target.url } };
    const result = resultOfObservation(context, planned);
    const proves = result.verdict === 'fail' || result.verdict === 'warn';
    const [trouble] = troubles;
    return proves || trouble === undefined ? result : withoutVerdict(planned, trouble);
  };
  const results = dealt.map((result, at) => {
    const planned = plan[at];
    if (planned === undefined || planned.obstacle !== null || gate.shut) return result;
    const { scenario } = planned;
    if (!isObservation(scenario)) return result;
    const anew = judgedAnew({ ...planned, scenario });
    return { ...anew, known: knownIn(baseline, anew, now) };
  });

  const notScored = new Set(shards.flatMap(({ scoring }) => scoring?.notScored ?? []));
  const idsIn = (some: ReadonlySet<string>) => results.map(({ id }) => id).filter((id) => some.has(id));
  const scoring = first.scoring && { ...first.scoring, notScored: idsIn(notScored) };
  const retried = new Set(shards.flatMap((shard) => shard.retried ?? []));
  const counted = results.filter((result) => isScored({ scoring }, result));
  const inShards = new Set(shards.flatMap((shard) => shard.partialReasons ?? []));
  inShards.delete('shard');
  if (results.length < PLANNED.size) inShards.add('selection');
  const partialReasons = [...inShards];
  const stack = first.shardRecord.stackGiven;
  const diagnosis = await diagnose({ results, outages: seen.outages, gate: gate.finding, stack });
  return {
    schemaVersion: 1,
    tool: first.tool,
    catalogue: { digest: first.catalogue.digest, scenarios: PLANNED.size },
    target: { ...first.target, tls: shards.find(({ target }) => target.tls !== null)?.target.tls ?? null },
    profile: first.profile,
    ...(scoring && { scoring }),
    ...(retried.size > 0 && { retried: [...retried] }),
    seed: first.seed,
    shard: null,
    startedAt: now.toISOString(),
    durationMs: Math.max(...ends) - start,
    verdict: runVerdict(tally(counted), first.strict),
    partial: partialReasons.length > 0,
    ...(partialReasons.length > 0 && { partialReasons }),
    strict: first.strict,
    interrupted: shards.some(({ interrupted }) => interrupted),
    planned: shards.reduce((sum, { planned }) => sum + planned, 0),
    judged: results.length,
    requests: shards.reduce((sum, { requests }) => sum + requests, 0),
    counts: tally(results),
    advice: [...new Set([...shards.flatMap(({ advice }) => advice), ...troubles.map((trouble) => `${trouble}.`)])],
    diagnosis: gate.shut ? diagnosis : besides(shards, diagnosis),
    baseline: baseline === null ? null : baselineOutcome(baseline, results, [...PLANNED.keys()], now),
    notVerified: notVerifiedIn(plan),
    results,
  };
}

/** Whether result documents are the shards of one run. Pure. */

/** A result document and what messages call it. */
interface NamedDocument {
  readonly name: string;
  readonly document: ResultDocument;
}

type Record = NonNullable<ResultDocument['shardRecord']>;
type Shard = ResultDocument & { readonly shard: { index: number; of: number }; readonly shardRecord: Record };

function refusal(reason: string, hint: string): HookproofError {
  // What the documents say is anybody's.
  const message = `these are not the shards of one run: ${visible(reason)}`;
  return new HookproofError('SHARDS_DO_NOT_FIT', message, { hint: visible(hint) });
}

/** What all shards of a run have in common, with what to do about it. */
const COMMON: readonly (readonly [what: string, of: (shard: Shard) => unknown, hint: string])[] = [
  ['number of shards', ({ shard }) => shard.of, 'Give each its place among as many: 1/4, 2/4, 3/4, 4/4.'],
  ['seed', ({ seed }) => seed, 'Run every shard with the same --seed, for example the id of the build.'],
  ['version of hookproof', ({ tool }) => tool.version, 'Run every shard with the same version.'],
  ['digest of the catalogue', ({ catalogue }) => catalogue.digest, 'Run every shard with the same version.'],
  ['endpoint', ({ target }) => target.url, 'Run every shard against the same URL.'],
  ['set of features', ({ target }) => target.features, 'Give every shard the same credentials and certificates.'],
  ['profile', ({ profile }) => profile, 'Run every shard with the same --profile.'],
  [
    'revision of the catalogue',
    ({ scoring }) => [scoring?.revision, scoring?.digest],
    'Run every shard with the same --revision.',
  ],
  ['strictness', ({ strict }) => strict, 'Give --strict to every shard, or to none.'],
  [
    'baseline',
    ({ baseline, shardRecord }) => [baseline?.file, shardRecord.entries],
    'Give every shard the same --baseline.',
  ],
  ['stack', ({ shardRecord }) => shardRecord.stackGiven, 'Give every shard the same --stack.'],
];

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function asShard({ name, document }: NamedDocument): { name: string; shard: Shard } {
  const { shard, shardRecord } = document;
  if (shard !== null && shardRecord !== undefined) return { name, shard: { ...document, shard, shardRecord } };
  throw refusal(
    shard === null ? `${name} is a whole run` : `${name} was written by a version whose shards cannot be joined`,
    'Merge what `hookproof run --shard i/n --reporter json=FILE` wrote.',
  );
}

/** Where a scenario stands in the catalogue. */
const RESULT_PLACES = new Map(CATALOGUE.flatMap(({ scenarios }) => scenarios).map(({ id }, at) => [id, at]));

/** The results as they were dealt out: one of each shard in turn, in the order of the catalogue. */
function dealtBack(shards: readonly Pick<ResultDocument, 'results'>[]): ScenarioResult[] {
  const longest = Math.max(...shards.map(({ results }) => results.length));
  return Array.from({ length: longest }, (_, at) => shards.flatMap(({ results }) => results[at] ?? [])).flat();
}

function refuseOtherSelections(shards: readonly Shard[]): void {
  const places = dealtBack(shards).map(({ id }) => RESULT_PLACES.get(id));
  const lengths = shards.map(({ results }) => results.length);
  const ordered = places.every((place, at) => place !== undefined && (at === 0 || place > (places[at - 1] ?? place)));
  const fair = lengths.every((length, at) => length === Math.floor((places.length - at - 1) / shards.length) + 1);
  if (ordered && fair) return;
  throw refusal(
    'their checks were not dealt from one selection',
    'Give every shard the same --suite, --scenario and --grep.',
  );
}

/**
 * The shards in their order.
 *
 * @throws HookproofError SHARDS_DO_NOT_FIT with the first reason and what to do about it
 */
function shardsOfOneRun(documents: readonly NamedDocument[]): Shard[] {
  const named = documents.map(asShard);
  const [first] = named;
  if (first === undefined) throw refusal('there are none', 'Name the JSON reports of all shards.');
  for (const [what, of, hint] of COMMON) {
    const wanted = JSON.stringify(of(first.shard));
    const other = named.find(({ shard }) => JSON.stringify(of(shard)) !== wanted);
    if (other === undefined) continue;
    const values = `${shown(of(first.shard))} in ${first.name}, ${shown(of(other.shard))} in ${other.name}`;
    throw refusal(`the ${what} is not the same: ${values}`, hint);
  }
  const { catalogue, tool, shard } = first.shard;
  if (tool.version !== version || catalogue.digest !== catalogueDigest()) {
    throw refusal(
      `they were written by hookproof ${shown(tool.version)}, and this is ${version}${tool.version === version ? ' with another catalogue' : ''}`,
      'Merge them with the version that wrote them.',
    );
  }
  const leaves = named.flatMap((one) => {
    const [leaf] = one.shard.target.tls?.chain ?? [];
    return leaf === undefined ? [] : [{ name: one.name, fingerprint: leaf.fingerprint }];
  });
  const changed = leaves.find(({ fingerprint }) => fingerprint !== leaves[0]?.fingerprint);
  if (changed !== undefined) {
    throw refusal(
      `the endpoint served another certificate in ${changed.name} than in ${leaves[0]?.name}`,
      'Run all shards again: the certificate was changed, or several machines answer.',
    );
  }
  const places = Array.from({ length: shard.of }, (_, at) => named.filter((one) => one.shard.shard.index === at + 1));
  const doubled = places.find((some) => some.length > 1);
  if (doubled !== undefined) {
    const place = doubled[0]?.shard.shard.index;
    throw refusal(
      `shard ${place} of ${shard.of} is there twice (${doubled.map(({ name }) => name).join(', ')})`,
      'Name each shard once.',
    );
  }
  const missing = places.flatMap((some, at) => (some.length === 0 ? [at + 1] : []));
  if (missing.length > 0) {
    throw refusal(
      `${missing.length === 1 ? 'shard' : 'shards'} ${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ', ...' : ''} of ${shard.of} ${missing.length === 1 ? 'is' : 'are'} missing`,
      `Run what is missing, with --seed ${shown(first.shard.seed)}, and name all ${shard.of} reports.`,
    );
  }
  const shards = places.flatMap((some) => some.map((one) => one.shard));
  refuseOtherSelections(shards);
  return shards;
}
