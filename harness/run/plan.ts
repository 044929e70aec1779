/** The plan of a run: which scenarios it judges, decided before the first request. */

import { HookproofError, type OfferedTlsVersion } from '../../contract/index.ts';
import {
  CATALOGUE,
  CLIENT_FIXTURES,
  type Feature,
  type FlowScenario,
  type ObservationScenario,
  type ProbeScenario,
  type Scenario,
} from '../../scenarios/index.ts';
import { nearestName } from '../config/nearest-name.ts';
import type { Credential } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import type { ClientFixtures } from '../probe/index.ts';
import { isLoopback } from '../sender/index.ts';

/** The selected scenarios. An empty selection is the whole catalogue; several kinds of selection narrow each other. */
export interface Selection {
  readonly suites: readonly string[];
  readonly scenarios: readonly string[];
  /** Regular expressions over id and title; any match selects. */
  readonly greps: readonly string[];
  readonly shard: { readonly index: number; readonly of: number } | null;
}

/** A scenario of the plan. `obstacle` is the reason why it does not apply, or null. */
export interface PlannedScenario {
  readonly suite: string;
  readonly scenario: Scenario;
  readonly obstacle: string | null;
}

/** A planned scenario that sends deliveries. */
export interface SendingPlan extends PlannedScenario {
  readonly scenario: ProbeScenario | FlowScenario;
}

/** Whether a scenario sends deliveries, which needs an endpoint that accepts plain valid ones. */
export function isSending(planned: PlannedScenario): planned is SendingPlan {
  return 'change' in planned.scenario || 'flow' in planned.scenario;
}

export function isObservation(scenario: Scenario): scenario is ObservationScenario {
  return 'observe' in scenario;
}

/** The credentials that a scenario is about. */
export function credentialsOf({ needs = [] }: Scenario): Credential[] {
  const credentials: Credential[] = [];
  if (needs.includes('hmac')) credentials.push('signature');
  if (needs.includes('api-key')) credentials.push('api-key');
  return credentials;
}

/** The TLS version that a scenario requires for its probe. */
export function versionOf(scenario: SendingPlan['scenario']): OfferedTlsVersion | undefined {
  return 'change' in scenario ? scenario.change.connect?.version : scenario.version;
}

/** What the plan needs to know about the endpoint. */
interface Target {
  readonly features: readonly Feature[];
  /** Plain HTTP to another machine. */
  readonly isExposed: boolean;
}

export function targetOf(partner: Partner, fixtures?: ClientFixtures): Target & { readonly features: Feature[] } {
  const { protocol, hostname } = new URL(partner.url);
  return { features: featuresOf(partner, fixtures), isExposed: protocol === 'http:' && !isLoopback(hostname) };
}

/** The features of a partner's configuration. */
export function featuresOf(partner: Partner, fixtures: ClientFixtures = {}): Feature[] {
  const features: Feature[] = [];
  if (partner.signing !== undefined) features.push('hmac');
  if (partner.apiKey !== undefined) features.push('api-key');
  if (partner.url.startsWith('https:')) features.push('https');
  if (partner.tls?.clientCert !== undefined) features.push('mtls');
  for (const name of CLIENT_FIXTURES) if (fixtures[name] !== undefined) features.push(`fixture-${name}`);
  return features;
}

const SUITE_NAMES = CATALOGUE.map((suite) => suite.name);
const SCENARIO_IDS = CATALOGUE.flatMap((suite) => suite.scenarios.map((scenario) => scenario.id));

/**
 * Plans a run: the selected scenarios in the order of the catalogue.
 *
 * @throws HookproofError for an unknown name, an invalid pattern, or a selection that matches nothing
 */
export function planScenarios(target: Target, selection: Partial<Selection> = {}): PlannedScenario[] {
  const { suites = [], scenarios = [], greps = [], shard = null } = selection;
  rejectUnknown('suite', suites, SUITE_NAMES);
  rejectUnknown('scenario', scenarios, SCENARIO_IDS);
  const patterns = greps.map(readPattern);

  const selected = CATALOGUE.flatMap((suite) =>
    suite.scenarios
      .filter(() => suites.length === 0 || suites.includes(suite.name))
      .filter(({ id }) => scenarios.length === 0 || scenarios.includes(id))
      .filter(({ id, title }) => patterns.length === 0 || patterns.some((matches) => matches(id) || matches(title)))
      .map((scenario): PlannedScenario => {
        return { suite: suite.name, scenario, obstacle: obstacleFor(scenario, target) };
      }),
  );
  if (selected.length === 0) {
    throw new HookproofError('PLAN_NOTHING_SELECTED', 'the selection matches no check', {
      hint: '`--suite`, `--scenario` and `--grep` narrow each other; `hookproof list` prints the catalogue.',
    });
  }
  if (shard === null) return selected;
  // Dealt out one by one, so that shards have similar sizes and every scenario is in exactly one.
  const mine = selected.filter((_, at) => at % shard.of === shard.index - 1);
  if (mine.length === 0) {
    const checks = selected.length === 1 ? '1 check is' : `${selected.length} checks are`;
    const message = `shard ${shard.index}/${shard.of} is empty: ${checks} selected`;
    throw new HookproofError('PLAN_EMPTY_SHARD', message, {
      hint: 'Use at most as many shards as there are selected checks.',
    });
  }
  return mine;
}

function rejectUnknown(kind: 'suite' | 'scenario', asked: readonly string[], known: readonly string[]): void {
  for (const name of asked) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const suggestion = near === null ? '' : `Did you mean "${near}"? `;
    const noun = kind === 'suite' ? 'suite' : 'check';
    const list = kind === 'suite' ? '`hookproof list --what suites`' : '`hookproof list`';
    throw new HookproofError('PLAN_UNKNOWN_NAME', `unknown ${noun} "${name}"`, {
      hint: `${suggestion}${list} lists all ${noun}s.`,
    });
  }
}

/**
 * Makes a test whether a text contains the pattern, in upper or lower case; `*` stands for any characters. Regular
 * expressions are not supported, because one can run for hours.
 *
 * @throws HookproofError PLAN_UNKNOWN_NAME when no check of the catalogue matches
 */
function readPattern(pattern: string): (text: string) => boolean {
  const parts = pattern
    .toLowerCase()
    .split('*')
    .filter((part) => part !== '');
  const matches = (text: string) => {
    const lower = text.toLowerCase();
    let from = 0;
    return parts.every((part) => {
      const at = lower.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  };
  if (CATALOGUE.some(({ scenarios }) => scenarios.some(({ id, title }) => matches(id) || matches(title))))
    return matches;
  throw new HookproofError('PLAN_UNKNOWN_NAME', `no check has "${pattern.slice(0, 60)}" in its id or title`, {
    hint: '`--grep` takes text, not a regular expression; * stands for any characters. `hookproof list` prints all.',
  });
}

function obstacleFor({ needs = [], sendsSecret }: Scenario, { features, isExposed }: Target): string | null {
  const missing = needs.find((feature) => !features.includes(feature));
  if (missing !== undefined) return `the feature ${missing} is not configured`;
  return sendsSecret === true && isExposed ? 'it sends the secret itself, which plain HTTP would expose' : null;
}
