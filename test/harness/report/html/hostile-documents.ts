/** Generates result documents from the published schema, with hostile text in every free string. */
import fc from 'fast-check';
import { resultSchema } from '../../../../harness/report/index.ts';
import type { ResultDocument } from '../../../../harness/report/result-document.ts';
import { anyCharacter } from '../../../setup/any-character.ts';

/** Texts that break out of pages, terminals and files. */
export const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></details></main></body><iframe src="https://evil.example/">',
  '</title><base href="//evil.example/">',
  '</script><script>alert(1)</script>',
  '</style><style>*{display:none}</style>',
  '--><!--<![CDATA[]]>',
  '<svg/onload=alert(1)><use href="https://evil.example/#x"/>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  'javascript:alert(1)',
  '&lt;script&gt;&#60;b&#62;&',
  '`</code><b onclick=alert(1)>`',
  '\x1b[2J\x1b]8;;https://evil.example\x07link\x9b31m',
  '\u202e\u2066txt.exe\u2069\u200b\ufeff\u2028\u2029',
  '\0\x01\x08\x0b\x7f\x80\r\n\t',
  '\ud800lone\udc00',
  'A'.repeat(5000),
  '<plaintext><textarea><template><noscript><xmp>',
  '{{7*7}} #{7*7} __proto__ constructor',
  '',
];

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Generates any value that the schema allows, with this text in its strings. */
function hostileValue(schema: Schema, text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const inner = (part: Schema) => hostileValue(part, text);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(inner));
  if (schema.prefixItems !== undefined) return fc.tuple(...schema.prefixItems.map(inner));
  if (typeof schema.type === 'object') return fc.oneof(...schema.type.map((type) => inner({ ...schema, type })));
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  switch (schema.type) {
    case 'string':
      return text;
    case 'array':
      return fc.array(inner(schema.items ?? {}), { maxLength: 4 });
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, inner(value)])),
      );
    case 'integer':
      return fc.integer({ min: 1, max: 700 });
    case 'number':
      return fc.double({ min: 0, max: 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      throw new Error(`unknown schema: ${JSON.stringify(schema)}`);
  }
}

export async function hostileDocuments(more: readonly string[] = []): Promise<fc.Arbitrary<ResultDocument>> {
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...HOSTILE, ...more) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
  );
  return hostileValue(resultSchema() as Schema, text) as fc.Arbitrary<ResultDocument>;
}
