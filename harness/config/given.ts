/**
 * Collects the values that the user gave, each with its source: flags first, then the environment, then hookproof.yaml.
 */
import { nearestName } from '../nearest-name.ts';
import type { Advice, Position, Problem } from './problems.ts';
import { readFile as fromDisk, type ReadFile } from './read-file.ts';
import {
  type ConfigFlags,
  flagKeyOf,
  flagOf,
  OTHER_VARIABLES,
  SETTINGS,
  type Setting,
  type SettingPath,
} from './settings.ts';

/** Environment variables, in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Standard input, in the form of `process.stdin`. */
export type Input = AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };

/** Restricts what a file may refer to when many partners are certified. */
export interface PartnerScope {
  /** The partner's name; null for the operator's file with the defaults of all partners. */
  readonly partner: string | null;
  /** The folder of the partners' files, and the names of all partners. */
  readonly folder: string;
  readonly names: readonly string[];
}

export interface Given<T extends string | boolean = string | boolean> {
  /** The path of the setting, or the flag of a command that has no settings. */
  readonly path: string;
  readonly value: T;
  readonly layer: 'flag' | 'environment' | 'file';
  /** The source in `config show`: `flag --timeout`, `environment HOOKPROOF_URL`, `hookproof.yaml:3:11`. */
  readonly source: string;
  /** The beginning of messages about the value: `--timeout`, `HOOKPROOF_URL`, `hookproof.yaml:3:11: timeout`. */
  readonly where: string;
  /** The position of a value from a file. */
  readonly position?: Position | undefined;
  /** The folder against which a relative path is resolved. */
  readonly base: string;
  /** Set if the value is from the file of one of many partners. */
  readonly scope?: PartnerScope | undefined;
  /** Whether the value is a secret written into the file itself, which has been noted as a problem. */
  readonly literal?: boolean;
}

/** The values of each setting, from the source with the highest precedence. Only lists have several values. */
export type GivenSettings = ReadonlyMap<string, readonly Given[]>;

/** One line of `config show`: a setting, its redacted value and its source. */
export interface ShownSetting {
  /** The key in the configuration file, for example `hmac.secret`. */
  readonly path: string;
  readonly value: string;
  readonly source: string;
}

/** The state shared by the steps that resolve a configuration. Each step appends to the lists. */
export interface Resolution {
  readonly settings: GivenSettings;
  /** Every setting that was given, including empty and unusable ones. */
  readonly attempted: ReadonlySet<string>;
  readonly env: Environment;
  readonly stdin: Input | undefined;
  readonly readFile: ReadFile;
  readonly problems: Problem[];
  readonly advice: Advice[];
  readonly shown: ShownSetting[];
  readonly secrets: string[];
  /** Absolute paths of the files that settings were read from, by the path of the setting. */
  readonly files: Map<string, string>;
  /** The flag that has read standard input, which can be read only once. */
  stdinReader: string | null;
}

/** Creates a resolution without any given values. */
export function startResolution({
  env,
  stdin,
  readFile = fromDisk,
}: {
  env: Environment;
  stdin?: Input | undefined;
  readFile?: ReadFile | undefined;
}): Resolution {
  return {
    settings: new Map(),
    attempted: new Set(),
    env,
    stdin,
    readFile,
    problems: [],
    advice: [],
    shown: [],
    secrets: [],
    files: new Map(),
    stdinReader: null,
  };
}

/**
 * Returns the value of each setting from the source with the highest precedence. A list replaces the whole list of a
 * source with lower precedence; custom headers are separate settings, by name. Empty text is a problem, not an absent
 * value: an empty variable in CI must not turn a check off. `unusable` contains the paths in the file whose values are
 * invalid.
 */
export function gatherSettings(
  layers: { flags: ConfigFlags; env: Environment; file: GivenSettings; unusable: readonly string[]; cwd: string },
  problems: Problem[],
): Pick<Resolution, 'settings' | 'attempted'> {
  const settings = new Map<string, readonly Given[]>();
  const attempted = new Set<string>();
  for (const [path, given] of layers.file) if (/^(?:headers|scheme)\./.test(path)) settings.set(path, given);
  for (const setting of SETTINGS) {
    const given =
      fromFlag(setting, layers.flags, layers.cwd) ??
      fromEnvironment(setting, layers.env, layers.cwd) ??
      layers.file.get(setting.path);
    const isUnusable = layers.unusable.some((path) => isAbout(path, setting.path));
    if (given !== undefined || isUnusable) attempted.add(setting.path);
    if (given === undefined) continue;
    const filled = given.filter(({ value }) => value !== '');
    if (filled.length > 0) settings.set(setting.path, filled);
    for (const one of given) if (one.value === '') problems.push(emptyValue(one));
  }
  return { settings, attempted };
}

/** Whether `path` is the setting itself, one of its items, or an enclosing group. */
function isAbout(path: string, setting: string): boolean {
  return path === setting || path.startsWith(`${setting}.`) || setting.startsWith(`${path}.`);
}

function fromFlag(setting: Setting, flags: ConfigFlags, cwd: string): readonly Given[] | undefined {
  const [label, key] = [flagOf(setting), flagKeyOf(setting)];
  const raw = key === undefined ? undefined : flags[key];
  if (label === undefined || raw === undefined || (Array.isArray(raw) && raw.length === 0)) return undefined;
  const values: readonly (string | number | boolean)[] = typeof raw === 'object' ? raw : [raw];
  return values.map((value) => ({
    path: setting.path,
    value: typeof value === 'boolean' ? value : String(value),
    layer: 'flag',
    source: label.startsWith('--') ? `flag ${label}` : `argument ${label}`,
    where: label,
    base: cwd,
  }));
}

function fromEnvironment(setting: Setting, env: Environment, cwd: string): readonly Given[] | undefined {
  const { environment: name, path } = setting;
  const value = name === undefined ? undefined : env[name];
  return name === undefined || value === undefined ? undefined : [givenByVariable(path, name, value, cwd)];
}

export function givenByVariable(path: string, name: string, value: string, cwd: string): Given<string> {
  return { path, value, layer: 'environment', source: `environment ${name}`, where: name, base: cwd };
}

/** Returns the value of a flag of a command that has no settings. Relative paths are relative to `cwd`. */
export function givenByFlag(flag: string, value: string, cwd: string): Given<string> {
  return { path: flag, value, layer: 'flag', source: `flag ${flag}`, where: flag, base: cwd };
}

function emptyValue(given: Given): Problem {
  const hint =
    given.layer === 'environment'
      ? 'Give it a value, or unset it: an empty variable does not turn anything off.'
      : 'Give it a value, or omit it.';
  return { ...problemWith(given, 'is empty', hint, 'CONFIG_EMPTY_VALUE'), reason: 'empty' };
}

/** Returns the single value of a setting as text. */
export function givenText(settings: GivenSettings, path: SettingPath): Given<string> | undefined {
  return givenTexts(settings, path)[0];
}

/** Returns the values of a list setting. */
export function givenTexts(settings: GivenSettings, path: SettingPath): Given<string>[] {
  return (settings.get(path) ?? []).filter((given): given is Given<string> => typeof given.value === 'string');
}

/** Creates a problem with a value. `what` follows the source in the message. */
export function problemWith(
  { path, where, position }: Given,
  what: string,
  hint: string,
  code = 'CONFIG_VALUE',
  reason: string | null = null,
): Problem {
  return { code, path, reason, message: `${where}: ${what}`, hint, position };
}

/** Adds a line to `config show`. */
export function show(resolution: Resolution, path: string, value: string, given: Given | undefined): void {
  resolution.shown.push({ path, value, source: given?.source ?? 'default' });
}

/** Returns the text to show instead of a secret: that it is set, and its length. */
export function redacted(secret: string): string {
  const length = [...secret].length;
  return `[set, ${length} ${length === 1 ? 'character' : 'characters'}]`;
}

/**
 * Returns advice about environment variables that look like settings but are not, except those that the configuration
 * file refers to.
 */
export function adviseOnVariables(env: Environment, referenced: ReadonlySet<string>): Advice[] {
  const known = [...SETTINGS.flatMap((setting: Setting) => setting.environment ?? []), ...OTHER_VARIABLES];
  const prefix = 'HOOKPROOF_';
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name) && !referenced.has(name))
    .flatMap((name) => {
      const suffixes = known.map((other) => other.slice(prefix.length));
      const nearest = nearestName(name.slice(prefix.length), suffixes);
      if (nearest === null) return [];
      const message = `The environment variable ${name} is not used; did you mean ${prefix}${nearest}?`;
      return [{ path: null, reason: 'unknown-variable', message, hint: '' }];
    });
}
