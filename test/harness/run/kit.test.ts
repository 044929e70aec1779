import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { emittedNotification } from '../../../contract/index.ts';
import { createKit } from '../../../harness/run/kit.ts';
import { TEST_ID_PREFIX } from '../../../scenarios/index.ts';
import { NOW, partnerAt, SECRET } from './parts.ts';

const kitOf = (seed: string, scenario = 'a/b') => createKit(partnerAt(), seed, scenario, NOW);
const valuesOf = (kit: ReturnType<typeof kitOf>) => ({
  nonce: kit.nonce(),
  long: kit.nonce(3000),
  integer: kit.integer(1_000_000),
  bytes: kit.bytes(40).toString('hex'),
  again: kit.nonce(5),
});

describe('the kit', () => {
  it('derives its values from the seed and the scenario', () => {
    expect(valuesOf(kitOf('s'))).toEqual(valuesOf(kitOf('s')));
    const all = [kitOf('s'), kitOf('t'), kitOf('s', 'a/c')].map((kit) => JSON.stringify(valuesOf(kit)));
    expect(new Set(all).size).toBe(3);
  });

  it('gives values in their ranges', () => {
    const kit = kitOf('s');
    expect(kit.nonce(64)).toMatch(/^[a-z0-9]{64}$/);
    expect(kit.bytes(7)).toHaveLength(7);
    const integers = Array.from({ length: 500 }, () => kit.integer(6));
    expect([...new Set(integers)].toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('returns copies of its bytes', () => {
    const kit = kitOf('s');
    const first = kit.bytes(16);
    const copy = Buffer.from(first);
    first.fill(0);
    expect(kitOf('s').bytes(16)).toEqual(copy);
  });

  it('creates unique ids: UUIDs with the prefix of tests', () => {
    const ids = [kitOf('s'), kitOf('s')].flatMap((kit) => Array.from({ length: 500 }, () => kit.newId()));
    expect(new Set(ids).size).toBe(1000);
    const uuid = new RegExp(`^${TEST_ID_PREFIX}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`);
    expect(ids.filter((id) => !uuid.test(id))).toEqual([]);
  });

  it('composes a notification that is valid as emitted', () => {
    expect(emittedNotification.safeParse(kitOf('s').notification()).success).toBe(true);
  });

  it('signs, and reports every signature', () => {
    const reported: string[] = [];
    const kit = createKit(partnerAt(), 's', 'a/b', NOW, (signature) => reported.push(signature));
    const bodies = ['', 'x', 'é'].map((text) => Buffer.from(text));
    const made = bodies.map((body) => kit.sign(body));
    expect(made).toEqual(bodies.map((body) => createHmac('sha256', SECRET).update(body).digest('base64')));
    expect(reported).toEqual(made);
  });
});
