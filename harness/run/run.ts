/** A run in its phases: TLS, preflight, deliveries, observations, result document. */

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { HookproofError, type Stack } from '../../contract/index.ts';
import { maskUrl } from '../../contract/masked-url.ts';
import { catalogueDigest, findScenario } from '../../scenarios/index.ts';
import { type Finding, limitsDeliveries } from '../diagnose/index.ts';
import { type EffectsTracker, openWindow, type SourceOptions, trackEffects, WindowProblem } from '../effects/index.ts';
import { type Baseline, type EffectEvidence, knownIn, PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import { watchLogs } from '../log/index.ts';
import type { Partner } from '../partner.ts';
import type { ClientFixtures, TlsInspection } from '../probe/index.ts';
import type { PartialReason, ResultDocument, RunListener, ScenarioResult } from '../report/result-document.ts';
import { type AddressPolicy, LOCAL_TOO, type Pin, pinEndpoint, type Resolve } from '../transport/index.ts';
import { version } from '../version.ts';
import { createContext, DEFAULT_LIMITS, type RunContext, type RunLimits, runBoundMs } from './context.ts';
import { runDeliveries } from './deliveries.ts';
import { CATALOGUE_IDS, documentOf } from './document.ts';
import { examineSlowAnswer } from './examine-refusal.ts';
import { headerNamesOf, lackOfIds } from './kit.ts';
import { createLane, createLanePool, type LanePool } from './lane.ts';
import {
  isInDoubt,
  isTelling,
  learnDialect,
  learningPlans,
  MIN_LEARNT_TO_SHARE,
  recordRejections,
} from './learn-dialect.ts';
import { type OtherControl, sendsRejectedField, sendsRejectedKind } from './other-control.ts';
import {
  isObservation,
  isSending,
  type PlannedScenario,
  planScenarios,
  type Selection,
  type SendingPlan,
  targetOf,
} from './plan.ts';
import {
  diagnosePreflight,
  type Preflight,
  runPreflight,
  stopAfterPreflight,
  trialOf,
  trialOfPreflight,
} from './preflight.ts';
import { runRestartCommand } from './restart.ts';
import {
  hasExpectedAnswers,
  notApplicable,
  resultOfEffects,
  resultOfObservation,
  resultOfTrial,
  withoutVerdict,
} from './results.ts';
import type { SentDelivery } from './send.ts';
import { describeTls, inspectWhenNeeded, isTlsCheck, runTlsChecks, unsupportedVersion } from './tls-checks.ts';
import { isRestarting, reusableControl, type Trial } from './trial.ts';

/** The part of a revision of the catalogue that a run needs. */
export interface ScoringRevision {
  readonly number: number;
  /** SHA-256 of its file, in hex. */
  readonly digest: string;
  readonly scored: ReadonlySet<string>;
}

export interface RunOptions {
  readonly partner: Partner;
  /** Which addresses the endpoint may have. Default: any, including this machine and private networks. */
  readonly addresses?: AddressPolicy;
  /** Resolves the host name instead of the system's resolver. */
  readonly resolve?: Resolve;
  /** Faulty client certificates that only the partner's CA can issue. */
  readonly clientFixtures?: ClientFixtures;
  readonly selection?: Partial<Selection>;
  readonly limits?: Partial<RunLimits>;
  readonly profile?: ResultDocument['profile'];
  /** The revision of the catalogue that defines which scenarios are scored. Absent or null: all. */
  readonly revision?: ScoringRevision | null;
  /** Repeats the values of an earlier run. Random when absent. */
  readonly seed?: string;
  /** Warnings fail. */
  readonly strict?: boolean;
  /** Stops after the first failure; the remaining checks are inconclusive. */
  readonly bail?: boolean;
  /** Known failures: they are reported and do not stop the run. */
  readonly baseline?: Baseline | null;
  /** The stack that fixes are written for; guessed from the answers when absent. */
  readonly stack?: Stack | null;
  /** Keeps the exchanges of passed checks too. */
  readonly evidence?: boolean;
  /** Flags of the command line, quoted for a shell, that commands of the report repeat: no value of a credential. */
  readonly flags?: string;
  /** Advice about the configuration, for the document. */
  readonly advice?: readonly string[];
  readonly listener?: RunListener;
  /** Interrupts the run: finished results stay, the rest is inconclusive, and the document is marked. */
  readonly signal?: AbortSignal;
  readonly onSignature?: (signature: string) => void;
  /** What shows more than the answers. A shard has none of it. */
  readonly evidenceSources?: SourceOptions;
}

/**
 * Runs the selected scenarios against an endpoint. Every planned scenario gets a result. The endpoint's host name is
 * resolved once, and all connections go to that address. The run ends within {@link runBoundMs}.
 *
 * @returns the result document, whatever the endpoint does
 * @throws HookproofError for a selection that names or matches nothing, and ENDPOINT_ADDRESS_REFUSED for an address
 * that is not allowed
 */
export async function run(options: RunOptions): Promise<ResultDocument> {
  const { clientFixtures = {}, listener = () => {}, onSignature = () => {}, signal } = options;
  const target = targetOf(options.partner, clientFixtures, options.evidenceSources);
  const plan = [...planScenarios(target, options.selection)];
  const applicable = plan.filter(({ obstacle }) => obstacle === null);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const seed = options.seed ?? randomBytes(6).toString('hex');
  const started = performance.now();
  const now = new Date();
  const deadline = startDeadline(signal, runBoundMs(limits, applicable.length));
  listener({
    type: 'run-started',
    url: maskUrl(options.partner.url),
    seed,
    planned: plan.length,
    startedAt: now.toISOString(),
  });
  let context: RunContext | undefined;
  try {
    const { addresses: policy = LOCAL_TOO, resolve } = options;
    const pinning = { policy, resolve, timeoutMs: limits.timeoutMs, signal: deadline.signal };
    const pin = await pinEndpoint(options.partner.url, pinning);
    const partner = { ...options.partner, lookup: pin.lookup };
    context = createContext({
      partner,
      seed,
      flags: options.flags ?? '',
      now,
      limits,
      emit: listener,
      signal: deadline.signal,
      onSignature,
    });
    await openSources(context, options, applicable);
    const state = createState(context, plan, options);
    const inspection = await inspectWhenNeeded(context, applicable, clientFixtures);
    if (inspection !== null) await tlsPhase(state, inspection);
    const preflight = await deliveryPhases(state, inspection);

    const isCutOff = state.results.size < plan.length;
    reportUndecided(state, deadline);
    const results = plan.flatMap(({ scenario }) => state.results.get(scenario.id) ?? []);
    const document = await documentOf({
      tool: { name: 'hookproof', version },
      digest: catalogueDigest(),
      target: {
        url: maskUrl(partner.url),
        features: target.features,
        tls: inspection === null ? null : describeTls(inspection),
      },
      profile: options.profile ?? null,
      ...(context.flags !== '' && { flags: context.flags }),
      scoring: scoringOf(options.revision, results),
      retried: retriedIn(context),
      seed,
      shard: options.selection?.shard ?? null,
      ...shardRecordOf(state, preflight),
      startedAt: now.toISOString(),
      durationMs: performance.now() - started,
      partialReasons: partialReasonsOf(state, deadline, isCutOff),
      strict: options.strict ?? false,
      interrupted: deadline.isInterrupted(),
      planned: plan.length,
      requests: context.requests,
      advice: [...(options.advice ?? []), ...adviceAboutAddresses(pin)],
      plan,
      results,
      outages: context.seen.outages,
      preflight: preflight?.open === false ? preflight.finding : null,
      causes: context.causes,
      stack: options.stack ?? null,
      baseline: options.baseline ?? null,
    });
    listener({ type: 'run-finished', document });
    return document;
  } finally {
    context?.effects?.close();
    await context?.log?.finish();
    deadline.clear();
  }
}

/**
 * Opens the sources of evidence that a planned check needs.
 *
 * @throws HookproofError when the effects window does not answer
 */
async function openSources(
  context: RunContext,
  { addresses: policy = LOCAL_TOO, resolve, evidenceSources = {} }: RunOptions,
  applicable: readonly PlannedScenario[],
): Promise<void> {
  const { effects, restartCommand, commandVariables: variables, restart, logs = [] } = evidenceSources;
  const { signal, limits } = context;
  if (effects !== undefined && applicable.some(({ scenario }) => scenario.needs?.includes('effects'))) {
    const window = await openWindow(
      { ...effects, variables },
      { policy, resolve, timeoutMs: limits.timeoutMs, signal },
    );
    context.effects = await trackEffects(window, { deadlineMs: effects.deadlineMs, signal }).catch((cause: unknown) => {
      window.close();
      if (!(cause instanceof WindowProblem)) throw cause;
      throw new HookproofError('EFFECTS_WINDOW', `${cause.message}; nothing was sent`, { hint: cause.hint, cause });
    });
  }
  if (logs.length > 0 && applicable.some(({ scenario }) => scenario.needs?.includes('log'))) {
    const { signing, apiKey, tls } = context.partner;
    const names = headerNamesOf(context.partner);
    const credentials = {
      secret: signing?.secret,
      apiKey: apiKey?.value,
      clientKey: tls?.clientKey,
      signatureHeader: names.signature,
      apiKeyHeader: names.apiKey,
    };
    context.log = await watchLogs(logs, credentials, { signal });
  }
  if (restartCommand !== undefined)
    context.restart = () => runRestartCommand({ command: restartCommand, variables }, limits, signal);
  else if (restart !== undefined) context.restart = restart;
}

/** Ends the run on interruption and at its time limit. */
interface Deadline {
  readonly signal: AbortSignal;
  readonly boundMs: number;
  isInterrupted(): boolean;
  isOver(): boolean;
  clear(): void;
}

function startDeadline(interruption: AbortSignal | undefined, boundMs: number): Deadline {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), boundMs);
  timer.unref();
  const signal = AbortSignal.any([...(interruption === undefined ? [] : [interruption]), late.signal]);
  setMaxListeners(0, signal);
  return {
    signal,
    boundMs,
    isInterrupted: () => interruption?.aborted === true,
    isOver: () => late.signal.aborted,
    clear: () => clearTimeout(timer),
  };
}

/** The results so far. */
interface RunState {
  readonly context: RunContext;
  /** Grows when a status turns out to be wrong that no selected check reports. */
  readonly plan: PlannedScenario[];
  readonly options: RunOptions;
  readonly results: Map<string, ScenarioResult>;
  report(result: ScenarioResult): void;
  /** The planned scenarios that apply and have no result. */
  open(): PlannedScenario[];
}

function createState(context: RunContext, plan: PlannedScenario[], options: RunOptions): RunState {
  const { baseline = null, revision = null } = options;
  const results = new Map<string, ScenarioResult>();
  const report = (given: ScenarioResult) => {
    const result = { ...given, known: knownIn(baseline, given, context.now) };
    results.set(result.id, result);
    context.emit({ type: 'scenario-finished', finished: results.size, planned: plan.length, result });
    const isFailure = result.verdict === 'fail' && result.known === null && revision?.scored.has(result.id) !== false;
    if (options.bail === true && isFailure) {
      context.stopped ??= { code: 'bail', reason: `stopped after the first failure (${result.id})` };
    }
  };
  for (const planned of plan) if (planned.obstacle !== null) report(notApplicable(planned));
  return {
    context,
    plan,
    options,
    results,
    report,
    open: () => plan.filter(({ scenario }) => !results.has(scenario.id)),
  };
}

async function tlsPhase({ context, open, report }: RunState, inspection: TlsInspection): Promise<void> {
  for (const planned of open()) {
    const obstacle = unsupportedVersion(planned, inspection);
    if (obstacle !== null) report(notApplicable({ ...planned, obstacle }));
  }
  await runTlsChecks(context, open().filter(isTlsCheck), inspection, report);
}

interface PreflightResult {
  readonly open: boolean;
  readonly finding: Finding | null;
}

/** Preflight, deliveries and observations. Null when nothing was to be sent. */
async function deliveryPhases(state: RunState, inspection: TlsInspection | null): Promise<PreflightResult | null> {
  const { context, open } = state;
  const { signal, limits, partner } = context;
  const sends = open().some((planned) => isSending(planned) || isObservation(planned.scenario));
  if (!sends || context.stopped !== null || signal.aborted) return null;
  const lanes = createLanePool(() => createLane(partner, limits, () => context.identities));
  signal.addEventListener('abort', lanes.close, { once: true });
  try {
    return await deliver(state, lanes, inspection);
  } finally {
    signal.removeEventListener('abort', lanes.close);
    lanes.close();
  }
}

async function deliver(state: RunState, lanes: LanePool, inspection: TlsInspection | null): Promise<PreflightResult> {
  const { context, open, report } = state;
  const { signal } = context;
  for (const planned of open()) {
    const lack = lackOfIds(context.partner, planned.scenario);
    if (lack !== null) report(withoutVerdict(planned, 'samples-too-short', lack));
  }
  const preflight = await runPreflight(context, lanes.at(0));
  if (signal.aborted) return { open: preflight.passed, finding: null };
  const { finding, other, forgeries } = preflight.passed
    ? await examineSlowAnswer(context, lanes, preflight.delivery)
    : await diagnosePreflight(context, lanes.at(0), preflight, inspection);
  if (signal.aborted) return { open: false, finding: null };
  if (other !== null) {
    reportFailure(state, PREFLIGHT_SCENARIO, (planned) => trialOfPreflight(planned, preflight));
    leaveOutRejected(state, other);
    await deliverAll(state, lanes, preflight, other.delivery);
    return { open: true, finding: context.causes[0]?.finding ?? null };
  }
  if (preflight.passed && finding === null) {
    await deliverAll(state, lanes, preflight);
    return { open: true, finding: context.causes[0]?.finding ?? null };
  }
  context.stopped = stopAfterPreflight(preflight, finding);
  for (const { id, sent } of forgeries) reportFailure(state, id, (planned) => trialOf(planned, sent));
  const own = open().find(({ scenario }) => scenario.id === PREFLIGHT_SCENARIO);
  if (own !== undefined && isSending(own)) settle(state, trialOfPreflight(own, preflight));
  return { open: false, finding };
}

function settle({ context, report, options }: RunState, trial: Trial): void {
  recordRejections(context, trial);
  report(resultOfTrial(context, trial, options.evidence === true));
}

/** Checks that send what the endpoint rejects anyway: its answers to them would say nothing. */
function leaveOutRejected({ context, open, report }: RunState, { rejected, finding }: OtherControl): void {
  const reason = `${finding.title}, so this check was not sent`;
  const checks = [PREFLIGHT_SCENARIO];
  for (const planned of open()) {
    if (isSending(planned) && sendsRejectedKind(context, planned, rejected)) {
      report(withoutVerdict(planned, 'kind-rejected', reason));
    } else if (isSending(planned) && planned.suite === 'valid' && sendsRejectedField(context, planned, rejected)) {
      checks.push(planned.scenario.id);
    }
  }
  context.causes.push({ finding, checks });
}

/** Everything after an accepted delivery, which is the first control. */
async function deliverAll(
  state: RunState,
  lanes: LanePool,
  preflight: Preflight,
  opening = preflight.delivery,
): Promise<void> {
  const { context, open, report, options } = state;
  const onDecided = (planned: PlannedScenario, reason: string) =>
    report(withoutVerdict(planned, 'decided-early', reason));
  const sending = open().filter(isSending);
  const learnt: Trial[] = [];
  let before: SentDelivery | null = { ...opening, label: 'control before' };
  for (const group of learningPlans(context, open())) {
    for (const planned of group) {
      const handlers = { onSettled: (trial: Trial) => learnt.push(trial), onDecided };
      await runDeliveries(context, lanes, [planned], handlers, before);
      const last = learnt.at(-1);
      before = last === undefined ? null : reusableControl(last);
      if (last === undefined || isTelling(last)) break;
    }
  }
  learnDialect(context, opening.attempt, learnt);
  const settled = learnt.filter((trial) => !isInDoubt(trial));
  for (const trial of settled) {
    if (sending.includes(trial.planned)) settle(state, trial);
    else recordRejections(context, trial);
  }
  context.pace.startConcurrency();
  context.sharesControls = learnt.length >= MIN_LEARNT_TO_SHARE;
  const rest = sending.filter((planned) => !settled.some((trial) => trial.planned === planned));
  const held: Trial[] = [];
  const onSettled = (trial: Trial) => {
    if (trial.restartFailed) return;
    if (trial.effects !== undefined && hasExpectedAnswers(context, trial)) held.push(trial);
    else settle(state, trial);
  };
  // A receiver that forgets everything when it restarts is asked before it does.
  for (const part of [rest.filter((one) => !isRestarting(one)), rest.filter(isRestarting)]) {
    if (part.length > 0) await runDeliveries(context, lanes, part, { onSettled, onDecided });
    else if (context.seen.effects !== undefined) continue;
    await judgeHeld(state, held.splice(0));
  }
  const { limited, stopped, causes } = context;
  if (stopped?.code === 'rate-limited' && limited !== null)
    causes.push({ finding: limitsDeliveries(limited), checks: [] });
  await readLogs(context, options);
  reportWrongStatuses(state, preflight);
  if (context.signal.aborted) return;
  for (const planned of open()) if (isObservation(planned.scenario)) report(resultOfObservation(context, planned));
}

/** A receiver that writes its log in batches gets this long after the last answer. In milliseconds. */
const LOG_PAUSE_MS = 300;

async function readLogs(context: RunContext, { evidenceSources }: RunOptions): Promise<void> {
  const { log, seen, signal } = context;
  if (log === null) return;
  // With effects, the run has waited for the receiver already.
  if (evidenceSources?.effects === undefined) await delay(LOG_PAUSE_MS, undefined, { signal }).catch(() => {});
  const { findings, files } = await log.finish();
  context.log = null;
  seen.log = findings;
  seen.logFiles = files;
}

/** Waits for the effects of these trials, and reports each; and what the window says of all other deliveries. */
async function judgeHeld({ context, report, options }: RunState, held: readonly Trial[]): Promise<void> {
  const { effects, seen, signal } = context;
  if (effects === null || signal.aborted) return;
  const isAfterRestart = held.some(({ planned }) => isRestarting(planned));
  const problem = await effects.settle({ isAfterRestart });
  seen.effects ??= effects.audit();
  for (const trial of held) {
    const evidence = problem === null ? await effectEvidenceOf(trial, effects, options) : problem;
    report(resultOfEffects(context, trial, evidence, options.evidence === true));
  }
}

async function effectEvidenceOf(
  { effects: awaited = [] }: Trial,
  effects: EffectsTracker,
  { evidenceSources }: RunOptions,
): Promise<readonly EffectEvidence[] | WindowProblem> {
  const deadlineMs = evidenceSources?.effects?.deadlineMs ?? 0;
  try {
    return await Promise.all(
      awaited.map(async ({ label, id, transaction, expect }) => ({
        label,
        expect,
        ...effects.effectsOf(id),
        deadlineMs,
        ...(expect.current !== undefined && transaction !== null && { current: await effects.currentOf(transaction) }),
      })),
    );
  } catch (error) {
    if (error instanceof WindowProblem) return error;
    throw error;
  }
}

/** Reports the failure of one delivery, whether or not its check is planned. */
function reportFailure(state: RunState, id: string, trialOfIt: (planned: SendingPlan) => Trial): void {
  const { context, options, open } = state;
  const planned = open().find(({ scenario }) => scenario.id === id);
  if (planned !== undefined && isSending(planned)) settle(state, trialOfIt(planned));
  addFailure(state, id, (added) =>
    isSending(added) ? resultOfTrial(context, trialOfIt(added), options.evidence === true) : notApplicable(added),
  );
}

/** A wrong status of all answers is reported even if its check was not selected. */
function reportWrongStatuses(state: RunState, preflight: Preflight): void {
  const { context, plan } = state;
  if (!plan.some(({ scenario }) => scenario.id === PREFLIGHT_SCENARIO)) {
    reportFailure(state, PREFLIGHT_SCENARIO, (planned) => trialOfPreflight(planned, preflight));
  }
  for (const id of Object.values(STATUS_SCENARIOS)) {
    addFailure(state, id, (planned) => resultOfObservation(context, planned));
  }
}

/** Reports a failure whose check was not selected: it concerns every delivery of the run. */
function addFailure(
  { plan, options, report }: RunState,
  id: string,
  judge: (planned: PlannedScenario) => ScenarioResult,
): void {
  const scenario = findScenario(id);
  if (options.selection?.shard != null || scenario === undefined) return;
  if (plan.some((planned) => planned.scenario.id === id)) return;
  const planned = { suite: id.split('/')[0] ?? '', scenario, obstacle: null };
  const result = judge(planned);
  if (result.verdict !== 'fail') return;
  plan.push(planned);
  report(result);
}

/** Reports the checks that the run did not get to, each with the reason. */
function reportUndecided({ context: { stopped }, open, report }: RunState, deadline: Deadline): void {
  const limit = `the run reached its time limit of ${Math.round(deadline.boundMs / 1000)} s`;
  const { code, reason } = deadline.isInterrupted()
    ? ({ code: 'interrupted', reason: 'the run was interrupted' } as const)
    : (stopped ??
      (deadline.isOver()
        ? ({ code: 'time-limit', reason: limit } as const)
        : ({ code: 'not-run', reason: 'not run' } as const)));
  for (const planned of open()) report(withoutVerdict(planned, code, reason));
}

function partialReasonsOf({ context: { stopped }, plan, options }: RunState, deadline: Deadline, isCutOff: boolean) {
  const reasons: PartialReason[] = [];
  if (options.selection?.shard != null) reasons.push('shard');
  else if (plan.length < CATALOGUE_IDS.length) reasons.push('selection');
  if (deadline.isInterrupted()) reasons.push('interruption');
  else if (isCutOff && stopped?.code === 'bail') reasons.push('bail');
  else if (isCutOff && stopped === null && deadline.isOver()) reasons.push('time-limit');
  return reasons;
}

function scoringOf(revision: RunOptions['revision'], results: readonly ScenarioResult[]): ResultDocument['scoring'] {
  if (revision == null) return undefined;
  const { number, digest, scored } = revision;
  return { revision: number, digest, notScored: results.map(({ id }) => id).filter((id) => !scored.has(id)) };
}

function retriedIn({ retried, seen }: RunContext): ReadonlySet<string> {
  return new Set([
    ...retried,
    ...seen.failedControls.filter(({ recovered }) => recovered).map(({ scenario }) => scenario),
  ]);
}

function shardRecordOf(
  { context: { seen }, options }: RunState,
  preflight: PreflightResult | null,
): Pick<ResultDocument, 'shardRecord'> {
  if (options.selection?.shard == null) return {};
  const shardRecord = {
    preflight: preflight === null ? null : { accepted: preflight.open, finding: preflight.finding },
    stackGiven: options.stack ?? null,
    entries: options.baseline?.entries.map((entry) => ({ ...entry })) ?? null,
    seen: {
      answerTimesMs: [...seen.answerTimesMs],
      leaks: seen.leaks.map(({ leak, scenario }) => ({ leak, scenario })),
      outages: seen.outages.map((one) => ({ ...one, inFlight: [...one.inFlight] })),
      failedControls: seen.failedControls.map((one) => ({ ...one })),
      rejections: seen.rejections.map((one) => ({ ...one })),
    },
  };
  return { shardRecord };
}

function adviceAboutAddresses({ host, address, refused }: Pin): string[] {
  if (refused.length === 0) return [];
  const shown = refused.slice(0, 3).join(', ');
  return [`${host} also has addresses that deliveries are not allowed to go to (${shown}); the run used ${address}.`];
}
