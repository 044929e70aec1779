/** Which results count. Without scoring all do; under a revision of the catalogue, those that it names. Pure. */
import type { ResultDocument, ScenarioResult } from './result-document.ts';

/** Whether a result counts for the verdict and the exit code. A newer scenario is judged and told, and does not. */
export function isScored({ scoring }: Pick<ResultDocument, 'scoring'>, { id }: Pick<ScenarioResult, 'id'>): boolean {
  return scoring?.notScored.includes(id) !== true;
}
