import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../../scenarios/index.ts';
import { diagnosed } from './played.ts';

const IDS = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));

const all = (pattern: RegExp, outcome: string) =>
  Object.fromEntries(IDS.filter((id) => pattern.test(id)).map((id) => [id, outcome]));

const LEAK = { 'leaks/missing-key': 'fail api-key' };
const FORGED = { 'signature/missing': 'fail 200' };
const REFUSED = { 'valid/wallet-created': 'fail 400' };
const MALFORMED = { 'malformed/truncated': 'fail 500' };

describe('the causes', () => {
  it('are in the order of their harm, whatever their numbers', async () => {
    const found = await diagnosed({
      ...MALFORMED,
      ...REFUSED,
      ...FORGED,
      ...LEAK,
      ...all(/^signature\/empty/, 'fail 200'),
    });
    expect(found.map(({ evidence: [id] }) => id?.split('/')[0])).toEqual(['leaks', 'signature', 'valid', 'malformed']);
    expect(found.map(({ relation }) => relation)).toEqual(['main', 'also', 'also', 'also']);
  });

  it.each<[string, Record<string, string>, number]>([
    ['one check', FORGED, 1],
    ['a special case', { ...FORGED, 'signature/missing-as-text': 'fail 200' }, 1],
    ['every accepted delivery without a signature', all(/^signature\/(?:missing|empty|unsigned)/, 'fail 200'), 1],
    ['another harm', { ...FORGED, ...REFUSED }, 2],
    ['another credential', { ...FORGED, 'api-key/wrong': 'fail 200' }, 2],
    ['a warning in addition to a failure', { ...FORGED, 'http/header-20-kb': 'warn 431' }, 1],
    ['a warning alone', { 'http/header-20-kb': 'warn 431' }, 1],
    ['nothing', {}, 0],
  ])('are counted without consequences: %s', async (_, outcomes, count) => {
    const found = await diagnosed(outcomes);
    expect(found).toHaveLength(count);
    const failing = Object.keys(outcomes).filter((id) => outcomes[id]?.startsWith('fail'));
    expect(found.flatMap(({ evidence }) => evidence)).toEqual(expect.arrayContaining(failing));
  });

  it('have what a mistake implies, and nothing else', async () => {
    const byType = { 'signature/missing-as-text': 'fail 200', 'signature/missing-as-form': 'fail 200' };
    const type = { ...byType, 'signature/missing-without-content-type': 'fail 200' };
    const implied = await diagnosed({ ...type, 'signature/over-unread-body': 'fail 200' });
    expect(implied.map(({ mistake }) => mistake)).toEqual(['verification-per-content-type']);
    const other = await diagnosed({ ...type, 'signature/comma-behind': 'fail 200' });
    expect(other).toHaveLength(2);
  });

  it('never take a rejection as a malformed payload for an invalid signature', async () => {
    const bodies = (outcome: string) => all(/^raw-body\/(?:spaces|tabs|indent-2)$/, outcome);
    expect(await diagnosed(bodies('fail 401'))).toMatchObject([{ mistake: 'reserialised-body' }]);
    const [main] = await diagnosed(bodies('fail 400'));
    expect(main?.mistake).not.toBe('reserialised-body');
  });

  it('name the status that is wrong', async () => {
    const [main] = await diagnosed(all(/^signature\/(?:missing|empty|unsigned-sell|missing-as-text)$/, 'fail 400'));
    expect(main).toMatchObject({ mistake: 'wrong-refusal-status', title: expect.stringContaining('400') });
  });
});
