/** A receiver that is right may not be failed, warned or left without a verdict, however it is written. */
import type { Complaint, Matrix } from './matrix.ts';

export function alarms({ runs }: Matrix): readonly Complaint[] {
  const right = runs.flat().filter(({ kind }) => kind !== 'fault');
  const messages = right.flatMap(({ name, outcomes, undecided }) => [
    ...Object.entries(outcomes).map(([id, outcome]) => `${name} gets "${outcome}" for ${id}.`),
    ...Object.entries(undecided).map(([id, reason]) => `${name} gets no verdict for ${id}: ${reason}.`),
  ]);
  return [...new Set(messages)].map((message) => ({ rule: 'alarm', message }));
}

export function leftOut({ leftOut: receivers }: Matrix): readonly Complaint[] {
  return receivers.map(({ name, missing }) => ({
    rule: 'left-out',
    message: `${name} needs ${missing.join(' and ')}. Install it, or pass --without-missing.`,
  }));
}
