/** Works through everything that is delivered: the crowd on lanes, what needs to be alone, outages, second tries. */
import type { PlannedScenario } from '../plan/plan.ts';
import { outOfPatience } from './bound.ts';
import type { RunContext } from './context.ts';
import type { Lane } from './lane.ts';
import { runLanes } from './lanes.ts';
import { noteRetry } from './note-retry.ts';
import { settleOutage } from './outage.ts';
import { type SendingPlan, type Trial, tryScenario } from './trial.ts';

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
