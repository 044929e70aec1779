/**
 * The result of each planned scenario: from its trial, from the TLS inspection, from the run as a whole, or from the
 * reason why it has no verdict.
 */

import { quotedUrl } from '../../contract/masked-url.ts';
import { explainMistake } from '../../contract/mistakes/index.ts';
import { defectOf, findScenario, type RunObservations, type Scenario } from '../../scenarios/index.ts';
import { WindowProblem } from '../effects/index.ts';
import {
  type DecidedBy,
  type EffectEvidence,
  type Judgement,
  judge,
  type judgeChain,
  judgeEffects,
  STATUS_SCENARIOS,
} from '../judge/index.ts';
import type { ScenarioResult, Verdict } from '../report/result-document.ts';
import type { RunContext } from './context.ts';
import type { Stop } from './facts.ts';
import type { PlannedScenario } from './plan.ts';
import { describeExchange } from './record.ts';
import { curlScript } from './reproduce.ts';
import { inDialect, type Trial } from './trial.ts';

/** What can decide a result before the judge does, with an explanation for each. */
export const RUN_DECISIONS = {
  bail: 'the run was stopped after the first failure (`--bail`)',
  'preflight-failed': 'the first valid delivery was not accepted, or was answered by a timeout, so no check was sent',
  'kind-rejected': 'the endpoint rejects the kind of notification that the check sends (see `valid/plain`)',
  'not-up': 'the endpoint did not start within the time that the run waits for it (`--wait`)',
  'receiver-down': 'the receiver had stopped answering and did not come back in time',
  'rate-limited': 'the endpoint limits the rate of deliveries',
  silence: 'the endpoint left too many deliveries unanswered',
  'restart-failed': 'the receiver could not be restarted (`--restart-command`)',
  'not-switched': 'the receiver was not switched to a step of the rotation (`--rotate-command`)',
  'not-applicable': 'the check does not apply to this endpoint',
  observation: 'the check examines the whole run',
  interrupted: 'the run was interrupted',
  'time-limit': 'the run reached its time limit',
  'samples-too-short': 'the configured samples have too few ids for this check',
  'decided-early': 'an earlier answer already decided this check',
  'not-run': 'the check was not run',
} as const satisfies Readonly<Record<Stop['code'], string>> & Readonly<Record<string, string>>;

/** What decided a result: the judge, or the run before the judge. */
type ResultDecidedBy = DecidedBy | keyof typeof RUN_DECISIONS;

/** The data for the command that repeats a result. */
interface Repeatable {
  readonly seed: string;
  readonly flags: string;
  readonly partner: { readonly url: string };
}

export function resultOfTrial(context: RunContext, trial: Trial, keepEvidence: boolean): ScenarioResult {
  const { planned, probes, deliveries } = trial;
  const judgement = judge(planned.scenario.level, inDialect(context, trial));
  const passed = judgement.verdict === 'pass';
  const decisive = probes.find(({ label }) => label === judgement.delivery) ?? probes[0];
  const probe = deliveries.find(
    ({ role, label }) => role === 'probe' && (deliveries.length <= 3 || label === judgement.delivery),
  );
  const expect = 'expect' in planned.scenario ? planned.scenario.expect : decisive?.expect;
  return resultOf(planned, judgement, {
    ...(expect !== undefined && { expected: expect.text, expectedOutcomes: expect.pass.map(String) }),
    durationMs: trial.endMs - trial.startMs,
    reproduce: passed
      ? null
      : {
          curl: probe === undefined ? null : curlScript(probe.assembled, context.partner),
          command: commandFor(context, planned.scenario.id),
        },
    exchanges: passed && !keepEvidence ? [] : deliveries.map((sent) => describeExchange(sent, context.partner)),
  });
}

/** Returns whether the answers of a trial are as expected. Its effects then decide the verdict. */
export function hasExpectedAnswers(context: RunContext, trial: Trial): boolean {
  return judge(trial.planned.scenario.level, inDialect(context, trial)).verdict === 'pass';
}

/** Returns the result of a trial whose answers were as expected. Its effects decide the verdict. */
export function resultOfEffects(
  context: RunContext,
  trial: Trial,
  evidence: readonly EffectEvidence[] | WindowProblem,
  keepEvidence: boolean,
): ScenarioResult {
  const result = resultOfTrial(context, trial, true);
  const judgement =
    evidence instanceof WindowProblem
      ? ({
          verdict: 'inconclusive',
          observed: '',
          reason: evidence.message,
          decidedBy: 'effects-unknown',
        } as const)
      : judgeEffects(trial.planned.scenario.level, evidence);
  if (judgement.verdict === 'not-applicable') {
    return notApplicable({ ...trial.planned, obstacle: judgement.reason });
  }
  const isGood = judgement.verdict === 'pass';
  return resultOf(trial.planned, judgement, {
    durationMs: result.durationMs,
    ...('expected' in judgement && judgement.expected !== undefined && { expected: judgement.expected }),
    reproduce: isGood ? null : { curl: null, command: commandFor(context, trial.planned.scenario.id) },
    exchanges: isGood && !keepEvidence ? [] : result.exchanges,
    ...(!(evidence instanceof WindowProblem) && {
      effects: evidence.map(({ label, handled, tookMs }) => ({ delivery: label, times: handled.length, tookMs })),
    }),
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
  return resultOf(planned, judgement, { reproduce: reproduceWithoutCurl(context, planned, judgement) });
}

const NOTHING_SEEN = 'this check observes the deliveries of other checks, and none was selected: run all checks';

/** Returns the result of a check of the whole run. With `isAlone`, the run sends no other check, so it cannot pass. */
export function resultOfObservation(
  context: Repeatable,
  seen: RunObservations,
  planned: PlannedScenario,
  isAlone = false,
): ScenarioResult {
  if (!('observe' in planned.scenario)) return withoutVerdict(planned, 'not-run', 'not run');
  const { id } = planned.scenario;
  const needsOthers = !Object.values(STATUS_SCENARIOS).includes(id);
  const observed = planned.scenario.observe(seen);
  // The effects window shows the plain deliveries that every run sends.
  const isEmpty = isAlone && needsOthers && !planned.scenario.needs?.includes('effects') && observed.verdict === 'pass';
  const observation = isEmpty ? { ...observed, verdict: 'inconclusive' as const, reason: NOTHING_SEEN } : observed;
  if (observation.verdict === 'not-applicable') return notApplicable({ ...planned, obstacle: observation.reason });
  const isWarning = observation.verdict === 'fail' && planned.scenario.level === 'should';
  const verdict = isWarning ? 'warn' : observation.verdict;
  // Most observations need the whole run. Their scenario alone would have nothing to observe.
  const command = needsOthers ? `${runCommand(context)} --seed ${context.seed}` : commandFor(context, id);
  const reproduce = verdict === 'pass' ? null : { curl: null, command };
  return resultOf(planned, { ...observation, verdict, decidedBy: 'observation' }, { reproduce });
}

export function notApplicable(planned: PlannedScenario): ScenarioResult {
  const reason = planned.obstacle ?? '';
  return resultOf(planned, { verdict: 'not-applicable', observed: '', reason, decidedBy: 'not-applicable' });
}

export function withoutVerdict(planned: PlannedScenario, decidedBy: ResultDecidedBy, reason: string): ScenarioResult {
  return resultOf(planned, { verdict: 'inconclusive', observed: '', reason, decidedBy });
}

function resultOf(
  planned: PlannedScenario,
  {
    verdict,
    observed,
    reason,
    cause,
    decidedBy,
    delivery = null,
    outcome = 'seen',
    answered,
    repeats = [],
  }: Pick<ScenarioResult, 'verdict' | 'observed' | 'reason'> & {
    readonly decidedBy: ResultDecidedBy;
    readonly repeats?: readonly string[];
  } & Partial<Pick<ScenarioResult, 'cause' | 'delivery' | 'outcome' | 'answered'>>,
  rest: Partial<
    Pick<ScenarioResult, 'expected' | 'expectedOutcomes' | 'durationMs' | 'reproduce' | 'exchanges' | 'effects'>
  > = {},
): ScenarioResult {
  const { id, title, level, requirements } = planned.scenario;
  return {
    id,
    suite: planned.suite,
    title,
    ...((verdict === 'fail' || verdict === 'warn') && {
      defect: defectOf(planned.scenario, decidedBy === 'receiver-stopped' ? 'closed' : outcome),
    }),
    level,
    requirements: [...requirements],
    verdict,
    expected: expectedText(planned.scenario),
    observed,
    reason,
    ...(cause !== undefined && { cause }),
    decidedBy,
    delivery,
    outcome,
    ...(answered !== undefined && { answered: { ...answered } }),
    ...(repeats.length > 0 && { repeats: repeats.filter((one) => findScenario(one) !== undefined) }),
    ...explainMistake(planned.scenario),
    known: null,
    durationMs: 0,
    reproduce: null,
    exchanges: [],
    ...rest,
  };
}

function expectedText(scenario: Scenario): string {
  if ('expect' in scenario) return scenario.expect.text;
  if ('chain' in scenario) return scenario.chain.text;
  if ('flow' in scenario) {
    const isAboutEffects = scenario.needs?.includes('effects') === true;
    return `the correct answer${isAboutEffects ? ' and effect of' : ' to'} each delivery`;
  }
  return ('observe' in scenario ? scenario.expected : undefined) ?? 'none in the whole run';
}

/** Returns only a hookproof command, because no HTTP client can repeat a handshake. */
function reproduceWithoutCurl(context: RunContext, planned: PlannedScenario, { verdict }: { verdict: Verdict }) {
  const isGood = verdict === 'pass' || verdict === 'not-applicable';
  return isGood ? null : { curl: null, command: commandFor(context, planned.scenario.id) };
}

/**
 * Returns the command that runs one scenario alone. Credentials come from the environment or the configuration file.
 */
function commandFor(context: Repeatable, id: string): string {
  return `${runCommand(context)} --scenario ${id} --seed ${context.seed}`;
}

function runCommand({ flags, partner }: Repeatable): string {
  return ['hookproof run', quotedUrl(partner.url), ...(flags === '' ? [] : [flags])].join(' ');
}
