/** A value as it was given, with the place that it came from. */
import type { Problem } from './problems.ts';
import type { SettingPath } from './settings.ts';

export interface Given<T extends string | boolean = string | boolean> {
  readonly value: T;
  readonly layer: 'flag' | 'environment' | 'file';
  /** For `config show`: `flag --timeout`, `environment HOOKPROOF_URL`, `hookproof.yaml:3:11`. */
  readonly source: string;
  /** How a message about it begins: `--timeout`, `HOOKPROOF_URL`, `hookproof.yaml:3:11: timeout`. */
  readonly where: string;
  /** The directory against which a relative path in it stands. */
  readonly base: string;
}

/** The value of each setting that was given, from the strongest layer that gives it. A list has several, anything else one. */
export type Settings = ReadonlyMap<string, readonly Given[]>;

/** The value of a flag of a command that has no settings of its own; relative paths stand against `cwd`. */
export function givenByFlag(flag: string, value: string, cwd: string): Given<string> {
  return { value, layer: 'flag', source: `flag ${flag}`, where: flag, base: cwd };
}

/** The one value of a setting, as text. */
export function givenText(settings: Settings, path: SettingPath): Given<string> | undefined {
  return givenTexts(settings, path)[0];
}

/** The values of a list setting. */
export function givenTexts(settings: Settings, path: SettingPath): Given<string>[] {
  return (settings.get(path) ?? []).filter(isText);
}

/** A switch; off when it was not given. */
export function givenSwitch(settings: Settings, path: SettingPath): boolean {
  return settings.get(path)?.[0]?.value === true;
}

function isText(given: Given): given is Given<string> {
  return typeof given.value === 'string';
}

/** A problem with a given value: what is wrong goes after the place. */
export function problemWith(given: Given, what: string, hint: string, code = 'CONFIG_VALUE'): Problem {
  return { code, message: `${given.where}: ${what}`, hint };
}
