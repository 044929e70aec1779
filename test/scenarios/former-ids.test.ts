import { describe, expect, it } from 'vitest';
import { explain } from '../../harness/cli/commands/explain.ts';
import { parseBaseline } from '../../harness/config/baseline-file.ts';
import { selectScenarios } from '../../harness/config/selection.ts';
import { CATALOGUE, currentId, findScenario } from '../../scenarios/index.ts';

const FORMER = [
  ['http/key-header-lower', 'api-key/lower-case-name'],
  ['http/key-header-upper', 'api-key/upper-case-name'],
] as const;

describe.each(FORMER)('the former id %s', (former, current) => {
  it('is not in the catalogue, and stands for the check that sends the same', () => {
    expect(CATALOGUE.flatMap(({ scenarios }) => scenarios.filter(({ id }) => id === former))).toEqual([]);
    expect([currentId(former), findScenario(former)?.id]).toEqual([current, current]);
    expect(explain(former)).toBe(explain(current));
  });

  it('selects that check once, with its current id too', () => {
    const ids = (scenarios: string[]) => selectScenarios({ scenarios }).map(({ id }) => id);
    expect([ids([former]), ids([former, current])]).toEqual([[current], [current]]);
  });

  it('is an entry of a baseline for that check', () => {
    const entry = (scenario: string) => `  - { scenario: ${scenario}, reason: r, owner: o, expires: 2027-01-01 }\n`;
    const text = `version: 1\nfailures:\n${entry(former)}${entry(current)}`;
    expect(parseBaseline(text, 'known.yaml').entries.map(({ scenario }) => scenario)).toEqual([current]);
  });
});
