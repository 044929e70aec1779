/** What is declared to be uncertain has to exist, and what says of itself that it comes and goes has to be declared. */
import { isMeant } from '../../../harness/diagnose/index.ts';
import type { Complaint, Matrix } from './matrix.ts';

export function wrongUncertain({ uncertain, faults, probes }: Matrix): readonly Complaint[] {
  const known = new Set(faults.map(({ name }) => name));
  return uncertain.flatMap(({ fault, scenarios, sure = [] }): Complaint[] => {
    if (!known.has(fault)) return [{ rule: 'wrong-exemption', message: `There is no mutant ${fault}.` }];
    const gone = [...scenarios, ...sure].filter((pattern) => !probes.some(({ id }) => isMeant([pattern], id)));
    return gone.map((pattern) => ({ rule: 'wrong-exemption', message: `There is no scenario ${pattern}.` }));
  });
}

export function undeclaredUncertain({ uncertain, faults }: Matrix): readonly Complaint[] {
  return faults
    .filter(({ name, comesAndGoes }) => comesAndGoes === true && !uncertain.some(({ fault }) => fault === name))
    .map(({ name }) => ({
      rule: 'wrong-exemption',
      message: `${name} comes and goes: say in uncertain-cells.ts which scenarios find it every time.`,
    }));
}
