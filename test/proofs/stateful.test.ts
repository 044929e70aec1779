import { expect, it } from 'vitest';
import { CATALOGUE } from '../../scenarios/index.ts';
import { makeMaterial } from './matrix/play.ts';
import { exitCodeFor, STATEFUL } from './stateful.ts';

const material = await makeMaterial();

/** The suites with probes of state, and others, so that the lanes are as busy as in a whole run. */
const SUITES = ['valid', 'signature', 'http', 'delivery', 'leaks'];
const SCENARIOS = CATALOGUE.filter(({ name }) => SUITES.includes(name)).flatMap(({ scenarios }) =>
  scenarios.map(({ id }) => id),
);

it.each(STATEFUL)('%s, which depends on earlier requests, ends with exit code %i', async (name, code) => {
  expect(await exitCodeFor(name, material, SCENARIOS)).toBe(code);
});
