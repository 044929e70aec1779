/** The catalogue: every suite, in the order in which they run. */
import { createHash } from 'node:crypto';
import type { SampleKind, Scenario, Suite } from './scenario.ts';
import { apiKeySuite } from './suites/api-key.ts';
import { combinationSuite } from './suites/combination.ts';
import { deliverySuite } from './suites/delivery.ts';
import { effectsSuite } from './suites/effects.ts';
import { httpSuite } from './suites/http.ts';
import { leaksSuite } from './suites/leaks.ts';
import { malformedSuite } from './suites/malformed.ts';
import { mtlsSuite } from './suites/mtls.ts';
import { rawBodySuite } from './suites/raw-body.ts';
import { signatureSuite } from './suites/signature.ts';
import { tlsSuite } from './suites/tls.ts';
import { typoKeySuite } from './suites/typo-key.ts';
import { validSuite } from './suites/valid.ts';

export const CATALOGUE: readonly Suite[] = [
  validSuite,
  tlsSuite,
  mtlsSuite,
  typoKeySuite,
  signatureSuite,
  apiKeySuite,
  combinationSuite,
  rawBodySuite,
  malformedSuite,
  httpSuite,
  leaksSuite,
  deliverySuite,
  effectsSuite,
];

const BY_ID: ReadonlyMap<string, Scenario> = new Map(
  CATALOGUE.flatMap((suite) => suite.scenarios.map((scenario) => [scenario.id, scenario] as const)),
);

/** The ids of scenarios that sent the same as another one. Each still selects that one. */
const FORMER_IDS: Readonly<Record<string, string>> = {
  'http/key-header-lower': 'api-key/lower-case-name',
  'http/key-header-upper': 'api-key/upper-case-name',
};

/** The id that a scenario has now. */
export function currentId(id: string): string {
  return (Object.hasOwn(FORMER_IDS, id) ? FORMER_IDS[id] : undefined) ?? id;
}

/** The scenario with this id, which may be a former one; or undefined. */
export function findScenario(id: string): Scenario | undefined {
  return BY_ID.get(currentId(id));
}

/** The scenarios that share an id of this kind with no other one, in the order of the catalogue. */
export function ownersOf(kind: SampleKind): readonly string[] {
  return CATALOGUE.flatMap(({ scenarios }) =>
    scenarios.filter((one) => 'owns' in one && one.owns?.includes(kind) === true).map(({ id }) => id),
  );
}

/**
 * A digest of what the catalogue demands: ids, levels and requirements. Two runs with the same digest are comparable.
 * `without` leaves these scenarios out.
 */
export function catalogueDigest(without: readonly string[] = []): string {
  const counted = CATALOGUE.flatMap(({ scenarios }) => scenarios).filter(({ id }) => !without.includes(id));
  const demands = counted.map(({ id, level, requirements, needs = [] }) => [
    id,
    level,
    [...requirements].toSorted(),
    [...needs].toSorted(),
  ]);
  return `sha256:${createHash('sha256').update(JSON.stringify(demands)).digest('hex')}`;
}
