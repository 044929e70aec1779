/** From the text of hookproof.yaml to settings with their positions. */
import { isMap, isScalar, isSeq, type Scalar } from 'yaml';
import { fileSchema } from './file-schema.ts';
import type { Given, Settings } from './given.ts';
import type { Problem } from './problems.ts';
import { schemaProblems } from './schema-problems.ts';
import { parseYaml, type YamlDocument } from './yaml-document.ts';

/** The file as the user names it, and the directory against which paths in it stand. */
export interface FilePlace {
  readonly name: string;
  readonly base: string;
}

/** The settings of the file, by path; empty when something is wrong, which is noted. */
export function parseConfigFile(text: string, file: FilePlace, problems: Problem[]): Settings {
  // A byte order mark is no content, and would shift the columns of the first line.
  const document = parseYaml(text.replace(/^\uFEFF/, ''), file.name, problems);
  if (document === undefined) return new Map();
  const checked = fileSchema.safeParse(document.data);
  if (!checked.success) {
    problems.push(...schemaProblems(checked.error.issues, document, file.name));
    return new Map();
  }
  return new Map(collect(document, document.root, '', file));
}

function collect(document: YamlDocument, start: unknown, path: string, file: FilePlace): [string, Given[]][] {
  const node = document.resolve(start);
  if (isMap(node)) {
    return node.items.flatMap(({ key, value }) => {
      const step = isScalar(key) ? String(key.value) : '';
      return collect(document, value, path === '' ? step : `${path}.${step}`, file);
    });
  }
  const items = isSeq(node) ? node.items.map(document.resolve) : [node];
  const given = items.flatMap((item) => (isScalar(item) ? toGiven(document, item, path, file) : []));
  return [[path, given]];
}

function toGiven(document: YamlDocument, scalar: Scalar, path: string, file: FilePlace): Given {
  const source = `${file.name}:${document.position(scalar)}`;
  return {
    // A number is taken as it is written: a seed of 007 is not 7.
    value:
      typeof scalar.value === 'boolean'
        ? scalar.value
        : typeof scalar.value === 'number'
          ? (scalar.source ?? String(scalar.value))
          : String(scalar.value),
    layer: 'file',
    source,
    where: `${source}: ${path}`,
    base: file.base,
  };
}
