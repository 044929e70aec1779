import { describe, expect, it } from 'vitest';
import { recipeOf, STACKS } from '../../../contract/index.ts';
import { whyNotRun } from '../../recipes/recipe-process.ts';
import { PROMISES } from './promises.ts';

const RECIPES = STACKS.filter((stack) => recipeOf(stack).stack === stack && recipeOf(stack).notRun === undefined);

describe.each(RECIPES)('the recipe for %s', (stack) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the promises of the recipe for ${stack}: ${reason}`);

  it.skipIf(reason !== null).each(PROMISES.filter(({ long }) => long !== true))('holds: $what', async ({ attack }) => {
    expect(await attack(stack)).toMatchObject({ holds: true });
  });
});
