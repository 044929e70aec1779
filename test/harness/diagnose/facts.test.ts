import { describe, expect, it } from 'vitest';
import { type Fact, factsOf, fingerprintsOf, isSpecialCaseOf } from '../../../harness/diagnose/facts.ts';
import { BOTH, diagnosed, resultsWith } from './played.ts';

function factOf(id: string, outcome: string, others: Record<string, string> = {}): Fact | undefined {
  return factsOf(resultsWith({ ...others, [id]: outcome }, BOTH), []).find((fact) => fact.id === id);
}

describe('the facts', () => {
  it('know how the endpoint answers in known situations', () => {
    expect(fingerprintsOf(resultsWith({}, BOTH))).toMatchObject({ invalidSignature: '401', malformedPayload: '400' });
    expect(fingerprintsOf([])).toEqual({
      invalidSignature: null,
      malformedPayload: null,
      copy: null,
      usual: new Set(),
    });
  });

  it.each([
    ['signature/missing', 'fail 200', 'forged', 'absent-signature-passes'],
    ['signature/missing', 'fail 400', 'status', 'wrong-refusal-status'],
    ['signature/missing', 'fail 500', 'status', 'signature-check-throws'],
    ['signature/missing-as-text', 'fail 500', 'status', 'undefined-body-throws'],
    ['api-key/missing', 'fail 500', 'status', 'key-check-throws'],
    ['signature/missing-with-expect', 'fail 500', 'status', 'malformed-http-error'],
    ['raw-body/spaces', 'fail 401', 'refuses', 'reserialised-body'],
    ['valid/wallet-created', 'fail 413', 'refuses', 'valid-body-size-rejected'],
    ['valid/wallet-created', 'fail silence', 'refuses', 'slow-answer'],
    ['leaks/missing-key', 'fail api-key', 'reveals', null],
    ['leaks/missing-key', 'fail stack-trace', 'rest', null],
    ['malformed/truncated', 'fail 500', 'malformed', 'unguarded-parser'],
    ['effects/accepted-once', 'fail handled-twice', 'repeats', null],
    ['effects/amount-8-decimals', 'fail amount', 'repeats', 'amount-as-float'],
    ['effects/amount-8-decimals', 'fail no-amount', 'repeats', 'mapping-shared-by-kinds'],
    ['effects/amount-8-decimals', 'fail currency', 'repeats', 'mapping-shared-by-kinds'],
  ])('of %s with %s: %s', (id, outcome, harm, mistake) => {
    const results = resultsWith({ [id]: outcome }, [...BOTH, 'effects']);
    const [fact] = factsOf(results, []);
    expect([fact?.harm, mistake && fact?.mistake]).toEqual([harm, mistake]);
  });

  it.each([
    ['fail 401', 'signature'],
    ['fail 400', 'payload'],
    ['fail 500', 'crash'],
    ['fail 451', 'elsewhere'],
  ])('say what a refused valid delivery with %s looks like: %s', (outcome, likeness) => {
    expect(factOf('valid/wallet-created', outcome)?.likeness).toBe(likeness);
  });

  it('say nothing about the likeness where both are answered alike', () => {
    const results = resultsWith({ 'valid/wallet-created': 'fail 401' }, BOTH).map((result) => ({
      ...result,
      ...(result.suite === 'malformed' && { answered: { class: 'rejected' as const, status: 401 } }),
    }));
    expect(factsOf(results, [])[0]?.likeness).toBe('unknown');
  });

  it.each([
    ['401', 'decoded-body'],
    ['400', 'one-shape-for-all-types'],
  ])('never explain valid deliveries answered %s by the other kind of mistake', async (status, mistake) => {
    const kinds = ['valid/wallet-created', 'valid/refund-success', 'valid/refund-fail'];
    const [main] = await diagnosed(Object.fromEntries(kinds.map((id) => [id, `fail ${status}`])));
    expect(main).toMatchObject({ mistake, evidence: expect.arrayContaining(kinds) });
  });

  it('know special cases: a delivery deviates in everything that another does, and more', () => {
    const [missing, asText, invented] = [
      'signature/missing',
      'signature/missing-as-text',
      'signature/other-secret',
    ].map((id) => factOf(id, 'fail 200'));
    if (missing === undefined || asText === undefined || invented === undefined) throw new Error('no fact');
    expect(isSpecialCaseOf(asText, missing)).toBe(true);
    expect(isSpecialCaseOf(missing, asText)).toBe(false);
    expect(isSpecialCaseOf(missing, invented)).toBe(false);
  });
});
