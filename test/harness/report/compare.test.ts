/** Comparisons of runs against receivers that were faulty, were repaired, or became faulty. */
import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../../harness/report/compare.ts';
import { type Comparison, comparisonDocument } from '../../../harness/report/comparison-document.ts';
import { renderComparison } from '../../../harness/report/human-comparison.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { run } from '../../../harness/run/index.ts';
import { FAULTS, startFaultyReceiver } from '../../../mutants/index.ts';
import { API_KEY, SECRET } from '../run/parts.ts';
import { diagnosisWith, documentWith, KNOWN, resultWith } from './documents.ts';

const BODIES = [
  'spaces',
  'tabs',
  'indent-2',
  'raw-accent',
  'raw-emoji',
  'combining-accent',
  'mirror-escapes',
  'latin-1-bytes',
].map((name) => `raw-body/${name}`);
const SIGNATURES = [
  'missing',
  'empty',
  'first-20-characters',
  'first-43-characters',
  'half-digest',
  'last-character-changed',
  'last-11-characters-changed',
  'middle-character-changed',
].map((name) => `signature/${name}`);
const KEYS = ['missing', 'empty', 'first-character-changed'].map((name) => `api-key/${name}`);

type Setup = 'correct' | 'down' | 'bodies only' | 'with key' | 'key not checked' | (string & {});

const played = new Map<Setup, Promise<ResultDocument>>();

/** Returns the run against a receiver with this fault. Each receiver is started only once. */
function playing(setup: Setup): Promise<ResultDocument> {
  const known = played.get(setup) ?? play(setup);
  played.set(setup, known);
  return known;
}

async function play(setup: Setup): Promise<ResultDocument> {
  const hasKey = setup.includes('key');
  const name = setup === 'key not checked' ? 'api-key-not-checked' : setup;
  const fault = FAULTS.find((one) => one.name === name) ?? null;
  const receiver = await startFaultyReceiver(fault, {
    signing: { secrets: [SECRET] },
    ...(hasKey && { apiKey: { keys: [API_KEY] } }),
    log: () => {},
  });
  if (setup === 'down') await receiver.close();
  try {
    return await run({
      partner: { url: receiver.url, signing: { secret: SECRET }, ...(hasKey && { apiKey: { value: API_KEY } }) },
      selection: { scenarios: setup === 'bodies only' ? BODIES : [...BODIES, ...SIGNATURES, ...KEYS] },
      limits: { timeoutMs: 5000, recoveryMs: 200 },
      seed: 'compare',
    });
  } finally {
    if (setup !== 'down') await receiver.close();
  }
}

const comparing = async (before: Setup, now: Setup) => compareRuns(await playing(before), await playing(now));

/**
 * Summarises a comparison as "4 fixed, 2 new; new 0>2, gone 4>0; 2": the lists that are not empty, each cause with its
 * number of checks before and now, and the number of new failures.
 */
function summary({ causes, fixed, new: broken, newFailures, notDecided, stillFailing, added, removed }: Comparison) {
  const lists = { fixed, new: broken, still: stillFailing, undecided: notDecided, added, removed };
  const counts = Object.entries(lists).flatMap(([name, { length }]) => (length > 0 ? [`${length} ${name}`] : []));
  const states = causes.map(({ before, now, state }) => {
    return `${state} ${before?.checks.length ?? 0}>${now?.checks.length ?? 0}`;
  });
  return `${counts.join(', ')}; ${states.join(', ')}; ${newFailures}`;
}

describe('two runs', () => {
  it.each<[Setup, Setup, string]>([
    ['verifies-reserialised-json', 'correct', '4 fixed; gone 4>0; 0'],
    ['correct', 'verifies-reserialised-json', '4 new; new 0>4; 3'],
    ['verifies-reserialised-json', 'verifies-reserialised-json', '4 still; same 4>4; 0'],
    ['verifies-reserialised-json', 'falsy-signature-accepted', '4 fixed, 2 new; new 0>2, gone 4>0; 2'],
    ['decodes-body-as-latin-1', 'escapes-non-ascii', '1 fixed, 1 new, 3 still; changed 3>4; 1'],
    ['expects-hex', 'correct', '; gone 0>0; 0'],
    ['correct', 'expects-hex', '16 undecided; new 0>0; 0'],
    ['verifies-reserialised-json', 'down', '16 undecided; new 0>0, not-decided 4>0; 0'],
    ['correct', 'bodies only', '11 removed; ; 0'],
    ['bodies only', 'compares-first-8', '6 new, 11 added; new 0>6; 5'],
    ['compares-first-32', 'compares-first-8', '3 new, 3 still; same 3>6; 3'],
    ['correct', 'key not checked', '3 new; new 0>2, new 0>1; 3'],
  ])('%s, then %s', async (before, now, expected) => {
    const comparison = await comparing(before, now);
    expect(comparisonDocument.parse(comparison)).toEqual(comparison);
    expect(summary(comparison)).toBe(expected);
  });

  it('names a cause that replaces another, and what differs between the runs', async () => {
    const { causes, notes } = await comparing('decodes-body-as-latin-1', 'escapes-non-ascii');
    expect(causes[0]).toMatchObject({
      state: 'changed',
      before: { title: expect.stringContaining('decoded') },
      now: { title: expect.stringContaining('imitate') },
    });
    expect(notes.map(({ code }) => code)).toEqual(['endpoint', 'partial', 'partial']);
    const withKey = await comparing('correct', 'key not checked');
    expect(withKey.notes.map(({ text }) => text)).toContain(
      'Different credentials or features: hmac before, api-key, hmac now',
    );
  });
});

const pair = (before: Partial<ResultDocument>, now: Partial<ResultDocument>) =>
  compareRuns(documentWith(before), documentWith(now));

describe('a comparison', () => {
  const failing = resultWith({ verdict: 'fail', observed: '200' });

  it('counts no failure as new that the run forgives, and warnings only in a strict run', () => {
    const passing = { results: [resultWith()] };
    const newFailures = (now: Partial<ResultDocument>) => pair(passing, now).newFailures;
    const warning = { ...failing, verdict: 'warn' as const };
    const scoring = { revision: 1, digest: 'x', notScored: [failing.id] };
    expect(newFailures({ results: [failing] })).toBe(1);
    expect(newFailures({ results: [{ ...failing, known: KNOWN }] })).toBe(0);
    expect(newFailures({ results: [failing], scoring })).toBe(0);
    expect([newFailures({ results: [warning] }), newFailures({ results: [warning], strict: true })]).toEqual([0, 1]);
  });

  it('takes a warning that becomes a failure for new, and a failure that becomes a warning for the same', () => {
    const warning = { results: [{ ...failing, verdict: 'warn' as const }] };
    expect(pair(warning, { results: [failing] }).new).toMatchObject([{ before: 'warn', now: 'fail' }]);
    expect(pair({ results: [failing] }, warning).stillFailing).toMatchObject([{ before: 'fail', now: 'warn' }]);
  });

  it('matches a former id with the check that replaces it', () => {
    const before = { results: [resultWith({ id: 'http/key-header-lower', verdict: 'fail' })] };
    const after = pair(before, { results: [resultWith({ id: 'api-key/lower-case-name' })] });
    expect([after.fixed.map(({ id }) => id), after.added, after.removed]).toEqual([
      ['api-key/lower-case-name'],
      [],
      [],
    ]);
  });

  it('says that another catalogue, revision or order makes the runs hardly comparable', () => {
    const { notes } = pair(
      { startedAt: '2026-11-22T10:00:00.000Z', scoring: { revision: 1, digest: 'x', notScored: [] } },
      { catalogue: { digest: 'sha256:other', scenarios: 2 } },
    );
    expect(notes.map(({ text }) => text)).toEqual([
      'The old run started after the new one: check the order of the two',
      'Different catalogues: 1 check of hookproof 0.1.0 before, 2 checks of hookproof 0.1.0 now',
      'Scored by different revisions of the catalogue: revision 1 before, none now',
    ]);
  });

  it('is shown in a terminal like a run', () => {
    const reason = 'rate-limited: the endpoint answered 429';
    const spaces = resultWith({ id: 'raw-body/spaces', title: 'Accepts spaces', expected: '200', observed: '200' });
    const old = [failing, spaces, ...['a', 'b', 'c'].map((id) => resultWith({ id }))];
    const now = [
      resultWith(),
      { ...spaces, verdict: 'fail' as const, observed: '401', outcome: '401' },
      ...['a', 'b', 'c'].map((id) => resultWith({ id, verdict: 'inconclusive', reason })),
    ];
    const comparison = pair({ results: old, diagnosis: [diagnosisWith()] }, { results: now });
    const text = renderComparison(comparison, ['old.json', 'new.json'], { columns: 80, color: false, unicode: true });
    expect(text).toBe(`✗ 1 NEW FAILURE  http://127.0.0.1:8080/hooks
  1 fixed, 1 new, 0 still failing, 3 without a verdict now since the run of
  2026-11-21 10:00 UTC
  old  old.json: NOT CONFORMANT on 2026-11-21 at 10:00 UTC (1 failed, 4 passed)
  new  new.json: NOT CONFORMANT on 2026-11-21 at 10:00 UTC (1 failed, 3
       inconclusive, 1 passed)

Causes (2)
  ✗ new   Accepts spaces (1 check)
  ✓ gone  A missing signature is accepted (1 check before)

New (1)
  ✗ raw-body/spaces: answered 401, expected 200; passed before

Without a verdict now (3)
  ? rate-limited: the endpoint answered 429: a, b, c

Fixed (1)
  ✓ signature/missing: Rejects a delivery without a signature

✗ Exit code 1: 1 check fails that did not fail before
`);
  });

  it('shortens long lists, and lists all with --verbose', () => {
    const results = Array.from({ length: 20 }, (_, at) => resultWith({ id: `x/${at}`, verdict: 'fail' }));
    const comparison = pair({ results: results.map((one) => ({ ...one, verdict: 'pass' })) }, { results });
    const shown = (verbose: boolean) =>
      renderComparison(comparison, ['a', 'b'], { columns: 80, color: false, unicode: true, verbose });
    expect(shown(false)).toContain('  and 15 more (see `--verbose`)\n');
    expect(shown(true).match(/x\/\d+/g)).toHaveLength(20);
  });
});
