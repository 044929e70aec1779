/** `hookproof report`: renders saved runs again, and joins shards. Nothing is sent. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { type ConfigFlags, loadReporters } from '../../config/index.ts';
import { createRedactor, type Reporter, writeReports } from '../../report/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { exitCodeOf } from '../../report/verdict.ts';
import { outputsHere } from '../outputs-here.ts';
import { readSavedRun, type SavedRun } from '../saved-run.ts';

interface ReportFlags extends Pick<ConfigFlags, 'reporter' | 'outputDir'> {
  readonly merge?: boolean;
  /** False with --no-exit-code. */
  readonly exitCode: boolean;
}

/** Those that can stand one after another. */
const ONE_AFTER_ANOTHER: readonly string[] = ['human', 'github', 'ndjson'];

function refuseFiles(count: number, reporters: readonly Reporter[]): void {
  if (count < 2) return;
  const wrong = reporters.find(({ name, file }) => file !== null || !ONE_AFTER_ANOTHER.includes(name));
  if (wrong === undefined) return;
  throw new HookproofError('REPORT_SEVERAL', `${wrong.name} takes one run, and there are ${count} files`, {
    hint: 'Name one file, or join the shards of one run with --merge.',
  });
}

/** The worst of them, as a run with all of them would exit. */
function worstOf(documents: readonly ResultDocument[]): number {
  const codes = documents.map((document) => exitCodeOf(document));
  return [4, 1, 3].find((code) => codes.some((one) => one === code)) ?? 0;
}

async function merged(runs: readonly SavedRun[]): Promise<SavedRun> {
  const { joinShards } = await import('../../run/index.ts');
  return { name: 'the merged run', document: await joinShards(runs) };
}

export async function reportCommand(files: readonly string[], flags: ReportFlags): Promise<number> {
  const reporters = loadReporters(flags, process.env, process.cwd());
  if (files.filter((file) => file === '-').length > 1) {
    throw new HookproofError('REPORT_STDIN_TWICE', 'standard input is named twice', { hint: 'Write "-" once.' });
  }
  if (flags.merge !== true) refuseFiles(files.length, reporters);
  const saved: SavedRun[] = [];
  for (const file of files) saved.push(await readSavedRun(file));
  const runs = flags.merge === true ? [await merged(saved)] : saved;
  // It was redacted when it was written: no secret is known here.
  const redactor = createRedactor({ values: [] });
  for (const { name, document } of runs) {
    if (runs.length > 1) process.stderr.write(`${name}:\n`);
    const written = await writeReports(document, reporters, { ...outputsHere(), redactor });
    for (const report of written) process.stderr.write(`${report.name} report: ${report.path}\n`);
  }
  return flags.exitCode ? worstOf(runs.map(({ document }) => document)) : 0;
}
