import { describe, expect, it } from 'vitest';
import { CORRECT_RECEIVERS } from './correct/index.ts';
import { alarmsAgainst, noAlarms, waits } from './expect-no-alarm.ts';

describe('receivers that are right and different raise no alarm', () => {
  // `npm run matrix` plays all of them, and so does every CI run. Here those that differ most, so that the tests stay quick.
  const HERE = ['express-verify', 'http-1-0', 'problem-details'];
  noAlarms((receiver) => receiver.tls !== true && !waits(receiver) && HERE.includes(receiver.name));
});

describe('the list of them', () => {
  it('has unique names in kebab-case and a sentence for each', () => {
    const names = CORRECT_RECEIVERS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
    expect(CORRECT_RECEIVERS.filter(({ title }) => !/^[A-Z].*[^.]\.$/.test(title.replace(/^node:/, 'N')))).toEqual([]);
  });

  it('would show an alarm: a receiver with a fault raises some', { timeout: 300_000 }, async () => {
    expect(await alarmsAgainst('api-key-any-accepted')).not.toEqual([]);
  });
});
