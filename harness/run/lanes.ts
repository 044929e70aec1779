/** Runs trials on lanes: several at a time, each lane with its own connection and its own chain of controls. */
import { isAccepted } from '../judge/index.ts';
import { passIsOver } from './bound.ts';
import type { RunContext } from './context.ts';
import type { Lane } from './lane.ts';
import { lastControl, type SendingPlan, type Trial, tryScenario } from './trial.ts';

/** What one pass over the queue brought. `suspects` were in flight when the receiver stopped answering. */
export interface Pass {
  /** Failed on the transport, or through a gateway, while others were in flight: to be tried alone before anybody is blamed. */
  readonly doubtful: readonly Trial[];
  readonly suspects: readonly Trial[];
}

const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether a neighbour in flight may be to blame for what a probe got. */
function mayBeANeighbours(trial: Trial): boolean {
  return trial.evidence.probes.some(({ attempt, expect }) => {
    if (attempt.answer !== null) return GATEWAY_ERRORS.has(attempt.answer.status);
    const kind = attempt.error?.kind;
    if (expect.pass.includes('none')) return false;
    return kind === 'reset' || kind === 'refused' || kind === 'unreachable' || kind === 'timeout';
  });
}

/**
 * Whether nobody was there to take a probe, though the control before it was accepted. Somebody stopped the receiver in between: the probe
 * itself, when it went out on a kept connection, was cut off there and sent again, or a neighbour. Alone, on new connections, it shows.
 */
function metNobody({ evidence: { before, probes } }: Trial): boolean {
  return isAccepted(before) && probes.some(({ attempt }) => attempt.error?.kind === 'refused');
}

/** When a trial took place. */
type Span = Pick<Trial, 'startMs' | 'endMs'>;

function overlaps(a: Span, b: Span): boolean {
  return a !== b && a.startMs < b.endMs && b.startMs < a.endMs;
}

/** Works through the queue until it is empty, the receiver stops answering, or the run is stopped. Takes what it tries off the queue. */
export async function runLanes(
  context: RunContext,
  lanes: readonly Lane[],
  queue: SendingPlan[],
  onSettled: (trial: Trial) => void,
): Promise<Pass> {
  // Without their answers, which would add up to the memory of the whole run.
  const finished: Span[] = [];
  const suspects: Trial[] = [];
  const trouble: Trial[] = [];
  const waiting: Trial[] = [];
  const waitedBeforeMs = context.waitedMs;
  let halt = false;

  async function work(lane: Lane, index: number): Promise<void> {
    let before: Parameters<typeof tryScenario>[3] = null;
    while (!halt && !context.signal.aborted && context.stopped === null && (index === 0 || !context.serial)) {
      if (passIsOver(context, waitedBeforeMs)) return;
      const planned = queue.shift();
      if (planned === undefined) return;
      const trial = await tryScenario(context, lane, planned, before);
      before = lastControl(trial);
      // An interruption ended its deliveries, not the endpoint: nothing can be said about it.
      if (context.signal.aborted && before === null) return;
      if (trial.outage !== null) {
        halt = true;
        suspects.push(trial);
      } else if (mayBeANeighbours(trial)) {
        trouble.push(trial);
        waiting.push(trial);
      } else {
        finished.push({ startMs: trial.startMs, endMs: trial.endMs });
        onSettled(trial);
      }
    }
  }
  await Promise.all(lanes.map(work));

  // Other trouble with nobody else about is the scenario's own. A timeout is shared only when another lane had trouble at the time.
  const all: Span[] = [...finished, ...trouble, ...suspects];
  const doubtful = waiting.filter((trial) => {
    if (metNobody(trial)) return true;
    const timedOut = trial.evidence.probes.some(({ attempt }) => attempt.error?.kind === 'timeout');
    return (timedOut ? [...trouble, ...suspects] : all).some((other) => overlaps(trial, other));
  });
  for (const trial of waiting) {
    if (!doubtful.includes(trial)) onSettled(trial);
  }
  return { doubtful, suspects };
}
