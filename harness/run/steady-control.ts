/** The controls around the probes of a trial: plain valid deliveries, tried again before anything is concluded from them. */
import type { OfferedTlsVersion } from '../../contract/index.ts';
import { describeAttempt, isAccepted } from '../judge/index.ts';
import type { PlannedScenario } from '../plan/plan.ts';
import type { RunContext } from './context.ts';
import type { Lane } from './lane.ts';
import { type Shipment, shipControl } from './shipment.ts';

/** The control that counts, and what came at the first try when that was not accepted. */
interface SteadyControl {
  readonly control: Shipment;
  readonly failed: string | null;
}

/** A control, and a second one on a new connection when the first is not accepted: one bad answer is no outage yet. */
export async function steadyControl(
  context: RunContext,
  lane: Lane,
  label: string,
  version: OfferedTlsVersion | undefined,
): Promise<SteadyControl> {
  const first = await shipControl(context, lane, label, { version });
  if (isAccepted(first.attempt) || first.fault !== null || first.attempt.answer?.status === 429)
    return { control: first, failed: null };
  const second = await shipControl(context, lane, `${label}, second try`, { fresh: true, version });
  return { control: second, failed: describeAttempt(first.attempt) };
}

/** For the observation that an endpoint accepts the plain valid delivery every time. */
export function noteFailure(
  context: RunContext,
  { scenario }: PlannedScenario,
  { control, failed }: SteadyControl,
): void {
  if (failed === null) return;
  context.seen.failedControls.push({ scenario: scenario.id, observed: failed, again: isAccepted(control.attempt) });
}

/** How it shows in a control that the receiver stopped accepting plain valid deliveries, or null. */
export function outageAfter(after: Shipment): string | null {
  if (isAccepted(after.attempt) || after.fault !== null || after.attempt.answer?.status === 429) return null;
  const { answer } = after.attempt;
  return answer === null ? describeAttempt(after.attempt) : `the plain valid delivery got ${answer.status}`;
}

/**
 * The control before the probes. `versionRefused`: an endpoint that refuses the plain valid delivery over this version and accepts it over any has
 * not stopped answering.
 */
export async function firstControl(
  context: RunContext,
  lane: Lane,
  planned: PlannedScenario,
  version: OfferedTlsVersion | undefined,
): Promise<{ readonly control: Shipment; readonly versionRefused: boolean }> {
  const steady = await steadyControl(context, lane, 'control before', version);
  const { control } = steady;
  if (version !== undefined && outageAfter(control) !== null) {
    const overAny = await shipControl(context, lane, 'control over any version', { fresh: true });
    if (isAccepted(overAny.attempt)) {
      // It may have come back in the meantime.
      const again = await shipControl(context, lane, 'control before, third try', { fresh: true, version });
      const versionRefused = !isAccepted(again.attempt);
      if (!versionRefused) noteFailure(context, planned, { ...steady, control: again });
      return { control: again, versionRefused };
    }
  }
  noteFailure(context, planned, steady);
  return { control, versionRefused: false };
}
