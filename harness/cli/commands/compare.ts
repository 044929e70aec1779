/** `hookproof report --compare OLD NEW`: reports what changed between two saved runs. Sends nothing. */
import { statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { type ConfigFlags, loadReporters, OUTPUT_FILES } from '../../config/index.ts';
import {
  type ComparedFile,
  compareRuns,
  defuse,
  type Reporter,
  type ReportOptions,
  renderComparison,
  renderComparisonPage,
  visibleJson,
  writeTexts,
} from '../../report/index.ts';
import { printPaths, reportOutputs } from '../conduct.ts';
import { readSavedRun, runFileIn, type SavedRun } from '../saved-run.ts';

export interface CompareFlags extends Pick<ConfigFlags, 'reporter' | 'outputDir'> {
  readonly json?: boolean;
  readonly merge?: boolean;
  /** False with --no-exit-code. */
  readonly exitCode: boolean;
  readonly verbose?: boolean;
}

/**
 * Runs the comparison and returns the exit code. @throws HookproofError REPORT_COMPARE, and the errors of
 * `readSavedRun`
 */
export async function compareCommand(files: readonly string[], flags: CompareFlags): Promise<number> {
  const reporters = reportersOf(flags);
  const [first, second, ...others] = files;
  if (first === undefined || second === undefined || others.length > 0) {
    throw refused(`\`--compare\` takes two runs, but got ${files.length}`, 'Name the old run, then the new one.');
  }
  const [before, now] = [await readSavedRun(first), await readSavedRun(second)];
  const comparison = compareRuns(before.document, now.document);
  const textFor = async ({ file, name }: Reporter, options: ReportOptions): Promise<string> => {
    if (name === 'json') return `${visibleJson(comparison, 2)}\n`;
    if (name === 'html') {
      const side = (run: SavedRun, path: string): ComparedFile => {
        return { name: run.name, report: file === null ? null : reportNextTo(runFileIn(path), file) };
      };
      return renderComparisonPage(comparison, [side(before, first), side(now, second)]);
    }
    const text = renderComparison(comparison, [before.name, now.name], options);
    return name === 'github' ? defuse(text) : text;
  };
  printPaths(await writeTexts(reporters, textFor, reportOutputs(flags.verbose)), reporters);
  return flags.exitCode && comparison.newFailures > 0 ? 1 : 0;
}

/** In GitHub Actions, `github` replaces `human` on standard output. */
const REPORTERS: readonly string[] = ['human', 'github', 'html', 'json'];

function reportersOf({ json, merge, outputDir, reporter = [] }: CompareFlags): Reporter[] {
  if (merge === true) throw refused('`--compare` and `--merge` cannot be combined', 'Join the shards first.');
  if (outputDir !== undefined) {
    const hint = 'Name a file, for example `--reporter html=comparison.html`.';
    throw refused('`--compare` cannot write an output folder, because a comparison has no run.json', hint);
  }
  const given = json === true ? [...reporter, 'json'] : reporter;
  const reporters = loadReporters({ reporter: given, outputDir: undefined }, process.env, process.cwd());
  const wrong = reporters.find(({ name }) => !REPORTERS.includes(name));
  if (wrong === undefined) return reporters;
  throw refused(`the reporter ${wrong.name} cannot show a comparison`, 'Use human, html or json.');
}

/** Returns the HTML report next to a run, as a URL relative to the page; null if there is none. */
function reportNextTo(run: string, page: string): string | null {
  const report = resolve(dirname(run), OUTPUT_FILES.html);
  if (report === resolve(page) || statSync(report, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const way = relative(dirname(resolve(page)), report).split(/[\\/]/);
  return way.map(encodeURIComponent).join('/');
}

function refused(message: string, hint: string): HookproofError {
  return new HookproofError('REPORT_COMPARE', message, { hint });
}
