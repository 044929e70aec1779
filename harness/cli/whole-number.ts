import { HookproofError } from '../../contract/hookproof-error.ts';

/** The value of a flag as a whole number. Throws {@link HookproofError} `RECEIVER_BAD_NUMBER`, which names the flag. */
export function wholeNumber(text: string, flag: string, most: number, least = 0): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new HookproofError('RECEIVER_BAD_NUMBER', `${flag} ${text} is not a whole number from ${least} to ${most}`, {
    hint: `For example ${flag} ${Math.min(most, Math.max(least, 3000))}.`,
  });
}
