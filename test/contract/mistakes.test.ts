import { describe, expect, it } from 'vitest';
import { CHAIN_MISTAKES, explainMistake, findMistake, MISTAKES } from '../../contract/mistakes/index.ts';
import { SIGNING_MISTAKES, VALUE_MISTAKES } from '../../contract/signing/index.ts';
import { namedFindings } from '../../harness/diagnose/index.ts';
import { FAULTS } from '../../mutants/index.ts';
import { EVERY_SUITE } from '../../scenarios/index.ts';

const ENTRIES = Object.entries(MISTAKES);
const CHECKS = EVERY_SUITE.flatMap(({ scenarios }) => scenarios);
const ROWS = [...CHECKS, ...FAULTS, ...SIGNING_MISTAKES, ...VALUE_MISTAKES];

/** Returns all mistakes that a mistake implies, directly or indirectly. */
function closureOf(id: string): Set<string> {
  const found = new Set(findMistake(id)?.implies);
  for (const one of found) for (const other of findMistake(one)?.implies ?? []) found.add(other);
  return found;
}

/** Matches sentences or a line of code. */
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
    const all = ENTRIES.map(([id, { implies = [] }]) => [id, implies] as const);
    expect(all.flatMap(([, implies]) => implies.filter((other) => findMistake(other) === undefined))).toEqual([]);
    expect(all.filter(([, implies]) => new Set(implies).size !== implies.length)).toEqual([]);
    expect(all.filter(([id]) => closureOf(id).has(id))).toEqual([]);
  });

  it.each([
    ['nothing-verified', 'absent-signature-passes unchecked-key unread-key client-certificate-not-verified'],
    ['no-signature-verification', 'verification-per-path signature-check-throws base64-variant unset-secret'],
    ['absent-signature-passes', 'verification-per-content-type spoofed-request-header test-mode-from-request'],
    ['reserialised-body', 'decoded-body lossy-body-text raw-body-fallback body-chunks-as-text narrow-value-format'],
    ['unguarded-parser', 'undecodable-body-throws empty-body-unhandled deep-nesting-unhandled uncaught-error'],
    ['payload-not-validated', 'payload-root-unchecked missing-field-unchecked unguarded-parser'],
    ['undefined-body-throws', 'body-parser-by-content-type verification-per-framing empty-body-unhandled'],
  ])('explains by %s its consequences', (id, consequences) => {
    expect(findMistake(id)?.implies).toEqual(expect.arrayContaining(consequences.split(' ')));
  });

  it('explains no mistake of keys by one of signatures, nor the reverse', () => {
    expect(findMistake('no-signature-verification')?.implies).not.toContain('partial-key-comparison');
    expect(findMistake('unchecked-key')?.implies).not.toContain('absent-signature-passes');
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

it('fixes a trusted header by reading one header alone, because an application that reads several stays open', () => {
  const { fix } = MISTAKES['certificate-header-unprotected'];
  const [, overwritten = ''] = /proxy_set_header (\S+)/.exec(fix.rule)!;
  expect(fix.rule).toMatch(/^Read one header only in the application, and remove the code that accepts others\./);
  expect(fix.go).toContain(`r.Header.Get("${overwritten}")`);
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
