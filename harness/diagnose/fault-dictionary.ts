/**
 * The fault dictionary: what a run reports about each mutant of the reference receiver. It is two files, joined here,
 * so that an edit of a text needs no new run: the outcomes, which `npm run matrix` writes, and the texts, which `npm
 * run docs` writes from the mutants themselves.
 */
import { readFile } from 'node:fs/promises';
import { packageFile } from '../../contract/package-file.ts';
import type { Feature } from '../../scenarios/index.ts';

/** The general rule, Express, and the stacks for which the fix differs. */
type FixByStack = { readonly rule: string; readonly express: string } & Readonly<Record<string, string>>;

interface FaultText {
  readonly name: string;
  readonly area: string;
  readonly title: string;
  readonly seen: string;
  readonly why: string;
  readonly fix: FixByStack;
  readonly severity: 'critical' | 'high' | 'medium' | 'low';
  readonly forbidden: boolean;
  /** Another fault that no probe can tell from this one, with the reason. */
  readonly equivalentTo?: { readonly name: string; readonly reason: string };
}

/** What the matrix recorded of a mutant: a line of `scenarios/fault-dictionary.json`. */
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

export type DictionaryFault = FaultText & FaultOutcomes;

export interface OutcomesFile {
  readonly schemaVersion: 1;
  /** The digest of the catalogue with which it was recorded. */
  readonly catalogue: string;
  /** Sorted by name. */
  readonly faults: readonly FaultOutcomes[];
}

export interface FaultDictionary {
  readonly catalogue: string;
  /** Sorted by name. */
  readonly faults: readonly DictionaryFault[];
}

let loading: Promise<FaultDictionary> | undefined;

/** Reads both files, once in a process. Empty when they are missing: a run then has no diagnosis by mutants. */
export function loadDictionary(): Promise<FaultDictionary> {
  loading ??= readDictionary();
  return loading;
}

async function readDictionary(): Promise<FaultDictionary> {
  // A test checks the shapes against the generators; a check here would take longer than reading.
  const [outcomes, texts] = await Promise.all([
    readJson<OutcomesFile>('fault-dictionary.json'),
    readJson<readonly FaultText[]>('fault-texts.json'),
  ]);
  if (outcomes === null || texts === null) return { catalogue: '', faults: [] };
  const byName = new Map(texts.map((text) => [text.name, text]));
  return {
    catalogue: outcomes.catalogue,
    faults: outcomes.faults.flatMap((fault) => {
      const text = byName.get(fault.name);
      return text === undefined ? [] : [{ ...text, ...fault }];
    }),
  };
}

/** Read, not imported: Node 20 prints a warning for an import of JSON, and takes longer. */
async function readJson<T>(name: string): Promise<T | null> {
  const file = packageFile(`scenarios/${name}`);
  return file === null ? null : (JSON.parse(await readFile(file, 'utf8')) as T);
}

/** Whether one of the patterns covers a scenario: by its id, by its suite, or as `*`. */
export function isMeant(patterns: readonly string[], id: string): boolean {
  return patterns.includes(id) || patterns.includes('*') || patterns.includes(`${id.split('/')[0]}/*`);
}

/** Whether the dictionary says nothing about what a fault does in a scenario. */
export function isUncertain({ outcomes, uncertain = [] }: FaultOutcomes, id: string): boolean {
  return outcomes[id] === undefined && isMeant(uncertain, id);
}
