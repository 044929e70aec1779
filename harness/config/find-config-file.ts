/** Finds and reads the configuration file. The YAML parser and the schema are loaded only when there is one. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Settings } from './given.ts';
import type { Problem } from './problems.ts';
import { readBounded, utf8Text } from './read-bounded.ts';
import { splitReferences } from './references.ts';
import { CONFIG_FILE, MAX_CONFIG_BYTES } from './settings.ts';

export interface ConfigFile {
  /** As the user would name it; null when there is no file. */
  readonly name: string | null;
  readonly settings: Settings;
  /** The environment variables that it refers to. */
  readonly referenced: ReadonlySet<string>;
}

const NO_FILE: ConfigFile = { name: null, settings: new Map(), referenced: new Set() };

/** Reads the file that `--config` names, or `hookproof.yaml` in `cwd` when there is one; null asks for neither. */
export async function findConfigFile(
  { configFile, cwd }: { configFile?: string | null | undefined; cwd: string },
  problems: Problem[],
  advice: string[],
): Promise<ConfigFile> {
  if (configFile === null) return NO_FILE;
  const name = configFile ?? CONFIG_FILE;
  const path = resolve(cwd, name);
  const refuse = (code: string, message: string, hint: string): ConfigFile => {
    problems.push({ code, message, hint });
    return NO_FILE;
  };
  if (name === '') return refuse('CONFIG_EMPTY_VALUE', '--config: is empty', 'Give it a value, or leave it out.');
  const content = await readBounded(path, MAX_CONFIG_BYTES);
  if ('reason' in content) {
    if (content.missing && configFile === undefined) {
      if (existsSync(resolve(cwd, 'hookproof.yml'))) {
        advice.push(`hookproof.yml is not read; call it ${CONFIG_FILE}, or name it with --config.`);
      }
      return NO_FILE;
    }
    const where = configFile === undefined ? '' : '--config: ';
    const hint = content.missing
      ? 'Check the path; `hookproof init` writes a file to start from.'
      : 'The configuration is a small YAML file.';
    return refuse('CONFIG_FILE', `${where}the file ${name} ${content.reason}`, hint);
  }
  const text = utf8Text(content.bytes);
  if (text === undefined) return refuse('CONFIG_FILE', `${name} is not UTF-8 text`, 'Save it as UTF-8.');
  const { parseConfigFile } = await import('./parse-config-file.ts');
  const settings = parseConfigFile(text, { name, base: dirname(path) }, problems);
  return { name, settings, referenced: referencedVariables(settings) };
}

function referencedVariables(settings: Settings): ReadonlySet<string> {
  const pieces = [...settings.values()]
    .flat()
    .flatMap(({ value }) => (typeof value === 'string' ? splitReferences(value) : []));
  return new Set(pieces.flatMap((piece) => (typeof piece === 'object' && piece.kind === 'env' ? piece.name : [])));
}
