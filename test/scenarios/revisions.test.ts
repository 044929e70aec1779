import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CURRENT_REVISION, KNOWN_REVISIONS, loadRevision, RETIRED_REVISIONS } from '../../harness/certify/revision.ts';
import { CATALOGUE, currentId, type Scenario } from '../../scenarios/index.ts';
import { drift, type RevisionFile, revisionOf } from './revision-file.ts';

/**
 * The SHA-256 of each revision. Add a line for a new revision and never change one: certificates name these digests,
 * and partners were certified against the content of the files.
 */
const MADE: Readonly<Record<number, string>> = {
  1: '738f475d95a6dccdce69a15c18e61be6fd7d008206806041e02cff8892747d3a',
  2: '930808d8d36955231b97ddacde245f4fed5089a73a52a5fe0f8821b8761a2ebe',
};

const FOLDER = new URL('../../scenarios/revisions/', import.meta.url);
const bytesOf = (revision: number) => readFileSync(new URL(`${revision}.json`, FOLDER));
const fileOf = (revision: number) => JSON.parse(bytesOf(revision).toString()) as RevisionFile;
const NUMBERS = Object.keys(MADE).map(Number);
const SCORABLE = NUMBERS.filter((revision) => !RETIRED_REVISIONS.includes(revision));
const SCENARIOS = CATALOGUE.flatMap(({ scenarios }) => scenarios);

describe('the revisions of the catalogue', () => {
  it('have not changed since they were made', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(NUMBERS.map((revision) => `${revision}.json`).toSorted());
    const digests = NUMBERS.map((revision) => [revision, createHash('sha256').update(bytesOf(revision)).digest('hex')]);
    expect(digests).toEqual(NUMBERS.map((revision) => [revision, MADE[revision]]));
  });

  it('are numbered from 1 to the current one, and can be loaded', () => {
    expect(NUMBERS).toEqual(Array.from({ length: CURRENT_REVISION }, (_, at) => at + 1));
    for (const revision of SCORABLE) {
      const { number, digest, scored } = loadRevision(revision);
      expect([number, digest, scored.size]).toEqual([
        fileOf(revision).revision,
        MADE[revision],
        new Set(Object.keys(fileOf(revision).scenarios).map(currentId)).size,
      ]);
    }
    for (const revision of RETIRED_REVISIONS) {
      expect(() => loadRevision(revision)).toThrow(expect.objectContaining({ code: 'REVISION_RETIRED' }));
      expect(KNOWN_REVISIONS.digestOf(revision)).toBe(MADE[revision]);
    }
    for (const number of [0, CURRENT_REVISION + 1, 1.5, Number.NaN]) {
      expect(() => loadRevision(number)).toThrow(expect.objectContaining({ code: 'REVISION_UNKNOWN' }));
    }
  });

  it('match the catalogue: every scored scenario exists, and sends and expects the same', () => {
    expect(SCORABLE).toContain(CURRENT_REVISION);
    expect(SCORABLE.flatMap((revision) => drift(fileOf(revision), SCENARIOS))).toEqual([]);
  });
});

describe('a revision', () => {
  const find = (id: string) => SCENARIOS.find((scenario) => scenario.id === id)!;
  const some = ['signature/missing', 'raw-body/spaces', 'raw-body/gzip', 'valid/steady', 'tls/chain-complete'].map(
    find,
  );
  const file = revisionOf(1, '2026-01-01', some);
  const seen = (scenario: Scenario) => drift(file, [...some.filter(({ id }) => id !== scenario.id), scenario]);

  it('does not depend on new scenarios, their order or their texts', () => {
    expect(drift(file, [...some.toReversed(), find('valid/plain')])).toEqual([]);
    const missing = find('signature/missing');
    expect(seen({ ...missing, title: 'Other words', mistake: 'partial-comparison', note: 'Other words.' })).toEqual([]);
  });

  it('reports a missing scenario', () => {
    expect(drift(file, some.slice(1))).toEqual([
      'signature/missing is scored in revision 1 but is not in the catalogue',
    ]);
  });

  it.each<[string, string, (scenario: Scenario) => Scenario]>([
    ['another level', 'signature/missing', (one) => ({ ...one, level: 'should' })],
    ['another feature', 'signature/missing', (one) => ({ ...one, needs: ['hmac', 'api-key'] })],
    [
      'another expected answer',
      'signature/missing',
      (one) => ({ ...one, expect: { text: '401', authentic: false, pass: [401, 403] } }) as Scenario,
    ],
    [
      'another body',
      'raw-body/spaces',
      (one) => ({ ...one, change: { serialise: () => Buffer.from('{ "a": 1}') } }) as Scenario,
    ],
    [
      'another header',
      'raw-body/gzip',
      (one) => ({ ...one, change: { ...('change' in one && one.change), address: undefined } }) as never,
    ],
    [
      'another verdict of an observation',
      'valid/steady',
      (one) => ({ ...one, observe: () => ({ verdict: 'pass', observed: '', reason: '' }) }) as Scenario,
    ],
    [
      'another certificate fault',
      'tls/chain-complete',
      (one) => ({ ...one, chain: { text: '', faults: ['expired'] } }) as Scenario,
    ],
  ])('reports %s', (_, id, change) => {
    expect(seen(change(find(id)))).toEqual([
      `${id} differs from revision 1: give the changed scenario a new id, and restore this one`,
    ]);
  });
});
