/** Where the reports of a command go. */
import { inActions } from '../report/index.ts';
import { displayOf } from './terminal.ts';

/** Where reports go from a command: standard output, and the job summary in GitHub Actions. */
export function outputsHere() {
  const { GITHUB_STEP_SUMMARY: summary = '' } = process.env;
  return {
    stdout: process.stdout,
    cwd: process.cwd(),
    terminal: displayOf(process.stdout),
    summaryFile: summary === '' ? undefined : summary,
    notice: (message: string): void => void process.stderr.write(`${message}\n`),
    actions: inActions(process.env),
  };
}
