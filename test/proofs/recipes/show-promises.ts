/**
 * Attacks recipes and prints whether each promise held: `npm run proofs -- promises [STACK or PROMISE ...]`. Exits with
 * 1 if one did not.
 */
import { recipeOf, STACKS } from '../../../contract/index.ts';
import { whyNotRun } from '../../recipes/recipe-process.ts';
import { PROMISES, played } from './promises.ts';

const selected = process.argv.slice(2);
const stacks = STACKS.filter((stack) => recipeOf(stack).stack === stack);
const chosen = <Item>(items: readonly Item[], nameOf: (item: Item) => string) =>
  items.some((item) => selected.includes(nameOf(item)))
    ? items.filter((item) => selected.includes(nameOf(item)))
    : items;

process.exitCode = 0;
for (const stack of chosen(stacks, (name) => name)) {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`${stack}: not run, ${reason}`);
  if (reason !== null) continue;
  for (const promise of chosen(PROMISES, ({ name }) => name)) {
    const { holds, figure } = await played(promise, stack);
    console.log(`${stack} ${promise.name}: ${holds ? 'holds' : 'BROKEN'}: ${figure}`);
    if (!holds) process.exitCode = 1;
  }
}
