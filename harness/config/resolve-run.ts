/** Resolves the settings of a run: the selected checks, how they are run, and the reports to write. */
import { resolve } from 'node:path';
import { REPORTER_NAMES, type Reporter } from '../report/reporters.ts';
import { type Given, givenText, givenTexts, problemWith, type Resolution, show } from './given.ts';
import type { Problem } from './problems.ts';
import { OUTPUT_FILES, type RunSettings, SETTINGS, type Setting, type SettingPath } from './settings.ts';
import { duration, durationText, oneOf, rate, rateText, seed, shard, wholeNumber } from './values.ts';

type RunSetting = Extract<Setting, { field: string }>;
type Value = RunSettings[keyof RunSettings];

/** Checks the settings of the run. An invalid value is noted and replaced by the default. */
export function resolveRun(resolution: Resolution): { run: RunSettings; reporters: Reporter[] } {
  const run: Record<string, Value> = {};
  let reporters: Reporter[] = [];
  for (const setting of SETTINGS) {
    if (setting.type === 'reporters') reporters = resolveReporters(resolution);
    if (!('field' in setting)) continue;
    const value = resolveValue(setting, resolution);
    run[setting.field] = value;
    show(resolution, setting.path, shownValue(setting, value), resolution.settings.get(setting.path)?.[0]);
  }
  // The compiler cannot see that the names and types of the fields come from the same table.
  return { run: run as RunSettings, reporters };
}

function resolveValue(setting: RunSetting, { settings, problems }: Resolution): Value {
  const path = setting.path as SettingPath;
  if (setting.type === 'words') return givenTexts(settings, path).map(({ value }) => value);
  if (setting.type === 'paths') return givenTexts(settings, path).map(({ value, base }) => resolve(base, value));
  if (setting.type === 'switch') return settings.get(path)?.[0]?.value === true;
  const given = givenText(settings, path);
  const value = given && parse(setting, given, problems);
  if (value !== undefined) return value;
  const standard = 'default' in setting ? setting.default : undefined;
  return standard === undefined ? null : (parse(setting, { ...NOWHERE, value: standard }, problems) ?? null);
}

function parse(setting: RunSetting, given: Given<string>, problems: Problem[]): Value | undefined {
  switch (setting.type) {
    case 'word':
      // The type of the field is derived from its list of words.
      return oneOf(given.value, setting.words, setting.noun, given, problems) as RunSettings['profile'] | undefined;
    case 'number':
      return wholeNumber(given, setting.bounds, problems);
    case 'duration':
      return duration(given, setting.bounds, problems);
    case 'rate':
      return rate(given, setting.bounds, problems);
    case 'command':
      return given.value;
    case 'path':
      return resolve(given.base, given.value);
    case 'seed':
      return seed(given, problems);
    case 'shard':
      return shard(given, problems);
    default:
      return undefined;
  }
}

const NUMBER_TEXTS: Readonly<Record<string, (value: number) => string>> = { duration: durationText, rate: rateText };

/** The source of a default value. */
const NOWHERE = { path: '', layer: 'flag', source: 'default', where: '', base: '' } as const;

function shownValue(setting: RunSetting, value: Value): string {
  const unset = setting.unset ?? 'none';
  if (value === null) return unset;
  if (typeof value === 'number') return NUMBER_TEXTS[setting.type]?.(value) ?? String(value);
  if (typeof value !== 'object') return String(value);
  if ('of' in value) return `${value.index}/${value.of}`;
  return value.length === 0 ? unset : value.join(', ');
}

interface GivenReporter extends Reporter {
  readonly given: Given<string>;
}

/**
 * Resolves reporters: `name=file` writes to a file, `name` and `name=-` write to standard output. A reporter on
 * standard output replaces `human`; one that writes to a file does not. In GitHub Actions, the default is `github`,
 * which prints the same as `human` and adds annotations. The files of an output directory are written in addition.
 */
export function resolveReporters(resolution: Resolution): Reporter[] {
  const { settings, problems } = resolution;
  const reporters = givenTexts(settings, 'reporters').flatMap((given) => parseReporter(given, resolution));
  const outputDir = givenText(settings, 'output-dir');
  for (const name of ['json', 'junit', 'html'] as const) {
    if (outputDir === undefined) continue;
    const file = resolve(outputDir.base, outputDir.value, OUTPUT_FILES[name]);
    // A file that is both named as a reporter and part of the output directory is written once.
    if (reporters.some((other) => other.file === file && other.name === name)) continue;
    reporters.push({ name, file, given: outputDir });
  }
  for (const [index, reporter] of reporters.entries()) {
    const earlier = reporters.slice(0, index).find(({ file }) => file === reporter.file);
    if (earlier === undefined) continue;
    const target = reporter.file === null ? 'standard output' : 'the same file';
    const what = `${earlier.name} and ${reporter.name} both write to ${target}`;
    const hint = `Give each its own file, for example ${reporter.name}=FILE.`;
    problems.push(problemWith(reporter.given, what, hint, 'CONFIG_REPORTERS'));
  }
  const standard = resolution.env.GITHUB_ACTIONS === 'true' ? 'github' : 'human';
  const terminal: Reporter[] = reporters.some(({ file }) => file === null) ? [] : [{ name: standard, file: null }];
  const all: Reporter[] = [
    ...terminal,
    ...reporters.map(({ name, file, given }) => ({
      name,
      file,
      ...(given.layer === 'file' && file !== null && { base: given.base }),
    })),
  ];
  const text = all.map(({ name, file }) => `${name}=${file ?? '-'}`).join(', ');
  show(resolution, 'reporters', text, reporters[0]?.given);
  return all;
}

function parseReporter(given: Given<string>, { problems }: Resolution): GivenReporter[] {
  const equals = given.value.indexOf('=');
  const word = equals < 0 ? given.value : given.value.slice(0, equals);
  const target = equals < 0 ? '-' : given.value.slice(equals + 1);
  const name = oneOf(word, REPORTER_NAMES, 'a reporter', given, problems);
  if (name === undefined) return [];
  if (target === '') {
    const hint = `Write ${name}=FILE, or ${name}=- for standard output.`;
    problems.push(problemWith(given, `the file for ${name} is missing`, hint));
    return [];
  }
  return [{ name, file: target === '-' ? null : resolve(given.base, target), given }];
}
