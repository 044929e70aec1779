/** Waits for an endpoint that is still starting, before the run begins (`--wait`). */
import { performance } from 'node:perf_hooks';
import { configuredCredentials, explainPreflight } from '../diagnose/index.ts';
import { describeAttempt } from '../judge/index.ts';
import type { RunContext } from './context.ts';
import { createLane } from './lane.ts';
import type { PlannedScenario } from './plan.ts';
import { isUnreached, pauseFor, type SentDelivery, sendControl } from './send.ts';

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/**
 * Sends the plain valid delivery until the endpoint answers it, whether it accepts or rejects. Stops the run if this
 * takes too long. Returns all deliveries that were sent.
 */
export async function waitUntilUp(
  context: RunContext,
  applicable: readonly PlannedScenario[],
): Promise<readonly SentDelivery[]> {
  const deliveries: SentDelivery[] = [];
  const { limits, partner, signal, endsAtMs, emit } = context;
  if (limits.waitMs === 0 || applicable.length === 0) return deliveries;
  const untilMs = Math.min(endsAtMs, performance.now() + limits.waitMs);
  const lane = createLane(partner, limits);
  signal.addEventListener('abort', lane.close, { once: true });
  try {
    let isAnnounced = false;
    for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
      const sent = await sendControl(context, lane, 'waiting for the endpoint', { fresh: true, once: true });
      deliveries.push(sent);
      const { attempt } = sent;
      if (signal.aborted || !isUnreached(attempt)) return deliveries;
      const seen = describeAttempt(attempt);
      const leftMs = untilMs - performance.now();
      const seconds = Math.round(limits.waitMs / 1000);
      if (leftMs <= 0) {
        const reason = `the endpoint did not start within ${seconds} s; last attempt: ${seen}`;
        context.facts.recordStop({ code: 'not-up', reason });
        const finding = explainPreflight({ first: attempt, second: null }, configuredCredentials(partner));
        if (finding !== null) context.facts.recordCause({ finding, checks: [] });
        return deliveries;
      }
      if (!isAnnounced) emit({ type: 'notice', message: `waiting up to ${seconds} s for the endpoint (${seen})` });
      isAnnounced = true;
      await pauseFor(context, Math.min(pauseMs, leftMs));
    }
  } finally {
    signal.removeEventListener('abort', lane.close);
    lane.close();
  }
}
