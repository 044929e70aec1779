/** What the kill matrix has to hold. Pure: from what was played to a list of complaints, empty when all is well. */
import { alarms, leftOut } from './rules/alarms.ts';
import { differingEquivalents, indistinguishable, unknownEquivalents } from './rules/equivalents.ts';
import { idleProbes, wrongExemptions } from './rules/idle-probes.ts';
import type { Complaint, Matrix } from './rules/matrix.ts';
import { flakyCells, undecidedCells } from './rules/stability.ts';
import { failsWhatIsAllowed, survivors } from './rules/survivors.ts';
import { undeclaredUncertain, wrongUncertain } from './rules/uncertain.ts';

export type { Complaint, Matrix } from './rules/matrix.ts';

const RULES: readonly ((matrix: Matrix) => readonly Complaint[])[] = [
  survivors,
  failsWhatIsAllowed,
  idleProbes,
  wrongExemptions,
  wrongUncertain,
  undeclaredUncertain,
  alarms,
  leftOut,
  indistinguishable,
  differingEquivalents,
  unknownEquivalents,
  undecidedCells,
  flakyCells,
];

export function complaintsAbout(matrix: Matrix): readonly Complaint[] {
  return RULES.flatMap((rule) => rule(matrix));
}
