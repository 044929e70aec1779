import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { renderSarif } from '../../../harness/report/sarif.ts';
import { BASELINE, diagnosisWith, documentWith, KNOWN, resultWith } from './documents.ts';

/** The published schema, unchanged: `sarif/NOTICE` says where it comes from. Draft 4 names its identifier `id`. */
const {
  $schema: _draft,
  id: _id,
  ...schema
} = JSON.parse(readFileSync(new URL('sarif/sarif-schema-2.1.0.json', import.meta.url), 'utf8'));
const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
const validate = ajv.compile(schema);

function sarif(document: ResultDocument) {
  const log = JSON.parse(renderSarif(document));
  validate(log);
  expect(validate.errors).toBeNull();
  return log.runs[0];
}

const failing = (id: string) => resultWith({ id, verdict: 'fail', observed: '200' });
const accepted = diagnosisWith({ evidence: ['signature/missing', 'signature/empty'] });

describe('the SARIF report', () => {
  it('fits a schema that rejects other levels', () => {
    const log = JSON.parse(renderSarif(documentWith({ results: [failing('signature/missing')] })));
    expect(validate(log)).toBe(true);
    log.runs[0].results[0].level = 'fail';
    expect(validate(log)).toBe(false);
  });

  it('has a rule for each mistake, with its CWE, and a result for each cause', () => {
    const results = [failing('signature/missing'), failing('signature/empty'), failing('malformed/truncated')];
    const run = sarif(documentWith({ results, diagnosis: [accepted], code: 'src/a webhook.ts' }));
    const [first, second] = run.tool.driver.rules;
    expect(first).toMatchObject({
      id: 'absent-signature-passes',
      properties: { 'security-severity': '9.5', tags: expect.arrayContaining(['external/cwe/cwe-347']) },
    });
    expect(run.results.map(({ ruleIndex, ruleId }: Record<string, unknown>) => [ruleIndex, ruleId])).toEqual([
      [0, 'absent-signature-passes'],
      [1, second.id],
    ]);
    expect(run.results[0]).toMatchObject({
      level: 'error',
      message: { text: expect.stringContaining('signature/missing (200), signature/empty (200)') },
      locations: [{ physicalLocation: { artifactLocation: { uri: 'src/a%20webhook.ts' }, region: { startLine: 1 } } }],
    });
  });

  it('has the same fingerprint for the same mistake of the same endpoint', () => {
    const fingerprint = (parts: Partial<ResultDocument>) =>
      sarif(documentWith({ results: [failing('signature/missing')], diagnosis: [accepted], ...parts })).results[0]
        .partialFingerprints['hookproofMistake/v1'];
    const elsewhere = { url: 'http://127.0.0.1:9/other', features: [], tls: null };
    expect(fingerprint({ seed: 'other', durationMs: 1 })).toBe(fingerprint({}));
    expect(fingerprint({ target: elsewhere })).not.toBe(fingerprint({}));
  });

  it('has warnings as such, and known failures as suppressed', () => {
    const warned = resultWith({ id: 'http/space-before-colon', verdict: 'warn' });
    const known = resultWith({ id: 'signature/missing', verdict: 'fail', known: KNOWN });
    const { results } = sarif(documentWith({ results: [known, warned] }));
    const ofKnown = results.find(({ suppressions }: { suppressions?: unknown }) => suppressions !== undefined);
    expect(ofKnown.suppressions).toEqual([{ kind: 'external', justification: expect.stringContaining(KNOWN.owner) }]);
    expect(results.map(({ level }: { level: string }) => level)).toEqual(['warning', 'warning']);
    expect(results.filter((result: object) => !('suppressions' in result))).toHaveLength(1);
  });

  it('suppresses a cause whose failures are all known, whatever its warnings, and counts the known ones', () => {
    const ids = ['signature/missing', 'signature/empty'];
    const known = ids.map((id) => resultWith({ id, verdict: 'fail', known: KNOWN }));
    const warned = resultWith({ id: 'http/other', verdict: 'warn' });
    const diagnosis = [diagnosisWith({ evidence: [...ids, 'http/other'] })];
    const [result] = sarif(documentWith({ results: [...known, warned], diagnosis, baseline: BASELINE })).results;
    expect(result).toMatchObject({
      level: 'warning',
      message: { text: expect.stringContaining('\n2 known in known.yaml.\n') },
      suppressions: [{ kind: 'external', justification: 'The gateway. (owner: payments, until 2099-12-31)' }],
    });
    const strict = sarif(documentWith({ results: [...known, warned], diagnosis, strict: true })).results[0];
    expect([strict.level, strict.suppressions]).toEqual(['error', undefined]);
  });

  it('says that a run without a verdict has not succeeded', () => {
    const verdictOf = (verdict: 'pass' | 'inconclusive') =>
      sarif(documentWith({ results: [resultWith({ verdict })] })).invocations[0].executionSuccessful;
    expect([verdictOf('pass'), verdictOf('inconclusive')]).toEqual([true, false]);
  });
});
