/** The JSON Schema of one line of the ndjson reporter (draft 2020-12). */
import type { JsonObject } from '../../contract/index.ts';

/** Loads zod only when it is asked for. */
export async function eventSchema(): Promise<JsonObject> {
  const [{ toJSONSchema }, { runEvent }] = await Promise.all([
    import('../to-json-schema.ts'),
    import('../result/run-event-schema.ts'),
  ]);
  const { $schema, ...schema } = toJSONSchema(runEvent) as JsonObject;
  return {
    $schema: $schema ?? 'https://json-schema.org/draft/2020-12/schema',
    title: 'hookproof event (one line of ndjson), schemaVersion 1',
    ...schema,
  };
}
