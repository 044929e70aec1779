/** The JSON Schema of hookproof.yaml, for editors. */

/** Generated from the schema that checks the file (draft 2020-12). */
export async function jsonSchema(): Promise<Record<string, unknown>> {
  const [{ z }, { fileSchema }] = await Promise.all([import('zod'), import('./file-schema.ts')]);
  return { ...z.toJSONSchema(fileSchema), title: 'hookproof.yaml' };
}
