/** Works through everything that is delivered: the crowd on lanes, what needs to be alone, outages, second tries. */

import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { isAccepted } from '../judge/index.ts';
import { outOfPatience, type RunContext } from './context.ts';
import { type Lane, runLanes } from './lanes.ts';
import type { PlannedScenario } from './plan.ts';
import { shipControl } from './send.ts';
import { noteRetry, type SendingPlan, type Trial, tryScenario } from './trial.ts';

/** How many scenarios in a row may get no verdict for want of an accepted control before the run gives up. */
const MOST_WITHOUT_CONTROL = 3;

export async function runQueue(
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
        context.stopped ??= outOfPatience(context);
        if (context.stopped !== null || context.signal.aborted) return;
        noteRetry(context, trial);
        const again: Trial = await tryScenario(context, firstLane, trial.planned, null, true);
        if (context.signal.aborted) return;
        if (again.outage === null) settleAndCount(again);
        else for (const settled of await settleOutage(context, firstLane, [again])) settle(settled);
      }
      context.stopped ??= outOfPatience(context);
    }
  }
}

/** When the receiver stops answering: who did it, does it come back, and what goes on. */

const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 500;

/** Waits until the plain valid delivery is accepted again, at most for the recovery time. */
async function waitForRecovery(context: RunContext, lane: Lane): Promise<boolean> {
  const deadline = performance.now() + context.limits.recoveryMs;
  for (let pause = FIRST_POLL_MS; !context.signal.aborted; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    const timeoutMs = Math.max(1, Math.min(context.limits.timeoutMs, left));
    const control = await shipControl(context, lane, 'is it back', { fresh: true, timeoutMs });
    if (isAccepted(control.attempt)) return true;
    await delay(Math.min(pause, Math.max(0, deadline - performance.now())));
  }
  return false;
}

function killedBy(trial: Trial, sign: string): Trial {
  return { ...trial, outage: null, evidence: { ...trial.evidence, killed: sign } };
}

/**
 * Deals with an outage. Each suspect is tried again alone once the receiver is back: the one that stops it again did it. When the
 * receiver does not come back, a single suspect did it; of several, none can be named, and the run ends there.
 *
 * Returns every suspect's final trial; after an interruption, of those that were settled before it.
 */
async function settleOutage(context: RunContext, lane: Lane, suspects: readonly Trial[]): Promise<Trial[]> {
  const inFlight = suspects.map(({ planned }) => planned.scenario.id);
  const sign = suspects.find(({ outage }) => outage !== null)?.outage ?? 'no answer';
  context.serial = true;
  context.emit({
    type: 'notice',
    message: `the receiver stopped answering (${sign}) during ${inFlight.join(', ')}; waiting for it`,
  });

  const recovered = await waitForRecovery(context, lane);
  if (context.signal.aborted) return [];
  if (!recovered) {
    const [only] = suspects;
    const alone = suspects.length === 1 && only !== undefined;
    context.seen.outages.push({ inFlight, culprit: alone ? (inFlight[0] ?? null) : null, recovered: false, sign });
    context.stopped = `the receiver is down since ${inFlight.join(', ')} (${sign})`;
    return alone && only.evidence.probes.length > 0 ? [killedBy(only, sign)] : [...suspects];
  }

  const settled: Trial[] = [];
  let culprit: string | null = null;
  let back = true;
  for (const suspect of suspects) {
    if (!back) {
      settled.push(suspect);
      continue;
    }
    noteRetry(context, suspect);
    const again = await tryScenario(context, lane, suspect.planned, null, true);
    if (context.signal.aborted) return settled;
    if (again.outage === null || again.evidence.probes.length === 0) {
      settled.push(again);
      continue;
    }
    culprit = suspect.planned.scenario.id;
    settled.push(killedBy(again, again.outage));
    context.emit({ type: 'notice', message: `${culprit} stops the receiver: confirmed by trying it alone` });
    back = await waitForRecovery(context, lane);
    if (!back) context.stopped = `the receiver is down since ${culprit} (${again.outage})`;
  }
  context.seen.outages.push({ inFlight, culprit, recovered: back, sign });
  return settled;
}
