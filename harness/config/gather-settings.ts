/** Lays the layers over each other: flags, then the environment, then the configuration file. */
import type { ConfigFlags } from './config.ts';
import type { Given, Settings } from './given.ts';
import { nearestName } from './nearest-name.ts';
import type { Problem } from './problems.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The strongest value of each setting. A list from a stronger layer replaces the whole list of a weaker one; custom headers are
 * settings of their own, by name. An empty text is a problem and never the same as absent: an empty variable in CI must not
 * turn a check off. `attempted` holds the settings that were given, such empty ones included.
 */
export function gatherSettings(
  layers: { flags: ConfigFlags; env: Environment; file: Settings; cwd: string },
  problems: Problem[],
): { settings: Settings; attempted: ReadonlySet<string> } {
  const settings = new Map<string, readonly Given[]>();
  const attempted = new Set<string>();
  for (const [path, given] of layers.file) if (path.startsWith('headers.')) settings.set(path, given);
  for (const setting of SETTINGS) {
    const given =
      fromFlag(setting, layers.flags, layers.cwd) ??
      fromEnvironment(setting, layers.env, layers.cwd) ??
      layers.file.get(setting.path);
    if (given === undefined) continue;
    attempted.add(setting.path);
    const filled = given.filter(({ value }) => value !== '');
    if (filled.length > 0) settings.set(setting.path, filled);
    for (const one of given) if (one.value === '') problems.push(emptyValue(one));
  }
  return { settings, attempted };
}

/** What other parts of the program read. */
const OF_OTHERS = ['HOOKPROOF_CERTIFY_KEY', 'HOOKPROOF_CERTIFY_KEY_PASSPHRASE'];

/** Advice about variables that look like one of ours and are not, save those that the configuration file refers to. */
export function adviseOnVariables(env: Environment, referenced: ReadonlySet<string>): string[] {
  const known = [...SETTINGS.flatMap((setting: Setting) => setting.environment ?? []), ...OF_OTHERS];
  const prefix = 'HOOKPROOF_';
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name) && !referenced.has(name))
    .flatMap((name) => {
      const suffixes = known.map((other) => other.slice(prefix.length));
      const nearest = nearestName(name.slice(prefix.length), suffixes);
      return nearest === null
        ? []
        : [`The environment variable ${name} is set and not read; ${prefix}${nearest} is the nearest that is.`];
    });
}

function fromFlag(setting: Setting, flags: ConfigFlags, cwd: string): readonly Given[] | undefined {
  if (setting.flag === undefined || setting.label === undefined) return undefined;
  const raw = flags[setting.flag];
  if (raw === undefined || (Array.isArray(raw) && raw.length === 0)) return undefined;
  const values: readonly (string | number | boolean)[] = typeof raw === 'object' ? raw : [raw];
  const label = setting.label;
  return values.map((value) => ({
    value: typeof value === 'boolean' ? value : String(value),
    layer: 'flag',
    source: label.startsWith('--') ? `flag ${label}` : `argument ${label}`,
    where: label,
    base: cwd,
  }));
}

function fromEnvironment(setting: Setting, env: Environment, cwd: string): readonly Given[] | undefined {
  const name = setting.environment;
  const value = name === undefined ? undefined : env[name];
  if (name === undefined || value === undefined) return undefined;
  return [{ value, layer: 'environment', source: `environment ${name}`, where: name, base: cwd }];
}

function emptyValue(given: Given): Problem {
  const hint =
    given.layer === 'environment'
      ? `Give it a value, or unset it: an empty variable does not turn anything off.`
      : 'Give it a value, or leave it out.';
  return { code: 'CONFIG_EMPTY_VALUE', message: `${given.where}: is empty`, hint };
}
