/** The JSON Schema of hookproof.yaml, for editors. */

/** Generated from the schema that checks the file (draft 2020-12). */
export async function jsonSchema(): Promise<Record<string, unknown>> {
  const [{ toJSONSchema }, { fileSchema }] = await Promise.all([
    import('../to-json-schema.ts'),
    import('./file-schema.ts'),
  ]);
  return { ...toJSONSchema(fileSchema), title: 'hookproof.yaml' };
}
