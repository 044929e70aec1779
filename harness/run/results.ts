/** Makes the result of each planned scenario: from its trial, from the run as a whole, or from the reason why there is none. */
import type { RunObservations, Scenario } from '../../scenarios/index.ts';
import { type Judgement, judge, type judgeChain } from '../judge/index.ts';
import type { ScenarioResult, Verdict } from '../report/result-document.ts';
import type { RunContext } from './context.ts';
import type { PlannedScenario } from './plan.ts';
import { describeExchange } from './record.ts';
import { curlScript } from './reproduce.ts';
import type { Trial } from './trial.ts';

/** What a command that shows a result again has to know. */
type Asked = Pick<RunContext, 'seed'> & { readonly partner: { readonly url: string } };

function dueFor(scenario: Scenario): string {
  if ('expect' in scenario) return scenario.expect.text;
  if ('chain' in scenario) return scenario.chain.text;
  return 'flow' in scenario ? 'each delivery gets its right answer' : 'nothing of the kind in the whole run';
}

function resultOf(
  planned: PlannedScenario,
  said: { verdict: Verdict; observed: string; reason: string },
  rest: Partial<Pick<ScenarioResult, 'expected' | 'durationMs' | 'reproduce' | 'exchanges'>> = {},
): ScenarioResult {
  const { id, title, level, requirements, why, fix } = planned.scenario;
  return {
    id,
    suite: planned.suite,
    title,
    level,
    requirements: [...requirements],
    verdict: said.verdict,
    expected: dueFor(planned.scenario),
    observed: said.observed,
    reason: said.reason,
    why,
    fix,
    known: null,
    durationMs: 0,
    reproduce: null,
    exchanges: [],
    ...rest,
  };
}

/** The command that runs one scenario alone. The endpoint and the credentials come from the environment or the configuration file. */
function commandFor(context: Asked, id: string): string {
  return `hookproof run ${shownUrl(context)} --scenario ${id} --seed ${context.seed}`;
}

function shownUrl(context: Asked): string {
  return `'${context.partner.url.replaceAll("'", '%27')}'`;
}

/** The expectation of the probe that decided: in a flow, the one that the reason names. */
function decidedText(trial: Trial, reason: string): string {
  const { probes } = trial.evidence;
  return (
    (probes.find(({ label }) => reason.startsWith(`${label}: `)) ?? probes[0])?.expect.text ??
    dueFor(trial.planned.scenario)
  );
}

export function resultOfTrial(context: RunContext, trial: Trial, keepEvidence: boolean): ScenarioResult {
  const { planned, evidence, shipments } = trial;
  const judgement = judge(planned.scenario.level, evidence);
  const plain = judgement.verdict === 'pass';
  const probe = shipments.find(
    (shipment) =>
      shipment.role === 'probe' && (shipments.length <= 3 || judgement.reason.startsWith(`${shipment.label}: `)),
  );
  return resultOf(planned, judgement, {
    expected: 'flow' in planned.scenario ? decidedText(trial, judgement.reason) : dueFor(planned.scenario),
    durationMs: trial.endMs - trial.startMs,
    reproduce: plain
      ? null
      : {
          curl: probe === undefined ? null : curlScript(probe.assembled, context.partner),
          command: commandFor(context, planned.scenario.id),
        },
    exchanges: plain && !keepEvidence ? [] : shipments.map((shipment) => describeExchange(shipment, context.partner)),
  });
}

export function notApplicable(planned: PlannedScenario): ScenarioResult {
  return resultOf(planned, {
    verdict: 'not-applicable',
    observed: '',
    reason: planned.obstacle ?? '',
  });
}

export function resultOfHandshake(
  context: RunContext,
  planned: PlannedScenario,
  judgement: Judgement,
  durationMs: number,
): ScenarioResult {
  return resultOf(planned, judgement, { durationMs, reproduce: reproduceWithoutCurl(context, planned, judgement) });
}

export function resultOfChain(
  context: RunContext,
  planned: PlannedScenario,
  judgement: ReturnType<typeof judgeChain>,
): ScenarioResult {
  const result = resultOf(planned, judgement, { reproduce: reproduceWithoutCurl(context, planned, judgement) });
  return judgement.fix === null ? result : { ...result, fix: judgement.fix };
}

/** No HTTP client shows a handshake: only the harness sends it again. */
function reproduceWithoutCurl(context: RunContext, planned: PlannedScenario, { verdict }: { verdict: Verdict }) {
  const plain = verdict === 'pass' || verdict === 'not-applicable';
  return plain ? null : { curl: null, command: commandFor(context, planned.scenario.id) };
}

export function withoutVerdict(planned: PlannedScenario, reason: string): ScenarioResult {
  return resultOf(planned, { verdict: 'inconclusive', observed: '', reason });
}

export function resultOfObservation(
  context: Asked & { readonly seen: RunObservations },
  planned: PlannedScenario,
): ScenarioResult {
  if (!('observe' in planned.scenario)) return withoutVerdict(planned, 'not run');
  const { verdict, observed, reason } = planned.scenario.observe(context.seen);
  const softened = verdict === 'fail' && planned.scenario.level === 'should' ? 'warn' : verdict;
  // Alone it would have nothing to look at: only the whole run shows it again.
  const command = `hookproof run ${shownUrl(context)} --seed ${context.seed}`;
  const reproduce = verdict === 'pass' ? null : { curl: null, command };
  return resultOf(planned, { verdict: softened, observed, reason }, { reproduce });
}
