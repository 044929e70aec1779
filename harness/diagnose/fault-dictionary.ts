/**
 * The fault dictionary: what a run reports about each mutant of the reference receiver, and the mutant's mistake. `npm
 * run matrix` writes the outcomes, and `npm run docs` writes the data that comes from the mutants themselves.
 */
import type { MistakeReference } from '../../contract/mistakes/index.ts';
import { readPackageFile } from '../../contract/package-file.ts';
import type { Feature } from '../../scenarios/index.ts';

/** Data from the mutant itself: a line of `mutants` in `scenarios/fault-dictionary.json`. */
interface FaultIdentity extends MistakeReference {
  readonly name: string;
  readonly area: string;
  /** The defect of this mutant, more specific than its mistake. */
  readonly title: string;
  readonly forbidden?: false;
  /** Another fault that no probe can distinguish from this one, with the reason. */
  readonly equivalentTo?: { readonly name: string; readonly reason: string };
}

/** What the matrix recorded for a mutant: a line of `faults` in the same file. */
export interface FaultOutcomes {
  readonly name: string;
  /** The features that were configured. */
  readonly features: readonly Feature[];
  /**
   * The scenarios that the reference receiver passes and this mutant does not, with the outcome ({@link
   * encodeOutcome}).
   */
  readonly outcomes: Readonly<Record<string, string>>;
  /**
   * Scenarios, as an id, `suite/*` or `*`, whose outcome varies between runs, for example because only a part of the
   * signature is compared. An outcome in `outcomes` is nevertheless certain; the dictionary states nothing about the
   * others ({@link isUncertain}).
   */
  readonly uncertain?: readonly string[];
  /**
   * The code of the finding if even the plain valid delivery is rejected. As no other delivery is then judged, only
   * this code distinguishes such mutants.
   */
  readonly refusal?: string;
}

export type DictionaryFault = FaultIdentity & FaultOutcomes;

export interface OutcomesFile {
  readonly schemaVersion: 2;
  /** The digest of the catalogue for which the outcomes were recorded. */
  readonly catalogue: string;
  /** Both lists are sorted by name. */
  readonly mutants: readonly FaultIdentity[];
  readonly faults: readonly FaultOutcomes[];
}

export interface FaultDictionary {
  readonly catalogue: string;
  /** Sorted by name. */
  readonly faults: readonly DictionaryFault[];
}

let loading: Promise<FaultDictionary> | undefined;

/**
 * Reads the dictionary once per process. It is empty if the file is missing: runs then have no diagnosis by mutants.
 */
export function loadDictionary(): Promise<FaultDictionary> {
  loading ??= readDictionary();
  return loading;
}

async function readDictionary(): Promise<FaultDictionary> {
  const file = readPackageFile('scenarios/fault-dictionary.json');
  if (file === null) return { catalogue: '', faults: [] };
  // Read at run time, because Node 20 prints a warning for an import of JSON. A test checks the shape of the file.
  const { catalogue, mutants, faults }: OutcomesFile = JSON.parse(file.toString());
  const byName = new Map(mutants.map((mutant) => [mutant.name, mutant]));
  return {
    catalogue,
    faults: faults.flatMap((fault) => {
      const mutant = byName.get(fault.name);
      return mutant === undefined ? [] : [{ ...mutant, ...fault }];
    }),
  };
}

/** Whether one of the patterns matches a scenario: its id, its suite, or `*`. */
export function matchesAny(patterns: readonly string[], id: string): boolean {
  return patterns.includes(id) || patterns.includes('*') || patterns.includes(`${id.split('/')[0]}/*`);
}

/** Whether the dictionary states nothing about a fault's outcome in a scenario. */
export function isUncertain({ outcomes, uncertain }: FaultOutcomes, id: string): boolean {
  return uncertain !== undefined && outcomes[id] === undefined && matchesAny(uncertain, id);
}
