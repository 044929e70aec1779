/**
 * Learns the statuses with which an endpoint accepts and rejects. A run first sends plain forgeries and one malformed
 * payload, each while no other delivery is in flight. Their answers are judged once the dialect is known.
 */
import { findScenario } from '../../scenarios/index.ts';
import {
  type Credential,
  type Dialect,
  is2xx,
  isPlainForgery,
  missingRejection,
  PLAIN_FORGERIES,
  STANDARD,
  STATUS_SCENARIOS,
  usualRejection,
} from '../judge/index.ts';
import type { Attempt } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import { credentialsOf, isSending, type PlannedScenario, type SendingPlan } from './plan.ts';
import type { Trial } from './trial.ts';

const MALFORMED = 'malformed/truncated';
const MISSING: Readonly<Record<Credential, string>> = { signature: 'signature/missing', 'api-key': 'api-key/missing' };

/**
 * Returns the checks to send first, in groups. If the run contains forgeries, they show the status with which the
 * endpoint rejects; one more check sends a malformed payload. A group ends with the first conclusive answer. A check
 * that was not selected is sent only if the run needs its answer.
 */
export function learningPlans(
  context: Pick<RunContext, 'partner'>,
  plans: readonly PlannedScenario[],
): readonly SendingPlan[][] {
  const configured = { signature: context.partner.signing, 'api-key': context.partner.apiKey };
  const credentials: readonly Credential[] = ['signature', 'api-key'];
  const forgeries = credentials
    .filter((one) => configured[one] !== undefined && plans.some((planned) => isAboutForgeries(planned, one)))
    .flatMap((one) => [PLAIN_FORGERIES[one].filter((id) => id !== MISSING[one]), [MISSING[one]]]);
  const find = (id: string) => plans.find(({ scenario }) => scenario.id === id);
  const malformed = [find(MALFORMED)].flatMap((planned) => planned ?? []);
  return [...forgeries.map((ids) => ids.flatMap((id) => find(id) ?? planOf(id))), malformed].map((group) =>
    group.filter(isSending),
  );
}

/**
 * Minimum number of checks that must be sent before controls are shared. By then, an endpoint that leaves deliveries
 * unanswered whatever they contain has shown this. With shared controls, this could no longer be distinguished from the
 * failure of a check.
 */
export const MIN_LEARNT_TO_SHARE = 2;

/** Returns whether the group of a trial can teach nothing more: every probe got 401 or no answer. */
export function endsLearning({ probes }: Trial): boolean {
  return probes.every(({ attempt }) => attempt.answer === null || attempt.answer.status === 401);
}

/**
 * Returns whether a forgery got no answer on a kept connection. The connection may be the reason, and it is not known
 * yet how the endpoint handles kept connections. The check is therefore repeated later.
 */
export function mustBeRepeated({ planned, probes }: Trial): boolean {
  const isForgery = Object.values(PLAIN_FORGERIES).some((ids) => ids.includes(planned.scenario.id));
  const isSilent = ({ error, timings }: Attempt) => error?.kind === 'timeout' && timings.reused;
  return isForgery && probes.some(({ attempt }) => isSilent(attempt));
}

function isAboutForgeries({ scenario }: PlannedScenario, credential: Credential): boolean {
  if (!credentialsOf(scenario).includes(credential)) return false;
  if ('expect' in scenario && 'change' in scenario) return !scenario.expect.authentic;
  return 'flow' in scenario || scenario.id === STATUS_SCENARIOS[credential];
}

function planOf(id: string): PlannedScenario[] {
  const scenario = findScenario(id);
  return scenario === undefined ? [] : [{ suite: id.split('/')[0] ?? '', scenario, obstacle: null }];
}

/** Determines the dialect of the endpoint from the plain valid delivery and the trials of {@link learningPlans}. */
export function learnDialect(preflight: Attempt, trials: readonly Trial[], isFree = false): Dialect {
  const attemptsOf = (ids: readonly string[]): Attempt[] =>
    ids.flatMap((id) => {
      const trial = trials.find(({ planned }) => planned.scenario.id === id);
      return trial?.probes.map(({ attempt }) => attempt) ?? [];
    });
  const [malformed] = attemptsOf([MALFORMED]);
  const status = malformed?.answer?.status ?? null;
  const rejects = {
    signature: usualRejection(attemptsOf(PLAIN_FORGERIES.signature)),
    'api-key': usualRejection(attemptsOf(PLAIN_FORGERIES['api-key'])),
  };
  return {
    accepts: preflight.answer?.status ?? STANDARD.accepts,
    rejects,
    missing: {
      signature: missingRejection(rejects.signature, attemptsOf([MISSING.signature])[0]),
      'api-key': missingRejection(rejects['api-key'], attemptsOf([MISSING['api-key']])[0]),
    },
    malformed: status === null || is2xx(status) ? null : status,
    ...(isFree && { isFree }),
  };
}

/**
 * Counts the statuses with which plain forgeries were rejected. The checks of {@link STATUS_SCENARIOS} use the counts.
 */
export function recordRejections({ facts }: RunContext, { planned, probes }: Trial): void {
  const { dialect } = facts;
  const [credential, another] = credentialsOf(planned.scenario);
  if (credential === undefined || another !== undefined) return;
  for (const { attempt, expect, lacking = [] } of probes) {
    const isMissing = lacking.includes(credential);
    const usual = (isMissing ? dialect.missing : dialect.rejects)[credential];
    const status = attempt.answer?.status;
    if (status === undefined || !isPlainForgery(expect) || status === 429) continue;
    if (status !== usual && (status < 300 || status >= 500)) continue;
    facts.recordRejection({ credential, status, isUsual: status === usual, isMissing });
  }
}
