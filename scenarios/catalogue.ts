/** The catalogue: all suites, in the order in which they run. */
import { createHash } from 'node:crypto';
import { definitionOf, type Scheme } from '../contract/signing/index.ts';
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
import { rotationSuite } from './suites/rotation.ts';
import { schemeSuite } from './suites/scheme.ts';
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
  rotationSuite,
];

/** Every suite, with the one that applies only to senders that sign in another scheme. */
export const EVERY_SUITE: readonly Suite[] = [...CATALOGUE, schemeSuite];

const BY_ID: ReadonlyMap<string, Scenario> = new Map(
  EVERY_SUITE.flatMap((suite) => suite.scenarios.map((scenario) => [scenario.id, scenario] as const)),
);

/**
 * Maps the id of each removed scenario to the scenario that replaces it, and sends at least the same. A former id still
 * selects its replacement.
 */
const FORMER_IDS: Readonly<Record<string, string>> = {
  'http/key-header-lower': 'api-key/lower-case-name',
  'http/key-header-upper': 'api-key/upper-case-name',
  'signature/unsigned-rewrite-headers': 'signature/unsigned-open-paths',
  ...Object.fromEntries(
    [
      ...['x-ssl-client', 'x-client-verify', 'ssl-client', 'x-forwarded-client-cert', 'x-forwarded-tls-client-cert'],
      ...['x-amzn-mtls', 'x-arr-clientcert', 'x-client-cert-google', 'cloudflare', 'client-cert'],
    ].map((name) => [`mtls/forged-${name}`, 'mtls/forged-headers']),
  ),
};

/** Returns the current id of a scenario. */
export function currentId(id: string): string {
  return (Object.hasOwn(FORMER_IDS, id) ? FORMER_IDS[id] : undefined) ?? id;
}

/** Finds the scenario with this id, which may be a former one. */
export function findScenario(id: string): Scenario | undefined {
  return BY_ID.get(currentId(id));
}

/** Lists, in catalogue order, the scenarios that need an id of this kind that no other scenario uses. */
export function scenariosOwning(kind: SampleKind): readonly string[] {
  return CATALOGUE.flatMap(({ scenarios }) =>
    scenarios.filter((one) => 'owns' in one && one.owns?.includes(kind) === true).map(({ id }) => id),
  );
}

/** The name of the suite about schemes. */
export const SCHEME_SUITE = schemeSuite.name;

/** Returns the ids of the scenarios, in a scheme with those about schemes. */
export function catalogueIds(inScheme: boolean): string[] {
  return (inScheme ? EVERY_SUITE : CATALOGUE).flatMap(({ scenarios }) => scenarios.map(({ id }) => id));
}

/**
 * Computes a digest of what the catalogue requires: ids, levels and requirements; in a scheme also those about schemes,
 * and what defines the scheme. Runs with the same digest are comparable. The scenarios in `without` are left out.
 */
export function catalogueDigest(scheme?: Scheme, without: readonly string[] = []): string {
  const suites = scheme === undefined ? CATALOGUE : EVERY_SUITE;
  const counted = suites.flatMap(({ scenarios }) => scenarios).filter(({ id }) => !without.includes(id));
  const demands = counted.map(({ id, level, requirements, needs = [] }) => [
    id,
    level,
    [...requirements].toSorted(),
    [...needs].toSorted(),
  ]);
  const hash = createHash('sha256').update(JSON.stringify(demands));
  if (scheme !== undefined) hash.update(JSON.stringify(definitionOf(scheme), sortedKeys));
  return `sha256:${hash.digest('hex')}`;
}

/** Sorts the members of objects, whose order means nothing. */
function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
