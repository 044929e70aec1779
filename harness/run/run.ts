/** A run: plan, TLS, gate, deliveries, observations, result document. */

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import type { Stack } from '../../contract/index.ts';
import { CATALOGUE, catalogueDigest } from '../../scenarios/index.ts';
import { diagnose, type Finding } from '../diagnose/index.ts';
import { type Baseline, baselineOutcome, knownIn } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import type { ClientFixtures } from '../probe/index.ts';
import type { PartialReason, ResultDocument, RunListener, ScenarioResult } from '../report/result-document.ts';
import { runVerdict, tally } from '../report/verdict.ts';
import { type AddressPolicy, LOCAL_TOO, type Pin, pinEndpoint, type Resolve } from '../transport/index.ts';
import { version } from '../version.ts';
import { createContext, DEFAULT_LIMITS, type RunLimits, runBoundMs } from './context.ts';
import { runQueue } from './deliveries.ts';
import { createLane } from './lanes.ts';
import { notVerifiedIn } from './not-verified.ts';
import { featuresOf, isReadableOnTheWay, planScenarios, type Selection } from './plan.ts';
import { diagnoseGate, GATE_SCENARIO, gateReason, gateTrial, openGate } from './preflight.ts';
import { notApplicable, resultOfObservation, resultOfTrial, withoutVerdict } from './results.ts';
import { describeTls, inspectWhenNeeded, isOfTls, judgeTls, unspokenVersion } from './tls-checks.ts';
import { isObservation, isSending, type Trial } from './trial.ts';

/** What a run has to know of a revision of the catalogue. */
export interface ScoringRevision {
  readonly number: number;
  /** SHA-256 of its file, in hex. */
  readonly digest: string;
  readonly scored: ReadonlySet<string>;
}

export interface RunOptions {
  readonly partner: Partner;
  /** Which addresses the endpoint may have: by default any that can be one, also of this machine and of private networks. */
  readonly addresses?: AddressPolicy;
  /** Finds them in place of the system's resolver. */
  readonly resolve?: Resolve;
  /** Client certificates that are wrong in a way that only the partner's authority can make. */
  readonly clientFixtures?: ClientFixtures;
  readonly selection?: Partial<Selection>;
  readonly limits?: Partial<RunLimits>;
  readonly profile?: ResultDocument['profile'];
  /** The revision of the catalogue that says which scenarios are scored. Absent or null: all are. */
  readonly revision?: ScoringRevision | null;
  /** Repeats the values of an earlier run. A new one is drawn when it is absent. */
  readonly seed?: string;
  /** Warnings fail. */
  readonly strict?: boolean;
  /** Stops after the first failure; what is left is inconclusive. */
  readonly bail?: boolean;
  /** Failures that are known: they are told, and do not stop the run. */
  readonly baseline?: Baseline | null;
  /** The stack that fixes are told for; guessed from the answers when it is absent. */
  readonly stack?: Stack | null;
  /** Keeps the exchanges of passes too. */
  readonly evidence?: boolean;
  /** What the configuration had to say; stands in the document. */
  readonly advice?: readonly string[];
  readonly listener?: RunListener;
  /** Interrupts: what was judged stands, the rest is inconclusive, and the document says so. */
  readonly signal?: AbortSignal;
  readonly onSignature?: (signature: string) => void;
}

const CATALOGUE_IDS = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));

/**
 * Runs the selected scenarios against an endpoint and gives the result document. Every planned scenario is judged. Nothing about
 * the endpoint makes it reject; {@link HookproofError} is thrown for a selection that names or matches nothing, and with the code
 * ENDPOINT_ADDRESS_REFUSED for an endpoint whose address is not allowed. The address is looked up once, and is the same for the whole run.
 * The run ends within {@link runBoundMs}.
 */
export async function run(options: RunOptions): Promise<ResultDocument> {
  const { listener = () => {}, signal = new AbortController().signal, strict = false } = options;
  const { clientFixtures = {}, baseline = null, revision = null } = options;
  const counts = ({ id }: Pick<ScenarioResult, 'id'>) => revision?.scored.has(id) !== false;
  const features = featuresOf(options.partner, clientFixtures);
  const selection: Selection = { suites: [], scenarios: [], greps: [], shard: null, ...options.selection };
  const plan = planScenarios({ features, readableOnTheWay: isReadableOnTheWay(options.partner) }, selection);
  const seed = options.seed ?? randomBytes(6).toString('hex');
  const started = performance.now();
  const now = new Date();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const applicable = plan.filter(({ obstacle }) => obstacle === null);
  const late = new AbortController();
  const boundMs = runBoundMs(limits, applicable.length);
  const limit = setTimeout(() => late.abort(), boundMs);
  limit.unref();
  const ends = AbortSignal.any([signal, late.signal]);
  setMaxListeners(0, ends);
  listener({ type: 'run-started', url: options.partner.url, seed, planned: plan.length, startedAt: now.toISOString() });
  const { addresses: policy = LOCAL_TOO, resolve } = options;
  const pinning = { policy, resolve, timeoutMs: limits.timeoutMs, signal: ends };
  const pin = await pinEndpoint(options.partner.url, pinning).catch((error: unknown) => {
    clearTimeout(limit);
    throw error;
  });
  const partner = { ...options.partner, lookup: pin.lookup };
  const context = createContext({
    partner,
    seed,
    now,
    limits,
    emit: listener,
    signal: ends,
    onSignature: options.onSignature ?? (() => {}),
  });

  const results = new Map<string, ScenarioResult>();
  let bailed = false;
  const report = (given: ScenarioResult) => {
    const result = { ...given, known: knownIn(baseline, given, now) };
    results.set(result.id, result);
    listener({ type: 'scenario-finished', judged: results.size, planned: plan.length, result });
    if (options.bail === true && result.verdict === 'fail' && result.known === null && counts(result)) {
      bailed ||= context.stopped === null;
      context.stopped ??= `stopped after the first failure (${result.id})`;
    }
  };
  const settle = (trial: Trial) => report(resultOfTrial(context, trial, options.evidence === true));

  for (const planned of plan) if (planned.obstacle !== null) report(notApplicable(planned));
  const observing = applicable.filter(({ scenario }) => isObservation(scenario));
  let sending = applicable.filter(isSending);
  const lanes = Array.from({ length: limits.concurrency }, () => createLane(partner, limits, () => context.identities));
  const onAbort = () => {
    for (const lane of lanes) lane.close();
  };
  ends.addEventListener('abort', onAbort, { once: true });
  let gateFinding: Finding | null = null;
  let gateOpen: boolean | null = null;
  const inspection = await inspectWhenNeeded(context, applicable, clientFixtures);

  try {
    if (inspection !== null) {
      for (const planned of applicable) {
        const obstacle = unspokenVersion(planned, inspection);
        if (obstacle !== null) report(notApplicable({ ...planned, obstacle }));
      }
      const isLeft = ({ scenario }: (typeof plan)[number]) => !results.has(scenario.id);
      await judgeTls(context, applicable.filter(isOfTls).filter(isLeft), inspection, report);
      sending = sending.filter(isLeft);
    }
    const [firstLane] = lanes;
    const delivers = sending.length + observing.length > 0;
    if (firstLane !== undefined && delivers && context.stopped === null && !ends.aborted) {
      const gate = await openGate(context, firstLane);
      gateOpen = gate.open;
      if (gate.open) {
        await runQueue(context, lanes, firstLane, sending, settle);
        if (!ends.aborted) for (const planned of observing) report(resultOfObservation(context, planned));
      } else if (!ends.aborted) {
        gateFinding = await diagnoseGate(context, firstLane, gate, inspection);
        context.stopped = gateReason(gate, gateFinding);
        const own = sending.find(({ scenario }) => scenario.id === GATE_SCENARIO);
        if (own !== undefined) settle(gateTrial(own, gate));
      }
    }
  } finally {
    clearTimeout(limit);
    ends.removeEventListener('abort', onAbort);
    for (const lane of lanes) lane.close();
  }

  const tooLate = `the run reached its time limit of ${Math.round(boundMs / 1000)} s`;
  const reason = signal.aborted
    ? 'the run was interrupted'
    : (context.stopped ?? (late.signal.aborted ? tooLate : 'not run'));
  const isCutOff = results.size < plan.length;
  const partialReasons: PartialReason[] = [];
  if (selection.shard !== null) partialReasons.push('shard');
  else if (plan.length < CATALOGUE_IDS.length) partialReasons.push('selection');
  if (signal.aborted) partialReasons.push('interruption');
  else if (isCutOff && bailed) partialReasons.push('bail');
  else if (isCutOff && context.stopped === null && late.signal.aborted) partialReasons.push('time-limit');
  for (const planned of plan) if (!results.has(planned.scenario.id)) report(withoutVerdict(planned, reason));
  const ordered = plan.flatMap(({ scenario }) => results.get(scenario.id) ?? []);
  const { failedControls, outages } = context.seen;
  const again = failedControls.filter((control) => control.again).map(({ scenario }) => scenario);
  const retried = new Set([...context.retried, ...again]);
  const diagnosis = await diagnose({ results: ordered, outages, gate: gateFinding, stack: options.stack ?? null });
  const document: ResultDocument = {
    schemaVersion: 1,
    tool: { name: 'hookproof', version },
    catalogue: { digest: catalogueDigest(), scenarios: CATALOGUE_IDS.length },
    target: { url: partner.url, features, tls: inspection === null ? null : describeTls(inspection) },
    profile: options.profile ?? null,
    ...(revision !== null && { scoring: scoringOf(revision, ordered) }),
    ...(retried.size > 0 && { retried: [...retried] }),
    seed,
    shard: selection.shard,
    ...(selection.shard !== null && {
      shardRecord: {
        gate: gateOpen === null ? null : { open: gateOpen, finding: plainFinding(gateFinding) },
        stackGiven: options.stack ?? null,
        entries: baseline === null ? null : baseline.entries.map((entry) => ({ ...entry })),
        seen: seenIn(context),
      },
    }),
    startedAt: now.toISOString(),
    durationMs: performance.now() - started,
    verdict: runVerdict(tally(ordered.filter(counts)), strict),
    partial: partialReasons.length > 0,
    ...(partialReasons.length > 0 && { partialReasons }),
    strict,
    interrupted: signal.aborted,
    planned: plan.length,
    judged: ordered.length,
    requests: context.requests,
    counts: tally(ordered),
    advice: [...(options.advice ?? []), ...aboutAddresses(pin)],
    diagnosis,
    baseline: baseline === null ? null : baselineOutcome(baseline, ordered, CATALOGUE_IDS, now),
    notVerified: notVerifiedIn(plan),
    results: ordered,
  };
  listener({ type: 'run-finished', document });
  return document;
}

function plainFinding(finding: Finding | null): Finding | null {
  if (finding === null) return null;
  const { fault, title, why, fix } = finding;
  return { fault, title, why, fix };
}

function seenIn({ seen }: ReturnType<typeof createContext>) {
  return {
    answerTimesMs: [...seen.answerTimesMs],
    leaks: seen.leaks.map(({ leak, scenario }) => ({ leak, scenario })),
    outages: seen.outages.map((one) => ({ ...one, inFlight: [...one.inFlight] })),
    failedControls: seen.failedControls.map((one) => ({ ...one })),
  };
}

function scoringOf({ number, digest, scored }: ScoringRevision, results: readonly ScenarioResult[]) {
  return { revision: number, digest, notScored: results.map(({ id }) => id).filter((id) => !scored.has(id)) };
}

function aboutAddresses({ host, address, refused }: Pin): string[] {
  if (refused.length === 0) return [];
  return [
    `${host} also has addresses that are not delivered to (${refused.slice(0, 3).join(', ')}); the run went to ${address}.`,
  ];
}
