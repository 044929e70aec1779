/** A run: plan, gate, lanes, outages, observations, result document. */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { catalogueDigest, REQUIREMENTS } from '../../scenarios/index.ts';
import { explainGate, explainRefusal, explainRun, type Finding, type Gate } from '../diagnose/index.ts';
import { describeAttempt, isAccepted } from '../judge/index.ts';
import { type PlannedScenario, planScenarios, type Selection } from '../plan/plan.ts';
import type { Diagnosis, ResultDocument, ScenarioResult } from '../result/result-document.ts';
import type { RunListener } from '../result/run-event.ts';
import { runVerdict, tally } from '../result/tally.ts';
import type { Partner } from '../sender/index.ts';
import { version } from '../version.ts';
import { createContext, DEFAULT_LIMITS, type RunContext, type RunLimits } from './context.ts';
import { featuresOf, isReadableOnTheWay } from './features.ts';
import { createKit } from './kit.ts';
import { createLane, type Lane } from './lane.ts';
import { runLanes } from './lanes.ts';
import { settleOutage } from './outage.ts';
import { notApplicable, resultOfObservation, resultOfTrial, withoutVerdict } from './results.ts';
import { type Shipment, shipControl, shipProbe } from './shipment.ts';
import { isObservation, type SendingPlan, type Trial, tryScenario } from './trial.ts';

export interface RunOptions {
  readonly partner: Partner;
  readonly selection?: Partial<Selection>;
  readonly limits?: Partial<RunLimits>;
  readonly profile?: ResultDocument['profile'];
  /** Repeats the values of an earlier run. A new one is drawn when it is absent. */
  readonly seed?: string;
  /** Warnings fail. */
  readonly strict?: boolean;
  /** Stops after the first failure; what is left is inconclusive. */
  readonly bail?: boolean;
  /** Keeps the exchanges of passes too. */
  readonly evidence?: boolean;
  /** What the configuration had to say; stands in the document. */
  readonly advice?: readonly string[];
  readonly listener?: RunListener;
  /** Interrupts: what was judged stands, the rest is inconclusive, and the document says so. */
  readonly signal?: AbortSignal;
  readonly onSignature?: (signature: string) => void;
}

/** How much more patience the second delivery of the gate has: enough to tell "too late" from "never". */
const SECOND_LOOK = { timeout: 2, bodyCapBytes: 4 * 1024 * 1024 };

interface Opened extends Gate {
  readonly shipment: Shipment;
  readonly open: boolean;
}

/** The first delivery. Without an accepted one nothing else can be proved, so nothing else is sent. */
async function openGate(context: RunContext, lane: Lane): Promise<Opened> {
  const shipment = await shipControl(context, lane, 'the first delivery');
  const first = shipment.attempt;
  if (isAccepted(first) && first.answer?.truncated !== true) return { first, second: null, shipment, open: true };
  const timeoutMs = context.limits.timeoutMs * (first.error?.kind === 'timeout' ? SECOND_LOOK.timeout : 1);
  const again = await shipControl(context, lane, 'the first delivery again', {
    fresh: true,
    timeoutMs,
    bodyCapBytes: SECOND_LOOK.bodyCapBytes,
  });
  const second = again.attempt;
  // A long answer is odd but ends; an endless one is still going on after the second look.
  const open = isAccepted(second) && second.answer?.truncated !== true && first.error?.kind !== 'timeout';
  return { first, second, shipment: open ? again : shipment, open };
}

function gateReason({ first, second }: Opened, finding: Finding | null): string {
  const got = first.answer?.status === 200 && second !== null ? describeAttempt(second) : describeAttempt(first);
  return `the plain valid delivery was not accepted (${got})${finding === null ? '' : `: ${finding.title.toLowerCase().replace(/^the endpoint/, 'the endpoint')}`}`;
}

/** The diagnosis of a gate that stayed shut; wrong encodings are tried when the credentials were refused. */
async function diagnoseGate(context: RunContext, lane: Lane, gate: Opened): Promise<Finding | null> {
  const status = gate.first.answer?.status;
  if (status === 401 || status === 403 || status === 400) {
    const kit = createKit(context.partner, context.seed, 'diagnosis', context.now, context.onSignature);
    const send = async (change: Parameters<typeof shipProbe>[2]['change']) => {
      const authentic = change.sign === undefined;
      const expect = { text: 'any', authentic, pass: [] };
      return (await shipProbe(context, lane, { label: 'diagnosis', change, expect }, kit)).attempt;
    };
    const found = await explainRefusal(context.partner, send, () => context.signal.aborted);
    if (found !== null) return found;
  }
  return explainGate(gate, context.partner.signing !== undefined || context.partner.apiKey !== undefined);
}

function asDiagnosis({ fault, title, why, fix }: Finding): Diagnosis {
  return { fault, title, agreement: 1, outcomes: 1, why, fix };
}

/** The first scenario is the gate's own: its failure is what the report has to say about an endpoint that accepts nothing. */
function gateTrial(planned: SendingPlan, gate: Opened): Trial {
  const { shipment } = gate;
  const endless = gate.first.answer?.status === 200 && gate.second !== null;
  const attempt = endless ? { ...gate.first, answer: null, error: ENDLESS_ANSWER } : gate.first;
  const expect = 'expect' in planned.scenario ? planned.scenario.expect : { text: '200', authentic: true, pass: [200] };
  const accepted = {
    ...gate.first,
    error: null,
    answer: { status: 200, headers: [], body: new Uint8Array(), truncated: false },
  };
  const probe = { label: 'the first delivery', expect, attempt, leaks: shipment.leaks, probeFault: shipment.fault };
  return {
    planned,
    shipments: [{ ...shipment, role: 'probe' }],
    // Nothing can stand before the first delivery: it is its own control, so the judge is handed accepted ones.
    evidence: { before: accepted, probes: [probe], after: accepted, killed: null, uniform: false },
    startMs: 0,
    endMs: gate.first.timings.totalMs,
    outage: null,
  };
}

const ENDLESS_ANSWER = {
  kind: 'timeout',
  phase: 'answer',
  code: 'HOOKPROOF_ENDLESS_ANSWER',
  message: 'the body of the answer does not end',
} as const;

const GATE_SCENARIO = 'valid/plain';

/**
 * Runs the selected scenarios against an endpoint and gives the result document. Every planned scenario is judged. Nothing about
 * the endpoint makes it reject; {@link HookproofError} is thrown for a selection that names or matches nothing.
 */
export async function run(options: RunOptions): Promise<ResultDocument> {
  const { partner, listener = () => {}, signal = new AbortController().signal, strict = false } = options;
  const features = featuresOf(partner);
  const selection: Selection = { suites: [], scenarios: [], greps: [], shard: null, ...options.selection };
  const plan = planScenarios({ features, readableOnTheWay: isReadableOnTheWay(partner) }, selection);
  const seed = options.seed ?? randomBytes(6).toString('hex');
  const started = performance.now();
  const now = new Date();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const context = createContext({
    partner,
    seed,
    now,
    limits,
    emit: listener,
    signal,
    onSignature: options.onSignature ?? (() => {}),
  });
  listener({ type: 'run-started', url: partner.url, seed, planned: plan.length, startedAt: now.toISOString() });

  const results = new Map<string, ScenarioResult>();
  const report = (result: ScenarioResult) => {
    results.set(result.id, result);
    listener({ type: 'scenario-finished', judged: results.size, planned: plan.length, result });
    if (options.bail === true && result.verdict === 'fail')
      context.stopped ??= `stopped after the first failure (${result.id})`;
  };
  const settle = (trial: Trial) => report(resultOfTrial(context, trial, options.evidence === true));

  for (const planned of plan) if (planned.obstacle !== null) report(notApplicable(planned));
  const applicable = plan.filter(({ obstacle }) => obstacle === null);
  const sending = applicable.filter((planned): planned is SendingPlan => !isObservation(planned.scenario));
  const lanes = Array.from({ length: limits.concurrency }, () => createLane(partner, limits));
  const onAbort = () => {
    for (const lane of lanes) lane.close();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  let gateFinding: Finding | null = null;

  try {
    const [firstLane] = lanes;
    if (firstLane !== undefined && applicable.length > 0) {
      const gate = await openGate(context, firstLane);
      if (gate.open) {
        await runQueue(context, lanes, firstLane, sending, settle);
      } else if (!signal.aborted) {
        gateFinding = await diagnoseGate(context, firstLane, gate);
        context.stopped = gateReason(gate, gateFinding);
        const own = sending.find(({ scenario }) => scenario.id === GATE_SCENARIO);
        if (own !== undefined) settle(gateTrial(own, gate));
      }
      if (gate.open && !signal.aborted) {
        for (const planned of applicable)
          if (isObservation(planned.scenario)) report(resultOfObservation(context, planned));
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const lane of lanes) lane.close();
  }

  const reason = signal.aborted ? 'the run was interrupted' : (context.stopped ?? 'not run');
  for (const planned of plan) if (!results.has(planned.scenario.id)) report(withoutVerdict(planned, reason));
  const ordered = plan.flatMap(({ scenario }) => results.get(scenario.id) ?? []);
  const counts = tally(ordered);
  const found = gateFinding === null ? explainRun(ordered, context.seen.outages) : [asDiagnosis(gateFinding)];
  const document: ResultDocument = {
    schemaVersion: 1,
    tool: { name: 'hookproof', version },
    catalogue: { digest: catalogueDigest(), scenarios: plan.length },
    target: { url: partner.url, features, tls: null },
    profile: options.profile ?? null,
    seed,
    shard: selection.shard,
    startedAt: now.toISOString(),
    durationMs: performance.now() - started,
    verdict: runVerdict(counts, strict),
    strict,
    interrupted: signal.aborted,
    planned: plan.length,
    judged: ordered.length,
    requests: context.requests,
    counts,
    advice: [...(options.advice ?? [])],
    diagnosis: found,
    notVerified: REQUIREMENTS.flatMap((entry) =>
      entry.subject === 'receiver' && 'untested' in entry
        ? [{ requirement: entry.id, text: entry.text, reason: entry.untested }]
        : [],
    ),
    results: ordered,
  };
  listener({ type: 'run-finished', document });
  return document;
}

/** How many scenarios in a row may get no verdict for want of an accepted control before the run gives up. */
const MOST_WITHOUT_CONTROL = 3;

async function runQueue(
  context: RunContext,
  lanes: readonly Lane[],
  firstLane: Lane,
  sending: readonly SendingPlan[],
  settle: (trial: Trial) => void,
): Promise<void> {
  let refusedInARow = 0;
  const settleAndCount = (trial: Trial) => {
    settle(trial);
    const limited = [trial.evidence.before, trial.evidence.after].some((attempt) => attempt?.answer?.status === 429);
    refusedInARow = limited ? refusedInARow + 1 : 0;
    if (refusedInARow >= MOST_WITHOUT_CONTROL)
      context.stopped ??= 'rate-limited: the endpoint answers 429 to plain valid deliveries';
  };
  const isAlone = ({ scenario }: PlannedScenario) => 'alone' in scenario && scenario.alone === true;
  const crowd = sending.filter((planned) => !isAlone(planned));
  const soloists = sending.filter(isAlone);
  for (const [queue, width] of [
    [crowd, lanes.length],
    [soloists, 1],
  ] as const) {
    while (queue.length > 0 && context.stopped === null && !context.signal.aborted) {
      const pass = await runLanes(context, lanes.slice(0, context.serial ? 1 : width), queue, settleAndCount);
      if (context.signal.aborted) return;
      const retry = [...pass.doubtful];
      if (pass.suspects.length > 0) {
        for (const trial of await settleOutage(context, firstLane, pass.suspects)) settle(trial);
      }
      for (const trial of retry) {
        if (context.stopped !== null || context.signal.aborted) return;
        const again: Trial = await tryScenario(context, firstLane, trial.planned, null, true);
        if (context.signal.aborted) return;
        if (again.outage === null) settleAndCount(again);
        else for (const settled of await settleOutage(context, firstLane, [again])) settle(settled);
      }
    }
  }
}
