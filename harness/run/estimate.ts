/** Estimates the traffic of a run: its requests and connections. */
import type { Kit } from '../../scenarios/index.ts';
import { mustBeRejected } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import type { RunContext } from './context.ts';
import { createKit } from './kit.ts';
import { learningPlans, MIN_LEARNT_TO_SHARE } from './learn-dialect.ts';
import { MAX_OPEN } from './pace.ts';
import { MAX_FORGED_IN_A_ROW } from './pacing.ts';
import { isExclusive, isObservation, isSending, type PlannedScenario, type SendingPlan, versionOf } from './plan.ts';
import type { CheckToSend } from './time-left.ts';
import { isHandshake } from './tls-checks.ts';

export interface Traffic {
  /**
   * `about`: number of requests to an endpoint that answers in time. `most`: number of requests if every delivery gets
   * 429 and every check is repeated alone. A run sends more only while it waits for a receiver that is down.
   */
  readonly requests: { readonly about: number; readonly most: number };
  /**
   * `kept`: number of kept connections. `single`: number of connections for one delivery or one TLS handshake each.
   * `atOnce`: the largest number of deliveries that one check sends at the same time.
   */
  readonly connections: { readonly kept: number; readonly single: number; readonly atOnce: number };
}

/** Maximum number of times that a delivery is sent when it gets 429, and that a check is tried. */
const MAX_SENDS = 4;
const MAX_TRIES = 3;
/** In each of the three steps, a rotation sends two deliveries with each secret. During the switches, it sends more. */
const ROTATION_DELIVERIES = 12;
/** Number of handshakes that inspect the certificate chain and both TLS versions. */
const TLS_INSPECTIONS = 5;

export function trafficOf(
  partner: Partner,
  applicable: readonly PlannedScenario[],
  concurrency: number,
  kitOf: (scenario: string) => Kit,
): Traffic {
  const sending = applicable.filter(isSending);
  const sent = sending.map((planned) => ({ ...probesOf(planned, kitOf(planned.scenario.id)), planned }));
  const probes = sent.reduce((sum, one) => sum + one.probes, 0);
  const isShared = ({ planned: { scenario }, isUniform }: (typeof sent)[number]) =>
    isUniform && versionOf(scenario) === undefined && !isExclusive(scenario);
  const shared = sent.filter(isShared);
  const forged = shared.reduce((sum, one) => sum + one.forged, 0);
  // There is a control after every `perControl` checks, and one after a number of forgeries in a row. The controls for
  // both reasons partly coincide, hence the + 2.
  const learnt = learningPlans({ partner }, applicable).filter((group) => group.length > 0).length;
  const perControl = learnt >= MIN_LEARNT_TO_SHARE ? MAX_OPEN : 1;
  const controls = sent.length - shared.length + shared.length / perControl + forged / (MAX_FORGED_IN_A_ROW + 2);
  // A scenario that requires a TLS version has its own controls over that version.
  const versions = sending.filter(({ scenario }) => versionOf(scenario) !== undefined).length;
  const single = sent.reduce((sum, one) => sum + one.single, 0);
  const handshakes = applicable.filter(isHandshake).length;
  const inspections = partner.url.startsWith('https:') && applicable.length > 0 ? TLS_INSPECTIONS : 0;
  const delivers = sending.length > 0 || applicable.some(({ scenario }) => isObservation(scenario));
  const rotates = sending.some(({ scenario }) => scenario.step !== undefined);
  const switching = rotates ? ROTATION_DELIVERIES : 0;
  const lanes = Math.min(concurrency, Math.max(1, sending.length));
  return {
    requests: {
      // Each lane starts with a control.
      about: delivers ? 1 + lanes + probes + Math.round(controls) + versions + switching : 0,
      most: delivers ? MAX_SENDS * (2 + MAX_TRIES * (2 * probes + 5 * sending.length)) : 0,
    },
    connections: {
      kept: delivers ? lanes : 0,
      single: inspections + 2 * handshakes + single + 2 * versions,
      atOnce: Math.max(0, ...sent.map(({ atOnce }) => atOnce)),
    },
  };
}

/**
 * Counts what a check sends. `probes`: all deliveries. `steps`: groups, each of which waits for its answers. `forged`:
 * forgeries. `single`: deliveries on a separate connection. `atOnce`: size of the largest group.
 */
function probesOf(
  { scenario }: SendingPlan,
  kit: Kit,
): { probes: number; steps: number; forged: number; isUniform: boolean; single: number; atOnce: number } {
  const groups = 'flow' in scenario ? scenario.flow(kit) : [[scenario]];
  const counts = groups.map((group) => {
    const alone = group.filter(({ change }) => change.connect !== undefined || change.transmit !== undefined);
    return { probes: group.length, single: group.length > 1 ? group.length : alone.length };
  });
  return {
    probes: counts.reduce((sum, { probes }) => sum + probes, 0),
    steps: groups.length,
    forged: groups.flat().filter(({ expect }) => mustBeRejected(expect)).length,
    // A correct receiver answers all deliveries with 200, or all with 401.
    isUniform: [200, 401].some((status) => groups.flat().every(({ expect }) => expect.pass[0] === status)),
    single: counts.reduce((sum, { single }) => sum + single, 0),
    atOnce: Math.max(1, ...counts.map(({ probes }) => probes)),
  };
}

/** Returns the approximate number of requests of a run against an endpoint that answers in time. */
export function requestsOf(partner: Partner, applicable: readonly PlannedScenario[], concurrency: number): number {
  const kitOf = (scenario: string) => createKit(partner, '', scenario, new Date());
  return trafficOf(partner, applicable, concurrency, kitOf).requests.about;
}

/** Lists how much each check sends, to estimate the remaining time. */
export function checksToSend(
  { partner, seed, now }: RunContext,
  plans: readonly PlannedScenario[],
): readonly CheckToSend[] {
  return plans.filter(isSending).map((planned) => {
    const { id } = planned.scenario;
    const { probes, steps } = probesOf(planned, createKit(partner, seed, id, now));
    return { id, deliveries: probes, groups: steps, isAlone: isExclusive(planned.scenario) };
  });
}
