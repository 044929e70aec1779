/** What a run would do, and one of its deliveries to the byte, without anything being sent. */
import { randomBytes } from 'node:crypto';
import type { Kit } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import type { Prepared } from '../transport/index.ts';
import { LOCAL_TOO, pinEndpoint } from '../transport/index.ts';
import { assemble } from './assemble.ts';
import { DEFAULT_LIMITS, runBoundMs } from './context.ts';
import { createKit, headerNamesOf } from './kit.ts';
import { featuresOf, isReadableOnTheWay, type PlannedScenario, planScenarios } from './plan.ts';
import type { RunOptions } from './run.ts';
import { isHandshake } from './tls-checks.ts';
import { isObservation, isSending, type SendingPlan, versionOf } from './trial.ts';

export interface RunOutline {
  readonly url: string;
  /** Where it would go; `error` says why that is not known. */
  readonly resolved: { readonly addresses: readonly string[]; readonly error: string | null };
  readonly features: readonly string[];
  readonly profile: string | null;
  readonly seed: string;
  readonly planned: number;
  readonly applicable: number;
  readonly suites: readonly { readonly suite: string; readonly planned: number; readonly applicable: number }[];
  readonly notApplicable: readonly { readonly reason: string; readonly checks: number }[];
  /**
   * Requests to an endpoint that answers in time, and those that may be sent when every delivery is answered 429 and tried again alone. More
   * are only sent while a receiver that is down is waited for.
   */
  readonly requests: { readonly about: number; readonly most: number };
  /** Kept ones, those that serve one delivery or one look at TLS, and the deliveries at the same time in the largest burst. */
  readonly connections: { readonly kept: number; readonly single: number; readonly atOnce: number };
  /** Milliseconds after which the run has ended, whatever the endpoint does. */
  readonly boundMs: number;
  /** One plain delivery: the bytes of the head and of the body, credentials in place. Never print it as it is. */
  readonly sample: Prepared;
}

/** How often a delivery that is answered 429 goes out, and how often a check may be tried. */
const SENDS = 4;
const TRIES = 3;
/** The looks at the served chain and at both versions of TLS. */
const LOOKS_AT_TLS = 5;

/** What a check sends between its controls: the deliveries, and how many of them have a connection of their own. */
function probesOf({ scenario }: SendingPlan, kit: Kit): { probes: number; single: number; atOnce: number } {
  const groups = 'flow' in scenario ? scenario.flow(kit) : [[{ change: scenario.change }]];
  const counts = groups.map((group) => {
    const alone = group.filter(({ change }) => change.connect !== undefined || change.transmit !== undefined);
    return { probes: group.length, single: group.length > 1 ? group.length : alone.length };
  });
  return {
    probes: counts.reduce((sum, { probes }) => sum + probes, 0),
    single: counts.reduce((sum, { single }) => sum + single, 0),
    atOnce: Math.max(1, ...counts.map(({ probes }) => probes)),
  };
}

/**
 * Outlines the run that these options describe. It asks the resolver and connects to nothing.
 *
 * @throws HookproofError as `run` does before it begins: for the selection, and for an address that is not allowed
 */
export async function outlineRun(
  options: Pick<
    RunOptions,
    'partner' | 'clientFixtures' | 'selection' | 'limits' | 'profile' | 'seed' | 'addresses' | 'resolve'
  >,
): Promise<RunOutline> {
  const { partner, clientFixtures = {}, addresses: policy = LOCAL_TOO, resolve } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const features = featuresOf(partner, clientFixtures);
  const selection = { suites: [], scenarios: [], greps: [], shard: null, ...options.selection };
  const plan = planScenarios({ features, readableOnTheWay: isReadableOnTheWay(partner) }, selection);
  const pinning = { policy, resolve, timeoutMs: limits.timeoutMs, chooses: false };
  const { allowed, error } = await pinEndpoint(partner.url, pinning);
  const seed = options.seed ?? randomBytes(6).toString('hex');
  const applicable = plan.filter(({ obstacle }) => obstacle === null);
  const kitOf = (scenario: string) => createKit(partner, seed, scenario, new Date());
  return {
    url: partner.url,
    resolved: { addresses: allowed, error: error?.message ?? null },
    features,
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

function traffic(
  partner: Partner,
  applicable: readonly PlannedScenario[],
  concurrency: number,
  kitOf: (scenario: string) => Kit,
): Pick<RunOutline, 'requests' | 'connections'> {
  const sending = applicable.filter(isSending);
  const sent = sending.map((planned) => ({ ...probesOf(planned, kitOf(planned.scenario.id)), planned }));
  const probes = sent.reduce((sum, one) => sum + one.probes, 0);
  // A version of TLS needs controls over that version.
  const versions = sending.filter(({ scenario }) => versionOf(scenario) !== undefined).length;
  const single = sent.reduce((sum, one) => sum + one.single, 0);
  const handshakes = applicable.filter(isHandshake).length;
  const looks = partner.url.startsWith('https:') && applicable.length > 0 ? LOOKS_AT_TLS : 0;
  const delivers = sending.length > 0 || applicable.some(({ scenario }) => isObservation(scenario));
  const lanes = Math.min(concurrency, Math.max(1, sending.length));
  return {
    requests: {
      // Each lane begins with a control, and each check ends with one.
      about: delivers ? 1 + lanes + probes + sending.length + versions : 0,
      most: delivers ? SENDS * (2 + TRIES * (2 * probes + 5 * sending.length)) : 0,
    },
    connections: {
      kept: delivers ? lanes : 0,
      single: looks + 2 * handshakes + single + 2 * versions,
      atOnce: Math.max(0, ...sent.map(({ atOnce }) => atOnce)),
    },
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

/** The sample as it goes over the wire, but for the credentials, which are named. Lines end with CR LF. */
export function sampleOnTheWire({ method, target, headers, body }: Prepared, partner: Partner): string {
  const names = headerNamesOf(partner);
  const hidden = new Map([
    ...(partner.signing === undefined ? [] : [[names.signature.toLowerCase(), '[signature]'] as const]),
    ...(partner.apiKey === undefined ? [] : [[names.apiKey.toLowerCase(), '[API key]'] as const]),
  ]);
  const lines = headers.map(([name, value]) => `${name}: ${hidden.get(name.toLowerCase()) ?? value}`);
  // Node adds this line of its own.
  const head = [`${method} ${target} HTTP/1.1`, ...lines, 'Connection: keep-alive', '', ''];
  return `${head.join('\r\n')}${Buffer.from(body).toString('utf8')}`;
}
