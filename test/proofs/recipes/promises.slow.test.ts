import { describe, expect, it } from 'vitest';
import { recipeOf, STACKS } from '../../../contract/index.ts';
import { whyNotRun } from '../../recipes/recipe-process.ts';
import { isItsTurn } from '../../setup/turn.ts';
import { PROMISES } from './promises.ts';

const RECIPES = STACKS.filter((stack) => recipeOf(stack).stack === stack && recipeOf(stack).notRun === undefined);

describe.each(RECIPES)('the recipe for %s', (stack) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the promises of the recipe for ${stack}: ${reason}`);

  const short = PROMISES.filter(({ long }) => long !== true);
  const played = short.filter((_, at) => isItsTurn(RECIPES.indexOf(stack), at, 5));
  it.skipIf(reason !== null).each(played)('holds: $what', async ({ attack }) => {
    const { holds, figure } = await attack(stack);
    expect({ holds, figure }).toEqual({ holds: true, figure });
  });
});
