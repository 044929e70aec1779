/** When each partner is tested: slots that do not depend on the time of planning, quiet hours, and finished jobs. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Schedule } from '../../../harness/config/index.ts';
import { dueSlots, kindOf, type PlannedPartner, queueOf, quietUntil, slotAt } from '../../../harness/operate/index.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAILY: Schedule = {
  everyMs: DAY,
  certifyBeforeMs: 14 * DAY,
  quiet: null,
  timeZone: 'UTC',
  perHost: 1,
  retryAfterMs: [60_000],
  revision: null,
};
const NIGHTS: Schedule = { ...DAILY, quiet: { from: 22 * 60, to: 6 * 60 }, timeZone: 'Europe/Berlin' };
const NOW = new Date('2027-03-10T12:00:00Z');
const names = Array.from({ length: 500 }, (_, at) => `partner-${at}`);

const known: PlannedPartner = {
  partner: 'acme',
  state: 'certified',
  until: new Date(NOW.getTime() + 60 * DAY),
  revision: 2,
  drift: null,
  lastDue: null,
};
const about = { now: NOW, currentRevision: 2 };
const kind = (parts: Partial<PlannedPartner>) => kindOf({ ...known, ...parts }, DAILY, about);

it('gives a partner the same slot at every moment until the next one', () => {
  const slot = slotAt('acme', DAILY, NOW);
  expect(slot.getTime()).toBeGreaterThan(NOW.getTime() - DAY);
  expect(slotAt('acme', DAILY, slot)).toEqual(slot);
  expect(slotAt('acme', DAILY, new Date(slot.getTime() + DAY - 1))).toEqual(slot);
  expect(slotAt('acme', DAILY, new Date(slot.getTime() + DAY))).toEqual(new Date(slot.getTime() + DAY));
});

it('spreads the partners over the day', () => {
  const hours = names.map((name) => slotAt(name, DAILY, NOW).getUTCHours());
  const counts = Array.from({ length: 24 }, (_, hour) => hours.filter((one) => one === hour).length);
  expect(Math.min(...counts)).toBeGreaterThan(500 / 24 / 3);
  expect(Math.max(...counts)).toBeLessThan((500 / 24) * 2);
});

it('plans a slot once, and not before it comes', () => {
  const slot = slotAt('acme', DAILY, NOW);
  expect(dueSlots([known], DAILY, about)).toEqual([{ partner: 'acme', due: slot }]);
  expect(dueSlots([{ ...known, lastDue: slot }], DAILY, about)).toEqual([]);
  expect(
    dueSlots([{ ...known, lastDue: slot }], DAILY, { ...about, now: new Date(slot.getTime() + DAY) }),
  ).toHaveLength(1);
});

it('rechecks a certified partner, and certifies the others', () => {
  expect(kind({})).toBe('recheck');
  expect(kind({ until: new Date(NOW.getTime() + 14 * DAY) })).toBe('certify');
  expect(kind({ revision: 1 })).toBe('certify');
  for (const state of ['failing', 'expired', 'uncertified', 'allowed', null] as const)
    expect(kind({ state })).toBe('certify');
  expect(kindOf({ ...known, revision: 1 }, { ...DAILY, revision: 1 }, about)).toBe('recheck');
});

it('leaves to the operator what only an operator may decide', () => {
  expect(kind({ state: 'revoked' })).toBeNull();
  expect(kind({ state: 'drifted', drift: 'endpoint-key-changed' })).toBeNull();
  expect(kind({ state: 'drifted', drift: 'not-publicly-trusted' })).toBeNull();
  expect(kind({ state: 'drifted', drift: 'canary-failed' })).toBe('certify');
});

it('has no slot in the quiet hours, in winter and in summer', () => {
  for (const now of [NOW, new Date('2027-07-10T12:00:00Z')]) {
    for (const name of names) expect(quietUntil(NIGHTS, slotAt(name, NIGHTS, now))).toBeNull();
  }
  expect(quietUntil(NIGHTS, new Date('2027-03-10T21:00:00Z'))).toEqual(new Date('2027-03-11T05:00:00Z'));
  expect(quietUntil(NIGHTS, new Date('2027-07-10T20:00:00Z'))).toEqual(new Date('2027-07-11T04:00:00Z'));
  expect(dueSlots([known], NIGHTS, { ...about, now: new Date('2027-03-10T21:00:00Z') })).toEqual([]);
});

it('ends the quiet hours at the hour of the clock when the clocks change in between', () => {
  expect(quietUntil(NIGHTS, new Date('2027-03-27T22:00:00Z'))).toEqual(new Date('2027-03-28T04:00:00Z'));
  expect(quietUntil(NIGHTS, new Date('2027-10-30T21:00:00Z'))).toEqual(new Date('2027-10-31T05:00:00Z'));
});

it('never moves a slot back, for any schedule', () => {
  const minutes = fc.integer({ min: 0, max: 1439 });
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 1, max: 30 }),
      minutes,
      minutes,
      fc.integer({ min: 0, max: 400 * 24 }),
      (name, days, from, to, hour) => {
        fc.pre(from !== to);
        const schedule = { ...NIGHTS, everyMs: days * DAY, quiet: { from, to } };
        const now = new Date(NOW.getTime() + hour * HOUR);
        const slot = slotAt(name, schedule, now);
        const next = slotAt(name, schedule, new Date(now.getTime() + HOUR));
        expect(slot <= now && slot <= next).toBe(true);
        expect(now.getTime() - slot.getTime()).toBeLessThan((days + 1) * DAY + HOUR);
      },
    ),
  );
});

it('puts a partner into one of the queues of its host', () => {
  const queues = (perHost: number) => new Set(names.map((name) => queueOf(name, 'acme.example', perHost)));
  expect(queues(1)).toEqual(new Set(['acme.example 0']));
  expect(queues(3)).toEqual(new Set(['acme.example 0', 'acme.example 1', 'acme.example 2']));
});
