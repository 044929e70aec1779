/** Collects the outcome of a run for its result document. */

import { performance } from 'node:perf_hooks';
import { maskUrl } from '../../contract/masked-url.ts';
import { catalogueDigest, catalogueIds, type Feature, SCHEME_SUITE } from '../../scenarios/index.ts';
import { type Finding, loggedIn, lossOf, repetitionOf } from '../diagnose/index.ts';
import type { PartialReason, ResultDocument, ScenarioResult } from '../report/result-document.ts';
import type { Pin } from '../transport/index.ts';
import { version } from '../version.ts';
import type { RunContext } from './context.ts';
import type { Deadline } from './deadline.ts';
import type { OpenedEndpoint } from './deliver-checks.ts';
import type { RunOutcome } from './document.ts';
import type { FindingWithChecks, RunFacts } from './facts.ts';
import type { RunOptions } from './run-options.ts';
import type { RunResults, Undecided } from './run-results.ts';
import { describeTls, type TlsPreparation } from './tls-checks.ts';

/** The results of the phases of a run. */
interface Ended {
  readonly context: RunContext;
  readonly deadline: Deadline;
  readonly features: readonly Feature[];
  readonly pin: Pin;
  readonly startedMs: number;
  readonly tls: TlsPreparation | null;
  readonly opened: OpenedEndpoint | null;
}

/** Reports the checks that have no result yet, and returns the outcome of the run. */
export function concludeRun(results: RunResults, options: RunOptions, ended: Ended): RunOutcome {
  const { context, deadline, opened, pin, tls } = ended;
  const { facts, flags } = context;
  const isCutOff = results.open().length > 0;
  results.reportUndecided(undecidedBecause(facts, deadline));
  const inOrder = results.inOrder();
  const { throttling, rotation, seen } = facts;
  const { scheme } = context.partner.signing ?? {};
  const { turnedAway } = throttling;
  return {
    tool: { name: 'hookproof', version },
    digest: catalogueDigest(scheme),
    ...(scheme !== undefined && { scheme }),
    target: {
      url: maskUrl(context.partner.url),
      ...(scheme !== undefined && { scheme: scheme.name }),
      features: [...ended.features],
      tls: tls === null ? null : describeTls(tls.inspection),
    },
    profile: options.profile ?? null,
    rotation: rotation?.rotation ?? null,
    ...(flags !== '' && { flags }),
    ...selectionOf(options),
    scoring: scoringOf(options.revision, inOrder, scheme !== undefined),
    retried: retriedIn(facts),
    seed: context.seed,
    shard: options.selection?.shard ?? null,
    ...shardRecordOf(facts, opened, options),
    startedAt: context.now.toISOString(),
    durationMs: performance.now() - ended.startedMs,
    partialReasons: partialReasonsOf(facts, results, options, deadline, isCutOff),
    strict: options.strict ?? false,
    interrupted: deadline.isInterrupted,
    planned: results.plan.length,
    requests: facts.requests,
    ...(turnedAway[429] + turnedAway[503] > 0 && { turnedAway }),
    advice: [...(options.advice ?? []), ...adviceAboutAddresses(pin), ...(rotation?.advice ?? [])],
    plan: results.plan,
    results: inOrder,
    outages: seen.outages,
    preflight: opened?.accepted === false ? opened.finding : null,
    causes: [...facts.causes, ...causesSeen(seen, inOrder)],
    stack: options.stack ?? null,
    baseline: options.baseline ?? null,
  };
}

function undecidedBecause({ stopped }: RunFacts, deadline: Deadline): Undecided {
  if (deadline.isInterrupted) return { code: 'interrupted', reason: 'the run was interrupted' };
  if (stopped !== null) return stopped;
  if (!deadline.isOver) return { code: 'not-run', reason: 'not run' };
  return { code: 'time-limit', reason: `the run reached its time limit of ${Math.round(deadline.boundMs / 1000)} s` };
}

function selectionOf({ selection = {} }: RunOptions): Pick<ResultDocument, 'selection'> {
  const { suites = [], scenarios = [], greps = [] } = selection;
  if (suites.length + scenarios.length + greps.length === 0) return {};
  return { selection: { suites: [...suites], scenarios: [...scenarios], greps: [...greps] } };
}

function partialReasonsOf(
  { stopped }: RunFacts,
  { plan }: RunResults,
  { selection, partner }: RunOptions,
  deadline: Deadline,
  isCutOff: boolean,
): PartialReason[] {
  const reasons: PartialReason[] = [];
  const inScheme = partner.signing?.scheme !== undefined;
  if (selection?.shard != null) reasons.push('shard');
  else if (plan.length < catalogueIds(inScheme).length) reasons.push('selection');
  if (deadline.isInterrupted) reasons.push('interruption');
  else if (isCutOff && stopped?.code === 'bail') reasons.push('bail');
  else if (isCutOff && stopped === null && deadline.isOver) reasons.push('time-limit');
  return reasons;
}

/** Returns the causes that the log and the effects window reveal, each with the checks that it explains. */
function causesSeen({ log, effects }: RunFacts['seen'], results: readonly ScenarioResult[]): FindingWithChecks[] {
  const logged = loggedIn(log ?? []);
  if (effects === undefined) return logged === null ? [] : [logged];
  const explaining = (outcome: string, finding: Finding | null) =>
    finding && { finding, checks: results.filter((one) => one.outcome === outcome).map(({ id }) => id) };
  const handlings = [explaining('not-handled', lossOf(effects)), explaining('handled-twice', repetitionOf(effects))];
  return [logged, ...handlings].filter((cause) => cause !== null);
}

/** Scores what the revision lists. In a scheme, every check about schemes is scored as well: no revision lists them. */
function scoringOf(
  revision: RunOptions['revision'],
  results: readonly ScenarioResult[],
  inScheme: boolean,
): ResultDocument['scoring'] {
  if (revision == null) return undefined;
  const { number, digest, scored } = revision;
  const isScored = ({ id, suite }: ScenarioResult) => scored.has(id) || (inScheme && suite === SCHEME_SUITE);
  return { revision: number, digest, notScored: results.flatMap((one) => (isScored(one) ? [] : one.id)) };
}

function retriedIn({ retried, seen }: RunFacts): ReadonlySet<string> {
  return new Set([
    ...retried,
    ...seen.failedControls.filter(({ recovered }) => recovered).map(({ scenario }) => scenario),
  ]);
}

function shardRecordOf(
  { seen, causes }: RunFacts,
  opened: OpenedEndpoint | null,
  options: RunOptions,
): Pick<ResultDocument, 'shardRecord'> {
  if (options.selection?.shard == null) return {};
  const shardRecord = {
    preflight: opened && {
      accepted: opened.accepted,
      finding: opened.accepted ? (causes[0]?.finding ?? null) : opened.finding,
    },
    stackGiven: options.stack ?? null,
    entries: options.baseline?.entries.map((entry) => ({ ...entry })) ?? null,
    seen: {
      answerTimesMs: [...seen.answerTimesMs],
      leaks: seen.leaks.map(({ leak, scenario }) => ({ leak, scenario })),
      outages: seen.outages.map(({ inFlight, recent = [], ...one }) => ({
        ...one,
        inFlight: [...inFlight],
        ...(recent.length > 0 && { recent: [...recent] }),
      })),
      failedControls: seen.failedControls.map((one) => ({ ...one })),
      rejections: seen.rejections.map((one) => ({ ...one })),
    },
  };
  return { shardRecord };
}

function adviceAboutAddresses({ host, address, refused }: Pin): string[] {
  if (refused.length === 0) return [];
  const shown = refused.slice(0, 3).join(', ');
  return [`${host} also has addresses to which no deliveries may go (${shown}); the run used ${address}.`];
}
