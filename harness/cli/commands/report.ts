/**
 * `hookproof report`: renders saved runs again, and joins shards. Sends nothing. The files are not trusted, because
 * anyone may have written them.
 */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { loadReporters } from '../../config/index.ts';
import { createRedactor, type Reporter, writeReports } from '../../report/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { exitCodeOf } from '../../report/verdict.ts';
import { printPaths, reportOutputs } from '../conduct.ts';
import { readSavedRun, type SavedRun } from '../saved-run.ts';
import type { CompareFlags } from './compare.ts';

interface ReportFlags extends CompareFlags {
  readonly compare?: boolean;
}

export async function reportCommand(files: readonly string[], flags: ReportFlags): Promise<number> {
  if (flags.compare === true) return (await import('./compare.ts')).compareCommand(files, flags);
  if (flags.json === true) {
    throw new HookproofError('REPORT_JSON', '`--json` needs `--compare`', { hint: 'Use `--reporter json`.' });
  }
  const reporters = loadReporters(flags, process.env, process.cwd());
  if (files.filter((file) => file === '-').length > 1) {
    throw new HookproofError('REPORT_STDIN_TWICE', 'standard input ("-") is given twice', { hint: 'Give it once.' });
  }
  if (flags.merge !== true) refuseFiles(files.length, reporters);
  const saved: SavedRun[] = [];
  for (const file of files) saved.push(await readSavedRun(file));
  const runs = flags.merge === true ? [await merged(saved)] : saved;
  // The documents were redacted when they were written; this command knows no secrets.
  const redactor = createRedactor({ values: [] });
  for (const { name, document } of runs) {
    if (runs.length > 1) process.stderr.write(`${name}:\n`);
    const written = await writeReports(document, reporters, { ...reportOutputs(flags.verbose), redactor });
    printPaths(written, reporters);
  }
  return flags.exitCode ? worstExitCode(runs.map(({ document }) => document)) : 0;
}

/** The reporters that can write several runs one after another. */
const TAKE_SEVERAL_RUNS: readonly string[] = ['human', 'github', 'ndjson'];

function refuseFiles(count: number, reporters: readonly Reporter[]): void {
  if (count < 2) return;
  const wrong = reporters.find(({ name, file }) => file !== null || !TAKE_SEVERAL_RUNS.includes(name));
  if (wrong === undefined) return;
  throw new HookproofError('REPORT_SEVERAL', `the reporter ${wrong.name} takes one run, but got ${count} files`, {
    hint: 'Give one file, or join the shards of one run with `--merge`.',
  });
}

async function merged(runs: readonly SavedRun[]): Promise<SavedRun> {
  const { joinShards } = await import('../../run/index.ts');
  return { name: 'the merged run', document: await joinShards(runs) };
}

/** Returns the most severe exit code of several runs. */
function worstExitCode(documents: readonly ResultDocument[]): number {
  const codes = documents.map((document) => exitCodeOf(document));
  return [4, 1, 3].find((code) => codes.some((one) => one === code)) ?? 0;
}
