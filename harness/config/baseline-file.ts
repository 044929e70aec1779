/** Parses and renders a baseline file, YAML or JSON. Loaded on demand, because it imports the YAML parser and zod. */

import { stringify } from 'yaml';
import * as z from 'zod';
import { HookproofError } from '../../contract/index.ts';
import { currentId } from '../../scenarios/index.ts';
import type { Baseline, BaselineEntry } from '../judge/index.ts';
import { MAX_YAML_DEPTH, readYaml } from '../yaml-text.ts';

const isDay = (text: string) => {
  const moment = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
};

const filled = (what: string) => z.string(`${what} is missing`).trim().min(1, `${what} is empty`);

const schema = z.strictObject({
  version: z.literal(1, 'version must be 1'),
  failures: z.array(
    z.strictObject({
      scenario: filled('the id of the scenario'),
      reason: filled('the reason'),
      owner: filled('the owner'),
      expires: filled('the expiry date').refine(isDay, 'expires is not a day such as 2027-01-31'),
    }),
    'failures must be a list',
  ),
});

/** Maximum number of characters in a file: five times that of a baseline that lists every check. */
const MAX_CHARACTERS = 1024 * 1024;
const MAX_ALIASES = 20;

const TOO_MANY = {
  levels: `is nested more than ${MAX_YAML_DEPTH} levels deep`,
  keys: 'has a group with thousands of keys',
  aliases: 'has too many aliases',
} as const;

function invalid(file: string, problems: readonly string[]): HookproofError {
  const [only] = problems;
  const list = problems.map((problem) => `\n  ${problem}`).join('');
  const message =
    problems.length === 1
      ? `the baseline ${file}: ${only}`
      : `the baseline ${file} has ${problems.length} problems:${list}`;
  return new HookproofError('BASELINE_INVALID', message, {
    hint:
      'Each entry under failures has scenario, reason, owner and expires (a day). `hookproof baseline update FILE` ' +
      'writes one.',
  });
}

/** Describes the position of a problem: "entry 2 (raw-body/spaces)". */
function placeOf(path: readonly PropertyKey[], data: unknown): string {
  const [list, index] = path;
  if (list !== 'failures' || typeof index !== 'number') return '';
  const entries = (data as { failures: readonly unknown[] }).failures;
  const entry = entries[index];
  const scenario = typeof entry === 'object' && entry !== null && 'scenario' in entry ? entry.scenario : undefined;
  const named = typeof scenario === 'string' ? ` (${scenario})` : '';
  return `entry ${index + 1}${named}: `;
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${issue.keys.join(', ')} is not a known field`;
  if (issue.code === 'invalid_type' && issue.path.length === 0) return 'is not a baseline';
  return issue.message;
}

/** Parses a baseline. @throws HookproofError BASELINE_INVALID with all problems */
export function parseBaseline(text: string, file: string): Baseline {
  if (text.length > MAX_CHARACTERS) throw invalid(file, ['is larger than 1 MiB']);
  const yaml = readYaml(text.replace(/^\uFEFF/, ''));
  if ('tooMany' in yaml) throw invalid(file, [TOO_MANY[yaml.tooMany]]);
  const [error] = yaml.doc?.errors ?? [];
  if (error !== undefined) {
    const { line, col } = yaml.placeOf(error.pos[0]);
    throw invalid(file, [`${error.message} at line ${line}, column ${col}`]);
  }
  if (yaml.second !== undefined) throw invalid(file, ['a second document begins: remove the line `---` before it']);
  let data: unknown;
  try {
    data = yaml.doc?.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw invalid(file, ['its aliases expand to too much text']);
  }
  const checked = schema.safeParse(data);
  if (!checked.success) {
    throw invalid(
      file,
      checked.error.issues.map((issue) => `${placeOf(issue.path, data)}${wordsOf(issue)}`),
    );
  }
  const entries = checked.data.failures;
  const twice = entries.filter(({ scenario }, at) => entries.findIndex((one) => one.scenario === scenario) !== at);
  if (twice.length > 0)
    throw invalid(
      file,
      twice.map(({ scenario }) => `${scenario} is listed twice`),
    );
  // If two former ids of one check are listed, the first entry applies.
  const current = new Map(entries.toReversed().map((entry) => [currentId(entry.scenario), entry]));
  return { file, entries: [...current].toReversed().map(([scenario, entry]) => ({ ...entry, scenario })) };
}

const HEAD = `# Known failures: each is tolerated until its expiry date. A run with \`--baseline\` fails for every
# other failure, and for an entry that passes, names no check, or is expired. \`hookproof baseline update\` writes
# this file and keeps reasons, owners and days.
`;

/** Returns the text of the file: JSON if its name ends with `.json`, otherwise YAML. The text ends with a newline. */
export function renderBaseline(entries: readonly BaselineEntry[], file: string): string {
  const content = { version: 1, failures: entries };
  if (file.endsWith('.json')) return `${JSON.stringify(content, null, 2)}\n`;
  return `${HEAD}${stringify(content, { lineWidth: 0 })}`;
}
