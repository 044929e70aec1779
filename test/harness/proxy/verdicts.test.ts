import { expect, it } from 'vitest';
import { isMeant } from '../../../harness/diagnose/index.ts';
import { UNCERTAIN } from '../../proofs/matrix/exceptions.ts';
import { findSubject, makeMaterial, runAgainst } from '../../proofs/matrix/play.ts';
import type { SetUp } from '../../proofs/matrix/set-ups.ts';

const material = await makeMaterial();

/** Scenario to verdict, for the whole catalogue, without what the mutant leaves to chance. */
async function verdicts(name: string, setUp: SetUp): Promise<Record<string, string>> {
  const { results } = await runAgainst(findSubject(name), material, [], setUp, 'same-seed');
  const chance = UNCERTAIN.filter(({ fault }) => fault === name).flatMap(({ scenarios }) => scenarios);
  return Object.fromEntries(results.filter(({ id }) => !isMeant(chance, id)).map(({ id, verdict }) => [id, verdict]));
}

it.each([
  'none',
  'verifies-reserialised-json',
  'signature-not-checked',
  'early-refusal-lost-in-reset',
  'refused-body-left-on-connection',
  'api-key-refused-by-hanging-up',
])('every verdict on %s is the same behind the proxy', async (name) => {
  const direct = await verdicts(name, 'loopback');
  expect(Object.values(direct).filter((one) => one !== 'not-applicable').length).toBeGreaterThan(0);
  expect(await verdicts(name, 'proxy')).toEqual(direct);
});
