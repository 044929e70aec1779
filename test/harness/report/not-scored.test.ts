import { describe, expect, it } from 'vitest';
import { renderHuman } from '../../../harness/report/index.ts';
import { exitCodeOf } from '../../../harness/report/verdict.ts';
import { documentWith, resultWith } from './documents.ts';

const scoring = { revision: 3, digest: 'x', notScored: ['valid/newer', 'valid/newest'] };
const results = [
  resultWith({ id: 'valid/plain' }),
  resultWith({ id: 'valid/newer', verdict: 'fail', title: 'Does something new', observed: '500', fix: 'Correct it.' }),
  resultWith({ id: 'valid/newest', verdict: 'inconclusive', reason: 'no answer' }),
];
const document = documentWith({ results, profile: 'staging', verdict: 'conformant', scoring });
const rendered = (given = document) => renderHuman(given, { columns: 100, color: false, unicode: true });

describe('what is not scored', () => {
  it('is listed separately, with its fix, and not among the failures', () => {
    const text = rendered();
    expect(text).toContain(
      [
        'Not scored (2)',
        '  newer than revision 3, without effect on the verdict; 2 did not pass',
        '  ✗ valid/newer: Does something new',
        '    observed  500',
        '    fix       Correct it.',
        '  ? valid/newest: Refuses a delivery without a signature',
      ].join('\n'),
    );
    expect(text).not.toMatch(/^(?:Failures|Inconclusive)/m);
    expect(text).toContain('1 failed (1 not scored), 1 inconclusive, 1 passed');
    expect(text).toContain('profile staging, revision 3');
  });

  it('is only counted when it passes', () => {
    const passing = documentWith({ results: results.map(({ id }) => resultWith({ id })), scoring });
    expect(rendered(passing)).toContain('Not scored (2)\n  newer than revision 3, without effect on the verdict\n\n');
  });

  it('is not mentioned when everything is scored', () => {
    const { scoring: _, ...all } = document;
    expect(rendered(all)).toMatch(/\nFailures \(1\)\n/);
    expect(rendered(all)).not.toContain('Not scored');
    expect(rendered({ ...document, scoring: { ...scoring, notScored: [] } })).not.toContain('Not scored');
  });

  it.each<[string, Parameters<typeof documentWith>[0], number]>([
    ['a failure that is not scored', {}, 0],
    ['a failure that is scored', { scoring: { ...scoring, notScored: ['valid/newest'] } }, 1],
    ['no verdict that is scored', { scoring: { ...scoring, notScored: ['valid/newer'] } }, 3],
    ['nothing that is scored', { scoring: { ...scoring, notScored: results.map(({ id }) => id) } }, 3],
    ['everything scored', { scoring: { ...scoring, notScored: [] } }, 1],
  ])('decides the exit code or not: %s', (_, parts, code) => {
    expect(exitCodeOf({ ...document, ...parts })).toBe(code);
  });
});
