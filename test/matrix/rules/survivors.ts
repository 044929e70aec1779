/** Every mutant has to be found: what the specification forbids by a failure, the rest by a warning at least and by no failure. */
import type { Played } from '../played.ts';
import { type Complaint, firstRun, type Matrix, several } from './matrix.ts';

function scenariosWith(played: Played | undefined, verdict: 'fail' | 'warn'): string[] {
  return Object.entries(played?.outcomes ?? {}).flatMap(([id, outcome]) => (outcome.startsWith(verdict) ? [id] : []));
}

export function survivors(matrix: Matrix): readonly Complaint[] {
  const played = firstRun(matrix);
  return matrix.faults.flatMap(({ name, forbidden }): Complaint[] => {
    const said = played.get(name);
    if (said === undefined) return [{ rule: 'survivor', message: `${name} was not played.` }];
    const warned = scenariosWith(said, 'warn');
    if (scenariosWith(said, 'fail').length > 0 || (!forbidden && warned.length > 0)) return [];
    const message = !forbidden
      ? `${name} passes everything.`
      : warned.length > 0
        ? `${name} is forbidden and only warned about (${several(warned)}).`
        : `${name} is forbidden and passes everything.`;
    return [{ rule: 'survivor', message }];
  });
}

export function failsWhatIsAllowed(matrix: Matrix): readonly Complaint[] {
  const played = firstRun(matrix);
  return matrix.faults.flatMap(({ name, forbidden }): Complaint[] => {
    const failed = forbidden ? [] : scenariosWith(played.get(name), 'fail');
    if (failed.length === 0) return [];
    return [{ rule: 'fails-what-is-allowed', message: `${name} is not forbidden and fails ${several(failed)}.` }];
  });
}
