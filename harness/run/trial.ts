/** One trial of one scenario: control, probes, control. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { OfferedTlsVersion } from '../../contract/index.ts';
import type {
  Delivery,
  FlowScenario,
  Kit,
  ObservationScenario,
  ProbeScenario,
  Scenario,
} from '../../scenarios/index.ts';
import { type Evidence, isAccepted, judge, wasClosed } from '../judge/index.ts';
import type { RunContext } from './context.ts';
import { createKit } from './kit.ts';
import type { Lane, SendOptions } from './lanes.ts';
import type { PlannedScenario } from './plan.ts';
import { evidenceOf, firstControl, noteFailure, outageAfter, type Shipment, shipProbe, steadyControl } from './send.ts';

/** How long after we have broken off a delivery the endpoint may learn of it. A control before that would find it still well. */
const CUT_OFF_SETTLES_MS = 40;

/** Several short waits and not one long: an endpoint in this very process, on a busy machine, gets its turn between them. */
async function cutOffSettled(signal: AbortSignal): Promise<void> {
  for (let turn = 0; turn < 4 && !signal.aborted; turn++) await delay(CUT_OFF_SETTLES_MS / 4);
}

/** A scenario that sends something. */
export interface SendingPlan extends PlannedScenario {
  readonly scenario: ProbeScenario | FlowScenario;
}

/** Whether a scenario sends deliveries, which needs an endpoint that accepts plain valid ones. */
export function isSending(planned: PlannedScenario): planned is SendingPlan {
  return 'change' in planned.scenario || 'flow' in planned.scenario;
}

export function isObservation(scenario: Scenario): scenario is ObservationScenario {
  return 'observe' in scenario;
}

export interface Trial {
  readonly planned: SendingPlan;
  readonly shipments: readonly Shipment[];
  readonly evidence: Evidence;
  readonly startMs: number;
  readonly endMs: number;
  /** How it showed that the receiver stopped accepting plain valid deliveries after the probes, or null. */
  readonly outage: string | null;
}

function deliveriesOf(
  scenario: ProbeScenario | FlowScenario,
  kit: Parameters<FlowScenario['flow']>[0],
): readonly (readonly Delivery[])[] {
  if ('flow' in scenario) return scenario.flow(kit);
  return [[{ label: 'probe', change: scenario.change, expect: scenario.expect }]];
}

/** The TLS version that a scenario is about. */
export function versionOf(scenario: SendingPlan['scenario']): OfferedTlsVersion | undefined {
  return 'change' in scenario ? scenario.change.connect?.version : scenario.version;
}

/** The TLS version of the controls: that of the scenario, unless that is just what is asked about. */
function controlVersionOf(scenario: SendingPlan['scenario']): OfferedTlsVersion | undefined {
  const likeControl = 'change' in scenario && scenario.change.connect?.likeControl === true;
  return likeControl ? undefined : versionOf(scenario);
}

/**
 * A probe; once more when its connection was closed without a word, which a busy server does as well as one that refuses. When nothing listens any
 * more at the second try, the first one has stopped the receiver, however fast it comes back: `stopped` says so.
 */
async function shipClearly(
  context: RunContext,
  lane: Lane,
  delivery: Delivery,
  kit: Kit,
  options: SendOptions,
): Promise<{ readonly shipment: Shipment; readonly stopped: string | null }> {
  const first = await shipProbe(context, lane, delivery, kit, options);
  if (delivery.change.connect === undefined || !wasClosed(first.attempt)) return { shipment: first, stopped: null };
  const shipment = await shipProbe(context, lane, delivery, kit, options);
  const { error } = shipment.attempt;
  return { shipment, stopped: error?.kind === 'refused' ? error.message : null };
}

/**
 * Tries a scenario on a lane. The control after one scenario is the control before the next on the same lane, so `before` is passed on;
 * null sends a new one. With `fresh`, every delivery has a connection of its own, as a re-run needs that must not inherit anything.
 */
export async function tryScenario(
  context: RunContext,
  lane: Lane,
  planned: SendingPlan,
  before: Shipment | null,
  fresh = false,
): Promise<Trial> {
  const startMs = performance.now();
  const { scenario } = planned;
  const kit = createKit(context.partner, context.seed, scenario.id, context.now, context.onSignature);
  const groups = deliveriesOf(scenario, kit);
  const version = controlVersionOf(scenario);
  const fitting = before !== null && before.assembled.change.connect?.version === version ? before : null;
  const { control, versionRefused } =
    fitting === null
      ? await firstControl(context, lane, planned, version)
      : { control: fitting, versionRefused: false };
  const shipments: Shipment[] = [control];
  const probes: Evidence['probes'][number][] = [];
  let stopped: string | null = null;
  const uniform = 'uniform' in scenario && scenario.uniform === true;

  if (isAccepted(control.attempt)) {
    for (const group of groups) {
      const options = { fresh: fresh || group.length > 1 };
      const sent = await Promise.all(group.map((delivery) => shipClearly(context, lane, delivery, kit, options)));
      stopped ??= sent.find((one) => one.stopped !== null)?.stopped ?? null;
      sent.forEach(({ shipment }, at) => {
        const delivery = group[at];
        if (delivery === undefined) return;
        shipments.push(shipment);
        probes.push(evidenceOf(shipment, delivery.expect));
        for (const leak of shipment.leaks) context.seen.leaks.push({ leak, scenario: scenario.id });
      });
      const isCutOff = group.some(({ change }) => change.transmit?.kind === 'cut-off');
      if (isCutOff) await cutOffSettled(context.signal);
    }
  }
  const steady = probes.length === 0 ? null : await steadyControl(context, lane, 'control after', version);
  if (steady !== null) noteFailure(context, planned, steady);
  const after = steady?.control ?? null;
  if (after !== null) shipments.push(after);
  return {
    planned,
    shipments,
    evidence: { before: control.attempt, probes, after: after?.attempt ?? null, killed: null, uniform },
    startMs,
    endMs: performance.now(),
    outage: versionRefused ? null : (outageAfter(after ?? control) ?? stopped),
  };
}

/** The control that the next scenario on the lane can build on, or null. */
export function lastControl(trial: Trial): Shipment | null {
  const last = trial.shipments.at(-1);
  return last !== undefined && last.role === 'control' && isAccepted(last.attempt)
    ? { ...last, label: 'control before' }
    : null;
}

/** Keeps account of second tries: what passes at the second try has not passed at the first, and whoever certifies wants to know. */

/** Notes a trial that is set aside, unless it would have been a pass: then the second one changes nothing. */
export function noteRetry({ retried }: RunContext, { planned: { scenario }, evidence }: Trial): void {
  if (judge(scenario.level, evidence).verdict !== 'pass') retried.add(scenario.id);
}
