/** `hookproof baseline update`: records the failures of a run as known. */
import { writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';
import type { ConfigFlags } from '../../config/index.ts';
import { readBaselineIfThere, renderBaseline } from '../../config/read-baseline.ts';
import { MAX_DOCUMENT_BYTES, readFile, utf8Text } from '../../config/read-file.ts';
import { updateBaseline } from '../../judge/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { commandConfig } from '../command-input.ts';
import { runAlone } from '../conduct.ts';
import { confirmSending, refuseIfUnprotected } from '../confirm-sending.ts';
import { isCi } from '../terminal.ts';

interface UpdateFlags extends ConfigFlags {
  readonly config?: string;
  readonly run?: string;
  readonly yes?: boolean;
  readonly reason?: string;
  readonly owner?: string;
}

type Judged = Pick<ResultDocument, 'results' | 'strict' | 'interrupted'>;

export async function baselineUpdateCommand(
  file: string,
  url: string | undefined,
  flags: UpdateFlags,
): Promise<number> {
  if (isCi()) {
    throw new HookproofError('BASELINE_IN_CI', 'a baseline is never written in CI (CI is set)', {
      hint: 'In CI, a new failure must fail the build. Update the baseline elsewhere, and have the change reviewed.',
    });
  }
  const path = resolve(file);
  const before = await readBaselineIfThere(path, file);
  const document = flags.run === undefined ? await newRun(url, flags) : await savedRun(flags.run);
  refuseWithoutVerdicts(document);
  const catalogue = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));
  const updated = updateBaseline(before, document, catalogue, new Date(), flags);
  const text = await renderBaseline(updated.entries, file);
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw new HookproofError('BASELINE_NOT_WRITTEN', `the baseline ${file} cannot be written`, {
      hint: 'Check that its folder exists and is writable.',
      cause,
    });
  }
  const { added, kept, removed, expired, filled } = updated;
  const open = (['reason', 'owner'] as const).filter((one) => flags[one] === undefined);
  const missing = open.length === 0 ? '' : `: fill in the ${open.join(' and the ')}`;
  const written = relative(process.cwd(), path) || file;
  const now = filled.length === 0 ? '' : ` (${filled.length} filled in)`;
  const lines = [
    `wrote ${written}: ${added.length} new, ${kept.length} kept${now}, ${removed.length} removed`,
    ...added.map((id) => `  new      ${id}${missing}`),
    ...removed.map((id) => `  removed  ${id}`),
    ...expired.map((id) => `  expired  ${id}: fix the receiver, or agree on a new date`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

async function newRun(url: string | undefined, flags: UpdateFlags): Promise<Judged> {
  // The baseline is omitted, so that the run also reports known failures.
  const { config: configFile, run: _, baseline: __, bail: ___, reason: ____, owner: _____, yes, ...given } = flags;
  const config = await commandConfig(url, configFile, given);
  await refuseIfUnprotected(config);
  await confirmSending(config, yes);
  return runAlone(config);
}

/**
 * Reads a saved JSON report. Only the fields that an update needs are checked, so reports of other versions also work.
 */
async function savedRun(file: string): Promise<Judged> {
  const hint = 'Create a JSON report with `hookproof run --reporter json=run.json`.';
  const content = await readFile(file, MAX_DOCUMENT_BYTES);
  if ('reason' in content) {
    throw new HookproofError('BASELINE_NO_RUN', `the report ${file} ${content.reason}`, { hint });
  }
  let value: unknown;
  try {
    value = JSON.parse(utf8Text(content.bytes) ?? '');
  } catch {
    value = null;
  }
  if (isJudged(value)) return value;
  throw new HookproofError('BASELINE_NO_RUN', `${file} is not the JSON report of a run`, { hint });
}

function isJudged(value: unknown): value is Judged {
  if (typeof value !== 'object' || value === null || !('results' in value) || !Array.isArray(value.results))
    return false;
  return value.results.every((one) => typeof one?.id === 'string' && typeof one?.verdict === 'string');
}

/** Rejects a run without verdicts, because updating from it would silently drop entries. */
function refuseWithoutVerdicts({ results, interrupted }: Judged): void {
  const judged = results.some(({ verdict }) => verdict === 'pass' || verdict === 'fail' || verdict === 'warn');
  if (judged && !interrupted) return;
  const message = interrupted ? 'the run was interrupted' : 'the run evaluated no check';
  throw new HookproofError('BASELINE_NOTHING_JUDGED', message, {
    hint: 'The baseline is unchanged. Run again to completion, against a reachable endpoint.',
  });
}
