import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonSchemas, NOTIFICATION_KINDS, type NotificationKind } from '../../contract/index.ts';
import { ARBITRARIES } from './arbitraries.ts';
import { EMITTED, REFUSED, RULES, TOLERATED } from './changed-samples.ts';
import { having, KIND_OF_SAMPLE, SAMPLE_NAMES, SAMPLES } from './samples.ts';

const schemas = jsonSchemas();
// Formats come with a pattern, and the branches of the rules name properties that their parent describes.
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, validateFormats: false });

function compile(side: 'emitted' | 'received') {
  const entries = NOTIFICATION_KINDS.map((kind) => [kind, ajv.compile(schemas[side][kind] as AnySchema)] as const);
  return new Map(entries);
}

const emitted = compile('emitted');
const received = compile('received');
const takes = (side: typeof emitted, kind: NotificationKind, value: unknown) => side.get(kind)!(value);

describe('the JSON Schemas', () => {
  it('exist for both sides of every kind, in the dialect 2020-12, with titles and descriptions', () => {
    expect(Object.keys(schemas.emitted)).toEqual([...NOTIFICATION_KINDS]);
    expect(Object.keys(schemas.received)).toEqual([...NOTIFICATION_KINDS]);
    for (const kind of NOTIFICATION_KINDS) {
      expect(schemas.emitted[kind]).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: `${kind} notification, as emitted`,
        properties: { id: { description: expect.any(String) } },
        additionalProperties: false,
      });
      expect(schemas.received[kind]).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: `${kind} notification, as received`,
        required: ['id', 'type', 'at', 'data'],
        additionalProperties: {},
      });
    }
  });

  it('describe every field', () => {
    const undescribed: string[] = [];
    const visit = (path: string, node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties, anyOf } = node as {
        properties?: Record<string, { description?: string; anyOf?: { description?: string }[] }>;
        anyOf?: unknown[];
      };
      for (const [key, field] of Object.entries(properties ?? {})) {
        if (!field.description && !field.anyOf?.some((branch) => branch.description))
          undescribed.push(`${path}.${key}`);
        visit(`${path}.${key}`, field);
      }
      for (const branch of anyOf ?? []) visit(path, branch);
    };
    for (const kind of NOTIFICATION_KINDS) {
      visit(`emitted.${kind}`, schemas.emitted[kind]);
      visit(`received.${kind}`, schemas.received[kind]);
    }
    expect(undescribed).toEqual([]);
  });

  it.each(SAMPLE_NAMES)('accept %s under its own kind only', (name) => {
    for (const side of [emitted, received]) {
      expect(NOTIFICATION_KINDS.filter((kind) => takes(side, kind, SAMPLES[name]))).toEqual([KIND_OF_SAMPLE[name]]);
    }
  });

  it.each(EMITTED)('accept %s with %s = %j on both sides', (name, path, value) => {
    const changed = having(name, path, value);
    expect(takes(emitted, KIND_OF_SAMPLE[name], changed)).toBe(true);
    expect(takes(received, KIND_OF_SAMPLE[name], changed)).toBe(true);
  });

  it.each([...TOLERATED, ...RULES])(
    'accept %s with %s = %j as received and refuse it as emitted',
    (name, path, value) => {
      const changed = having(name, path, value);
      expect(takes(emitted, KIND_OF_SAMPLE[name], changed)).toBe(false);
      expect(takes(received, KIND_OF_SAMPLE[name], changed)).toBe(true);
    },
  );

  it.each(REFUSED)('refuse %s with %s = %j on both sides', (name, path, value) => {
    const changed = having(name, path, value);
    expect(takes(emitted, KIND_OF_SAMPLE[name], changed)).toBe(false);
    expect(takes(received, KIND_OF_SAMPLE[name], changed)).toBe(false);
  });

  it.each(NOTIFICATION_KINDS)('accept any %s that is right', (kind) => {
    fc.assert(
      fc.property(ARBITRARIES[kind], (value) => {
        expect(takes(emitted, kind, value)).toBe(true);
        expect(takes(received, kind, value)).toBe(true);
      }),
    );
  });

  it('are plain JSON', () => {
    expect(JSON.parse(JSON.stringify(schemas))).toEqual(schemas);
  });
});
