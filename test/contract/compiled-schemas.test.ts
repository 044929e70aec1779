import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { envelope } from '../../contract/received-notification.ts';
import { SHAPES } from '../../contract/shapes.ts';

const schemas = {
  envelope,
  ...Object.fromEntries(Object.entries(SHAPES).map(([kind, { received }]) => [kind, received])),
};

describe('the schemas of a reading', () => {
  // Left to itself, z.compile gives back what it cannot compile as it was: right, and three times slower without a word.
  it.each(Object.entries(schemas))('compile: %s', (_name, schema) => {
    expect(() => z.compile(schema, { strict: true })).not.toThrow();
  });

  it('would be told by this test when one of them did not', () => {
    const slow = z.looseObject({ id: z.string().refine(async () => true) });
    expect(() => z.compile(slow, { strict: true })).toThrow();
  });
});
