import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderCtrf } from '../../../harness/report/ctrf.ts';
import { type ResultDocument, VERDICTS } from '../../../harness/report/result-document.ts';
import { anyCharacter } from '../../setup/any-character.ts';
import { BASELINE, diagnosisWith, documentOf, documentWith, KNOWN, resultWith } from './documents.ts';

/** The published schema, unchanged: `ctrf/LICENSE` says where it comes from. */
const schema = JSON.parse(readFileSync(new URL('ctrf/ctrf.schema.json', import.meta.url), 'utf8'));
const ajv = new Ajv({ allErrors: true, strict: false });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
for (const unused of ['uuid', 'uri']) ajv.addFormat(unused, () => false);
const validate = ajv.compile(schema);

function ctrf(document: ResultDocument) {
  const report = JSON.parse(renderCtrf(document));
  validate(report);
  expect(validate.errors).toBeNull();
  return report.results;
}
type Test = { name: string; status: string; rawStatus: string; message?: string };
const statusesOf = (document: ResultDocument) =>
  ctrf(document).tests.map(({ status, rawStatus }: Test) => [rawStatus, status]);

const oneOfEach = documentWith({
  results: VERDICTS.map((verdict) => resultWith({ id: `signature/${verdict}`, verdict, reason: verdict })),
  diagnosis: [diagnosisWith()],
});

describe('the CTRF report', () => {
  it('fits a schema that rejects other statuses and fields', () => {
    const report = JSON.parse(renderCtrf(oneOfEach));
    expect(validate(report)).toBe(true);
    report.results.tests[0].status = 'error';
    expect(validate(report)).toBe(false);
    report.results.tests[0].status = 'passed';
    report.results.tests[0].verdict = 'pass';
    expect(validate(report)).toBe(false);
  });

  it('maps each verdict to a status, and adds a failed test to a run without a verdict', () => {
    expect(statusesOf(oneOfEach)).toEqual([
      ['pass', 'passed'],
      ['fail', 'failed'],
      ['warn', 'passed'],
      ['inconclusive', 'other'],
      ['not-applicable', 'skipped'],
      ['harness-error', 'other'],
      ['harness-error', 'failed'],
    ]);
    const inconclusive = documentWith({ results: [resultWith(), resultWith({ id: 'a/b', verdict: 'inconclusive' })] });
    expect(statusesOf(inconclusive).at(-1)).toEqual(['inconclusive', 'failed']);
    expect(statusesOf(documentWith({ strict: true, results: [resultWith({ verdict: 'warn' })] }))).toEqual([
      ['warn', 'failed'],
    ]);
  });

  it('counts its tests, with times in whole milliseconds', () => {
    const { summary, tests, tool } = ctrf(oneOfEach);
    const start = Date.parse('2026-11-21T10:00:00.000Z');
    expect(summary).toMatchObject({ tests: 7, passed: 2, failed: 2, skipped: 1, pending: 0, other: 2, suites: 2 });
    expect(summary).toMatchObject({ start, stop: start + 840 });
    expect(tool).toEqual({ name: 'hookproof', version: '0.1.0' });
    expect(tests[1]).toMatchObject({
      name: 'signature/fail: Rejects a delivery without a signature',
      duration: 13,
      suite: ['hookproof', 'signature'],
      message: 'expected 401, observed 401',
      tags: ['must', 'hmac-missing'],
    });
    expect(tests[1].trace).toContain('fix: Treat a missing header like an invalid one');
    expect(tests[0]).not.toHaveProperty('trace', undefined);
  });

  it('skips known and unscored results, and fails for stale entries and an incomplete run', () => {
    const results = [
      resultWith({ id: 'valid/plain' }),
      resultWith({ id: 'valid/known', verdict: 'fail', known: KNOWN }),
      resultWith({ id: 'valid/newer', verdict: 'harness-error', reason: 'oh' }),
    ];
    const document = documentWith({
      results,
      profile: 'staging',
      scoring: { revision: 1, digest: 'x', notScored: ['valid/newer'] },
      baseline: BASELINE,
      interrupted: true,
      planned: 9,
    });
    expect(statusesOf(document)).toEqual([
      ['pass', 'passed'],
      ['fail', 'skipped'],
      ['harness-error', 'skipped'],
      ['passes', 'failed'],
      ['incomplete', 'failed'],
    ]);
    expect(
      ctrf(document)
        .tests.map(({ message }: Test) => message)
        .slice(1, 3),
    ).toEqual([
      'known failure (401): The gateway. (owner: payments, until 2099-12-31)',
      'not scored in revision 1: harness-error: oh',
    ]);
  });

  it('marks a repeated check as a retry', () => {
    const { tests } = ctrf(documentWith({ retried: ['signature/missing'] }));
    expect(tests[0]).toMatchObject({ retries: 1, flaky: true });
  });

  it('is valid and escaped whatever the endpoint answered', () => {
    const unit = fc.oneof(
      fc.constantFrom('\x00', '\x1b[31m', '\x9b1m', '\ud800', '\u202e', '\u2028', '\r', '##[', '::error::'),
      fc.string({ unit: anyCharacter, maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const document = documentOf(text);
        ctrf(document);
        expect(renderCtrf(document)).not.toMatch(/##\[|[\p{Cf}\p{Zl}\p{Zp}\x00-\x09\x0b-\x1f\x7f-\x9f]/u);
      }),
      { numRuns: 60 },
    );
  });
});
