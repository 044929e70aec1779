/**
 * The fault dictionary: what a run says of each mutant of the reference receiver. `npm run matrix` writes it to
 * `scenarios/fault-dictionary.json`, in the shape that these types say.
 */
import type { Feature } from '../../scenarios/index.ts';

/** The general rule, Express, and the stacks for which the fix differs. */
type FixByStack = { readonly rule: string; readonly express: string } & Readonly<Record<string, string>>;

export interface DictionaryFault {
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
  /** The features that were on when it was run. */
  readonly features: readonly Feature[];
  /** The scenarios that the right receiver passes and this one does not, with the outcome ({@link outcomeOf}). */
  readonly outcomes: Readonly<Record<string, string>>;
  /**
   * Where it is not the same in every run, as when a signature is compared in part: scenarios, `suite/*`, or `*`. What stands in `outcomes` is sure all the
   * same; of the rest the dictionary says nothing ({@link isUncertain}).
   */
  readonly uncertain?: readonly string[];
  /**
   * Not even the plain valid delivery is accepted, so nothing else is judged that is delivered. This is what the refused control was found
   * to mean, in words: it tells apart what the outcomes do not.
   */
  readonly refusal?: string;
}

export interface FaultDictionary {
  readonly schemaVersion: 1;
  /** The digest of the catalogue that it was made with. */
  readonly catalogue: string;
  /** By name. */
  readonly faults: readonly DictionaryFault[];
}

/** Whether a scenario is meant: by its id, by its suite, or because all are. */
export function isMeant(patterns: readonly string[], id: string): boolean {
  return patterns.includes(id) || patterns.includes('*') || patterns.includes(`${id.split('/')[0]}/*`);
}

/** Whether the dictionary says nothing of what a fault does to a scenario. */
export function isUncertain({ outcomes, uncertain = [] }: DictionaryFault, id: string): boolean {
  return outcomes[id] === undefined && isMeant(uncertain, id);
}
