/** Runs the scenarios of the TLS handshake. They need no delivery, so they are judged even where none is accepted. */
import { performance } from 'node:perf_hooks';
import type { HandshakeScenario } from '../../scenarios/index.ts';
import { type HandshakeEvidence, isAnswered, judgeHandshake } from '../judge/index.ts';
import type { PlannedScenario } from '../plan/plan.ts';
import type { ScenarioResult } from '../result/result-document.ts';
import { controlOffer, type HelloOutcome, matchHello, probeHello, type TlsInspection } from '../tls/index.ts';
import type { RunContext } from './context.ts';
import { resultOfHandshake } from './results.ts';

export interface HandshakePlan extends PlannedScenario {
  readonly scenario: HandshakeScenario;
}

export function isHandshake(planned: PlannedScenario): planned is HandshakePlan {
  return 'hello' in planned.scenario;
}

/** Handshakes at the same time. They cost the endpoint little, and each has its own control before and after it. */
const SIDE_BY_SIDE = 4;

/** The longest wait for an answer to a hello, in milliseconds: it needs one round trip and no work. */
export const HELLO_TIMEOUT_MS = 3000;

/** Judges each; the control after one is the control before the next. Reports as they come. */
export async function runHandshakes(
  context: RunContext,
  plans: readonly HandshakePlan[],
  { endpoint, hellos, versions }: TlsInspection,
  report: (result: ScenarioResult) => void,
): Promise<void> {
  const version = versions[0] ?? 'TLSv1.2';
  const limits = { timeoutMs: Math.min(context.limits.timeoutMs, HELLO_TIMEOUT_MS), signal: context.signal };
  const control = () => probeHello(endpoint, controlOffer(version), limits);
  const queue = [...plans];

  async function work(): Promise<void> {
    let before: HelloOutcome = hellos[version];
    for (let planned = queue.shift(); planned !== undefined; planned = queue.shift()) {
      if (context.signal.aborted || context.stopped !== null) return;
      const started = performance.now();
      const { hello, expect, level } = planned.scenario;
      const evidence: HandshakeEvidence | null = !isAnswered(before)
        ? { before, probe: before, after: before }
        : await probeBetween(
            before,
            () => probeHello(endpoint, hello, limits),
            control,
            (outcome) => {
              const match = matchHello(outcome, hello);
              return match === 'closed' || match === 'none' || match === null;
            },
          );
      if (context.signal.aborted) return;
      before = evidence.after;
      const judgement = judgeHandshake(level, hello, expect, evidence);
      report(resultOfHandshake(context, planned, judgement, performance.now() - started));
    }
  }
  await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, context.limits.concurrency, plans.length) }, work));
}

/** The probe once, and once more when its outcome could be chance: a close, a reset, silence. The second one counts. */
async function probeBetween(
  before: HelloOutcome,
  probe: () => Promise<HelloOutcome>,
  control: () => Promise<HelloOutcome>,
  isUnclear: (outcome: HelloOutcome) => boolean,
): Promise<HandshakeEvidence> {
  const first = await probe();
  const after = await control();
  if (!isUnclear(first)) return { before, probe: first, after };
  const second = await probe();
  return { before: after, probe: second, after: await control() };
}
