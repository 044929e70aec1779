/** The options of a run: what is selected and how it goes. */
import { resolve } from 'node:path';
import { STACKS } from '../diagnose/stack.ts';
import { PROFILES, type RunOptions } from './config.ts';
import { givenSwitch, givenText, givenTexts } from './given.ts';
import { type Resolution, show } from './resolution.ts';
import { BOUNDS, DEFAULTS, type SettingPath } from './settings.ts';
import { duration, durationText, oneOf, pattern, seed, shard, wholeNumber } from './values.ts';

/** Checks the options; what is wrong is noted, and the default stands in for it. */
export function resolveRun(resolution: Resolution): RunOptions {
  const { settings, problems } = resolution;
  const given = (path: SettingPath) => givenText(settings, path);
  const profile = given('profile');
  const revision = given('revision');
  const concurrency = given('concurrency');
  const timeout = given('timeout');
  const recovery = given('recovery');
  const maxTime = given('max-time');
  const givenSeed = given('seed');
  const givenShard = given('shard');
  const outputDir = given('output-dir');
  const baseline = given('baseline');
  const stack = given('stack');
  const options: RunOptions = {
    profile: (profile && oneOf(profile.value, PROFILES, 'a profile', profile, problems)) ?? null,
    revision: (revision && wholeNumber(revision, BOUNDS.revision, problems)) ?? null,
    suites: givenTexts(settings, 'suites').map(({ value }) => value),
    scenarios: givenTexts(settings, 'scenarios').map(({ value }) => value),
    greps: givenTexts(settings, 'grep').flatMap((one) => pattern(one, problems) ?? []),
    concurrency: (concurrency && wholeNumber(concurrency, BOUNDS.concurrency, problems)) ?? DEFAULTS.concurrency,
    timeoutMs: (timeout && duration(timeout, BOUNDS.timeout, problems)) ?? DEFAULTS.timeoutMs,
    recoveryMs: (recovery && duration(recovery, BOUNDS.recovery, problems)) ?? DEFAULTS.recoveryMs,
    maxMs: (maxTime && duration(maxTime, BOUNDS.maxTime, problems)) ?? null,
    allowPrivate: givenTexts(settings, 'allow-private').map(({ value }) => value),
    seed: (givenSeed && seed(givenSeed, problems)) ?? null,
    strict: givenSwitch(settings, 'strict'),
    baseline: baseline === undefined ? null : resolve(baseline.base, baseline.value),
    stack: (stack && oneOf(stack.value, STACKS, 'a stack', stack, problems)) ?? null,
    bail: givenSwitch(settings, 'bail'),
    evidence: givenSwitch(settings, 'evidence'),
    shard: (givenShard && shard(givenShard, problems)) ?? null,
    outputDir: outputDir === undefined ? null : resolve(outputDir.base, outputDir.value),
  };
  showRun(resolution, options);
  return options;
}

function showRun(resolution: Resolution, options: RunOptions): void {
  const list = (values: readonly string[]) => (values.length === 0 ? 'all' : values.join(', '));
  const values: readonly (readonly [SettingPath, string])[] = [
    ['profile', options.profile ?? 'none'],
    ['revision', options.revision === null ? 'the newest' : String(options.revision)],
    ['suites', list(options.suites)],
    ['scenarios', list(options.scenarios)],
    ['grep', list(options.greps)],
    ['concurrency', String(options.concurrency)],
    ['timeout', durationText(options.timeoutMs)],
    ['recovery', durationText(options.recoveryMs)],
    ['max-time', options.maxMs === null ? 'derived' : durationText(options.maxMs)],
    ['allow-private', options.allowPrivate.length === 0 ? 'none' : options.allowPrivate.join(', ')],
    ['seed', options.seed ?? 'chosen by the run'],
    ['strict', String(options.strict)],
    ['baseline', options.baseline ?? 'none'],
    ['stack', options.stack ?? 'guessed'],
    ['bail', String(options.bail)],
    ['evidence', String(options.evidence)],
    ['shard', options.shard === null ? 'none' : `${options.shard.index}/${options.shard.of}`],
    ['output-dir', options.outputDir ?? 'none'],
  ];
  for (const [path, value] of values) show(resolution, path, value, resolution.settings.get(path)?.[0]);
}
