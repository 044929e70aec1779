import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emittedNotification, kindOf, NOTIFICATION_KINDS, readNotification } from '../../contract/index.ts';
import { ARBITRARIES } from './arbitraries.ts';
import { SAMPLE_NAMES, SAMPLES } from './samples.ts';

/** What is filled in `sent` is in `read` too, value for value. */
function expectKept(read: unknown, sent: unknown): void {
  if (sent === null || sent === undefined || sent === '') return;
  if (typeof sent !== 'object') {
    expect(read).toBe(sent);
    return;
  }
  for (const [key, value] of Object.entries(sent)) expectKept((read as Record<string, unknown> | null)?.[key], value);
}

describe.each(NOTIFICATION_KINDS)('%s', (kind) => {
  it('is emitted, serialised and read again with nothing lost', () => {
    fc.assert(
      fc.property(ARBITRARIES[kind], (value) => {
        const notification = emittedNotification.parse(value);
        expect(kindOf(notification)).toBe(kind);
        const result = readNotification(JSON.parse(JSON.stringify(notification)));
        if (!result.ok) throw new Error(result.issues.join('; '));
        expect(result.notification.kind).toBe(kind);
        expect(result.notification.id).toBe(notification.id);
        const { at } = notification;
        expect(result.notification.at).toEqual(new Date(typeof at === 'number' ? at * 1000 : at));
        expectKept(result.notification.data, notification.data);
      }),
    );
  });
});

describe('readNotification', () => {
  const check = (value: unknown) => {
    const result = readNotification(value);
    if (result.ok) expect(result.notification.raw).toBe(value);
    else expect(result.issues.length).toBeGreaterThan(0);
  };

  it('never throws, whatever the value', () => {
    fc.assert(fc.property(fc.oneof(fc.jsonValue(), fc.anything()), check), { numRuns: 500 });
  });

  it('never throws on a right notification that has any JSON value in any place', () => {
    const paths = SAMPLE_NAMES.flatMap((name) => [...pathsOf(SAMPLES[name])].map((path) => [name, path] as const));
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), ([name, path], value) => {
        const copy: Record<string, unknown> = structuredClone(SAMPLES[name]);
        const keys = path.slice(0, -1);
        const parent = keys.reduce<Record<string, unknown>>((here, key) => here[key] as Record<string, unknown>, copy);
        parent[path.at(-1)!] = value;
        check(copy);
      }),
      { numRuns: 1000 },
    );
  });
});

/** The path of every key, at every depth. */
function* pathsOf(value: object): Generator<string[]> {
  for (const [key, inner] of Object.entries(value)) {
    yield [key];
    if (typeof inner === 'object' && inner !== null) for (const rest of pathsOf(inner)) yield [key, ...rest];
  }
}
