import { describe, expect, it } from 'vitest';
import { causesOf } from '../../../harness/report/causes.ts';
import { diagnosisWith, resultWith } from './documents.ts';

const REFUSED = 'rejected a correctly signed delivery with 401';

function failed(id: string, observed: string, reason: string) {
  return resultWith({ id, verdict: 'fail', observed, reason });
}

/** Returns the title and the checks of each cause. */
const summary = (...given: Parameters<typeof causesOf>) =>
  causesOf(...given).map(({ title, members }) => [title, members.map(({ id }) => id)]);

describe('causes', () => {
  it('are the faults of the diagnosis first, then groups of failures with the same reason', () => {
    const results = [
      failed('raw-body/tabs', '401', REFUSED),
      failed('raw-body/float', '401', REFUSED),
      failed('signature/missing', '200', 'accepted'),
      failed('valid/buy', '401', REFUSED),
      failed('raw-body/emoji', '401', REFUSED),
    ];
    const diagnosis = [diagnosisWith({ title: 'Let in', evidence: ['signature/missing', 'signature/blank'] })];
    expect(summary(results, diagnosis)).toEqual([
      ['Let in', ['signature/missing']],
      [REFUSED, ['raw-body/tabs', 'raw-body/float', 'raw-body/emoji']],
      ['', ['valid/buy']],
    ]);
  });

  it('join failures without an answer of all suites, and all deliveries of a flow', () => {
    const closed = 'closed the connection';
    const inFlow = {
      ...failed('delivery/copies', 'no answer', `copy 2 of 2: ${closed}`),
      cause: closed,
    };
    expect(summary([failed('valid/buy', 'no answer', closed), inFlow], [])).toEqual([
      [closed, ['valid/buy', 'delivery/copies']],
    ]);
  });

  it('with failures come before causes with only warnings', () => {
    const warn = (id: string) => ({ ...failed(id, '403', 'other'), verdict: 'warn' as const });
    expect(
      summary([warn('http/a'), warn('http/b'), failed('valid/buy', '401', REFUSED)], []).map(([, ids]) => ids),
    ).toEqual([['valid/buy'], ['http/a', 'http/b']]);
  });
});
