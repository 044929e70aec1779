/** Every probe has to turn a mutant red, or to stand on the list of those that need not, with a reason. */
import type { Complaint, Matrix } from './matrix.ts';

/** Probe to the names of the mutants that it turns red. Every probe of the catalogue is in it. */
export function killsOf({ faults, probes, runs }: Matrix): ReadonlyMap<string, readonly string[]> {
  const mutants = new Set(faults.map(({ name }) => name));
  const kills = new Map<string, string[]>(probes.map(({ id }) => [id, []]));
  for (const { name, outcomes } of runs[0] ?? []) {
    if (mutants.has(name)) for (const id of Object.keys(outcomes)) kills.get(id)?.push(name);
  }
  return kills;
}

/** A probe of level `info` is recorded and never red. */
export function isIdleByLevel({ level }: Matrix['probes'][number]): boolean {
  return level === 'info';
}

export function idleProbes(matrix: Matrix): readonly Complaint[] {
  const kills = killsOf(matrix);
  return matrix.probes
    .filter((probe) => !isIdleByLevel(probe) && !Object.hasOwn(matrix.exempt, probe.id))
    .filter(({ id }) => kills.get(id)?.length === 0)
    .map(({ id }) => ({ rule: 'idle-probe', message: `${id} kills nothing.` }));
}

export function wrongExemptions(matrix: Matrix): readonly Complaint[] {
  const kills = killsOf(matrix);
  return Object.keys(matrix.exempt).flatMap((id): Complaint[] => {
    const killed = kills.get(id);
    const [first] = killed ?? [];
    if (killed === undefined) return [{ rule: 'wrong-exemption', message: `There is no scenario ${id}.` }];
    if (first === undefined) return [];
    return [{ rule: 'wrong-exemption', message: `${id} is exempt and kills ${killed.length}, ${first} for one.` }];
  });
}
