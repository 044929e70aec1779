/**
 * `hookproof run --watch`: after a run, the failed checks are repeated when a file changes and the endpoint runs the
 * new code. Results about code that was replaced later are discarded and repeated.
 */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { durationOfFlag, type ResolvedConfig } from '../../config/index.ts';
import { type WatchOptions, WatchSession } from './watch-session.ts';

const SETTLE_BOUNDS = [0, 60_000] as const;

/**
 * Reads the URL, the paths and the settle time. A URL after `--watch` is the endpoint, not a path.
 *
 * @throws HookproofError for flags that cannot be combined, or an invalid `--settle`
 */
export function readWatchFlags(
  url: string | undefined,
  { watch, settle, dry }: { watch: true | readonly string[]; settle: string | undefined; dry: boolean },
): { readonly url: string | undefined } & Omit<WatchOptions, 'failed'> {
  if (dry) {
    const hint = 'Remove one of the two.';
    throw new HookproofError('RUN_WATCH', '`--watch` and `--dry-run` cannot be combined', { hint });
  }
  const given = watch === true ? [] : watch;
  const after = url === undefined ? given.find((path) => /^https?:\/\//i.test(path)) : undefined;
  const paths = given.filter((path) => path !== after);
  return {
    url: url ?? after,
    paths: paths.length === 0 ? ['.'] : paths,
    settleMs: settle === undefined ? null : durationOfFlag('--settle', settle, SETTLE_BOUNDS),
  };
}

/**
 * Watches until the user quits, and returns the exit code of the last run; 130 or 143 after a signal.
 *
 * @throws HookproofError for a configuration that cannot be watched, or a path that does not exist
 */
export async function watchRun(config: ResolvedConfig, options: WatchOptions): Promise<number> {
  requireWatchable(config);
  return new WatchSession(config, options).watchUntilStopped();
}

function requireWatchable({ reporters, run }: ResolvedConfig): void {
  const stream = reporters.find(({ file, name }) => file === null && name !== 'human' && name !== 'github');
  const refuse = (what: string, hint: string) => new HookproofError('RUN_WATCH', what, { hint });
  if (run.shard !== null) throw refuse('`--watch` and `--shard` cannot be combined', 'Remove one of the two.');
  if (stream === undefined) return;
  const { name } = stream;
  throw refuse(`with \`--watch\`, \`--reporter ${name}\` needs a file`, `Write --reporter ${name}=FILE.`);
}
