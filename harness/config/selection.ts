/** Selects the checks of a run. Imports the catalogue, so only modules that need a selection import this one. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { CATALOGUE, currentId, EVERY_SUITE, type Scenario } from '../../scenarios/index.ts';
import { nearestName } from '../nearest-name.ts';
import { givenTexts, problemWith, type Resolution } from './given.ts';
import type { RunSettings } from './settings.ts';

/**
 * A selection of checks. If it is empty, the whole catalogue is selected; several kinds of selection narrow each other.
 */
export interface Selection {
  readonly suites: readonly string[];
  readonly scenarios: readonly string[];
  /** Texts to find in the id or title of a check; `*` stands for any characters. One match is enough. */
  readonly greps: readonly string[];
  readonly shard: { readonly index: number; readonly of: number } | null;
}

/**
 * Returns the selected scenarios in the order of the catalogue. Those about schemes are only part of a run in a scheme.
 *
 * @throws HookproofError PLAN_UNKNOWN_NAME, PLAN_NOTHING_SELECTED or PLAN_EMPTY_SHARD
 */
export function selectScenarios(selection: Partial<Selection> = {}, inScheme = false): Scenario[] {
  const { suites = [], scenarios = [], greps = [], shard = null } = selection;
  for (const [kind, names] of [
    ['suite', suites],
    ['scenario', scenarios],
    ['grep', greps],
  ] as const) {
    for (const name of names) {
      const unknown = unknownName(kind, name);
      if (unknown !== null) throw new HookproofError(UNKNOWN_NAME, unknown.what, { hint: unknown.hint });
    }
  }
  const wanted = scenarios.map(currentId);
  const patterns = greps.map(readPattern);
  const selected = (inScheme ? EVERY_SUITE : CATALOGUE)
    .filter(({ name }) => suites.length === 0 || suites.includes(name))
    .flatMap((suite) => suite.scenarios)
    .filter(({ id }) => wanted.length === 0 || wanted.includes(id))
    .filter(({ id, title }) => patterns.length === 0 || patterns.some((matches) => matches(id) || matches(title)));
  if (selected.length === 0) {
    throw new HookproofError('PLAN_NOTHING_SELECTED', 'the selection matches no check', {
      hint: '`--suite`, `--scenario` and `--grep` narrow each other; `hookproof list` prints the catalogue.',
    });
  }
  if (shard === null) return selected;
  // Scenarios are distributed in turn, so that shards have similar sizes and each scenario is in exactly one of them.
  const mine = selected.filter((_, at) => at % shard.of === shard.index - 1);
  if (mine.length === 0) {
    const checks = selected.length === 1 ? '1 check is' : `${selected.length} checks are`;
    const message = `shard ${shard.index}/${shard.of} is empty: ${checks} selected`;
    throw new HookproofError('PLAN_EMPTY_SHARD', message, {
      hint: 'Use at most as many shards as there are selected checks.',
    });
  }
  return mine;
}

const SELECTING = { suites: 'suite', scenarios: 'scenario', grep: 'grep' } as const;

/** Notes a problem for every selected name that is not in the catalogue. */
export function checkNames({ settings, problems }: Resolution): void {
  for (const path of ['suites', 'scenarios', 'grep'] as const) {
    for (const given of givenTexts(settings, path)) {
      const unknown = unknownName(SELECTING[path], given.value);
      if (unknown !== null) problems.push(problemWith(given, unknown.what, unknown.hint, UNKNOWN_NAME));
    }
  }
}

/** Notes a problem if a selection matches no check, unless it already has another problem. */
export function checkSelection(run: RunSettings, { problems }: Resolution): void {
  if (problems.some(({ path }) => path !== null && /^(?:suites|scenarios|grep|shard)(?:\.|$)/.test(path))) return;
  try {
    selectScenarios(run);
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    const { code, message, hint } = error;
    problems.push({ code, path: null, reason: null, message, hint });
  }
}

const UNKNOWN_NAME = 'PLAN_UNKNOWN_NAME';

/** Returns why a name or a text selects nothing in the whole catalogue; null if it selects something. */
function unknownName(
  kind: 'suite' | 'scenario' | 'grep',
  name: string,
): { readonly what: string; readonly hint: string } | null {
  if (kind === 'grep') {
    const matches = readPattern(name);
    if (EVERY_SUITE.some(({ scenarios }) => scenarios.some(({ id, title }) => matches(id) || matches(title))))
      return null;
    return {
      what: `no check has "${name.slice(0, 60)}" in its id or title`,
      hint: '`--grep` takes text, not a regular expression; * stands for any characters. `hookproof list` prints all.',
    };
  }
  const known = EVERY_SUITE.flatMap((suite) => (kind === 'suite' ? suite.name : suite.scenarios.map(({ id }) => id)));
  if (known.includes(kind === 'scenario' ? currentId(name) : name)) return null;
  const near = nearestName(name, known);
  const suggestion = near === null ? '' : `Did you mean "${near}"? `;
  const noun = kind === 'suite' ? 'suite' : 'check';
  const list = kind === 'suite' ? '`hookproof list --what suites`' : '`hookproof list`';
  return { what: `unknown ${noun} "${name}"`, hint: `${suggestion}${list} lists all ${noun}s.` };
}

/**
 * Returns a predicate that tells whether text contains the pattern, ignoring case; `*` stands for any characters.
 * Regular expressions are not supported, because one can run for hours.
 */
function readPattern(pattern: string): (text: string) => boolean {
  const parts = pattern
    .toLowerCase()
    .split('*')
    .filter((part) => part !== '');
  return (text: string) => {
    const lower = text.toLowerCase();
    let from = 0;
    return parts.every((part) => {
      const at = lower.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  };
}
