/** The JSON Schema of the result document (draft 2020-12), made from the zod schema. */
import type { JsonObject } from '../../contract/index.ts';

/** Loads zod only when it is asked for: no rendering needs it. */
export async function resultSchema(): Promise<JsonObject> {
  const [{ toJSONSchema }, { resultDocument }] = await Promise.all([
    import('../to-json-schema.ts'),
    import('../result/result-document.ts'),
  ]);
  const { $schema, ...schema } = toJSONSchema(resultDocument) as JsonObject;
  return {
    $schema: $schema ?? 'https://json-schema.org/draft/2020-12/schema',
    title: 'hookproof result document, schemaVersion 1',
    ...schema,
  };
}
