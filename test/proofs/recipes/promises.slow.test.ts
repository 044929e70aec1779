import { describe, expect, it } from 'vitest';
import { recipeOf, STACKS } from '../../../contract/index.ts';
import { RECIPE_FACTS } from '../../recipes/recipe-facts.ts';
import { whyNotRun } from '../../recipes/recipe-process.ts';
import { PROMISES } from './promises.ts';

const RECIPES = STACKS.filter((stack) => recipeOf(stack).stack === stack && recipeOf(stack).notRun === undefined);

describe.each(RECIPES)('the recipe for %s', (stack) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the promises of the recipe for ${stack}: ${reason}`);

  const { unkept = {} } = RECIPE_FACTS[stack] ?? {};
  const short = PROMISES.filter(({ long }) => long !== true);

  it.skipIf(reason !== null).each(short.filter(({ name }) => unkept[name] === undefined))(
    'holds: $what',
    async ({ attack }) => {
      expect(await attack(stack)).toMatchObject({ holds: true });
    },
  );

  // An exception that is no longer one must not stay in the list.
  it.skipIf(reason !== null).each(short.filter(({ name }) => unkept[name] !== undefined))(
    'needs a proxy: $what',
    async ({ attack }) => {
      expect(await attack(stack)).toMatchObject({ holds: false });
    },
  );
});
