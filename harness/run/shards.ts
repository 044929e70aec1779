/**
 * Joins the shards of a run into the document that a single run would have produced.
 *
 * Observations about the whole run are judged again from what all shards observed. Diagnosis, verdict, counts, scoring,
 * baseline and the list of unverified requirements are recomputed from all results. The document still differs from
 * that of a single run in the times, ids and random data of the exchanges, in the number of requests (each shard has
 * its own preflight and controls), and possibly in which checks were repeated.
 */

import { HookproofError } from '../../contract/index.ts';
import { FOREIGN_SCHEMES } from '../../contract/signing/index.ts';
import { visible } from '../../contract/visible.ts';
import { catalogueDigest, catalogueIds, EVERY_SUITE, type RunObservations } from '../../scenarios/index.ts';
import type { Finding } from '../diagnose/index.ts';
import { type Baseline, knownIn, PREFLIGHT_SCENARIO } from '../judge/index.ts';
import type { ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { version } from '../version.ts';
import { documentOf } from './document.ts';
import { isObservation, type PlannedScenario } from './plan.ts';
import { resultOfObservation, withoutVerdict } from './results.ts';

/** A result document, and the name that messages use for it. */
interface NamedDocument {
  readonly name: string;
  readonly document: ResultDocument;
}

type ShardRecord = NonNullable<ResultDocument['shardRecord']>;
type Shard = ResultDocument & {
  readonly shard: { index: number; of: number };
  readonly shardRecord: ShardRecord;
};

const SCENARIOS = EVERY_SUITE.flatMap(({ name, scenarios }) =>
  scenarios.map((scenario) => ({ suite: name, scenario })),
);
const PLANNED = new Map(SCENARIOS.map((planned) => [planned.scenario.id, planned]));
const POSITIONS = new Map(SCENARIOS.map(({ scenario }, at) => [scenario.id, at]));

/**
 * Joins the documents of all shards of a run, in any order.
 *
 * @throws HookproofError SHARDS_DO_NOT_FIT with the first reason and what to do about it
 */
export async function joinShards(documents: readonly NamedDocument[]): Promise<ResultDocument> {
  const shards = shardsOfOneRun(documents);
  const [first] = shards as [Shard, ...Shard[]];
  const starts = shards.map(({ startedAt }) => Date.parse(startedAt));
  const ends = shards.map(({ durationMs }, at) => (starts[at] ?? 0) + durationMs);
  const start = Math.min(...starts);
  const startedAt = new Date(start).toISOString();
  const preflight = preflightOf(shards);
  const problems = shards.flatMap(problemOf);
  const baseline = baselineOf(first);
  const seen = observationsOf(shards);

  const results = inCatalogueOrder(shards);
  const plan = planOf(results);
  if (!preflight.failed) {
    const context = { seed: first.seed, flags: first.flags ?? '', partner: { url: first.target.url } };
    plan.forEach((planned, at) => {
      if (planned.obstacle !== null || !isObservation(planned.scenario)) return;
      const judged = resultOfObservation(context, seen, planned);
      // A shard that did not observe all of its part may have missed a failure. It cannot have seen one that did not
      // happen.
      const isFound = judged.verdict === 'fail' || judged.verdict === 'warn';
      const [problem] = problems;
      const result = isFound || problem === undefined ? judged : withoutVerdict(planned, problem.code, problem.text);
      results[at] = { ...result, known: knownIn(baseline, result, new Date(start)) };
    });
  }

  const notScored = new Set(shards.flatMap(({ scoring }) => scoring?.notScored ?? []));
  const partialReasons = new Set(shards.flatMap((shard) => shard.partialReasons ?? []));
  partialReasons.delete('shard');
  if (results.length < catalogueIds(first.target.scheme !== undefined).length) partialReasons.add('selection');
  const scheme = schemeOf(first);
  const document = await documentOf({
    tool: first.tool,
    digest: first.catalogue.digest,
    ...(scheme !== undefined && { scheme }),
    target: { ...first.target, tls: shards.find(({ target }) => target.tls !== null)?.target.tls ?? null },
    profile: first.profile,
    ...(first.flags !== undefined && { flags: first.flags }),
    ...(first.selection !== undefined && { selection: first.selection }),
    scoring: first.scoring && {
      ...first.scoring,
      notScored: results.map(({ id }) => id).filter((id) => notScored.has(id)),
    },
    retried: new Set(shards.flatMap((shard) => shard.retried ?? [])),
    partialReasons: [...partialReasons],
    seed: first.seed,
    shard: null,
    startedAt,
    durationMs: Math.max(...ends) - start,
    strict: first.strict,
    interrupted: shards.some(({ interrupted }) => interrupted),
    planned: shards.reduce((sum, { planned }) => sum + planned, 0),
    requests: shards.reduce((sum, { requests }) => sum + requests, 0),
    ...turnedAwayFrom(shards),
    advice: [...new Set([...shards.flatMap(({ advice }) => advice), ...problems.map(({ text }) => `${text}.`)])],
    plan,
    results,
    outages: seen.outages,
    preflight: preflight.finding,
    causes: preflight.causes,
    stack: first.shardRecord.stackGiven,
    baseline,
  });
  return preflight.failed ? document : { ...document, diagnosis: withFailedPreflights(document.diagnosis, shards) };
}

function turnedAwayFrom(shards: readonly Shard[]): Pick<ResultDocument, 'turnedAway'> {
  const known = shards.flatMap(({ turnedAway }) => turnedAway ?? []);
  const sum = (status: 429 | 503) => known.reduce((total, one) => total + one[status], 0);
  return known.length === 0 ? {} : { turnedAway: { 429: sum(429), 503: sum(503) } };
}

/** Returns the scheme of a run if it is built in. */
function schemeOf({ target }: Pick<ResultDocument, 'target'>) {
  return FOREIGN_SCHEMES.find(({ name }) => name === target.scheme);
}

/** Reconstructs the plan from the results. */
function planOf(results: readonly ScenarioResult[]): PlannedScenario[] {
  return results.flatMap(({ id, reason, verdict }) => {
    const planned = PLANNED.get(id);
    return planned === undefined ? [] : [{ ...planned, obstacle: verdict === 'not-applicable' ? reason : null }];
  });
}

/** Returns the preflight of the whole run. It failed if it failed in every shard that had one. */
function preflightOf(shards: readonly Shard[]) {
  const preflights = shards.flatMap(({ shardRecord: { preflight } }) => preflight ?? []);
  const failed = preflights.length > 0 && preflights.every(({ accepted }) => !accepted);
  const findings = preflights.filter(({ accepted }) => accepted !== failed).flatMap(({ finding }) => finding ?? []);
  const [finding = null] = failed ? findings : [];
  const causes = failed ? [] : [...new Map(findings.map((one) => [one.fault, one])).values()];
  const isPlain = ({ fault }: Finding) => fault === 'rejects-plain-notification';
  return {
    failed,
    finding,
    causes: causes.map((one) => ({ finding: one, checks: isPlain(one) ? [PREFLIGHT_SCENARIO] : [] })),
  };
}

interface Problem {
  readonly code: 'interrupted' | 'preflight-failed';
  readonly text: string;
}

/** Returns why a shard did not observe all of its part. Empty if it did. */
function problemOf({ interrupted, shard, shardRecord: { preflight } }: Shard): Problem[] {
  const name = `shard ${shard.index} of ${shard.of}`;
  if (interrupted) return [{ code: 'interrupted', text: `${name} was interrupted` }];
  return preflight?.accepted === false
    ? [{ code: 'preflight-failed', text: `${name} could not deliver anything` }]
    : [];
}

function baselineOf({ baseline, shardRecord }: Shard): Baseline | null {
  return baseline === null || shardRecord.entries === null
    ? null
    : { file: baseline.file, entries: shardRecord.entries };
}

/** Compares by catalogue position. A run reports in almost the same order. */
function byPosition(one: { readonly scenario: string }, other: { readonly scenario: string }): number {
  return (POSITIONS.get(one.scenario) ?? 0) - (POSITIONS.get(other.scenario) ?? 0);
}

function observationsOf(shards: readonly Shard[]): RunObservations {
  const seen = shards.map(({ shardRecord }) => shardRecord.seen);
  return {
    answerTimesMs: seen.flatMap(({ answerTimesMs }) => answerTimesMs),
    leaks: seen.flatMap(({ leaks }) => leaks).toSorted(byPosition),
    outages: seen.flatMap(({ outages }) => outages),
    failedControls: seen.flatMap(({ failedControls }) => failedControls).toSorted(byPosition),
    rejections: seen.flatMap(({ rejections }) => rejections),
  };
}

/** Adds the diagnoses of the shards whose preflight failed to the diagnosis of the others. */
function withFailedPreflights(
  diagnosis: ResultDocument['diagnosis'],
  shards: readonly Shard[],
): ResultDocument['diagnosis'] {
  const found = [...diagnosis];
  for (const { shardRecord, diagnosis: own } of shards) {
    const [main] = own;
    if (shardRecord.preflight?.accepted !== false || main === undefined) continue;
    if (!found.some(({ fault }) => fault === main.fault)) {
      found.push({ ...main, relation: found.length === 0 ? 'main' : 'also' });
    }
  }
  return found;
}

/** Restores catalogue order: the shards were dealt one check each in turn. */
function inCatalogueOrder(shards: readonly Pick<ResultDocument, 'results'>[]): ScenarioResult[] {
  const longest = Math.max(...shards.map(({ results }) => results.length));
  return Array.from({ length: longest }, (_, at) => shards.flatMap(({ results }) => results[at] ?? [])).flat();
}

/** The properties that all shards of a run must share, each with the hint that is shown if they differ. */
const COMMON: readonly (readonly [what: string, of: (shard: Shard) => unknown, hint: string])[] = [
  ['number of shards', ({ shard }) => shard.of, 'Use the same total for all shards: 1/4, 2/4, 3/4, 4/4.'],
  ['seed', ({ seed }) => seed, 'Run every shard with the same `--seed`, for example the build id.'],
  ['version of hookproof', ({ tool }) => tool.version, 'Run every shard with the same version.'],
  ['digest of the catalogue', ({ catalogue }) => catalogue.digest, 'Run every shard with the same version.'],
  ['endpoint', ({ target }) => target.url, 'Run every shard against the same URL.'],
  [
    'set of features',
    ({ target }) => target.features,
    'Give every shard the same credentials, certificates and sources.',
  ],
  ['profile', ({ profile }) => profile, 'Run every shard with the same `--profile`.'],
  [
    'revision of the catalogue',
    ({ scoring }) => [scoring?.revision, scoring?.digest],
    'Run every shard with the same `--revision`.',
  ],
  ['strictness', ({ strict }) => strict, 'Use `--strict` for every shard, or for none.'],
  [
    'baseline',
    ({ baseline, shardRecord }) => [baseline?.file, shardRecord.entries],
    'Run every shard with the same `--baseline`.',
  ],
  ['stack', ({ shardRecord }) => shardRecord.stackGiven, 'Run every shard with the same `--stack`.'],
];

/**
 * Checks that the documents are all shards of one run. Returns them in order.
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
    throw refusal(`the ${what} differs: ${values}`, hint);
  }
  const { catalogue, tool, shard, target } = first.shard;
  const scheme = schemeOf(first.shard);
  // A document has only the name of a scheme of one's own, which is part of its digest.
  const isOwn = scheme === undefined && target.scheme !== undefined;
  if (tool.version !== version || (!isOwn && catalogue.digest !== catalogueDigest(scheme))) {
    const another = tool.version === version ? ' with another catalogue' : '';
    throw refusal(
      `they were written by hookproof ${shown(tool.version)}, but this is ${version}${another}`,
      'Merge them with the version that wrote them.',
    );
  }
  const leaves = named.flatMap(({ name, shard: { target } }) => {
    const [leaf] = target.tls?.chain ?? [];
    return leaf === undefined ? [] : [{ name, fingerprint: leaf.fingerprint }];
  });
  const changed = leaves.find(({ fingerprint }) => fingerprint !== leaves[0]?.fingerprint);
  if (changed !== undefined) {
    throw refusal(
      `the endpoint served different certificates in ${changed.name} and ${leaves[0]?.name}`,
      'Run all shards again: the certificate was replaced, or several machines answer.',
    );
  }
  const byIndex = Array.from({ length: shard.of }, (_, at) => named.filter((one) => one.shard.shard.index === at + 1));
  const doubled = byIndex.find((some) => some.length > 1);
  if (doubled !== undefined) {
    const names = doubled.map(({ name }) => name).join(', ');
    throw refusal(
      `shard ${doubled[0]?.shard.shard.index} of ${shard.of} is given twice (${names})`,
      'Name each shard once.',
    );
  }
  const missing = byIndex.flatMap((some, at) => (some.length === 0 ? [at + 1] : []));
  if (missing.length > 0) {
    const list = `${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ', ...' : ''} of ${shard.of}`;
    throw refusal(
      missing.length === 1 ? `shard ${list} is missing` : `shards ${list} are missing`,
      `Run what is missing with \`--seed ${shown(first.shard.seed)}\`, and name all ${shard.of} reports.`,
    );
  }
  const shards = byIndex.flatMap((some) => some.map((one) => one.shard));
  refuseOtherSelections(shards);
  return shards;
}

function asShard({ name, document }: NamedDocument): { name: string; shard: Shard } {
  const { shard, shardRecord } = document;
  if (shard !== null && shardRecord !== undefined) return { name, shard: { ...document, shard, shardRecord } };
  throw refusal(
    shard === null ? `${name} is a whole run` : `${name} is a shard, and lacks the "shardRecord" that joining needs`,
    'Merge the files that `hookproof run --shard i/n --reporter json=FILE` wrote.',
  );
}

function refuseOtherSelections(shards: readonly Shard[]): void {
  const positions = inCatalogueOrder(shards).map(({ id }) => POSITIONS.get(id));
  const isOrdered = positions.every((at, i) => at !== undefined && (i === 0 || at > (positions[i - 1] ?? at)));
  const isFair = shards.every(
    ({ results }, at) => results.length === Math.floor((positions.length - at - 1) / shards.length) + 1,
  );
  if (isOrdered && isFair) return;
  throw refusal(
    'their checks do not come from one selection',
    'Run every shard with the same `--suite`, `--scenario` and `--grep`.',
  );
}

function refusal(reason: string, hint: string): HookproofError {
  // The documents may contain any characters, even terminal control sequences.
  const message = `these are not the shards of one run: ${visible(reason)}`;
  return new HookproofError('SHARDS_DO_NOT_FIT', message, { hint: visible(hint) });
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
