import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ResultDocument, resultDocument } from '../../../harness/report/result-document.ts';
import { joinShards, run } from '../../../harness/run/index.ts';
import { FAULTS, startFaultyReceiver } from '../../../mutants/index.ts';
import type { RunningReceiver } from '../../../receiver/index.ts';
import { listen } from '../../endpoints/listen.ts';

const SECRET = randomBytes(32).toString('base64');
const SUITES = ['valid', 'raw-body', 'leaks'];
const entries = ['raw-body/tabs', 'valid/plain', 'malformed/empty-body', 'raw-body/spaces'].map((scenario, at) => {
  return { scenario, reason: 'The gateway.', owner: 'payments', expires: at === 3 ? '2020-01-31' : '2099-12-31' };
});
const baseline = { file: 'known.yaml', entries };
const revision = { number: 1, digest: 'x', scored: new Set(['valid/plain', 'raw-body/spaces', 'signature/missing']) };

let receiver: RunningReceiver;
let whole: ResultDocument;
let shards: ResultDocument[];

const runOn = (url: string, shard: ResultDocument['shard']) =>
  run({
    partner: { url, signing: { secret: SECRET } },
    selection: { suites: SUITES, shard },
    limits: { timeoutMs: 5000, recoveryMs: 200 },
    seed: 'shards',
    profile: 'staging',
    revision,
    baseline,
    advice: ['Plain HTTP.'],
  });
async function shardsOf(url: string, of: number): Promise<ResultDocument[]> {
  const documents: ResultDocument[] = [];
  for (let index = 1; index <= of; index++) documents.push(await runOn(url, { index, of }));
  return documents;
}
const named = (documents: readonly ResultDocument[]) =>
  documents.map((document, at) => ({ name: `shard-${at + 1}.json`, document }));
const join = (documents: readonly ResultDocument[]) => joinShards(named(documents));

/**
 * Returns the parts of a document that do not differ between two identical runs: no times, request counts or random
 * data of the exchanges.
 */
function lasting({ startedAt, durationMs, requests, ...document }: ResultDocument) {
  const results = document.results.map(({ durationMs: _, exchanges, reproduce, ...result }) => ({
    ...result,
    ...(result.id === 'valid/answers-in-time' && { observed: '', reason: '' }),
    reproduce: reproduce === null ? null : reproduce.command,
    exchanges: exchanges.map(({ role, label, changes, response }) => [role, label, changes, response?.status]),
  }));
  return { ...document, results };
}

beforeAll(async () => {
  const fault = FAULTS.find(({ name }) => name === 'verifies-reserialised-json');
  if (fault === undefined) throw new Error('the fault does not exist');
  receiver = await startFaultyReceiver(fault, { signing: { secrets: [SECRET] } });
  whole = await runOn(receiver.url, null);
  shards = await shardsOf(receiver.url, 3);
});
afterAll(() => receiver.close());

describe('shards that are joined', () => {
  it('give the document of the undivided run', async () => {
    const joined = await join([shards[2], shards[0], shards[1]] as ResultDocument[]);
    expect(resultDocument.parse(joined)).toEqual(joined);
    const { baseline: outcome, ...rest } = lasting(joined);
    const { baseline: expected, ...expectedRest } = lasting(whole);
    expect(rest).toEqual(expectedRest);
    expect(outcome).toEqual(expected);
    const [main] = joined.diagnosis;
    expect([main?.relation, main?.fault]).toEqual(['main', 'reserialised-body']);
    expect(joined.requests).toBe(shards.reduce((sum, { requests }) => sum + requests, 0));
    expect(
      shards.every(
        (shard) => shard.diagnosis.length === 0 || shard.diagnosis[0]?.agreement !== joined.diagnosis[0]?.agreement,
      ),
    ).toBe(true);
  });

  it('are documents of the published schema, with a record that a whole run does not have', () => {
    for (const shard of shards) expect(resultDocument.parse(shard)).toEqual(shard);
    expect([whole.shardRecord, shards[0]?.shardRecord?.preflight]).toEqual([
      undefined,
      { accepted: true, finding: null },
    ]);
  });

  it('are judged together in scenarios that observe the whole run', async () => {
    const at = shards.findIndex(({ results }) => !results.some(({ id }) => id === 'leaks/nowhere'));
    const leaking = structuredClone(shards);
    leaking[at]?.shardRecord?.seen.leaks.push({ leak: 'stack-trace', scenario: 'valid/plain' });
    const changed = (await join(leaking)).results.filter(
      ({ id, verdict }) => verdict !== whole.results.find((one) => one.id === id)?.verdict,
    );
    expect(changed.map(({ suite }) => suite)).toEqual(['leaks']);
  });

  it('are inconclusive about the whole run when one was interrupted', async () => {
    const broken = structuredClone(shards);
    if (broken[1] !== undefined) broken[1].interrupted = true;
    const joined = await join(broken);
    expect(joined.interrupted).toBe(true);
    expect(joined.advice).toEqual(['Plain HTTP.', 'shard 2 of 3 was interrupted.']);
    const observing = joined.results.filter(
      ({ expected, verdict }) => expected.endsWith('in the whole run') && verdict !== 'not-applicable',
    );
    expect(observing.length).toBeGreaterThan(3);
    expect(observing.map(({ verdict, reason }) => [verdict, reason])).toEqual(
      observing.map(() => ['inconclusive', 'shard 2 of 3 was interrupted']),
    );
  });

  it('have one diagnosis when nothing could be delivered', async () => {
    const { url, close } = await listen(createServer());
    await close();
    const [undivided, dead] = await Promise.all([runOn(url, null), shardsOf(url, 2)]);
    const joined = await join(dead);
    expect(joined.diagnosis).toEqual(undivided.diagnosis);
    expect(joined.verdict).toBe(undivided.verdict);
    const fault = joined.diagnosis.map((one) => one.fault);
    expect(fault).toEqual(['nothing-listens']);
  });
});

describe('documents that are not the shards of one run', () => {
  const change = (at: number, parts: Partial<ResultDocument>) =>
    shards.map((shard, place) => (place === at ? { ...shard, ...parts } : shard));
  const SECOND = { revision: 2, digest: 'y', notScored: [] };
  const OLD = { name: 'hookproof' as const, version: '9' };
  const reasons: [string, () => ResultDocument[], string, string][] = [
    ['a seed', () => change(1, { seed: 'other' }), 'the seed differs: shards in shard-1.json, other in', '--seed'],
    ['a catalogue', () => change(2, { catalogue: { digest: 'x', scenarios: 1 } }), 'the digest of the catalogue', ''],
    ['a target', () => change(1, { target: { ...whole.target, url: 'http://other/' } }), 'the endpoint differs', 'URL'],
    ['features', () => change(1, { target: { ...whole.target, features: [] } }), 'the set of features', 'credentials'],
    ['a profile', () => change(1, { profile: null }), 'the profile differs: staging', '--profile'],
    ['a revision', () => change(1, { scoring: SECOND }), 'the revision', '--revision'],
    ['strictness', () => change(1, { strict: true }), 'the strictness differs: false', '--strict'],
    ['a version', () => change(1, { tool: OLD }), 'the version of hookproof', 'same version'],
    ['a baseline', () => change(1, { baseline: null }), 'the baseline differs', '--baseline'],
    ['one too few', () => shards.slice(1), 'shard 1 of 3 is missing', '`--seed shards`, and name all 3'],
    ['only one', () => shards.slice(1, 2), 'shards 1, 3 of 3 are missing', ''],
    ['one twice', () => [...shards, ...shards.slice(0, 1)], 'is given twice (shard-1.json, shard-4.json)', ''],
    ['a whole run', () => [whole], 'shard-1.json is a whole run', '--shard i/n'],
    ['other numbers', () => change(1, { shard: { index: 2, of: 4 } }), 'the number of shards differs: 3', ''],
    ['a selection', () => change(1, { results: whole.results.slice(0, 3) }), 'not come from one selection', '--suite'],
    ['a tool', () => shards.map((shard) => ({ ...shard, tool: OLD })), 'hookproof 9', 'the version that wrote them'],
    [
      'a shard without its record',
      () => change(0, { shardRecord: undefined }),
      'shard-1.json is a shard, and lacks',
      '',
    ],
  ];
  it.each(reasons)('are rejected: %s', async (_, documents, message, hint) => {
    const error = await join(documents()).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'SHARDS_DO_NOT_FIT', kind: 'usage' });
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  });
});
