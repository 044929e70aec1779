/** Finds and reads the configuration file. Loads the YAML parser and the schema only if a file exists. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type GivenSettings, type PartnerScope, problemWith } from './given.ts';
import type { Advice, Problem } from './problems.ts';
import { MAX_CONFIG_BYTES, type ReadFile, utf8Text } from './read-file.ts';
import { splitReferences } from './secrets.ts';
import { CONFIG_FILE, flagOf, isSetBy, SETTINGS, type Setting } from './settings.ts';

export interface ConfigFile {
  /** The path as the user would write it; null if there is no file. */
  readonly name: string | null;
  readonly settings: GivenSettings;
  /** The paths with invalid values, including the settings that unknown keys were probably meant to be. */
  readonly unusable: readonly string[];
  /** Whether the whole file was read. Otherwise no setting may be reported as missing. */
  readonly complete: boolean;
  /** The environment variables that the file refers to. */
  readonly referenced: ReadonlySet<string>;
}

const NO_FILE: ConfigFile = { name: null, settings: new Map(), unusable: [], complete: true, referenced: new Set() };

interface ConfigFilePlace {
  readonly configFile?: string | null | undefined;
  readonly cwd: string;
  readonly scope?: PartnerScope;
  readonly readFile: ReadFile;
}

/** Reads the file that `--config` names, or `hookproof.yaml` in `cwd` if it exists; null reads neither. */
export async function findConfigFile(
  { configFile, cwd, scope, readFile }: ConfigFilePlace,
  problems: Problem[],
  advice: Advice[],
): Promise<ConfigFile> {
  if (configFile === null) return NO_FILE;
  const name = configFile ?? CONFIG_FILE;
  const path = resolve(cwd, name);
  const refuse = (code: string, message: string, hint: string): ConfigFile => {
    problems.push({ code, path: null, reason: null, message, hint });
    return { ...NO_FILE, complete: false };
  };
  if (name === '') return refuse('CONFIG_EMPTY_VALUE', '--config: the path is empty', 'Give it a value, or omit it.');
  const content = await readFile(path, MAX_CONFIG_BYTES);
  if ('reason' in content) {
    if (content.missing && configFile === undefined) {
      if (existsSync(resolve(cwd, 'hookproof.yml'))) {
        const message = `hookproof.yml is ignored; rename it to ${CONFIG_FILE}, or name it with \`--config\`.`;
        advice.push({ path: null, reason: 'file-name', message, hint: '' });
      }
      return NO_FILE;
    }
    const where = configFile === undefined ? '' : '--config: ';
    const hint = content.missing
      ? 'Check the path; `hookproof init` writes a file to start from.'
      : 'Give the path of a readable YAML file of at most 1 MiB.';
    return refuse('CONFIG_FILE', `${where}the file ${name} ${content.reason}`, hint);
  }
  const text = utf8Text(content.bytes);
  if (text === undefined) return refuse('CONFIG_FILE', `${name} is not UTF-8 text`, 'Save it as UTF-8.');
  const { parseConfigFile } = await import('./parse-config-file.ts');
  const found = parseConfigFile(text, { name, base: dirname(path), scope }, problems);
  const settings = scope === undefined ? found.settings : settableBy(scope, found.settings, problems);
  return { ...found, name, settings, referenced: referencedVariables(settings) };
}

/** Returns the settings that a file of this scope may set, and notes a problem for each of the others. */
function settableBy({ partner }: PartnerScope, settings: GivenSettings, problems: Problem[]): GivenSettings {
  const kept = [...settings].filter(([path, [given]]) => {
    const setting = SETTINGS.find(
      (row: Setting) =>
        row.path === path || (['headers', 'scheme'].includes(row.type) && path.startsWith(`${row.path}.`)),
    );
    if (setting === undefined || given === undefined) return true;
    if (isSetBy(partner === null ? 'defaults' : 'partner', setting)) return true;
    const what = `cannot be set ${partner === null ? 'for all partners in a file' : 'by a partner'}`;
    problems.push(problemWith(given, what, howToSet(setting), 'CONFIG_PARTNER_SETTING'));
    return false;
  });
  return new Map(kept);
}

function howToSet(setting: Setting): string {
  const flag = `\`${flagOf(setting)}\``;
  if (setting.setBy === 'flag') return `Remove it. The operator sets it with ${flag}.`;
  if (setting.setBy === 'defaults') return `Remove it. The operator sets it with ${flag}, or in the file of defaults.`;
  return `Remove it. A certificate covers all checks, and each partner's files go to a folder with its name.`;
}

function referencedVariables(settings: GivenSettings): ReadonlySet<string> {
  const pieces = [...settings.values()]
    .flat()
    .flatMap(({ value }) => (typeof value === 'string' ? splitReferences(value) : []));
  return new Set(pieces.flatMap((piece) => (typeof piece === 'object' && piece.kind === 'env' ? piece.name : [])));
}
