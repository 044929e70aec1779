/** The diagnosis in words that every report shares. Pure. */
import type { Diagnosis, ResultDocument } from '../result/result-document.ts';
import { counted } from './layout.ts';

/** "verifies-reserialised-json, 31 of 31 outcomes agree". */
export function closeness({ fault, agreement, outcomes }: Diagnosis): string {
  return outcomes === 0
    ? fault
    : `${fault}, ${agreement} of ${counted(outcomes, 'outcome')} ${outcomes === 1 ? 'agrees' : 'agree'}`;
}

/** Up to this many names are written out. */
const NAMED = 4;

/** "raw-body/spaces, raw-body/tabs and 12 more". */
export function namesOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more <= 1 ? names.join(', ') : `${names.slice(0, NAMED).join(', ')} and ${more} more`;
}

/** The failures that no fault of the diagnosis accounts for. */
export function unexplained({ diagnosis, results }: Pick<ResultDocument, 'diagnosis' | 'results'>): string[] {
  const said = new Set(diagnosis.filter(({ relation }) => relation !== 'or').flatMap(({ evidence }) => evidence));
  return results.filter(({ id, verdict }) => verdict === 'fail' && !said.has(id)).map(({ id }) => id);
}

/** What is said when there are failures and nothing that is known fits them. */
export const NOTHING_FITS = 'No mistake that hookproof knows fits these failures: each one below stands for itself.';
