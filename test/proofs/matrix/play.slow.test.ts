import { expect, it } from 'vitest';
import { findSubject, isOfSuite, makeMaterial, missingPrograms, playedOf, runAgainst, SUBJECTS } from './play.ts';

const material = await makeMaterial();
const SCENARIOS = ['valid/plain', 'signature/missing', 'api-key/missing'];

async function play(name: string) {
  const subject = findSubject(name);
  return playedOf(subject, await runAgainst(subject, material, SCENARIOS));
}

it.each([
  ['none', ['hmac', 'api-key']],
  ['none-over-tls', ['hmac', 'api-key', 'https', 'mtls']],
  ['correct:node-http', ['hmac', 'api-key']],
])('plays %s, a correct receiver', async (name, features) => {
  const played = await play(name);
  expect(played).toMatchObject({ name, outcomes: {}, undecided: {}, stopped: null, refusal: null, judged: 3 });
  expect(played.features).toEqual(expect.arrayContaining(features));
});

it('plays a mutant that accepts everything', async () => {
  const played = await play('signature-not-checked');
  expect(played).toMatchObject({ kind: 'fault', outcomes: { 'signature/missing': 'fail 200' }, stopped: null });
});

it('distinguishes mutants that accept nothing by the finding about the rejection', async () => {
  const hex = await play('expects-hex');
  const sha1 = await play('expects-sha1');
  expect(hex).toMatchObject({ outcomes: { 'valid/plain': 'fail 401' }, stopped: 'gate', judged: 1 });
  expect(hex.refusal).toBe('hex');
  expect(sha1.outcomes).toEqual(hex.outcomes);
  expect(sha1.refusal).toBe('hmac-sha1');
});

const EFFECTS = ['valid/plain', 'effects/copies-in-turn', 'effects/copies-at-once', 'effects/copies-after-restart'];

it.each([
  ['none-with-effects', {}],
  ['copies-at-once-handled', { 'effects/copies-at-once': 'fail handled-twice' }],
  ['known-ids-in-memory', { 'effects/copies-after-restart': 'fail handled-twice' }],
])('plays %s, which has an effects window and is restarted where that shows something', async (name, outcomes) => {
  const subject = findSubject(name);
  const played = playedOf(subject, await runAgainst(subject, material, EFFECTS));
  expect(played).toMatchObject({ outcomes, undecided: {}, stopped: null });
  expect(played.features).toContain('effects');
  expect(played.features.includes('restart')).toBe(name !== 'copies-at-once-handled');
});

const LOG = ['valid/plain', 'signature/missing', 'effects/log-secret', 'effects/log-bodies', 'effects/log-personal'];

it.each([
  ['none-with-effects', {}],
  ['correct:effects-batched', {}],
  ['logs-secret-as-hex', { 'effects/log-secret': 'fail secret' }],
  ['logs-parsed-bodies', { 'effects/log-bodies': 'warn body' }],
])('plays %s, whose log is read', async (name, outcomes) => {
  const subject = findSubject(name);
  const played = playedOf(subject, await runAgainst(subject, material, LOG));
  expect(played).toMatchObject({ outcomes, undecided: {}, stopped: null });
  expect(played.features).toContain('log');
});

it('knows the subjects of a suite', () => {
  const ofEffects = SUBJECTS.filter((subject) => isOfSuite(subject, 'effects')).map(({ name }) => name);
  expect(ofEffects).toEqual(expect.arrayContaining(['none-with-effects', 'copies-handled', 'logs-bodies']));
  expect(ofEffects).toContain('correct:effects-queued');
  expect(ofEffects).not.toContain('signature-not-checked');
  const ofSignature = SUBJECTS.filter((subject) => isOfSuite(subject, 'signature')).map(({ name }) => name);
  expect(ofSignature).toContain('correct:node-http');
  expect(ofSignature).not.toContain('copies-handled');
});

it('rejects an unknown name, and lists missing programs', () => {
  expect(() => findSubject('no-such-mutant')).toThrow('no-such-mutant');
  const node = findSubject('node-http');
  expect(missingPrograms(node)).toEqual([]);
  if (node.kind !== 'correct') throw new Error('it is a correct receiver');
  const receiver = { ...node.receiver, needs: ['node', 'no-such-program'] };
  expect(missingPrograms({ ...node, receiver })).toEqual(['no-such-program']);
});
