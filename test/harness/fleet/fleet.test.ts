import { describe, expect, it } from 'vitest';
import {
  changeOf,
  exitCodeOfFleet,
  type FleetDocument,
  factsOf,
  fleetDocument,
  mergeFleets,
  type PartnerOutcome,
  partnerOutcomeOf,
  runLimited,
  shownUrl,
  withPrevious,
} from '../../../harness/fleet.ts';
import { diagnosisWith, documentWith, resultWith } from '../report/documents.ts';
import { fleetWith, partnerWith } from './documents.ts';

it('has the first cause that the report shows: not one of checks that are not scored', () => {
  const failed = { verdict: 'fail', observed: '200' } as const;
  const results = ['signature/missing', 'valid/plain', 'http/get'].map((id) => resultWith({ id, ...failed }));
  const diagnosis = ['http/get', 'valid/plain', 'signature/missing'].map((id) =>
    diagnosisWith({ fault: `of-${id.slice(0, 4)}`, title: id, evidence: [id] }),
  );
  const scoring = { revision: 1, digest: 'x', notScored: ['http/get'] };
  const document = documentWith({ results, diagnosis });
  expect(factsOf(document).diagnosis).toEqual({ fault: 'of-http', title: 'http/get', more: 2 });
  expect(factsOf({ ...document, scoring }).diagnosis).toEqual({ fault: 'of-vali', title: 'valid/plain', more: 1 });
});

const reason = (exit: 1 | 2 | 3 | 4) => ({ code: 'x', message: 'x', fix: 'x', exit });

describe('the outcome', () => {
  it.each<[(1 | 2 | 3 | 4)[], PartnerOutcome]>([
    [[], 'certified'],
    [[3], 'inconclusive'],
    [[3, 2], 'refused'],
    [[2, 1, 3], 'failed'],
    [[1, 4], 'harness-error'],
  ])('of reasons with %j is %s', (exits, outcome) => {
    expect(partnerOutcomeOf(exits.map(reason))).toBe(outcome);
  });

  it.each<[PartnerOutcome[], number]>([
    [[], 3],
    [['certified'], 0],
    [['certified', 'inconclusive'], 3],
    [['certified', 'not-run'], 3],
    [['inconclusive', 'failed'], 1],
    [['refused', 'inconclusive'], 2],
    [['failed', 'harness-error'], 4],
  ])('of all of %j has the exit code %i', (outcomes, code) => {
    const partners = outcomes.map((outcome, at) => partnerWith(`a${at}`, outcome, at));
    expect(exitCodeOfFleet(fleetWith(partners))).toBe(code);
  });

  it('of a shard without a partner is a failure only if the partners decide', () => {
    expect([exitCodeOfFleet(fleetWith([])), exitCodeOfFleet(fleetWith([]), 'harness')]).toEqual([3, 0]);
  });

  it('is better, worse, the same, or new', () => {
    const now = fleetWith([
      partnerWith('a', 'certified', 1),
      partnerWith('b', 'failed', 1),
      partnerWith('c', 'failed', 1),
      partnerWith('d', 'inconclusive', 1),
    ]);
    const before = fleetWith([
      partnerWith('a', 'failed', 1),
      partnerWith('b', 'certified', 1),
      partnerWith('c', 'failed', 1),
    ]);
    expect(withPrevious(now, before).partners.map(changeOf)).toEqual(['better', 'worse', 'same', 'new']);
  });

  it('is listed with a URL without its query', () => {
    expect(shownUrl('https://a.example:8443/hooks?key=1#x')).toBe('https://a.example:8443/hooks');
  });

  it('is in a document that the schema accepts', () => {
    const document = fleetWith(
      (['certified', 'failed', 'refused'] as const).map((one, at) => partnerWith(one, one, at)),
    );
    expect(fleetDocument.parse(document)).toEqual(document);
    expect(fleetDocument.safeParse({ ...document, startedAt: 'yesterday' }).success).toBe(false);
  });
});

describe('shards', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const all = names.map((name, at) => partnerWith(name, at === 1 ? 'failed' : 'certified', at));
  const whole = fleetWith(all);
  const shard = (index: number, of = 2, parts: Partial<FleetDocument> = {}): FleetDocument => {
    const partners = all.filter((_, at) => at % of === index - 1);
    const { settings } = whole;
    return { ...fleetWith(partners), settings, shard: { index, of }, ...parts };
  };
  const merge = (...fleets: FleetDocument[]) => mergeFleets(fleets.map((fleet, at) => ({ name: `s${at}`, fleet })));

  it.each([[[1, 2]], [[2, 1]]])('in the order %j are the whole again', (order) => {
    expect(merge(...order.map((index) => shard(index)))).toEqual(whole);
  });

  it('count from the first beginning to the last end', () => {
    const late = shard(2, 2, { startedAt: '2026-11-21T20:10:00.000Z', durationMs: 1000 });
    expect(merge(shard(1), late).durationMs).toBe(601_000);
  });

  it.each<[string, FleetDocument[], RegExp]>([
    ['one is missing', [shard(1)], /shard 2 of 2 is missing/],
    ['one is there twice', [shard(1), shard(1)], /s0 and s1 are both shard 1/],
    ['one is whole', [whole, shard(1)], /s0 is not a shard/],
    [
      'the version differs',
      [shard(1), shard(2, 2, { tool: { name: 'hookproof', version: '9' } })],
      /the version of hookproof differs/,
    ],
    ['the catalogue differs', [shard(1), shard(2, 2, { catalogue: { digest: 'x' } })], /the catalogue differs/],
    [
      'the profile differs',
      [shard(1), shard(2, 2, { settings: { ...whole.settings, profile: 'basic' } })],
      /--profile differs/,
    ],
    [
      'the partners differ',
      [shard(1), shard(2, 2, { settings: { ...whole.settings, names: 'x' } })],
      /the list of partners differs/,
    ],
    [
      'a partner is in two',
      [shard(1), shard(2, 2, { partners: all.slice(0, 2) })],
      /partners in more than one shard: a/,
    ],
    ['one is empty', [shard(1), shard(2, 2, { partners: [] })], /they contain 3 of 5 partners/],
    ['there is none', [], /none is given/],
  ])('are refused when %s', (_, fleets, message) => {
    expect(() => merge(...fleets)).toThrow(message);
  });
});

describe('runLimited', () => {
  const signal = new AbortController().signal;

  it('keeps to both limits, and passes over those whose host is busy', async () => {
    const running: string[] = [];
    const seen = { most: 0, mostOfOne: 0, order: [] as string[] };
    const items = ['a1', 'a2', 'a3', 'b1', 'c1', 'd1'];
    await runLimited(items, { parallel: 3, perGroup: 1, groupOf: (item) => item[0]!, signal }, async (item) => {
      running.push(item);
      seen.order.push(item);
      seen.most = Math.max(seen.most, running.length);
      seen.mostOfOne = Math.max(seen.mostOfOne, running.filter((one) => one[0] === 'a').length);
      await new Promise((resolve) => setImmediate(resolve));
      running.splice(running.indexOf(item), 1);
    });
    expect(seen).toMatchObject({ most: 3, mostOfOne: 1 });
    expect(seen.order.slice(0, 3)).toEqual(['a1', 'b1', 'c1']);
    expect(seen.order.toSorted()).toEqual(items);
  });

  it('begins nothing after it is aborted, and waits for what is under way', async () => {
    const stop = new AbortController();
    const ended: string[] = [];
    await runLimited(
      ['a', 'b', 'c'],
      { parallel: 2, perGroup: 2, groupOf: () => '', signal: stop.signal },
      async (item) => {
        stop.abort();
        await new Promise((resolve) => setImmediate(resolve));
        ended.push(item);
      },
    );
    expect(ended).toEqual(['a']);
  });

  it('throws what one throws, after the others have ended', async () => {
    const ended: string[] = [];
    const all = runLimited(['a', 'b', 'c'], { parallel: 2, perGroup: 2, groupOf: () => '', signal }, async (item) => {
      if (item === 'a') throw new Error('of a');
      await new Promise((resolve) => setImmediate(resolve));
      ended.push(item);
    });
    await expect(all).rejects.toThrow('of a');
    expect(ended).toEqual(['b']);
  });
});
