/**
 * Cells that are not the same in every run, or that get no verdict, because of what the mutant does: it is right or wrong by the values that are
 * drawn for a run or by the order in which deliveries arrive, or it answers what proves nothing. They are left out of every rule, and the
 * dictionary says nothing of them. Everything else has to be the same in every run.
 */
import { isMeant } from '../../harness/diagnose/index.ts';
import type { Played } from './played.ts';

export interface Uncertain {
  /** The name of the mutant. */
  readonly fault: string;
  /** Scenarios, `suite/*`, or `*`. */
  readonly scenarios: readonly string[];
  /** Which of them are sure all the same. */
  readonly sure?: readonly string[];
  readonly reason: string;
}

/** What was played, without what is uncertain. */
export function withoutUncertain(played: Played, uncertain: readonly Uncertain[]): Played {
  const mine = uncertain.filter(({ fault }) => fault === played.name);
  if (mine.length === 0) return played;
  const isSure = ([id]: readonly [string, string]) =>
    mine.every(({ scenarios, sure = [] }) => sure.includes(id) || !isMeant(scenarios, id));
  const keep = (cells: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(cells).filter(isSure));
  return { ...played, outcomes: keep(played.outcomes), undecided: keep(played.undecided) };
}

export const UNCERTAIN: readonly Uncertain[] = [
  {
    fault: 'accepts-any-part',
    scenarios: ['signature/1-character'],
    reason: 'One given character is part of about half of all signatures.',
  },
  {
    fault: 'compares-first-8',
    scenarios: ['signature/base64url-padded'],
    reason: 'The two alphabets differ in two characters, which may or may not be among the eight.',
  },
  {
    fault: 'compares-last-8',
    scenarios: ['signature/base64url-padded'],
    reason: 'The two alphabets differ in two characters, which may or may not be among the eight.',
  },
  {
    fault: 'signature-as-regexp',
    scenarios: ['*'],
    sure: ['signature/wildcard'],
    reason: 'Whether a wrong signature is a valid pattern depends on where its plus signs and brackets stand.',
  },
];
