/** Reads a baseline from YAML or JSON. */
import { parseDocument, stringify } from 'yaml';
import * as z from 'zod';
import { HookproofError } from '../../contract/index.ts';
import type { Baseline, BaselineEntry } from './baseline.ts';

const isDay = (text: string) => {
  const moment = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
};

const filled = (what: string) => z.string(`${what} is missing`).trim().min(1, `${what} is empty`);

const schema = z.strictObject({
  version: z.literal(1, 'version has to be 1'),
  failures: z.array(
    z.strictObject({
      scenario: filled('the id of the scenario'),
      reason: filled('the reason'),
      owner: filled('the owner'),
      expires: filled('the day of expiry').refine(isDay, 'expires is not a day such as 2027-01-31'),
    }),
    'failures has to be a list',
  ),
});

function invalid(file: string, problems: readonly string[]): HookproofError {
  const [only] = problems;
  const message =
    problems.length === 1
      ? `the baseline ${file}: ${only}`
      : `the baseline ${file} has ${problems.length} mistakes:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  return new HookproofError('BASELINE_INVALID', message, {
    hint: 'Each entry under failures has scenario, reason, owner and expires (a day). `hookproof baseline update FILE` writes one.',
  });
}

/** "entry 2 (raw-body/spaces)", counted from 1. */
function placeOf(path: readonly PropertyKey[], data: unknown): string {
  const [list, index] = path;
  if (list !== 'failures' || typeof index !== 'number') return '';
  const entries = (data as { failures: readonly unknown[] }).failures;
  const entry = entries[index];
  const named =
    typeof entry === 'object' && entry !== null && 'scenario' in entry ? ` (${String(entry.scenario)})` : '';
  return `entry ${index + 1}${named}: `;
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${issue.keys.join(', ')} is no part of it`;
  if (issue.code === 'invalid_type' && issue.path.length === 0) return 'is no baseline';
  return issue.message;
}

/** Throws {@link HookproofError} `BASELINE_INVALID` with everything that is wrong. */
export function parseBaseline(text: string, file: string): Baseline {
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { prettyErrors: true, logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) throw invalid(file, [error.message.split('\n')[0] ?? 'is not YAML']);
  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: 20 });
  } catch {
    throw invalid(file, ['its aliases stand for too much']);
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
      twice.map(({ scenario }) => `${scenario} is there twice`),
    );
  return { file, entries };
}

/** A baseline as the text of its file. */

const HEAD = `# Known failures: each is put up with until its day of expiry. A run with \`--baseline\` fails for every other failure, and for an
# entry that passes, names no check, or is expired. \`hookproof baseline update\` writes this file and keeps reasons, owners and days.
`;

/** JSON when the name of the file ends so, else YAML. Ends with a newline. */
export function renderBaseline(entries: readonly BaselineEntry[], file: string): string {
  const content = { version: 1, failures: entries };
  if (file.endsWith('.json')) return `${JSON.stringify(content, null, 2)}\n`;
  return `${HEAD}${stringify(content, { lineWidth: 0 })}`;
}
