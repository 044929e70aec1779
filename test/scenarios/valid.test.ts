import { describe, expect, it } from 'vitest';
import { ERROR_CODES, NOTIFICATION_KINDS, readNotification } from '../../contract/index.ts';
import type { Observation, RunObservations } from '../../scenarios/scenario.ts';
import { typoKeySuite } from '../../scenarios/suites/typo-key.ts';
import { validSuite } from '../../scenarios/suites/valid.ts';
import { assemble, deliveriesOf, fakeKit, someCredentials } from './credential-check.ts';

const kit = fakeKit(someCredentials());
const scenario = (id: string) => {
  const found = [...validSuite.scenarios, ...typoKeySuite.scenarios].find((one) => one.id === id);
  if (found === undefined) throw new Error(`no scenario ${id}`);
  return found;
};
const sent = (id: string) =>
  deliveriesOf(scenario(id), kit).map(({ change }) => JSON.parse(assemble(change, kit).body.toString()));

function timed(...answerTimesMs: number[]): Observation {
  const one = scenario('valid/answers-in-time');
  if (!('observe' in one)) throw new Error('no observation');
  return one.observe({ answerTimesMs, leaks: [], outages: [], failedControls: [] });
}

describe('the valid suite', () => {
  it('starts with the unchanged plain delivery', () => {
    expect(validSuite.scenarios[0]).toMatchObject({ id: 'valid/plain', change: {} });
    expect(assemble({}, kit).body.toString()).toContain('"orderStatus":"COMPLETED"');
  });

  it('sends every type, and BUY and SELL at every status', () => {
    const seen = validSuite.scenarios.flatMap((one) =>
      deliveriesOf(one, kit).flatMap(({ change }) => {
        const reading = readNotification(JSON.parse(assemble(change, kit).body.toString()));
        return reading.ok ? [reading.notification] : [];
      }),
    );
    expect(NOTIFICATION_KINDS.filter((kind) => !seen.some((one) => one.kind === kind))).toEqual([]);
    const pairs = new Set(
      seen
        .map(({ raw }) => JSON.stringify(raw.data))
        .map((data) => /"type":"(\w+)".*"orderStatus":"(\w+)"/.exec(data)?.slice(1).join(' ')),
    );
    expect(
      ['BUY', 'SELL']
        .flatMap((flow) =>
          ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED', 'FAILED'].map(
            (status) => `${flow} ${status}`,
          ),
        )
        .filter((pair) => !pairs.has(pair)),
    ).toEqual([]);
  });

  it('sends each listed error code once, nine concurrently, in the field of its group', () => {
    const flow = scenario('valid/error-codes-all');
    if (!('flow' in flow)) throw new Error('no flow');
    const groups = flow.flow(kit);
    expect(groups.map((group) => group.length)).toEqual([9, 9, 9, 9, 9, 9]);
    expect(groups.flat().map(({ label }) => label)).toEqual(ERROR_CODES.map(({ code }) => code));
    const codes = sent('valid/error-codes-all').map(({ data }) => data.errorData?.code ?? data.errorCode);
    expect(codes).toEqual(ERROR_CODES.map(({ code }) => code));
    expect(flow.title).toContain('54');
  });

  it('sends times in several forms of ISO 8601', () => {
    expect(sent('valid/time-without-milliseconds')[0].at).toBe('2026-01-02T03:04:05Z');
    expect(sent('valid/time-with-microseconds').map(({ at }) => at)).toEqual([
      '2026-01-02T03:04:05.123456Z',
      '2026-01-02T03:04:05.123456789Z',
      '2026-01-02T03:04:05.5Z',
    ]);
    expect(sent('valid/time-with-offset')[0].at).toBe('2026-01-02T03:04:05.000+00:00');
    expect(sent('valid/deposit-amount-long')[0].data.metadata.asset.amount).toMatch(/^1\d{77}$/);
  });

  it('sends a field as missing, null and empty', () => {
    const memo = (slug: string) => sent(`valid/memo-${slug}`)[0].data.metadata.blockchainData;
    expect('blockchainMemo' in memo('missing')).toBe(false);
    expect(memo('null').blockchainMemo).toBe(null);
    expect(memo('empty').blockchainMemo).toBe('');
  });
});

describe('answers in time', () => {
  it('passes with a fast median, and reports the slowest answer', () => {
    expect(timed(3, 12_000, 4)).toEqual({
      verdict: 'pass',
      observed: 'median 0.004 s, slowest 12.0 s, of 3 answers',
      reason: '',
    });
    expect(timed(5000, 5000).verdict).toBe('pass');
  });

  it('warns when half of the answers take longer than five seconds', () => {
    const observed = 'median 5.0 s, slowest 6.0 s, of 3 answers';
    expect(timed(5001, 6000, 10)).toMatchObject({ verdict: 'warn', observed });
  });

  it('is inconclusive when nothing was accepted', () => {
    expect(timed().verdict).toBe('inconclusive');
  });
});

describe('repeated valid deliveries', () => {
  function observe(...failedControls: RunObservations['failedControls']): Observation {
    return observeWith([], failedControls);
  }

  function observeWith(
    outages: RunObservations['outages'],
    failedControls: RunObservations['failedControls'],
  ): Observation {
    const one = scenario('valid/steady');
    if (!('observe' in one)) throw new Error('no observation');
    return one.observe({ answerTimesMs: [1], leaks: [], outages, failedControls });
  }

  it('passes when every plain delivery was accepted', () => {
    expect(observe()).toEqual({ verdict: 'pass', observed: 'accepted every time', reason: '' });
  });

  const failure = (slug: string, observed = '500', recovered = true) => ({
    scenario: `malformed/${slug}`,
    observed,
    recovered,
    outcome: observed === 'no answer' ? 'silence' : observed,
  });

  it('fails on failures that a second attempt did not repeat, and counts them and names the places', () => {
    const failures = ['a', 'b', 'c', 'd', 'e', 'f', 'f'].map((slug) => failure(slug));
    expect(observe(...failures)).toEqual({
      verdict: 'fail',
      observed: '500, 7 times',
      outcome: '500',
      reason:
        'intermittent 500, 7 times: a second attempt was accepted; ' +
        'seen in malformed/a, malformed/b, malformed/c, malformed/d, malformed/e and 1 more',
      repeats: ['malformed/a', 'malformed/b', 'malformed/c', 'malformed/d', 'malformed/e'],
    });
    expect(observe(...failures.slice(0, 2)).verdict).toBe('warn');
  });

  it('fails from three failures on, whatever their answers, and has the outcome of most', () => {
    const kinds = ['500', '502', '502'].map((status) => failure('a', status));
    expect(observe(...kinds)).toMatchObject({
      verdict: 'fail',
      observed: '502, 2 times; 500, 1 time',
      outcome: '502',
    });
    const silent = ['500', 'no answer', 'no answer'].map((answer) => failure('a', answer));
    expect(observe(...silent).outcome).toBe('silence');
  });

  it('ignores failures of both attempts, which count as outages', () => {
    const twice = failure('null', 'no answer', false);
    expect(observe(twice).verdict).toBe('inconclusive');
    expect(observe(twice, twice, failure('a'))).toMatchObject({ verdict: 'warn', observed: '500, 1 time' });
  });

  it('does not count controls that failed while a delivery had stopped the endpoint, but other deliveries', () => {
    const outage = { inFlight: ['malformed/null'], recovered: true, sign: 'no answer', looksDead: true };
    const refused = failure('null', 'no answer');
    const stopped = [{ ...outage, culprit: 'malformed/null' }];
    expect(observeWith(stopped, [refused]).verdict).toBe('pass');
    expect(observeWith(stopped, [refused, { ...failure('a'), isProbe: true }])).toMatchObject({
      verdict: 'warn',
      observed: '500, 1 time',
    });
    expect(observeWith([{ ...outage, culprit: null }], [refused]).verdict).toBe('warn');
  });
});

describe('the typo-key suite', () => {
  it('sends each combination of the two spellings', () => {
    const keys = (slug: string) => {
      const { metadata } = sent(`typo-key/${slug}`)[0].data;
      const { sourceAddress: _source, destinationAddress: _destination, asset: _asset, ...hashes } = metadata;
      return Object.entries(hashes).map(
        ([key, value]) => `${key}=${typeof value === 'string' && value !== '' ? 'hash' : JSON.stringify(value)}`,
      );
    };
    expect(
      Object.fromEntries(typoKeySuite.scenarios.map(({ id }) => [id, keys(id.slice('typo-key/'.length))])),
    ).toEqual({
      'typo-key/right-spelling': ['blockchainTransactionId=hash'],
      'typo-key/misspelt': ['blockchainTransctionId=hash'],
      'typo-key/both-alike': ['blockchainTransactionId=hash', 'blockchainTransctionId=hash'],
      'typo-key/both-different': ['blockchainTransactionId=hash', 'blockchainTransctionId=hash'],
      'typo-key/misspelt-first': ['blockchainTransctionId=""', 'blockchainTransactionId=hash'],
      'typo-key/right-null': ['blockchainTransactionId=null', 'blockchainTransctionId=hash'],
      'typo-key/neither': [],
    });
    const both = (slug: string) =>
      new Set(
        Object.values(sent(`typo-key/${slug}`)[0].data.metadata).filter((value) => /^0x.{64}$/.test(String(value))),
      ).size;
    expect([both('both-alike'), both('both-different')]).toEqual([1, 2]);
  });
});
