import { describe, expect, it } from 'vitest';
import { whyNotRun } from '../../recipes/recipe-process.ts';
import { FAULTY_JOURNALS, type JournalFault, killRecipe } from './kill-rounds.ts';

const CORRECT = { lost: 0, storedTwice: 0, altered: 0 };

describe('a recipe that is killed under load', () => {
  const available = (['express', 'python', 'php'] as const).filter((stack) => whyNotRun(stack) === null);

  it.each(available)('loses and repeats nothing: %s', async (stack) => {
    if (whyNotRun(stack) !== null) return;
    const result = await killRecipe({ stack, rounds: 3, seed: 1, connections: 16 });
    expect(result).toMatchObject(CORRECT);
    expect(result.acknowledged).toBeGreaterThan(20);
  });

  it.each(Object.keys(FAULTY_JOURNALS) as JournalFault[])('is caught when it %s', async (fault) => {
    const result = await killRecipe({ stack: 'express', rounds: 4, seed: 2, fault });
    expect(result).not.toMatchObject(CORRECT);
  });
});
