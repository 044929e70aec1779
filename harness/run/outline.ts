/** The outline of a run (`--dry-run`): what the run would send, and one delivery byte by byte. Sends nothing. */

import { randomBytes } from 'node:crypto';
import { maskTargetOf, maskUrl } from '../../contract/masked-url.ts';
import type { Partner } from '../partner.ts';
import { LOCAL_TOO, type Prepared, pinEndpoint } from '../transport/index.ts';
import { assemble } from './assemble.ts';
import { DEFAULT_LIMITS } from './context.ts';
import { type Traffic, trafficOf } from './estimate.ts';
import { createKit, headerNamesOf } from './kit.ts';
import { type PlannedScenario, planScenarios, targetOf } from './plan.ts';
import { boundMsOf } from './rotation.ts';
import type { RunOptions } from './run-options.ts';

export interface RunOutline extends Traffic {
  readonly url: string;
  /** The addresses of the endpoint. If they are unknown, `error` is the reason. */
  readonly resolved: { readonly addresses: readonly string[]; readonly error: string | null };
  readonly features: readonly string[];
  readonly profile: string | null;
  readonly seed: string;
  readonly planned: number;
  readonly applicable: number;
  readonly suites: readonly { readonly suite: string; readonly planned: number; readonly applicable: number }[];
  readonly notApplicable: readonly { readonly reason: string; readonly checks: number }[];
  /** Milliseconds after which the run ends, whatever the endpoint does. */
  readonly boundMs: number;
  /** One plain delivery, including its credentials. Print it only with {@link sampleOnTheWire}. */
  readonly sample: Prepared;
}

/**
 * Outlines a run. Resolves the host name, but opens no connection.
 *
 * @throws HookproofError for an invalid selection or an address that is not allowed, as `run` does
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
  const traffic = trafficOf(partner, applicable, limits.concurrency, kitOf);
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
    ...traffic,
    boundMs: boundMsOf(limits, options.evidenceSources, applicable.length, traffic.requests.about),
    sample: assemble({}, kitOf('controls'), partner).prepared,
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

/** Returns the sample delivery as it is sent, with placeholders for the credentials. Lines end with CR LF. */
export function sampleOnTheWire({ method, target, headers, body }: Prepared, partner: Partner): string {
  const names = headerNamesOf(partner);
  const hidden = new Map([
    ...(partner.signing === undefined ? [] : [[names.signature.toLowerCase(), '[signature]'] as const]),
    ...(partner.apiKey === undefined ? [] : [[names.apiKey.toLowerCase(), '[API key]'] as const]),
  ]);
  const lines = headers.map(([name, value]) => `${name}: ${hidden.get(name.toLowerCase()) ?? value}`);
  // Node adds this header.
  const head = [`${method} ${maskTargetOf(partner.url, target)} HTTP/1.1`, ...lines, 'Connection: keep-alive', '', ''];
  return `${head.join('\r\n')}${Buffer.from(body).toString('utf8')}`;
}
