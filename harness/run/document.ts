/**
 * Builds the result document of a run, a shard or joined shards: verdict, counts, diagnosis, and the list of what was
 * not verified.
 */

import type { Stack } from '../../contract/index.ts';
import type { Scheme } from '../../contract/signing/index.ts';
import {
  CATALOGUE,
  catalogueIds,
  configureSources,
  EVIDENCE_SOURCES,
  type EvidenceSource,
  evidenceLevel,
  evidenceStatement,
  type Feature,
  isEvidenceSource,
  levelWith,
  NOT_JSON,
  REQUIREMENTS,
  type Requirement,
  type RunObservations,
  requirement,
  type Scenario,
  type Suite,
} from '../../scenarios/index.ts';
import { diagnose, EXPLAIN_FORGERIES, type Finding } from '../diagnose/index.ts';
import { type Baseline, baselineOutcome } from '../judge/index.ts';
import type { Diagnosis, PartialReason, ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { isScored, runVerdict, tally } from '../report/verdict.ts';
import type { FindingWithChecks } from './facts.ts';
import type { PlannedScenario } from './plan.ts';
import { wordsOfScheme } from './words-of-scheme.ts';

/** The outcome of a run, or of a set of shards. The rest of the result document is derived from it. */
export interface RunOutcome
  extends Pick<
    ResultDocument,
    | 'tool'
    | 'target'
    | 'profile'
    | 'seed'
    | 'shard'
    | 'startedAt'
    | 'durationMs'
    | 'strict'
    | 'interrupted'
    | 'planned'
    | 'requests'
    | 'turnedAway'
    | 'advice'
  > {
  readonly digest: string;
  /** Undefined for that of the specification. */
  readonly scheme?: Scheme;
  /** The revision of the catalogue, and which scenarios it does not score. */
  readonly scoring: ResultDocument['scoring'];
  readonly rotation?: ResultDocument['rotation'] | null;
  readonly flags?: ResultDocument['flags'];
  readonly selection?: ResultDocument['selection'];
  readonly shardRecord?: ResultDocument['shardRecord'];
  readonly retried: ReadonlySet<string>;
  readonly partialReasons: readonly PartialReason[];
  readonly plan: readonly PlannedScenario[];
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  /** Why the preflight failed. Null if it passed. */
  readonly preflight: Finding | null;
  /** Findings about valid deliveries that did not stop the run. */
  readonly causes: readonly FindingWithChecks[];
  readonly stack: Stack | null;
  readonly baseline: Baseline | null;
}

export async function documentOf(outcome: RunOutcome): Promise<ResultDocument> {
  const { results, scoring, partialReasons, baseline, retried, shardRecord, strict } = outcome;
  const { preflight } = outcome;
  const noted = notedIn(results);
  const words = outcome.scheme === undefined ? undefined : wordsOfScheme(outcome.scheme);
  const diagnosis = await diagnosisOf(outcome);
  const scored = results.filter((result) => isScored({ scoring }, result));
  const ids = catalogueIds(outcome.target.scheme !== undefined);
  return {
    schemaVersion: 1,
    tool: outcome.tool,
    catalogue: { digest: outcome.digest, scenarios: ids.length },
    target: outcome.target,
    profile: outcome.profile,
    ...(partialReasons.length === 0 && {
      evidence: evidenceIn(outcome.plan, results, outcome.target.features, scoring),
    }),
    ...(outcome.rotation && { rotation: outcome.rotation }),
    ...(outcome.flags !== undefined && { flags: outcome.flags }),
    ...(outcome.selection !== undefined && { selection: outcome.selection }),
    ...(scoring && { scoring }),
    ...(retried.size > 0 && { retried: [...retried] }),
    seed: outcome.seed,
    shard: outcome.shard,
    ...(shardRecord && { shardRecord }),
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    verdict: runVerdict(tally(scored), strict),
    partial: partialReasons.length > 0,
    ...(partialReasons.length > 0 && { partialReasons: [...partialReasons] }),
    strict,
    interrupted: outcome.interrupted,
    planned: outcome.planned,
    judged: results.length,
    requests: outcome.requests,
    ...(outcome.turnedAway !== undefined && { turnedAway: outcome.turnedAway }),
    ...(noted.length > 0 && { noted }),
    counts: tally(results),
    ...(preflight && { preflightFinding: preflight.fault }),
    advice: outcome.advice,
    diagnosis: words?.diagnosis(diagnosis) ?? diagnosis,
    baseline: baseline === null ? null : baselineOutcome(baseline, results, ids, new Date(outcome.startedAt)),
    notVerified: notVerifiedIn(outcome.plan, outcome.target.features),
    results: words?.results(results) ?? [...results],
  };
}

type Noted = NonNullable<ResultDocument['noted']>;

const SIZE = /^malformed\/size-(\d+)-kb$/;

/**
 * Returns facts about passed checks that an operator should know. The specification allows several answers to these
 * checks, and the answers have different consequences.
 */
export function notedIn(results: readonly ScenarioResult[]): Noted {
  const passed = results.filter(({ verdict }) => verdict === 'pass');
  const statusOf = ({ answered }: ScenarioResult) => answered?.status ?? 0;
  const sizes = passed.flatMap((result) => {
    const kilobytes = SIZE.exec(result.id)?.[1];
    return kilobytes === undefined ? [] : [{ result, kilobytes: Number(kilobytes) }];
  });
  const tooLarge = sizes.find(({ result }) => statusOf(result) >= 400);
  const largest = sizes.findLast(({ result }) => result.answered?.class === 'accepted');
  const notJson = passed.filter(({ id }) => NOT_JSON.has(id));
  const accepted = notJson.filter(({ answered }) => answered?.class === 'accepted');
  const noted: Noted[number][] = [];
  if (accepted.length > 0) {
    const text =
      `Answers ${[...new Set(accepted.map(statusOf))].join(' and ')} to signed bodies that are not JSON ` +
      `(${accepted.length} of ${notJson.length} kinds): the sender considers them delivered`;
    noted.push({ code: 'accepts-what-is-not-json', text, checks: accepted.map(({ id }) => id) });
  }
  if (tooLarge !== undefined) {
    const text =
      `Answers ${statusOf(tooLarge.result)} to valid notifications above about ` +
      `${largest?.kilobytes ?? 0} kB: one of ${tooLarge.kilobytes} kB is rejected`;
    noted.push({ code: 'limits-size', text, checks: [tooLarge.result.id] });
  }
  return noted;
}

/**
 * Combines the diagnosis of the results with the findings of the run itself. Accepted forgeries come first, then the
 * findings of the run, then everything else.
 */
async function diagnosisOf({ results, outages, preflight, causes, stack, target, partialReasons }: RunOutcome) {
  const common = { stack, features: target.features, partial: partialReasons.length > 0 };
  const failures = results.filter(({ verdict }) => verdict === 'fail');
  const idsOf = (some: readonly ScenarioResult[]) => some.map(({ id }) => id);
  const own: Diagnosis[] = [];
  let rest = results;
  const red = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  for (const { finding, checks } of causes) {
    const explained = red.filter(({ id }) => checks.includes(id));
    // Results without a verdict may still reveal the stack.
    const shown = [...explained, ...results.filter(({ verdict }) => verdict === 'inconclusive')];
    const [one] = await diagnose({ ...common, results: shown, outages: [], preflight: finding });
    const counted = { evidence: idsOf(explained), agreement: explained.length, outcomes: explained.length };
    if (one !== undefined) own.push({ ...one, ...counted });
    rest = rest.filter((result) => !explained.includes(result));
  }
  const found = (await diagnose({ ...common, results: rest, outages, preflight })).map((one) =>
    EXPLAIN_FORGERIES.has(one.fault) ? { ...one, evidence: idsOf(failures) } : one,
  );
  if (own.length === 0) return found;
  const forged = new Set(idsOf(failures.filter(({ decidedBy }) => decidedBy === 'forgery-accepted')));
  const isGraver = ({ evidence }: Diagnosis) => evidence.some((id) => forged.has(id));
  const all = [...found.filter(isGraver), ...own, ...found.filter((one) => !isGraver(one))];
  return all.map((one, at): Diagnosis => ({ ...one, relation: at === 0 ? 'main' : 'also' }));
}

/**
 * Determines the evidence level of a run. A source of evidence counts only if at least one scored check that uses it
 * has a verdict, even if the source was configured.
 */
export function evidenceIn(
  plan: readonly PlannedScenario[],
  results: readonly ScenarioResult[],
  features: readonly Feature[],
  scoring?: ResultDocument['scoring'],
): NonNullable<ResultDocument['evidence']> {
  const verdicts = new Map(
    results.filter((result) => isScored({ scoring }, result)).map(({ id, verdict }) => [id, verdict]),
  );
  const sources = features.filter(isEvidenceSource).map((source) => {
    // A check that needs several sources counts for the last of them: after a restart, the effects show what was kept.
    const members = plan.filter(
      ({ scenario }) => EVIDENCE_SOURCES.findLast((one) => scenario.needs?.includes(one)) === source,
    );
    const found = members.flatMap(({ scenario: { id } }) => verdicts.get(id) ?? []);
    const applicable = found.filter((verdict) => verdict !== 'not-applicable');
    return { source, checks: applicable.length, judged: applicable.filter((verdict) => JUDGED.has(verdict)).length };
  });
  const level = evidenceLevel(sources.flatMap(({ source, judged }) => (judged > 0 ? source : [])));
  const noun = scoring === undefined ? 'check' : 'scored check';
  const open = sources.flatMap(({ source, checks, judged }) => {
    if (judged === 0) return `no ${noun} of ${source} has a verdict`;
    return judged < checks ? `${checks - judged} of ${checks} ${noun}s of ${source} without a verdict` : [];
  });
  return { level, statement: [evidenceStatement(level), ...open].join('; ') };
}

const JUDGED: ReadonlySet<ScenarioResult['verdict']> = new Set(['pass', 'warn', 'fail']);

const NOT_ROTATED =
  'Without a next secret, a run does not rotate the secret: give `--next-secret-file FILE` and ' +
  '`--rotate-command COMMAND`.';

/** Lists the requirements that a run did not verify. Tests pass other suites and requirements. */
export function notVerifiedIn(
  plan: readonly PlannedScenario[],
  features: readonly Feature[],
  suites: readonly Suite[] = CATALOGUE,
  requirements: readonly Requirement[] = REQUIREMENTS,
): ResultDocument['notVerified'] {
  const scenarios = suites.flatMap((suite) => suite.scenarios);
  const untested = requirements.flatMap((entry): ResultDocument['notVerified'] => {
    const { id, subject, text, untested: reason } = entry;
    if (subject !== 'receiver') return [];
    if (reason !== undefined) return [{ requirement: id, text, reason }];
    const verifying = scenarios.filter((scenario) => (scenario.requirements as readonly string[]).includes(id));
    const isOfRotation = verifying.length > 0 && verifying.every(({ needs }) => needs?.includes('rotation'));
    if (isOfRotation && features.includes('hmac') && !features.includes('rotation')) {
      return [{ requirement: id, text, reason: NOT_ROTATED }];
    }
    const sources = missingSources(verifying, features);
    if (sources === null) return [];
    const level = levelWith(sources);
    return [
      {
        requirement: id,
        text,
        reason: `The answers do not show it. Verifiable at evidence level ${level}: give ${configureSources(sources)}.`,
        verifiable: { level, sources },
      },
    ];
  });
  const missing = missingFixtures(plan, features).map((name) => ({
    requirement: 'mtls-verified',
    text: `${requirement('mtls-verified')?.text ?? ''} (${name})`,
    reason:
      'Only the CA of the client certificate can issue such a certificate. To include this check, add one as ' +
      '`mtls.fixtures` to the configuration file.',
  }));
  return [...untested, ...missing];
}

/**
 * Returns the smallest set of missing sources of evidence that would verify a requirement. Null if one of its scenarios
 * needs no further source, or if none of them would apply even with all sources.
 */
function missingSources(scenarios: readonly Scenario[], features: readonly Feature[]): EvidenceSource[] | null {
  const lacking = scenarios
    .filter(({ needs = [] }) => needs.every((need) => isEvidenceSource(need) || features.includes(need)))
    .map(({ needs = [] }) => needs.filter(isEvidenceSource).filter((source) => !features.includes(source)))
    .toSorted((one, other) => levelWith(one) - levelWith(other) || one.length - other.length);
  const [fewest] = lacking;
  return fewest === undefined || fewest.length === 0 ? null : fewest;
}

const FIXTURE = 'fixture-';

const isFixture = (feature: Feature) => feature.startsWith(FIXTURE);

/** Returns the names of the faulty client certificates that scenarios need and the partner did not supply. */
function missingFixtures(plan: readonly PlannedScenario[], features: readonly Feature[]): string[] {
  const missing = plan.flatMap(({ scenario: { needs = [] } }) =>
    needs.every((need) => isFixture(need) || features.includes(need))
      ? needs.filter((need) => isFixture(need) && !features.includes(need))
      : [],
  );
  return [...new Set(missing)].map((feature) => feature.slice(FIXTURE.length));
}
