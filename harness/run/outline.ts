/** The outline of a run (`--dry-run`): what it would do, and one of its deliveries byte by byte. Nothing is sent. */

import { randomBytes } from 'node:crypto';
import { maskTargetOf, maskUrl } from '../../contract/masked-url.ts';
import type { Kit } from '../../scenarios/index.ts';
import { mustBeRejected } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import { LOCAL_TOO, type Prepared, pinEndpoint } from '../transport/index.ts';
import { assemble } from './assemble.ts';
import { DEFAULT_LIMITS, runBoundMs } from './context.ts';
import { MAX_OPEN } from './deliveries.ts';
import { createKit, headerNamesOf } from './kit.ts';
import { learningPlans, MIN_LEARNT_TO_SHARE } from './learn-dialect.ts';
import {
  isObservation,
  isSending,
  type PlannedScenario,
  planScenarios,
  type SendingPlan,
  targetOf,
  versionOf,
} from './plan.ts';
import type { RunOptions } from './run.ts';
import { isHandshake } from './tls-checks.ts';
import { MAX_FORGED_IN_A_ROW } from './trial.ts';

export interface RunOutline {
  readonly url: string;
  /** The addresses of the endpoint; `error` is the reason when they are unknown. */
  readonly resolved: { readonly addresses: readonly string[]; readonly error: string | null };
  readonly features: readonly string[];
  readonly profile: string | null;
  readonly seed: string;
  readonly planned: number;
  readonly applicable: number;
  readonly suites: readonly { readonly suite: string; readonly planned: number; readonly applicable: number }[];
  readonly notApplicable: readonly { readonly reason: string; readonly checks: number }[];
  /**
   * Requests to an endpoint that answers in time, and the most that are sent when every delivery gets 429 and is tried
   * again alone. Only waiting for a receiver that is down takes more.
   */
  readonly requests: { readonly about: number; readonly most: number };
  /**
   * Kept connections, those for one delivery or one TLS handshake, and the largest number of deliveries at the same
   * time.
   */
  readonly connections: { readonly kept: number; readonly single: number; readonly atOnce: number };
  /** Milliseconds after which the run ends, whatever the endpoint does. */
  readonly boundMs: number;
  /** One plain delivery, with credentials: print it only through {@link sampleOnTheWire}. */
  readonly sample: Prepared;
}

/**
 * Outlines a run. Resolves the host name and connects to nothing.
 *
 * @throws HookproofError as `run` does: for the selection, and for an address that is not allowed
 */
export async function outlineRun(
  options: Pick<
    RunOptions,
    | 'partner'
    | 'clientFixtures'
    | 'selection'
    | 'limits'
    | 'profile'
    | 'seed'
    | 'addresses'
    | 'resolve'
    | 'evidenceSources'
  >,
): Promise<RunOutline> {
  const { partner, clientFixtures = {}, addresses: policy = LOCAL_TOO, resolve } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const target = targetOf(partner, clientFixtures, options.evidenceSources);
  const plan = planScenarios(target, options.selection);
  const pinning = { policy, resolve, timeoutMs: limits.timeoutMs, chooses: false };
  const { allowed, error } = await pinEndpoint(partner.url, pinning);
  const seed = options.seed ?? randomBytes(6).toString('hex');
  const applicable = plan.filter(({ obstacle }) => obstacle === null);
  const kitOf = (scenario: string) => createKit(partner, seed, scenario, new Date());
  return {
    url: maskUrl(partner.url),
    resolved: { addresses: allowed, error: error?.message ?? null },
    features: target.features,
    profile: options.profile ?? null,
    seed,
    planned: plan.length,
    applicable: applicable.length,
    suites: bySuite(plan),
    notApplicable: byReason(plan),
    ...traffic(partner, applicable, limits.concurrency, kitOf),
    boundMs: runBoundMs(limits, applicable.length),
    sample: assemble({}, kitOf('controls'), partner).prepared,
  };
}

/** How often a delivery that gets 429 is sent, and how often a check may be tried. */
const MAX_SENDS = 4;
const MAX_TRIES = 3;
/** The handshakes that inspect the chain and both versions of TLS. */
const TLS_INSPECTIONS = 5;

function traffic(
  partner: Partner,
  applicable: readonly PlannedScenario[],
  concurrency: number,
  kitOf: (scenario: string) => Kit,
): Pick<RunOutline, 'requests' | 'connections'> {
  const sending = applicable.filter(isSending);
  const sent = sending.map((planned) => ({ ...probesOf(planned, kitOf(planned.scenario.id)), planned }));
  const probes = sent.reduce((sum, one) => sum + one.probes, 0);
  const isShared = ({ planned: { scenario }, isUniform }: (typeof sent)[number]) =>
    isUniform && versionOf(scenario) === undefined && !('alone' in scenario && scenario.alone === true);
  const shared = sent.filter(isShared);
  const forged = shared.reduce((sum, one) => sum + one.forged, 0);
  // A control after so many checks, and one after so many forgeries; some of the latter come at the time of the former.
  const learnt = learningPlans({ partner }, applicable).filter((group) => group.length > 0).length;
  const perControl = learnt >= MIN_LEARNT_TO_SHARE ? MAX_OPEN : 1;
  const controls = sent.length - shared.length + shared.length / perControl + forged / (MAX_FORGED_IN_A_ROW + 2);
  // A scenario for one TLS version has controls over that version.
  const versions = sending.filter(({ scenario }) => versionOf(scenario) !== undefined).length;
  const single = sent.reduce((sum, one) => sum + one.single, 0);
  const handshakes = applicable.filter(isHandshake).length;
  const inspections = partner.url.startsWith('https:') && applicable.length > 0 ? TLS_INSPECTIONS : 0;
  const delivers = sending.length > 0 || applicable.some(({ scenario }) => isObservation(scenario));
  const lanes = Math.min(concurrency, Math.max(1, sending.length));
  return {
    requests: {
      // Each lane starts with a control.
      about: delivers ? 1 + lanes + probes + Math.round(controls) + versions : 0,
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
 * What a check sends: all deliveries, the forged ones, those on a separate connection, and the largest group.
 */
function probesOf(
  { scenario }: SendingPlan,
  kit: Kit,
): { probes: number; forged: number; isUniform: boolean; single: number; atOnce: number } {
  const groups = 'flow' in scenario ? scenario.flow(kit) : [[scenario]];
  const counts = groups.map((group) => {
    const alone = group.filter(({ change }) => change.connect !== undefined || change.transmit !== undefined);
    return { probes: group.length, single: group.length > 1 ? group.length : alone.length };
  });
  return {
    probes: counts.reduce((sum, { probes }) => sum + probes, 0),
    forged: groups.flat().filter(({ expect }) => mustBeRejected(expect)).length,
    // A correct receiver answers all of them with 200, or all of them with 401.
    isUniform: [200, 401].some((status) => groups.flat().every(({ expect }) => expect.pass[0] === status)),
    single: counts.reduce((sum, { single }) => sum + single, 0),
    atOnce: Math.max(1, ...counts.map(({ probes }) => probes)),
  };
}

function bySuite(plan: readonly PlannedScenario[]): RunOutline['suites'] {
  const names = [...new Set(plan.map(({ suite }) => suite))];
  return names.map((suite) => {
    const members = plan.filter((planned) => planned.suite === suite);
    return { suite, planned: members.length, applicable: members.filter(({ obstacle }) => obstacle === null).length };
  });
}

function byReason(plan: readonly PlannedScenario[]): RunOutline['notApplicable'] {
  const reasons = [...new Set(plan.flatMap(({ obstacle }) => obstacle ?? []))];
  return reasons.map((reason) => ({ reason, checks: plan.filter(({ obstacle }) => obstacle === reason).length }));
}

/** The sample as it is sent, with placeholders for the credentials. Lines end with CR LF. */
export function sampleOnTheWire({ method, target, headers, body }: Prepared, partner: Partner): string {
  const names = headerNamesOf(partner);
  const hidden = new Map([
    ...(partner.signing === undefined ? [] : [[names.signature.toLowerCase(), '[signature]'] as const]),
    ...(partner.apiKey === undefined ? [] : [[names.apiKey.toLowerCase(), '[API key]'] as const]),
  ]);
  const lines = headers.map(([name, value]) => `${name}: ${hidden.get(name.toLowerCase()) ?? value}`);
  // Node adds this line.
  const head = [`${method} ${maskTargetOf(partner.url, target)} HTTP/1.1`, ...lines, 'Connection: keep-alive', '', ''];
  return `${head.join('\r\n')}${Buffer.from(body).toString('utf8')}`;
}
