import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { receivedEnvelope } from '../../contract/envelope.ts';
import { SHAPES } from '../../contract/shapes.ts';

const schemas = {
  envelope: receivedEnvelope,
  ...Object.fromEntries(Object.entries(SHAPES).map(([kind, { received }]) => [kind, received])),
};

describe('the schemas of a reading', () => {
  // By default z.compile returns a schema that it cannot compile unchanged: correct, and three times slower.
  it.each(Object.entries(schemas))('compile: %s', (_name, schema) => {
    expect(() => z.compile(schema, { strict: true })).not.toThrow();
  });

  it('are rejected by this test when they cannot be compiled', () => {
    const slow = z.looseObject({ id: z.string().refine(async () => true) });
    expect(() => z.compile(slow, { strict: true })).toThrow();
  });
});
