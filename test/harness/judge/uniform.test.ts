/** Whether rejections can be distinguished: what counts as a difference, and which differences are legitimate. */
import { describe, expect, it } from 'vitest';
import { judge } from '../../../harness/judge/index.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import { type Expectation, refused } from '../../../scenarios/index.ts';
import { answer, evidence, failure, probe } from './attempts.ts';

/** Returns the judge's reason. Empty if the deliveries cannot be distinguished. */
function difference(deliveries: readonly (readonly [label: string, attempt: Attempt])[], due: Expectation = refused) {
  const probes = deliveries.map(([label, attempt]) => probe(due, attempt, { label }));
  const { verdict, reason, decidedBy, delivery } = judge('must', evidence(probes, { uniform: 'answer' }));
  expect([verdict, decidedBy]).toEqual(reason === '' ? ['pass', 'expected-answer'] : ['fail', 'answers-differ']);
  expect(delivery).toBeNull();
  return reason;
}

const ofBodies = (...bodies: readonly (readonly [label: string, body: string])[]) =>
  difference(bodies.map(([label, body]) => [label, answer(401, body)]));

type Headers = Readonly<Record<string, string>>;
const ofHeaders = (...given: readonly (readonly [label: string, headers: Headers])[]) =>
  difference(given.map(([label, headers]) => [label, answer(401, '', Object.entries(headers))]));

const words = { status: 'statuses', phrase: 'reason phrases', headers: 'headers', body: 'bodies' };
const by = (part: keyof typeof words) => `the answers to "a" and "b" have different ${words[part]}`;

describe('rejections that can be distinguished', () => {
  it('are reported with the part and the deliveries', () => {
    const either: Expectation = { text: '401 or 400', authentic: false, pass: [401, 400] };
    expect(
      difference(
        [
          ['a', answer(401)],
          ['b', answer(400)],
        ],
        either,
      ),
    ).toBe(by('status'));
    expect(
      difference([
        ['a', answer(401, '', [], 'Wrong')],
        ['b', answer(401, '', [], 'Missing')],
      ]),
    ).toBe(by('phrase'));
    expect(ofHeaders(['a', { 'X-Reason': '1' }], ['b', { 'X-Reason': '2' }])).toBe(by('headers'));
    expect(ofHeaders(['a', { 'X-A': '1', 'X-B': '2' }], ['b', { 'X-A': '1x-b: 2' }])).toBe(by('headers'));
    expect(ofBodies(['a', 'wrong'], ['b', 'missing'])).toBe(by('body'));
  });

  it('are only recorded where the statuses are the same and only they count', () => {
    const due: Expectation = { text: '401 or 400', authentic: false, pass: [401, 400] };
    const judged = (...attempts: readonly Attempt[]) => {
      const probes = attempts.map((attempt, at) => probe(due, attempt, { label: `${at}` }));
      const { verdict, reason } = judge('should', evidence(probes, { uniform: 'status' }));
      return [verdict, reason];
    };
    const otherText = 'the answers to "0" and "1" have different bodies';
    expect(judged(answer(401, 'wrong'), answer(401, 'missing'))).toEqual(['pass', `recorded: ${otherText}`]);
    const otherStatus = 'the answers to "0" and "2" have different statuses';
    expect(judged(answer(401, 'wrong'), answer(401, 'missing'), answer(400))).toEqual(['warn', otherStatus]);
  });

  it('are found among all deliveries', () => {
    expect(ofBodies(['c', 'no'], ['a', 'no'], ['b', 'never'])).toContain('"c" and "b"');
  });

  it('are compared only where the scenario expects it', () => {
    const probes = [probe(refused, answer(401, 'wrong')), probe(refused, answer(401, 'missing'))];
    expect(judge('must', evidence(probes)).verdict).toBe('pass');
  });

  it('do not include a delivery that needs no answer and has none', () => {
    const due: Expectation = { text: '401 or nothing', authentic: false, pass: [401, 'closed'] };
    const no = failure('reset');
    expect(
      difference(
        [
          ['a', no],
          ['b', no],
        ],
        due,
      ),
    ).toBe('');
    expect(
      difference(
        [
          ['a', answer(401)],
          ['b', no],
        ],
        due,
      ),
    ).toBe('');
    expect(
      difference(
        [
          ['c', no],
          ['a', answer(401, 'wrong')],
          ['b', answer(401, 'missing')],
        ],
        due,
      ),
    ).toBe(by('body'));
  });
});

describe('headers', () => {
  it.each(['Date', 'X-Amz-Id-2', 'X-Amzn-Trace-Id', 'CF-Ray', 'X-RateLimit-Remaining', 'RateLimit-Reset', 'ETag'])(
    '%s may differ',
    (name) => expect(ofHeaders(['a', { [name]: 'one' }], ['b', { [name]: 'other' }])).toBe(''),
  );

  it.each(['Date-Hint', 'X-Date', 'X-Am', 'CF', 'My-ETag'])('%s may not differ', (name) =>
    expect(ofHeaders(['a', { [name]: 'one' }], ['b', { [name]: 'other' }])).toBe(by('headers')),
  );

  it('are compared without order and letter case', () => {
    expect(ofHeaders(['a', { 'X-A': '1', 'X-B': '2' }], ['b', { 'x-b': '2', 'x-a': '1' }])).toBe('');
  });

  it('count by their presence, not by their length', () => {
    expect(ofHeaders(['a', { 'Content-Length': '9' }], ['b', { 'Content-Length': '10' }])).toBe('');
    expect(ofHeaders(['a', { 'Content-Length': '9' }], ['b', {}])).toBe(by('headers'));
  });

  it('do not count when the same delivery gets them only sometimes', () => {
    expect(ofHeaders(['a', { 'X-Own': '1' }], ['b', {}], ['a', {}])).toBe('');
    expect(ofHeaders(['a', {}], ['b', { 'X-Own': '1' }], ['a', { 'X-Own': '1' }])).toBe('');
    expect(ofHeaders(['a', { 'X-Own': '1' }], ['b', {}], ['a', { 'X-Own': '1' }])).toBe(by('headers'));
  });
});

describe('numbers of deliveries that were sent once', () => {
  it('do not count, however many digits they have', () => {
    expect(ofBodies(['a', 'try 9'], ['b', 'try 10'])).toBe('');
  });

  it('count by their presence', () => {
    expect(ofBodies(['a', 'try 9'], ['b', 'try '])).toBe(by('body'));
    expect(ofBodies(['a', 'took 3.5 s'], ['b', 'took  s'])).toBe(by('body'));
  });
});

/**
 * The second delivery of `a` shows which part of the text changes with every request. The number after this part does
 * not, so it counts as a difference.
 */
describe('what differs from request to request', () => {
  it.each([
    ['an identifier', '2f1c9a7e-0000-4000-8000-00000000000a', '2f1c9a7e-0000-4000-8000-00000000000b'],
    ['a time of day', '12:30:05', '13:31:06'],
    ['a time', '2026-01-01T00:00:00Z', '2027-02-02T01:01:01Z'],
    ['a number of seconds with a fraction', '11.25', '22.36'],
    ['milliseconds', '12 ms', '35 ms'],
    ['milliseconds, written together', '12ms', '35ms'],
    ['microseconds', '12 us', '35 us'],
    ['microseconds with the micro sign', '12 \u00b5s', '35 \u00b5s'],
    ['microseconds with the Greek letter', '12 \u03bcs', '35 \u03bcs'],
    ['seconds', '12 s', '35 s'],
  ])('%s', (_name, one, other) => {
    expect(ofBodies(['a', `${one} code 41`], ['b', `${other} code 41`], ['a', `${other} code 41`])).toBe('');
    expect(ofBodies(['a', `${one} code 41`], ['b', `${other} code 42`], ['a', `${other} code 41`])).toBe(by('body'));
    expect(ofBodies(['a', `code 41 ${one}`], ['b', `code 42 ${other}`], ['a', `code 41 ${other}`])).toBe(by('body'));
  });

  it('does not include a word of the same length', () => {
    const judged = (a: string, b: string) => ofBodies(['a', `${a} V1StGXR8_Z5j`], ['b', b], ['a', `${a} Uakgb_J5m9g0`]);
    expect(judged('missing', 'missing dHi6BmyTk3sQ')).toBe('');
    expect(judged('missing', 'invalid dHi6BmyTk3sQ')).toBe(by('body'));
    expect(judged('missing', 'missing ')).toBe(by('body'));
    const counted = (b: string) =>
      ofBodies(['a', 'missing 9 V1StGXR8_Z5j'], ['b', b], ['a', 'missing 10 Uakgb_J5m9g0']);
    expect(counted('missing 11 dHi6BmyTk3sQ')).toBe('');
    expect(counted('invalid 11 dHi6BmyTk3sQ')).toBe(by('body'));
  });

  it('is found by every repetition', () => {
    expect(ofBodies(['a', 'try 1'], ['a', 'try 1'], ['a', 'try 2'], ['b', 'try 3'])).toBe('');
  });

  it('may be the whole text', () => {
    expect(ofBodies(['a', 'alpha'], ['a', 'beta'], ['b', 'gamma'])).toBe('');
  });

  it('may be the number of words: nothing is compared then', () => {
    expect(ofBodies(['a', 'no alpha beta'], ['a', 'no gamma'], ['b', 'never delta'])).toBe('');
    expect(ofBodies(['a', 'no alpha'], ['a', 'no beta'], ['a', 'no gamma delta'], ['b', 'never'])).toBe('');
  });

  it('varies as soon as one repetition differs', () => {
    const judged = (b: string) => ofBodies(['a', 'no alpha'], ['a', 'no alpha'], ['a', 'no beta'], ['b', b]);
    expect(judged('no gamma')).toBe('');
    expect(judged('never gamma')).toBe(by('body'));
  });

  it('may show in the repetitions of another delivery', () => {
    expect(ofBodies(['a', 'worker 41'], ['b', 'worker 7'], ['a', 'worker 41'])).toBe(by('body'));
    expect(ofBodies(['a', 'worker 41'], ['b', 'worker 7'], ['a', 'worker 41'], ['b', 'worker 41'])).toBe('');
    expect(ofBodies(['a', 'by alpha'], ['b', 'by beta'], ['a', 'by alpha'], ['b', 'by alpha'])).toBe('');
    expect(ofBodies(['a', 'no 1'], ['b', 'never 2'], ['a', 'no 1'], ['b', 'never 3'])).toBe(by('body'));
    expect(
      ofHeaders(['a', { 'X-By': '1' }], ['b', { 'X-By': '2' }], ['a', { 'X-By': '1' }], ['b', { 'X-By': '1' }]),
    ).toBe('');
  });

  it('may be the reason phrase', () => {
    const ofPhrases = (...given: [string, string][]) =>
      difference(given.map(([label, phrase]) => [label, answer(401, '', [], phrase)]));
    expect(ofPhrases(['a', 'No 1'], ['b', 'No 2'], ['a', 'No 3'])).toBe('');
    expect(ofPhrases(['a', 'No 1'], ['b', 'No 2'], ['a', 'No 1'])).toBe(by('phrase'));
  });
});

describe('different answers', () => {
  const probes = [
    probe(refused, answer(401, 'missing'), { label: 'a' }),
    probe(refused, answer(401, 'wrong'), { label: 'b' }),
  ];

  it('are not compared where nothing must be uniform', () => {
    expect(judge('must', evidence(probes))).toMatchObject({ verdict: 'pass', reason: '' });
  });
});

describe('uniform rejections', () => {
  it('distinguishes uniform from differing rejections, and ignores legitimate differences', () => {
    const uniform = (a: Attempt, b: Attempt) =>
      judge(
        'must',
        evidence([probe(refused, a, { label: 'a' }), probe(refused, b, { label: 'b' })], { uniform: 'answer' }),
      ).verdict;
    expect(uniform(answer(401, '{"error":"unauthorized"}'), answer(401, '{"error":"unauthorized"}'))).toBe('pass');
    expect(uniform(answer(401, 'missing'), answer(401, 'wrong'))).toBe('fail');
    expect(uniform(answer(401, '', [['X-Reason', 'a']]), answer(401, '', [['X-Reason', 'b']]))).toBe('fail');
    expect(
      uniform(
        answer(401, '', [
          ['Date', 'a'],
          ['X-Request-Id', '1'],
        ]),
        answer(401, '', [
          ['Date', 'b'],
          ['X-Request-Id', '2'],
        ]),
      ),
    ).toBe('pass');
    expect(
      uniform(
        answer(401, '{"id":"2f1c9a7e-0000-4000-8000-000000000001"}'),
        answer(401, '{"id":"2f1c9a7e-0000-4000-8000-0000000000ff"}'),
      ),
    ).toBe('pass');
  });

  it('reports a number that is the same for both deliveries of a kind', () => {
    const judged = (...bodies: [label: string, body: string][]) =>
      judge(
        'must',
        evidence(
          bodies.map(([label, body]) => probe(refused, answer(401, body), { label })),
          { uniform: 'answer' },
        ),
      ).verdict;
    expect(judged(['a', '{"code":1}'], ['b', '{"code":2}'])).toBe('pass');
    expect(judged(['a', '{"code":1}'], ['b', '{"code":2}'], ['a', '{"code":1}'])).toBe('fail');
    expect(judged(['a', 'try 1'], ['b', 'try 2'], ['a', 'try 3'])).toBe('pass');
    expect(judged(['a', 'in 1 ms'], ['b', 'in 2 ms'], ['a', 'in 1 ms'])).toBe('pass');
    expect(
      judged(['a', '{"ref":"V1StGXR8_Z5j"}'], ['b', '{"ref":"dHi6BmyTk3sQ"}'], ['a', '{"ref":"Uakgb_J5m9g0"}']),
    ).toBe('pass');
    expect(judged(['a', 'missing V1StGXR8_Z5j'], ['b', 'wrong dHi6BmyTk3sQ'], ['a', 'missing Uakgb_J5m9g0'])).toBe(
      'fail',
    );
  });

  it('ignores headers that the same delivery does not get twice', () => {
    const judged = (...values: [label: string, trace: string, reason: string][]) =>
      judge(
        'must',
        evidence(
          values.map(([label, trace, reason]) =>
            probe(
              refused,
              answer(401, '', [
                ['X-Own-Trace', trace],
                ['X-Reason', reason],
              ]),
              { label },
            ),
          ),
          { uniform: 'answer' },
        ),
      ).verdict;
    expect(judged(['a', '1', 'x'], ['b', '2', 'x'], ['a', '3', 'x'])).toBe('pass');
    expect(judged(['a', '1', 'x'], ['b', '2', 'y'], ['a', '3', 'x'])).toBe('fail');
  });
});
