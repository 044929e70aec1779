import { expect, it } from 'vitest';
import { CATALOGUE } from '../../scenarios/index.ts';
import { makeMaterial } from './matrix/play.ts';
import { exitCodeFor, STATEFUL } from './stateful.ts';

const material = await makeMaterial();

/** The probes of state, and every sixth probe of other suites, so that the lanes are as busy as in a whole run. */
const OF_STATE = [
  /^(?:delivery|leaks)\//,
  /^http\/burst/,
  /^signature\/(?:wrong-in-a-row|of-delivery-before|forged-copy)$/,
  /^valid\/error-codes-all$/,
];
const OTHERS = CATALOGUE.filter(({ name }) => ['valid', 'signature', 'http'].includes(name)).flatMap((suite) =>
  suite.scenarios.filter((_, at) => at % 6 === 0),
);
const SCENARIOS = CATALOGUE.flatMap(({ scenarios }) => scenarios)
  .filter((scenario) => OF_STATE.some((pattern) => pattern.test(scenario.id)) || OTHERS.includes(scenario))
  .map(({ id }) => id);

it.each(STATEFUL)('%s, which depends on earlier requests, ends with exit code %i', async (name, code) => {
  expect(await exitCodeFor(name, material, SCENARIOS)).toBe(code);
});
