/**
 * Joins the shards of a run into the document that the run would have given undivided.
 *
 * What looks at a whole run is judged anew, by what all shards have seen; diagnosis, verdict, counts, scoring, baseline and what is not
 * verified are made anew over all results. What stays different from an undivided run: times, ids and random data of the exchanges, the
 * number of requests (each shard has controls of its own, and its own first delivery), and, where it happens, which checks were tried twice.
 */
import { CATALOGUE, type ObservationScenario, type RunObservations } from '../../scenarios/index.ts';
import { type Baseline, baselineOutcome, knownIn } from '../baseline/index.ts';
import { diagnose } from '../diagnose/index.ts';
import type { PlannedScenario } from '../plan/plan.ts';
import type { ResultDocument, ScenarioResult } from '../result/result-document.ts';
import { isScored, runVerdict, tally } from '../result/tally.ts';
import { notVerifiedIn } from './not-verified.ts';
import { resultOfObservation, withoutVerdict } from './results.ts';
import { dealtBack, type NamedDocument, type Shard, shardsOfOneRun } from './shards-fit.ts';
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
