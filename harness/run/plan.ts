/** Which scenarios a run judges, decided before the first request. */
import { HookproofError } from '../../contract/index.ts';
import { CATALOGUE, CLIENT_FIXTURES, type Feature, type Scenario } from '../../scenarios/index.ts';
import { nearestName } from '../config/nearest-name.ts';
import type { Partner } from '../partner.ts';
import type { ClientFixtures } from '../probe/index.ts';
import { isLoopback } from '../sender/index.ts';

/** What to select. Nothing given selects the whole catalogue; several kinds of selection narrow one another. */
export interface Selection {
  readonly suites: readonly string[];
  readonly scenarios: readonly string[];
  /** Regular expressions over id and title; any match selects. */
  readonly greps: readonly string[];
  readonly shard: { readonly index: number; readonly of: number } | null;
}

/** A scenario of the plan. `obstacle` says why it does not apply, naming the feature; it is judged all the same. */
export interface PlannedScenario {
  readonly suite: string;
  readonly scenario: Scenario;
  readonly obstacle: string | null;
}

const SUITE_NAMES = CATALOGUE.map((suite) => suite.name);
const SCENARIO_IDS = CATALOGUE.flatMap((suite) => suite.scenarios.map((scenario) => scenario.id));

function refuseUnknown(kind: 'suite' | 'scenario', asked: readonly string[], known: readonly string[]): void {
  for (const name of asked) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    throw new HookproofError('PLAN_UNKNOWN_NAME', `there is no ${kind} "${name}"`, {
      hint: `${near === null ? '' : `Did you mean "${near}"? `}\`hookproof list\` shows them all.`,
    });
  }
}

function compile(source: string): RegExp {
  try {
    return new RegExp(source, 'i');
  } catch (cause) {
    throw new HookproofError('PLAN_BAD_PATTERN', `--grep "${source}" is not a regular expression`, {
      hint: 'Escape characters that have a meaning in regular expressions, for example `\\(`.',
      cause,
    });
  }
}

/** What the plan has to know of the endpoint. */
interface Target {
  readonly features: readonly Feature[];
  /** Plain HTTP to another machine. */
  readonly readableOnTheWay: boolean;
}

function obstacleFor({ needs = [], sendsSecret }: Scenario, { features, readableOnTheWay }: Target): string | null {
  const missing = needs.find((feature) => !features.includes(feature));
  if (missing !== undefined) return `the feature ${missing} is not configured`;
  if (sendsSecret === true && readableOnTheWay) {
    return 'it sends the secret itself, and plain HTTP would show it to everybody on the way';
  }
  return null;
}

/**
 * Plans a run: the selected scenarios in catalogue order, each with what stands in its way. Throws
 * {@link HookproofError} for an unknown name, a bad pattern, or a selection that matches nothing.
 */
export function planScenarios(target: Target, selection: Selection): PlannedScenario[] {
  refuseUnknown('suite', selection.suites, SUITE_NAMES);
  refuseUnknown('scenario', selection.scenarios, SCENARIO_IDS);
  const patterns = selection.greps.map(compile);
  const { suites, scenarios, shard } = selection;

  const selected = CATALOGUE.flatMap((suite) =>
    suite.scenarios
      .filter(() => suites.length === 0 || suites.includes(suite.name))
      .filter(({ id }) => scenarios.length === 0 || scenarios.includes(id))
      .filter(({ id, title }) => patterns.length === 0 || patterns.some((p) => p.test(id) || p.test(title)))
      .map((scenario): PlannedScenario => {
        return { suite: suite.name, scenario, obstacle: obstacleFor(scenario, target) };
      }),
  );
  if (selected.length === 0) {
    throw new HookproofError('PLAN_NOTHING_SELECTED', 'the selection matches no scenario', {
      hint: '`--suite`, `--scenario` and `--grep` narrow one another; `hookproof list` shows what there is.',
    });
  }
  // Dealt out one by one, so that shards are alike in size and every scenario is in exactly one.
  const mine = shard === null ? selected : selected.filter((_, at) => at % shard.of === shard.index - 1);
  if (mine.length === 0) {
    throw new HookproofError(
      'PLAN_EMPTY_SHARD',
      `shard ${shard?.index}/${shard?.of} of ${selected.length} scenarios is empty`,
      {
        hint: 'Use at most as many shards as there are selected scenarios.',
      },
    );
  }
  return mine;
}

/** Which features a partner's configuration turns on: what is configured is what is checked. */

export function featuresOf(partner: Partner, fixtures: ClientFixtures = {}): Feature[] {
  const features: Feature[] = [];
  if (partner.signing !== undefined) features.push('hmac');
  if (partner.apiKey !== undefined) features.push('api-key');
  if (partner.url.startsWith('https:')) features.push('https');
  if (partner.tls?.clientCert !== undefined) features.push('mtls');
  for (const name of CLIENT_FIXTURES) if (fixtures[name] !== undefined) features.push(`fixture-${name}`);
  return features;
}

/** Whether deliveries go over plain HTTP to another machine. */
export function isReadableOnTheWay(partner: Partner): boolean {
  const { protocol, hostname } = new URL(partner.url);
  return protocol === 'http:' && !isLoopback(hostname);
}
