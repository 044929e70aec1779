/**
 * Which partners may receive traffic, according to the records: what counts, what suspends, and what an attacker cannot
 * forge.
 */
import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { keyIdOf } from '../../../harness/certify/keys.ts';
import {
  changedSince,
  endpointOf,
  expiringWithin,
  type Grant,
  makeRecord,
  overrideOf,
  type RegisterEvent,
  type RegisterRecord,
  signGrant,
  standingsOf,
} from '../../../harness/register/index.ts';

const operator = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const ABOUT = { catalogue: 'sha256:abc', version: '0.1.0', url: 'https://acme.example/hooks' };
const dayOf = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString();
const NOON = 43_200_000;

const grant = (day: number, parts: Partial<Grant> = {}, key = operator.privateKey) =>
  signGrant(
    {
      kind: 'certificate',
      partner: 'acme',
      url: ABOUT.url,
      issuedAt: dayOf(day),
      expiresAt: dayOf(day + 90),
      certificate: 'c'.repeat(64),
      profile: 'production',
      revision: 2,
      evidenceLevel: 1,
      keyId: keyIdOf(key),
      ...parts,
    },
    key,
  );
const on = (day: number, event: RegisterEvent, parts: Partial<RegisterRecord> = {}): RegisterRecord =>
  makeRecord({ ...ABOUT, partner: 'acme', event, at: dayOf(day), ...parts });
const certified = (day: number, parts: Partial<Grant> = {}) => on(day, 'certified', { grant: grant(day, parts) });
const override = (day: number, parts: Partial<Grant> = {}) =>
  on(day, 'override', { grant: grant(day, { kind: 'override', ...parts }), reason: 'ticket 1' });

const standings = (records: readonly RegisterRecord[], day: number) => {
  const at = new Date(Date.parse(dayOf(day)) + NOON);
  return standingsOf(records, { keys: [operator.publicKey], at, currentRevision: 2 });
};
const standing = (records: readonly RegisterRecord[], day: number) => standings(records, day)[0];

it.each<[string, readonly RegisterRecord[], number, string, boolean, string | null]>([
  ['a certificate', [certified(1)], 2, 'certified', true, null],
  ['a certificate that has expired', [certified(1)], 92, 'expired', false, 'the certificate has expired'],
  ['an outage later', [certified(1), on(5, 'inconclusive', { reason: 'down' })], 6, 'certified', true, null],
  ['a bad file later', [certified(1), on(5, 'refused')], 6, 'certified', true, null],
  ['an error of ours later', [certified(1), on(5, 'harness-error')], 6, 'certified', true, null],
  ['a recheck without an answer', [certified(1), on(5, 'unreachable')], 6, 'certified', true, null],
  ['a recheck', [certified(1), on(5, 'unchanged')], 6, 'certified', true, null],
  ['a failing run later', [certified(1), on(5, 'failed', { reason: 'bad' })], 6, 'failing', false, 'bad'],
  ['a drift', [certified(1), on(5, 'drifted', { reason: 'another key' })], 6, 'drifted', false, 'another key'],
  ['a revocation', [certified(1), on(5, 'revoked', { reason: 'leak' })], 6, 'revoked', false, 'leak'],
  [
    'a recheck after a failing run',
    [certified(1), on(5, 'failed'), on(6, 'unchanged')],
    7,
    'failing',
    false,
    'scored checks failed',
  ],
  ['a new certificate after a failing run', [certified(1), on(5, 'failed'), certified(9)], 10, 'certified', true, null],
  ['a new certificate after a revocation', [certified(1), on(5, 'revoked'), certified(9)], 10, 'certified', true, null],
  ['an override', [certified(1), on(5, 'failed'), override(6)], 7, 'allowed', true, 'ticket 1'],
  [
    'a short override',
    [certified(1), on(5, 'failed'), override(6, { expiresAt: dayOf(8) })],
    9,
    'expired',
    false,
    'the override has expired',
  ],
  [
    'a failing run after an override',
    [certified(1), on(5, 'failed'), override(6), on(7, 'failed', { reason: 'x' })],
    8,
    'failing',
    false,
    'x',
  ],
  [
    'an override of a revocation',
    [certified(1), on(5, 'revoked', { reason: 'leak' }), override(6)],
    7,
    'revoked',
    false,
    'leak',
  ],
  [
    'a revocation after a failing run',
    [certified(1), on(5, 'failed'), on(6, 'revoked', { reason: 'leak' })],
    7,
    'revoked',
    false,
    'leak',
  ],
  ['no certificate', [on(5, 'inconclusive')], 6, 'uncertified', false, 'no certificate was ever issued'],
  ['a failing run without a certificate', [on(5, 'failed', { reason: 'x' })], 6, 'failing', false, 'x'],
])('after %s', (_, records, day, state, mayGetTraffic, reason) => {
  expect(standing(records, day)).toMatchObject({ state, mayGetTraffic, reason });
});

it('says since when a partner is failing: since the first failure', () => {
  const records = [certified(1), on(5, 'failed'), on(7, 'failed'), on(9, 'inconclusive')];
  expect(standing(records, 10)).toMatchObject({ state: 'failing', since: dayOf(5), until: null });
});

it('warns that a certificate has warnings, of which cause and how many more, as long as it counts', () => {
  const none = { pass: 3, fail: 0, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 };
  const suites = { valid: none, tls: { ...none, warn: 7 }, http: { ...none, warn: 1 } };
  const cause = { fault: 'x', title: 'Answers 500 to duplicates', more: 2 };
  const warned = { ...certified(1), suites, cause };
  const text = 'certified with 8 warnings: Answers 500 to duplicates, +2 more causes';
  expect(standing([warned], 6)).toMatchObject({ state: 'certified', warnings: [text] });
  expect(standing([{ ...warned, cause: null }], 6)?.warnings).toEqual(['certified with 8 warnings']);
  expect(standing([{ ...warned, suites: { valid: none } }], 6)?.warnings).toEqual([]);
  expect(standing([warned, on(5, 'failed', { cause })], 6)).toMatchObject({
    ...{ state: 'failing', warnings: [], reason: 'Answers 500 to duplicates, +2 more causes' },
  });
});

it('warns of what could not be decided, and of an old revision', () => {
  const records = [certified(1, { revision: 1 }), on(5, 'inconclusive', { reason: 'no answer' })];
  expect(standing(records, 6)?.warnings).toEqual([
    'the last run (2026-01-05) had no verdict: no answer',
    'certified for revision 1 of the catalogue; the newest is 2',
  ]);
});

const cause = (title: string) => ({ cause: { fault: 'x', title } });
it.each<[string, RegisterRecord, string]>([
  [
    'a known cause',
    on(5, 'inconclusive', { ...cause('Nothing is listening'), reason: '685 checks' }),
    'the last run (2026-01-05) had no verdict: nothing is listening',
  ],
  [
    'an abbreviation',
    on(5, 'inconclusive', cause('TLS 1.3 is missing')),
    'the last run (2026-01-05) had no verdict: TLS 1.3 is missing',
  ],
  [
    'a refused file',
    on(5, 'refused', { url: null, reason: 'acme.yaml:3:3: unknown key' }),
    'the last certification (2026-01-05) was refused: acme.yaml:3:3: unknown key',
  ],
  [
    'a refused recheck',
    on(5, 'refused', { reason: 'its certificate is missing' }),
    'the last recheck (2026-01-05) was refused: its certificate is missing',
  ],
])('warns of the last run with %s', (_, record, warning) => {
  expect(standing([certified(1), record], 6)?.warnings).toEqual([warning]);
});

it.each<[string, readonly RegisterRecord[], object]>([
  [
    'after a drift',
    [certified(1), on(5, 'drifted', { reason: 'another key' }), on(6, 'failed', cause('It accepts anything'))],
    { state: 'drifted', since: dayOf(5), reason: 'another key; the run of 2026-01-06 failed: it accepts anything' },
  ],
  [
    'after another failed run',
    [certified(1), on(5, 'failed', cause('Old')), on(6, 'failed', cause('New'))],
    { state: 'failing', since: dayOf(5), reason: 'New' },
  ],
  [
    'without any certificate',
    [on(5, 'failed', cause('Old')), on(6, 'failed', cause('New'))],
    { state: 'failing', since: dayOf(5), reason: 'New' },
  ],
  [
    'before a revocation',
    [certified(1), on(5, 'failed', cause('Old')), on(6, 'revoked', { reason: 'leak' })],
    { state: 'revoked', since: dayOf(6), reason: 'leak' },
  ],
])('names the cause of the newest failing run %s', (_, records, expected) => {
  expect(standing(records, 9)).toMatchObject(expected);
});

const SECOND = 'd'.repeat(64);
it.each<[string, RegisterRecord, RegExp]>([
  ['without a signature', on(5, 'certified'), /has no signature/],
  [
    'signed by a stranger',
    on(5, 'certified', { grant: grant(5, {}, stranger.privateKey) }),
    /not one of the trusted keys/,
  ],
  [
    'signed by a stranger with the id of the operator',
    on(5, 'certified', { grant: forged() }),
    /signature that is not valid/,
  ],
  [
    'with the signature for another partner',
    on(5, 'certified', { grant: grant(5, { partner: 'globex' }) }),
    /for the partner globex/,
  ],
  [
    'with the signature of an override',
    on(5, 'certified', { grant: grant(5, { kind: 'override' }) }),
    /for another event/,
  ],
  ['with a changed signature', on(5, 'certified', { grant: grant(5).replace(/.(?=")/, 'x') }), /has a signature that/],
])('does not believe a certificate %s', (_, record, why) => {
  expect(standing([record], 6)).toMatchObject({ state: 'uncertified', mayGetTraffic: false });
  expect(standing([record], 6)?.warnings[0]).toMatch(why);
});

it.each<[string, RegisterRecord]>([
  ['without a signature', on(6, 'override')],
  ['with the signature of the certificate', on(6, 'override', { grant: grant(1) })],
  ['for another certificate', override(6, { certificate: SECOND })],
])('does not believe an override %s', (_, record) => {
  const found = standing([certified(1), on(5, 'failed'), record], 7);
  expect(found).toMatchObject({
    state: 'failing',
    mayGetTraffic: false,
    warnings: [expect.stringContaining('override')],
  });
});

function forged(): string {
  const envelope = JSON.parse(grant(5, { keyId: keyIdOf(operator.publicKey) }, stranger.privateKey));
  envelope.signatures[0].keyid = keyIdOf(operator.publicKey);
  return JSON.stringify(envelope);
}

it('takes the records in the order of time, whatever their order in the files is', () => {
  expect(standing([on(5, 'failed'), certified(9), certified(1)], 10)?.state).toBe('certified');
  expect(standing([certified(9), on(12, 'failed'), certified(1)], 13)?.state).toBe('failing');
});

it('answers for a time in the past, who expires, and who has changed', () => {
  const globex = { partner: 'globex' };
  const records = [
    certified(1),
    on(5, 'failed'),
    on(2, 'certified', { ...globex, grant: grant(2, { ...globex, expiresAt: dayOf(20) }) }),
  ];
  const states = (day: number) => standings(records, day).map(({ partner, state }) => [partner, state]);
  expect(states(1)).toEqual([['acme', 'certified']]);
  expect(states(6)).toEqual([
    ['acme', 'failing'],
    ['globex', 'certified'],
  ]);
  const expiring = expiringWithin(standings(records, 10), new Date(dayOf(10)), 14 * 86_400_000);
  expect(expiring.map(({ partner }) => partner)).toEqual(['globex']);
  const changed = changedSince(standings(records, 6), standings(records, 1));
  expect(changed.map(({ now, before }) => [now.partner, before?.state ?? null, now.state])).toEqual([
    ['acme', 'certified', 'failing'],
    ['globex', null, 'certified'],
  ]);
});

it.each<[string, readonly RegisterRecord[], string | null]>([
  [
    'is that of the newest record',
    [on(1, 'failed'), on(2, 'failed', { url: 'https://b.example/' })],
    'https://b.example/',
  ],
  ['is not taken from a record without one', [on(1, 'failed'), on(2, 'refused', { url: null })], ABOUT.url],
  [
    'is not taken from a record whose text is no URL',
    [on(1, 'failed'), on(2, 'refused', { url: 'nowhere' })],
    ABOUT.url,
  ],
  ['is unknown when no record has one', [on(2, 'refused', { url: '' })], null],
])('the address of an endpoint %s', (_what, records, url) => {
  expect(standings(records, 4).map(endpointOf)).toEqual([url]);
});

it('rejects an override of a certificate that has expired, which would count for no time', () => {
  const suspended = standing([certified(1), on(5, 'failed')], 6)!;
  const terms = { reason: 'ticket 1', ms: undefined, privateKey: operator.privateKey };
  expect(() => overrideOf(suspended, terms)).toThrow('the certificate of acme expired on 2026-04-01');
});
