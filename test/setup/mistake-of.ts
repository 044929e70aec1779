import { FAULTS } from '../../mutants/index.ts';

const MISTAKES = new Map<string, string>(FAULTS.map(({ name, mistake }) => [name, mistake]));

/** Returns the mistake of a mutant. Other names are unchanged. */
export const mistakeOf = (name: string) => MISTAKES.get(name) ?? name;
