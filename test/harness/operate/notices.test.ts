/** Which notices follow from two standings, each once, and what they say to whom. */
import { expect, it } from 'vitest';
import { readNotification } from '../../../contract/index.ts';
import { NOTICE_TYPE, noticeBody, noticesFor } from '../../../harness/operate/notices.ts';
import type { RegisterRecord } from '../../../harness/register/index.ts';
import { CURRENT, dayOf, granted, on, standingOf } from './standings.ts';

/**
 * Returns the notices that follow from the last of these records. With `day`, returns those that follow from the
 * passage of time until that day.
 */
function noticesAfter(records: readonly RegisterRecord[], day?: number, currentRevision = CURRENT) {
  const record = records.at(-1);
  const [lastDay] = [Number(record?.at.slice(8, 10) ?? 1)];
  const after = standingOf(records, day ?? lastDay);
  if (record === undefined || after === null) throw new Error('there is no record');
  const before = day === undefined ? standingOf(records.slice(0, -1), lastDay) : after;
  const at = new Date(dayOf(day ?? lastDay).getTime() + 43_200_000);
  return noticesFor({ before, after, record: day === undefined ? record : null, at, currentRevision });
}
const kindsAfter = (...given: Parameters<typeof noticesAfter>) => noticesAfter(...given).map(({ kind }) => kind);

const counts = (fail: number, warn = 0) => ({
  suites: { signature: { pass: 9, fail, warn, inconclusive: 0, notApplicable: 0, harnessError: 0 } },
});
const keyChanged = on(5, 'drifted', { drift: 'endpoint-key-changed', reason: 'another key' });

it.each<[string, readonly RegisterRecord[], string[]]>([
  ['the first certificate', [granted(1)], []],
  ['another certificate', [granted(1), granted(5)], []],
  ['a recheck that finds nothing', [granted(1), on(5, 'unchanged')], []],
  ['an outage', [granted(1), on(5, 'inconclusive')], ['no-verdict']],
  ['an outage that a recheck finds', [granted(1), on(5, 'unreachable')], ['no-verdict']],
  ['an internal error', [granted(1), on(5, 'harness-error')], []],
  ['an outage that lasts', [granted(1), on(3, 'unreachable'), on(5, 'inconclusive')], []],
  ['the end of an outage', [granted(1), on(3, 'unreachable'), on(5, 'unchanged')], []],
  ['a failure', [granted(1), on(5, 'failed')], ['failing']],
  ['a first run that fails', [on(5, 'failed')], ['failing']],
  ['a second failure with as many failed checks', [on(1, 'failed', counts(2)), on(5, 'failed', counts(2))], []],
  ['a second failure with more failed checks', [on(1, 'failed', counts(2)), on(5, 'failed', counts(3))], ['worse']],
  ['a second failure with fewer', [on(1, 'failed', counts(3)), on(5, 'failed', counts(2, 9))], []],
  ['a certificate with more warnings', [granted(1, {}, counts(0)), granted(5, {}, counts(0, 1))], ['worse']],
  ['another key', [granted(1), keyChanged], ['key-or-chain-changed']],
  ['an untrusted chain', [granted(1), on(5, 'drifted', { drift: 'not-publicly-trusted' })], ['key-or-chain-changed']],
  ['a check that no longer passes', [granted(1), on(5, 'drifted', { drift: 'canary-failed' })], ['worse']],
  ['a drift of an earlier version, which does not say which', [granted(1), on(5, 'drifted')], ['worse']],
  ['a revocation', [granted(1), on(5, 'revoked')], ['worse']],
  ['a revocation of a failing partner', [granted(1), on(3, 'failed'), on(5, 'revoked')], []],
  [
    'a failure after an override',
    [granted(1), on(3, 'failed'), granted(4, { kind: 'override' }), on(5, 'failed')],
    ['failing'],
  ],
])('%s', (_, records, expected) => {
  expect(kindsAfter(records)).toEqual(expected);
});

it('an expiry is announced from 14 days before, and once for each certificate', () => {
  expect(kindsAfter([granted(1)], 76)).toEqual([]);
  const [first] = noticesAfter([granted(1)], 77);
  const [later] = noticesAfter([granted(1)], 90);
  const [other] = noticesAfter([granted(1), granted(2, { certificate: 'd'.repeat(64) })], 90);
  expect([first?.kind, first]).toEqual(['expiring', later]);
  expect(other?.subject).not.toBe(first?.subject);
});

it('a certificate for a few days is not announced before half of them are over', () => {
  const short = granted(1, { expiresAt: dayOf(8).toISOString() });
  expect([kindsAfter([short]), kindsAfter([short], 3), kindsAfter([short], 5)]).toEqual([[], [], ['expiring']]);
});

it('a superseded revision is announced once for each certificate, while it counts', () => {
  const [first] = noticesAfter([granted(1)], 5, CURRENT + 1);
  expect([first?.kind, first]).toEqual(['revision-superseded', noticesAfter([granted(1)], 6, CURRENT + 1)[0]]);
  expect(kindsAfter([granted(1), on(3, 'revoked')], 5, CURRENT + 1)).toEqual([]);
});

it('the expiry takes the traffic away, whether the standing after was derived again or is the stored one', () => {
  const [before, derived] = [standingOf([granted(1)], 90), standingOf([granted(1)], 92)];
  if (before === null || derived === null) throw new Error('there is no standing');
  const occasion = { before, record: null, at: dayOf(92), currentRevision: CURRENT };
  const [notice] = noticesFor({ ...occasion, after: derived });
  expect([notice?.kind, notice]).toEqual(['worse', noticesFor({ ...occasion, after: before })[0]]);
  const about = { id: '', at: dayOf(92), recipient: 'operator', standing: before } as const;
  expect(notice && noticeBody(notice, about).data).toMatchObject({ state: 'expired', mayGetTraffic: false });
});

it('a notice is a notification that a receiver accepts, and the words of the operator stay with the operator', () => {
  const records = [granted(1), on(5, 'revoked', { reason: 'leaked key, ticket 4711' })];
  const [notice] = noticesAfter(records);
  const standing = standingOf(records, 5);
  if (notice === undefined || standing === null) throw new Error('there is no notice');
  const bodyFor = (recipient: 'operator' | 'partner') =>
    noticeBody(notice, { id: '5b0f8c1e-0000-4000-8000-000000000000', at: dayOf(5), recipient, standing });
  const reading = readNotification(bodyFor('partner'));
  expect(reading).toMatchObject({ ok: true, notification: { kind: 'UNKNOWN', type: NOTICE_TYPE, at: dayOf(5) } });
  expect(bodyFor('operator').data).toMatchObject({ reason: 'leaked key, ticket 4711', mayGetTraffic: false });
  expect(JSON.stringify(bodyFor('partner'))).not.toContain('4711');
});

it('a notice about a run without a verdict says why it had none', () => {
  const records = [granted(1), on(5, 'unreachable', { reason: 'nothing is listening' })];
  const [notice] = noticesAfter(records);
  const standing = standingOf(records, 5);
  if (notice === undefined || standing === null) throw new Error('there is no notice');
  const { data } = noticeBody(notice, { id: '', at: dayOf(5), recipient: 'partner', standing });
  expect(data).toMatchObject({ kind: 'no-verdict', mayGetTraffic: true, state: 'certified' });
  expect(data).toMatchObject({ reason: 'the last run (2026-01-05) had no verdict: nothing is listening' });
});
