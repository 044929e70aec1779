import { describe, expect, it } from 'vitest';
import { CHAIN_MISTAKES, explainMistake, findMistake, MISTAKES } from '../../contract/mistakes/index.ts';
import { SIGNING_MISTAKES, VALUE_MISTAKES } from '../../contract/signing/index.ts';
import { namedFindings } from '../../harness/diagnose/index.ts';
import { FAULTS } from '../../mutants/index.ts';
import { CATALOGUE } from '../../scenarios/index.ts';

const ENTRIES = Object.entries(MISTAKES);
const CHECKS = CATALOGUE.flatMap(({ scenarios }) => scenarios);
const ROWS = [...CHECKS, ...FAULTS, ...SIGNING_MISTAKES, ...VALUE_MISTAKES];

/** Sentences, or a line of code. */
const TEXT = /^\S.*[.)`]$/;

describe('the library of mistakes', () => {
  it('has complete texts', () => {
    for (const [id, { title, seen, why, fix, cwe }] of ENTRIES) {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(title).toMatch(/^[A-Z].*[^.]$/);
      for (const text of [seen, why, ...Object.values(fix)])
        expect([id, text]).toEqual([id, expect.stringMatching(TEXT)]);
      expect(cwe).toBeGreaterThan(0);
    }
  });

  it('has no mistake that implies itself or one that does not exist', () => {
    const implied = (id: string, path: readonly string[] = []): readonly string[] =>
      path.includes(id) ? path : (findMistake(id)?.implies ?? []).flatMap((other) => implied(other, [...path, id]));
    expect(ENTRIES.flatMap(([id]) => implied(id))).toEqual([]);
    expect(ENTRIES.flatMap(([, { implies = [] }]) => implies.filter((id) => findMistake(id) === undefined))).toEqual(
      [],
    );
  });

  it('has no mistake that nothing refers to', () => {
    const used = new Set([
      ...ROWS.map(({ mistake }) => mistake),
      ...Object.values(CHAIN_MISTAKES),
      ...namedFindings().flatMap(({ mistake }) => mistake ?? []),
    ]);
    expect(Object.keys(MISTAKES).filter((id) => !used.has(id))).toEqual([]);
  });

  it('shares no name with a check or a mutant', () => {
    const names = new Set([...CHECKS.map(({ id }) => id), ...FAULTS.map(({ name }) => name)]);
    expect(Object.keys(MISTAKES).filter((id) => names.has(id))).toEqual([]);
  });
});

describe('a reference to a mistake', () => {
  it('adds one sentence at most, of at most 110 characters', () => {
    const notes = ROWS.flatMap(({ note }) => note ?? []);
    expect(notes.filter((note) => note.length > 110 || !/^\S.*[.?]$/.test(note))).toEqual([]);
  });

  it('is explained by the sentence, the consequence and the rule', () => {
    const mistake = 'partial-comparison';
    const { why, fix } = MISTAKES[mistake];
    expect(explainMistake({ mistake })).toEqual({ why, fix: fix.rule });
    expect(explainMistake({ mistake, note: 'A note.' })).toEqual({ why: `A note. ${why}`, fix: fix.rule });
  });
});
