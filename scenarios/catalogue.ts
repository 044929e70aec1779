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

/** The scenario with this id, or undefined. */
export function findScenario(id: string): Scenario | undefined {
  return BY_ID.get(id);
}

/** The scenarios that share an id of this kind with no other one, in the order of the catalogue. */
export function ownersOf(kind: SampleKind): readonly string[] {
  return CATALOGUE.flatMap(({ scenarios }) =>
    scenarios.filter((one) => 'owns' in one && one.owns?.includes(kind) === true).map(({ id }) => id),
  );
}

/**
 * A digest of what the catalogue demands: ids, levels and requirements. Two runs with the same digest are comparable.
 */
export function catalogueDigest(): string {
  const demands = CATALOGUE.flatMap(({ scenarios }) =>
    scenarios.map(({ id, level, requirements, needs = [] }) => [
      id,
      level,
      [...requirements].toSorted(),
      [...needs].toSorted(),
    ]),
  );
  return `sha256:${createHash('sha256').update(JSON.stringify(demands)).digest('hex')}`;
}
