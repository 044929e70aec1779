/** The files of scenarios/revisions/: their content, and how the catalogue differs from it. */
import { currentId, type Scenario } from '../../scenarios/index.ts';
import { scenarioDigest } from './scenario-digest.ts';

/** `scenarios` maps the id of each scored scenario to the digest of what it sends and expects. */
export interface RevisionFile {
  readonly revision: number;
  /** The day on which the revision was created, as YYYY-MM-DD. */
  readonly made: string;
  readonly scenarios: Readonly<Record<string, string>>;
}

export function revisionOf(revision: number, made: string, scenarios: readonly Scenario[]): RevisionFile {
  const entries = scenarios.map((scenario) => [scenario.id, scenarioDigest(scenario)] as const);
  return { revision, made, scenarios: Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

export function revisionText(file: RevisionFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * Returns the differences between the catalogue and a revision, one line each. Additional scenarios are allowed,
 * because they are not scored.
 */
export function drift({ revision, scenarios }: RevisionFile, catalogue: readonly Scenario[]): string[] {
  const today = new Map(catalogue.map((scenario) => [scenario.id, scenario]));
  return Object.entries(scenarios).flatMap(([id, digest]) => {
    const scenario = today.get(currentId(id));
    if (scenario === undefined) return [`${id} is scored in revision ${revision} but is not in the catalogue`];
    // A scenario that replaces a former one may send more.
    if (id !== scenario.id || scenarioDigest(scenario) === digest) return [];
    return [`${id} differs from revision ${revision}: give the changed scenario a new id, and restore this one`];
  });
}
