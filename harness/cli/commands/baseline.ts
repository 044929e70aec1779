/** `hookproof baseline update`: writes the failures of a run as known. */
import { readFile, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';
import type { ConfigFlags } from '../../config/index.ts';
import { readBaselineIfThere, renderBaseline, updateBaseline } from '../../judge/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { commandConfig } from '../command-config.ts';
import { runAlone } from '../conduct.ts';

interface UpdateFlags extends ConfigFlags {
  readonly config?: string;
  readonly run?: string;
}

/** CI sets this to "true" or "1"; empty and "false" mean that this is no CI. */
function refuseInCi(): void {
  const { CI = '' } = process.env;
  if (CI === '' || CI === 'false' || CI === '0') return;
  throw new HookproofError('BASELINE_IN_CI', 'a baseline is never written in CI (CI is set)', {
    hint: 'There, a new failure has to fail. Update it on your own machine, and have somebody look at the change.',
  });
}

type Judged = Pick<ResultDocument, 'results' | 'strict' | 'interrupted'>;

function isDocument(value: unknown): value is Judged {
  if (typeof value !== 'object' || value === null || !('results' in value) || !Array.isArray(value.results))
    return false;
  return value.results.every((one) => typeof one?.id === 'string' && typeof one?.verdict === 'string');
}

/** A saved JSON report: only what an update needs is looked at, so that reports of other versions will do. */
async function savedRun(file: string): Promise<Judged> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new HookproofError('BASELINE_NO_RUN', `the report ${file} cannot be read`, {
      hint: 'Write one with `hookproof run --reporter json=run.json`.',
      cause,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (isDocument(value)) return value;
  throw new HookproofError('BASELINE_NO_RUN', `${file} is no JSON report of a run`, {
    hint: 'Write one with `hookproof run --reporter json=run.json`.',
  });
}

async function newRun(url: string | undefined, flags: UpdateFlags): Promise<Judged> {
  // All failures are wanted, the known ones included.
  const { config: configFile, run: _, baseline: __, bail: ___, ...given } = flags;
  const config = await commandConfig(url, configFile, given);
  return runAlone(config);
}

/** An update from a run that proved nothing would only lose entries or write none, without a word. */
function refuseWithoutVerdicts({ results, interrupted }: Judged): void {
  const judged = results.some(({ verdict }) => verdict === 'pass' || verdict === 'fail' || verdict === 'warn');
  if (judged && !interrupted) return;
  throw new HookproofError(
    'BASELINE_NOTHING_JUDGED',
    interrupted ? 'the run was interrupted' : 'the run judged nothing',
    {
      hint: 'The baseline is as it was. Run it again to the end, against an endpoint that can be reached.',
    },
  );
}

export async function baselineUpdateCommand(
  file: string,
  url: string | undefined,
  flags: UpdateFlags,
): Promise<number> {
  refuseInCi();
  const path = resolve(file);
  const before = await readBaselineIfThere(path, file);
  const document = flags.run === undefined ? await newRun(url, flags) : await savedRun(flags.run);
  refuseWithoutVerdicts(document);
  const catalogue = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));
  const updated = updateBaseline(before, document, catalogue, new Date());
  const text = await renderBaseline(updated.entries, file);
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw new HookproofError('BASELINE_NOT_WRITTEN', `the baseline ${file} cannot be written`, {
      hint: 'Check that the folder exists and can be written to.',
      cause,
    });
  }
  const { added, kept, removed, expired } = updated;
  const told = [
    `wrote ${relative(process.cwd(), path) || file}: ${added.length} new, ${kept.length} kept, ${removed.length} removed`,
    ...added.map((id) => `  new      ${id}: fill in the reason and the owner`),
    ...removed.map((id) => `  removed  ${id}`),
    ...expired.map((id) => `  expired  ${id}: mend the receiver, or agree on a new day`),
  ];
  process.stdout.write(`${told.join('\n')}\n`);
  return 0;
}
