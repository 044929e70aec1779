import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Leak, Observation, RunObservations } from '../../scenarios/scenario.ts';
import { leaksSuite } from '../../scenarios/suites/leaks.ts';
import { anyCredentials, assemble, deliveriesOf, fakeKit, lies, someCredentials } from './credential-check.ts';

const CREDENTIALS = ['signature', 'secret', 'api-key', 'credential-part'];
const INSIDES = ['stack-trace', 'parser-detail', 'error-message', 'database-message', 'debug-page'];
const LARGE = 'leaks/oversize-body';
const { scenarios } = leaksSuite;

function observe(id: string, leaks: RunObservations['leaks']): Observation {
  const scenario = scenarios.find((one) => one.id === id);
  if (scenario === undefined || !('observe' in scenario)) throw new Error(`no observation ${id}`);
  return scenario.observe({ answerTimesMs: [], outages: [], failedControls: [], leaks });
}

const found = (leak: Leak, ...places: string[]) => places.map((scenario) => ({ leak, scenario }));

describe('the leaks suite', () => {
  it('sends what its expectations say, with any credentials', () => {
    const small = scenarios.filter(({ id }) => id !== LARGE);
    fc.assert(
      fc.property(anyCredentials, (credentials) => {
        expect(lies(small, credentials)).toEqual([]);
      }),
      { numRuns: 200 },
    );
    expect(lies(scenarios, someCredentials())).toEqual([]);
  });

  it('checks credentials at must and everything else at should, and not the status', () => {
    const kit = fakeKit(someCredentials());
    const looks = scenarios
      .filter((one) => 'change' in one)
      .map(({ id, level, ...one }) => ({ id, level, expect: 'expect' in one ? one.expect : undefined }));
    expect(
      looks.every(
        ({ expect: due }) =>
          due !== undefined && ['2xx', '3xx', '4xx', '5xx'].every((set) => due.pass.includes(set as '2xx')),
      ),
    ).toBe(true);
    expect(looks.map(({ id, level, expect: due }) => [id, level, due?.absent])).toEqual([
      ...['wrong-signature', 'missing-signature', 'wrong-key', 'missing-key', 'debug-switch'].map((slug) => [
        `leaks/${slug}`,
        'must',
        CREDENTIALS,
      ]),
      ...[
        'accepted-delivery',
        'signature-not-base64',
        'malformed-json',
        'wrong-types',
        'unsigned-malformed',
        'unsupported-method',
        'oversize-body',
        'unknown-content-type',
      ].map((slug) => [`leaks/${slug}`, 'should', [...CREDENTIALS, ...INSIDES]]),
    ]);
    expect(
      deliveriesOf(scenarios.find(({ id }) => id === LARGE)!, kit).map(
        ({ change }) => assemble(change, kit).body.length > 2_000_000,
      ),
    ).toEqual([true]);
  });

  it('compares rejections in sequence', () => {
    const kit = fakeKit(someCredentials());
    const flows = scenarios.flatMap((one) =>
      'flow' in one && one.uniform !== undefined
        ? [
            {
              id: one.id,
              uniform: one.uniform,
              needs: one.needs,
              groups: one.flow(kit).map((group) => group.map(({ label }) => label)),
            },
          ]
        : [],
    );
    expect(flows).toEqual([
      {
        id: 'leaks/uniform-refusals',
        uniform: 'status',
        needs: ['hmac'],
        groups: [['no signature'], ['signed with a different secret'], ['truncated'], ['not Base64'], ['no signature']],
      },
      {
        id: 'leaks/uniform-key-refusals',
        uniform: 'status',
        needs: ['api-key'],
        groups: [['no API key'], ['an invalid API key'], ['an empty API key'], ['truncated'], ['no API key']],
      },
      {
        id: 'leaks/uniform-across-checks',
        uniform: 'status',
        needs: ['hmac', 'api-key'],
        groups: [
          ['signed with a different secret'],
          ['no signature'],
          ['an invalid API key'],
          ['no API key'],
          ['signed with a different secret'],
        ],
      },
      {
        id: 'leaks/known-id',
        uniform: 'answer',
        needs: ['hmac'],
        groups: [
          ['a valid delivery'],
          ['forged, with a new id'],
          ['forged, with the id of the valid delivery'],
          ['forged, with a new id'],
        ],
      },
    ]);
  });
});

describe('the requests to other URLs', () => {
  it.each([
    ['leaks/other-urls', 'secret'],
    ['leaks/internal-pages', 'internal-page'],
  ] as const)('carry no body and no header but Host and its length, and judge only leaks: %s', (name, leak) => {
    const kit = fakeKit(someCredentials());
    const visits = deliveriesOf(scenarios.find(({ id }) => id === name)!, kit);
    const sent = visits.map(({ change }) => assemble(change, kit));
    // A POST without a length would be sent in chunks, which the sender never does.
    expect(sent.map(({ head }) => head.headers.map(([name]) => name.toLowerCase()).toSorted())).toEqual(
      sent.map(({ head }) => (head.method === 'POST' ? ['content-length', 'host'] : ['host'])),
    );
    expect(sent.map(({ body }) => body.length)).toEqual(sent.map(() => 0));
    expect(new Set(sent.map(({ head }) => `${head.method} ${head.target}`)).size).toBe(sent.length);
    expect(visits.every(({ expect: due }) => due.absent?.includes(leak) && due.pass.includes('5xx'))).toBe(true);
  });
});

describe('observations of the run', () => {
  const none: Observation = { verdict: 'pass', observed: 'none in any answer', reason: '' };

  it('passes without a leak', () => {
    expect(observe('leaks/nowhere', [])).toEqual(none);
    expect(observe('leaks/no-stack-traces', [])).toEqual(none);
  });

  it('fails on a credential in any answer, and names each place once', () => {
    const leaks = [
      ...found('signature', 'signature/missing', 'signature/missing'),
      ...found('api-key', 'api-key/wrong'),
    ];
    expect(observe('leaks/nowhere', leaks)).toEqual({
      verdict: 'fail',
      observed: 'signature, api-key in the answers to signature/missing, api-key/wrong',
      outcome: 'api-key, signature',
      reason: 'an answer contains credentials: signature, api-key in the answers to signature/missing, api-key/wrong',
      repeats: ['signature/missing', 'api-key/wrong'],
    });
  });

  it('names at most five places', () => {
    expect(observe('leaks/nowhere', found('secret', 'a', 'b', 'c', 'd', 'e', 'f', 'g')).observed).toBe(
      'secret in the answers to a, b, c, d, e and 2 more',
    );
  });

  it('warns about a stack trace, which is not a credential', () => {
    const leaks = found('stack-trace', 'malformed/truncated');
    expect(observe('leaks/nowhere', leaks)).toEqual(none);
    expect(observe('leaks/no-stack-traces', leaks)).toEqual({
      verdict: 'warn',
      observed: 'stack-trace in the answers to malformed/truncated',
      outcome: 'stack-trace',
      reason: 'an answer shows internals: stack-trace in the answers to malformed/truncated',
      repeats: ['malformed/truncated'],
    });
  });

  it('warns about a debug page and messages of databases and exceptions', () => {
    const leaks = [...found('debug-page', 'http/method-get'), ...found('database-message', 'delivery/twice')];
    expect(observe('leaks/no-stack-traces', leaks).observed).toBe('debug-page in the answers to http/method-get');
    expect(observe('leaks/no-inner-messages', leaks)).toEqual({
      verdict: 'warn',
      observed: 'database-message in the answers to delivery/twice',
      outcome: 'database-message',
      reason: 'an answer contains internal messages: database-message in the answers to delivery/twice',
      repeats: ['delivery/twice'],
    });
    expect(observe('leaks/no-inner-messages', found('error-message', 'malformed/null')).verdict).toBe('warn');
    expect(observe('leaks/no-inner-messages', [])).toEqual(none);
  });

  it('ignores parser messages, which probes report', () => {
    expect(observe('leaks/no-stack-traces', found('parser-detail', 'malformed/truncated'))).toEqual(none);
  });
});
