/** The plan of a run: which scenarios it judges. It is complete before the first request. */

import { isLoopback } from '../../contract/hosts.ts';
import { EFFECT_DECIMALS, type OfferedTlsVersion } from '../../contract/index.ts';
import {
  CLIENT_FIXTURES,
  type EvidenceSource,
  type Feature,
  type FlowScenario,
  isEvidenceSource,
  type ObservationScenario,
  type ProbeScenario,
  type Scenario,
  SOURCE_TEXTS,
} from '../../scenarios/index.ts';
import { type Selection, selectScenarios } from '../config/selection.ts';
import type { SourceOptions } from '../effects/index.ts';
import type { Credential } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import type { ClientFixtures } from '../probe/index.ts';
import { inScheme, obstacleInScheme } from './suits-scheme.ts';

export type { Selection } from '../config/selection.ts';

/** A scenario of the plan. If it does not apply, `obstacle` says why; otherwise `obstacle` is null. */
export interface PlannedScenario<Kind extends Scenario = Scenario> {
  readonly suite: string;
  readonly scenario: Kind;
  readonly obstacle: string | null;
}

/** A planned scenario that sends deliveries. */
export type SendingPlan = PlannedScenario<ProbeScenario | FlowScenario>;

/** Returns whether a scenario sends deliveries. Such scenarios need an endpoint that accepts plain valid deliveries. */
export function isSending(planned: PlannedScenario): planned is SendingPlan {
  return 'change' in planned.scenario || 'flow' in planned.scenario;
}

export function isObservation(scenario: Scenario): scenario is ObservationScenario {
  return 'observe' in scenario;
}

/** Returns whether a scenario runs while no other delivery is in flight. */
export function isExclusive(scenario: SendingPlan['scenario']): boolean {
  return ('alone' in scenario && scenario.alone === true) || ('last' in scenario && scenario.last === true);
}

/** Returns the credentials that a scenario tests. */
export function credentialsOf({ needs = [] }: Scenario): Credential[] {
  const credentials: Credential[] = [];
  if (needs.includes('hmac')) credentials.push('signature');
  if (needs.includes('api-key')) credentials.push('api-key');
  return credentials;
}

/** Returns the TLS version that a scenario requires for its probe, if any. */
export function versionOf(scenario: SendingPlan['scenario']): OfferedTlsVersion | undefined {
  return 'change' in scenario ? scenario.change.connect?.version : scenario.version;
}

/** The properties of the endpoint on which the plan depends. */
interface Target {
  readonly features: readonly Feature[];
  /** The numbers of decimals of the configured assets. */
  readonly decimals?: readonly number[];
  /** Whether deliveries go to another machine over plain HTTP. */
  readonly isExposed: boolean;
  /** Set if the sender signs in a scheme: a scenario as it is there, and why one does not suit it, or null. */
  readonly scheme?: {
    readonly adapt: (scenario: Scenario) => Scenario;
    readonly obstacle: (scenario: Scenario) => string | null;
  };
}

export function targetOf(
  partner: Partner,
  fixtures?: ClientFixtures,
  sources?: SourceOptions,
): Target & { readonly features: Feature[] } {
  const { protocol, hostname } = new URL(partner.url);
  const features = featuresOf(partner, fixtures, sources);
  const decimals = Object.values(partner.decimals ?? EFFECT_DECIMALS);
  const isExposed = protocol === 'http:' && !isLoopback(hostname);
  const { scheme } = partner.signing ?? {};
  if (scheme === undefined) return { features, decimals, isExposed };
  const adapt = (scenario: Scenario) => inScheme(scenario, scheme);
  const obstacle = (scenario: Scenario) => obstacleInScheme(scenario, partner);
  return { features, decimals, isExposed, scheme: { adapt, obstacle } };
}

/** Returns the features that a partner's configuration provides. */
export function featuresOf(partner: Partner, fixtures: ClientFixtures = {}, sources?: SourceOptions): Feature[] {
  const features: Feature[] = [];
  if (partner.signing !== undefined) features.push('hmac');
  if (partner.apiKey !== undefined) features.push('api-key');
  if (partner.url.startsWith('https:')) features.push('https');
  if (partner.tls?.clientCert !== undefined) features.push('mtls');
  for (const name of CLIENT_FIXTURES) if (fixtures[name] !== undefined) features.push(`fixture-${name}`);
  if (partner.signing !== undefined && sources?.rotation !== undefined) features.push('rotation');
  return [...features, ...sourcesOf(sources)];
}

/** Returns the available sources of evidence. A restart requires the effects window, which shows its consequences. */
function sourcesOf({ effects, restartCommand, restart, logs = [] }: SourceOptions = {}): EvidenceSource[] {
  const canRestart = restartCommand !== undefined || restart !== undefined;
  return [
    ...(effects === undefined ? [] : (['effects'] as const)),
    ...(effects === undefined || !canRestart ? [] : (['restart'] as const)),
    ...(logs.length === 0 ? [] : (['log'] as const)),
  ];
}

/**
 * Plans a run: returns the selected scenarios in catalogue order.
 *
 * @throws HookproofError for an unknown name or a selection that matches nothing
 */
export function planScenarios(target: Target, selection: Partial<Selection> = {}): PlannedScenario[] {
  const { scheme } = target;
  const selected = selectScenarios(selection, scheme !== undefined);
  return (scheme === undefined ? selected : selected.map(scheme.adapt)).map((scenario) => ({
    // An id consists of the name of its suite, a slash and a name.
    suite: scenario.id.slice(0, scenario.id.indexOf('/')),
    scenario,
    obstacle: obstacleFor(scenario, target),
  }));
}

function obstacleFor(scenario: Scenario, target: Target): string | null {
  const { features, isExposed, decimals: known = [] } = target;
  const { needs = [], sendsSecret } = scenario;
  const missing = needs.find((feature) => !features.includes(feature));
  if (missing !== undefined && isEvidenceSource(missing))
    return `no ${SOURCE_TEXTS[missing].noun}, see ${SOURCE_TEXTS[missing].flag}`;
  if (missing === 'rotation' && features.includes('hmac')) return 'no next secret, see --next-secret-file';
  if (missing !== undefined) return `the feature ${missing} is not configured`;
  const decimals = 'decimals' in scenario ? scenario.decimals : undefined;
  if (decimals !== undefined && !known.includes(decimals)) return `no asset with ${decimals} decimals is configured`;
  if (sendsSecret === true && isExposed) return 'it sends the secret itself, which plain HTTP would expose';
  return target.scheme?.obstacle(scenario) ?? null;
}
