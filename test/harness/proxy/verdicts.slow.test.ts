import { expect, it } from 'vitest';
import { loadDictionary, matchesAny } from '../../../harness/diagnose/index.ts';
import { STATUS_SCENARIOS } from '../../../harness/judge/index.ts';
import { findSubject, makeMaterial, playedOf, runAgainst } from '../../proofs/matrix/play.ts';
import { inTurn } from '../../setup/turn.ts';

const MUTANTS = [
  'verifies-reserialised-json',
  'signature-not-checked',
  'early-refusal-lost-in-reset',
  'refused-body-left-on-connection',
  'api-key-refused-by-hanging-up',
];

const material = await makeMaterial();
const { faults } = await loadDictionary();

// The dictionary contains the outcomes without a proxy.
it.each(['none', ...inTurn(MUTANTS, 3)])('every outcome of %s is the same behind the proxy', async (name) => {
  const subject = findSubject(name);
  const played = playedOf(subject, await runAgainst(subject, material, [], 'proxy'));
  const { outcomes, uncertain = [] } = faults.find((fault) => fault.name === name) ?? { outcomes: {} };
  const certain = (found: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(found).filter(([id]) => !matchesAny(uncertain, id)));
  // A receiver that rejects nothing reveals no status for rejections.
  const undecided = Object.keys(certain(played.undecided));
  expect(undecided.filter((id) => !Object.values(STATUS_SCENARIOS).includes(id))).toEqual([]);
  expect(certain(played.outcomes)).toEqual(certain(outcomes));
  expect(played.judged).toBeGreaterThan(50);
});
