import { givenByFlag } from './given.ts';
import { type Problem, throwIfAny } from './problems.ts';
import { shard } from './values.ts';

/** The value of `--shard i/n`. Throws a {@link HookproofError} that names the flag. */
export function shardOfFlag(text: string): { readonly index: number; readonly of: number } {
  const problems: Problem[] = [];
  const value = shard(givenByFlag('--shard', text, ''), problems);
  throwIfAny(problems);
  return value ?? { index: 1, of: 1 };
}
