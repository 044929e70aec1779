/** The JSON Schema of the doctor's document (draft 2020-12), made from the zod schema. */
import type { JsonObject } from '../../contract/index.ts';

/** Loads zod only when it is asked for: no rendering needs it. */
export async function doctorSchema(): Promise<JsonObject> {
  const [{ toJSONSchema }, { doctorDocument }] = await Promise.all([
    import('../to-json-schema.ts'),
    import('./doctor-document.ts'),
  ]);
  const { $schema, ...schema } = toJSONSchema(doctorDocument) as JsonObject;
  return {
    $schema: $schema ?? 'https://json-schema.org/draft/2020-12/schema',
    title: 'hookproof doctor document, schemaVersion 1',
    ...schema,
  };
}
