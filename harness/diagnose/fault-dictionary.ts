/**
 * The fault dictionary: what a run reports about each mutant of the reference receiver, and the mistake that it makes.
 * `npm run matrix` writes the outcomes, `npm run docs` what is read from the mutants themselves.
 */
import { readFile } from 'node:fs/promises';
import type { MistakeReference } from '../../contract/mistakes/index.ts';
import { packageFile } from '../../contract/package-file.ts';
import type { Feature } from '../../scenarios/index.ts';

/** What is read from a mutant: a line of `mutants` in `scenarios/fault-dictionary.json`. */
interface FaultIdentity extends MistakeReference {
  readonly name: string;
  readonly area: string;
  /** The defect of this mutant, more exactly than its mistake. */
  readonly title: string;
  readonly forbidden?: false;
  /** Another fault that no probe can tell from this one, with the reason. */
  readonly equivalentTo?: { readonly name: string; readonly reason: string };
}

/** What the matrix recorded of a mutant: a line of `faults` in the same file. */
export interface FaultOutcomes {
  readonly name: string;
  /** The features that were on. */
  readonly features: readonly Feature[];
  /**
   * The scenarios that the reference receiver passes and this mutant does not, with the outcome ({@link outcomeOf}).
   */
  readonly outcomes: Readonly<Record<string, string>>;
  /**
   * Scenarios, `suite/*` or `*` whose outcome differs from run to run, as when only a part of a signature is compared.
   * An entry of `outcomes` is certain all the same; about the rest the dictionary says nothing ({@link isUncertain}).
   */
  readonly uncertain?: readonly string[];
  /**
   * Only where not even the plain valid delivery is accepted, so that no other delivery is judged: the code of the
   * finding about that rejection, which distinguishes mutants with equal outcomes.
   */
  readonly refusal?: string;
}

export type DictionaryFault = FaultIdentity & FaultOutcomes;

export interface OutcomesFile {
  readonly schemaVersion: 2;
  /** The digest of the catalogue with which it was recorded. */
  readonly catalogue: string;
  /** Both sorted by name. */
  readonly mutants: readonly FaultIdentity[];
  readonly faults: readonly FaultOutcomes[];
}

export interface FaultDictionary {
  readonly catalogue: string;
  /** Sorted by name. */
  readonly faults: readonly DictionaryFault[];
}

let loading: Promise<FaultDictionary> | undefined;

/** Reads the file once in a process. Empty when it is missing: a run then has no diagnosis by mutants. */
export function loadDictionary(): Promise<FaultDictionary> {
  loading ??= readDictionary();
  return loading;
}

async function readDictionary(): Promise<FaultDictionary> {
  const file = packageFile('scenarios/fault-dictionary.json');
  if (file === null) return { catalogue: '', faults: [] };
  // Read, not imported: Node 20 prints a warning for an import of JSON. A test checks the shape against the generators.
  const { catalogue, mutants, faults }: OutcomesFile = JSON.parse(await readFile(file, 'utf8'));
  const byName = new Map(mutants.map((mutant) => [mutant.name, mutant]));
  return {
    catalogue,
    faults: faults.flatMap((fault) => {
      const mutant = byName.get(fault.name);
      return mutant === undefined ? [] : [{ ...mutant, ...fault }];
    }),
  };
}

/** Whether one of the patterns covers a scenario: by its id, by its suite, or as `*`. */
export function isMeant(patterns: readonly string[], id: string): boolean {
  return patterns.includes(id) || patterns.includes('*') || patterns.includes(`${id.split('/')[0]}/*`);
}

/** Whether the dictionary says nothing about what a fault does in a scenario. */
export function isUncertain({ outcomes, uncertain }: FaultOutcomes, id: string): boolean {
  return uncertain !== undefined && outcomes[id] === undefined && isMeant(uncertain, id);
}
