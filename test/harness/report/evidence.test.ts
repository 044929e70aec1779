import { describe, expect, it } from 'vitest';
import { renderCtrf } from '../../../harness/report/ctrf.ts';
import { renderSummary } from '../../../harness/report/github-summary.ts';
import { renderHtml, renderHuman, renderJunit } from '../../../harness/report/index.ts';
import { type ResultDocument, resultDocument } from '../../../harness/report/result-document.ts';
import { documentWith, resultWith } from './documents.ts';

const PLAIN = { columns: 120, color: false, unicode: true };
const STATEMENT = "answers and effects (effects are the receiver's own statement)";
const target = (features: ResultDocument['target']['features']) => ({ ...documentWith().target, features });

const withEffects = documentWith({
  target: target(['hmac', 'effects']),
  evidence: { level: 1, statement: STATEMENT },
});
const answersOnly = documentWith({
  evidence: { level: 0, statement: 'the answers alone' },
  notVerified: [
    { requirement: 'timing', text: 'Constant time.', reason: 'A network hides it.' },
    ...['delivery-effect', 'repeat-once'].map((requirement) => ({
      requirement,
      text: 'Handled once.',
      reason: 'Verifiable at evidence level 1: give `--effects URL`.',
      verifiable: { level: 1 as const, sources: ['effects' as const] },
    })),
    {
      requirement: 'hmac-secret-custody',
      text: 'Secrets are kept out of logs.',
      reason: 'Verifiable at evidence level 2: give `--log FILE`.',
      verifiable: { level: 2, sources: ['log'] },
    },
  ],
});
const partial = documentWith({ target: target(['hmac', 'effects']), partial: true, partialReasons: ['selection'] });

describe('the evidence level', () => {
  it('is part of the result document, which is read with and without it', () => {
    for (const document of [withEffects, answersOnly, partial, documentWith()]) {
      expect(resultDocument.parse(document)).toEqual(document);
    }
    const level = 3 as unknown as 2;
    expect(resultDocument.safeParse({ ...withEffects, evidence: { level, statement: '' } }).success).toBe(false);
  });

  it.each([{ verbose: false }, { verbose: true }])(
    'is next to the security features on the terminal, %o',
    (options) => {
      const [, , configuration] = renderHuman(withEffects, { ...PLAIN, ...options }).split('\n');
      expect(configuration).toBe(`  security features: hmac; evidence level 1: ${STATEMENT}`);
    },
  );

  it('is missing in a partial run, which lists its sources', () => {
    expect(renderHuman(partial, PLAIN)).toContain('security features: hmac; evidence sources: effects\n');
    expect(renderHuman(partial, PLAIN)).not.toContain('evidence level');
    expect(renderHuman(documentWith(), PLAIN)).not.toMatch(/evidence|sources/);
    expect(renderJunit(documentWith())).not.toContain('evidence');
  });

  it('of the answers alone comes with what would verify more', () => {
    const report = renderHuman(answersOnly, PLAIN);
    expect(report).toContain('security features: hmac, api-key; evidence level 0: the answers alone');
    expect(report).toContain('Not verified: 2 requirements (see --effects), 1 requirement (see --log)\n');
    expect(report).toContain('--verbose also lists 1 requirement that no test from outside can verify');
    expect(renderHuman(answersOnly, { ...PLAIN, verbose: true })).toContain('Not verified by this run (4)');
  });

  it('is in every other report', async () => {
    const junit = renderJunit(withEffects);
    expect(junit).toContain('<property name="evidence.level" value="1"/>');
    expect(junit).toContain('<property name="evidence" value="answers and effects (effects are the receiver&apos;s');
    const ctrf = JSON.parse(renderCtrf(withEffects));
    expect(ctrf.results.extra['hookproof.run'].evidence).toEqual({ level: 1, statement: STATEMENT });
    expect(renderSummary(withEffects)).toContain('evidence level 1&#58; answers and effects');
    const page = await renderHtml(withEffects);
    expect(page).toMatch(/<dt>Evidence<\/dt><dd>level 1: answers and effects/);
    expect(page).toMatch(/<dt>Security features<\/dt><dd>hmac<\/dd>/);
    expect(page).toMatch(/<dt>Evidence sources<\/dt><dd>effects<\/dd>/);
  });

  it('is separate from the checks that do not apply, by reason', () => {
    const off = (id: string, reason: string) => resultWith({ id, verdict: 'not-applicable', reason });
    const results = [
      resultWith(),
      off('tls/a', 'the feature https is not configured'),
      off('tls/b', 'the feature https is not configured'),
      off('effects/a', 'no effects window, see --effects'),
    ];
    expect(renderHuman(documentWith({ results }), PLAIN)).toContain(
      'Not applicable: 2 (the feature https is not configured); 1 (no effects window, see --effects)\n',
    );
  });
});
