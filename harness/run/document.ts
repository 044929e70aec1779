/**
 * The result document of a run, whole, sharded or joined from shards: verdict, counts, diagnosis, and what was not
 * verified.
 */

import type { Stack } from '../../contract/index.ts';
import { CATALOGUE, type Feature, REQUIREMENTS, type RunObservations, requirement } from '../../scenarios/index.ts';
import { diagnose, type Finding } from '../diagnose/index.ts';
import { type Baseline, baselineOutcome } from '../judge/index.ts';
import type { PartialReason, ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { isScored, runVerdict, tally } from '../report/verdict.ts';
import type { PlannedScenario } from './plan.ts';

/** What a run or a set of shards has come to. Everything else in the document follows from it. */
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
    | 'advice'
  > {
  readonly digest: string;
  /** The revision of the catalogue, and the scenarios that it does not score. */
  readonly scoring: ResultDocument['scoring'];
  readonly flags?: ResultDocument['flags'];
  readonly shardRecord?: ResultDocument['shardRecord'];
  readonly retried: ReadonlySet<string>;
  readonly partialReasons: readonly PartialReason[];
  readonly plan: readonly PlannedScenario[];
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  /** Why the preflight failed; null when it passed. */
  readonly preflight: Finding | null;
  readonly stack: Stack | null;
  readonly baseline: Baseline | null;
}

export async function documentOf(outcome: RunOutcome): Promise<ResultDocument> {
  const { results, scoring, partialReasons, baseline, retried, shardRecord, strict } = outcome;
  const { outages, preflight, stack } = outcome;
  const scored = results.filter((result) => isScored({ scoring }, result));
  return {
    schemaVersion: 1,
    tool: outcome.tool,
    catalogue: { digest: outcome.digest, scenarios: CATALOGUE_IDS.length },
    target: outcome.target,
    profile: outcome.profile,
    ...(outcome.flags !== undefined && { flags: outcome.flags }),
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
    counts: tally(results),
    ...(preflight && { preflightFinding: preflight.fault }),
    advice: outcome.advice,
    diagnosis: await diagnose({
      results,
      outages,
      preflight,
      stack,
      features: outcome.target.features,
      partial: partialReasons.length > 0,
    }),
    baseline: baseline === null ? null : baselineOutcome(baseline, results, CATALOGUE_IDS, new Date(outcome.startedAt)),
    notVerified: notVerifiedIn(outcome.plan, outcome.target.features),
    results: [...results],
  };
}

export const CATALOGUE_IDS = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));

/** The requirements that no black-box test can verify, and those that this run could not for lack of certificates. */
function notVerifiedIn(plan: readonly PlannedScenario[], features: readonly Feature[]): ResultDocument['notVerified'] {
  const untested = REQUIREMENTS.flatMap((entry) =>
    entry.subject === 'receiver' && 'untested' in entry
      ? [{ requirement: entry.id, text: entry.text, reason: entry.untested }]
      : [],
  );
  const missing = missingFixtures(plan, features).map((name) => ({
    requirement: 'mtls-verified',
    text: `${requirement('mtls-verified')?.text ?? ''} (${name})`,
    reason:
      'Only the CA of the client certificate can issue such a certificate. To include this check, add one as ' +
      '`mtls.fixtures` to the configuration file.',
  }));
  return [...untested, ...missing];
}

const FIXTURE = 'fixture-';

const isFixture = (feature: Feature) => feature.startsWith(FIXTURE);

/** The client certificates that scenarios need and the partner did not supply. */
function missingFixtures(plan: readonly PlannedScenario[], features: readonly Feature[]): string[] {
  const missing = plan.flatMap(({ scenario: { needs = [] } }) =>
    needs.every((need) => isFixture(need) || features.includes(need))
      ? needs.filter((need) => isFixture(need) && !features.includes(need))
      : [],
  );
  return [...new Set(missing)].map((feature) => feature.slice(FIXTURE.length));
}
