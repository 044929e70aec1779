import { FAULTS } from '../../mutants/index.ts';

const MISTAKES = new Map<string, string>(FAULTS.map(({ name, mistake }) => [name, mistake]));

/** The mistake that a mutant makes; other names stay as they are. */
export const mistakeOf = (name: string) => MISTAKES.get(name) ?? name;
