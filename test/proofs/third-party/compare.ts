/** Compares what a run reports about a receiver with the measured facts. */
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { NOT_KNOWN } from '../../../harness/report/verdict.ts';
import { mistakeOf } from '../../setup/mistake-of.ts';
import { dialectOf, type Facts, isAbout, isBypass, isPossible, shapeGroupOf, stateOf } from './facts.ts';
import { isForgery } from './prober.ts';

export interface Comparison {
  /** Number of failing checks for which a measured fact is broken. */
  readonly agreed: number;
  /** Failing checks that concern only the status of valid deliveries or of rejections. */
  readonly aboutStatus: readonly string[];
  /** Failing checks for which nothing was measured. */
  readonly unmeasured: readonly string[];
  /** Failing checks for which every measured fact is kept, with those facts. */
  readonly disagreed: readonly string[];
  /** Accepted forgeries for which no check of the same group of shapes fails. */
  readonly missedBypasses: readonly string[];
  /** Other broken facts without a failure or a warning. */
  readonly missed: readonly string[];
  readonly diagnosis: Diagnosis;
}

interface Diagnosis {
  readonly state: 'correct' | 'mistake' | 'not known' | 'nothing to name' | 'wrong';
  readonly names: readonly string[];
}

/** Up to three statuses may be wrong: of valid deliveries, and of rejections of a signature and of a key. */
const MAX_STATUS_FINDINGS = 3;

/** The findings that make the proof fail. */
export function complaintsOf({ disagreed, aboutStatus, missedBypasses, diagnosis }: Comparison): string[] {
  return [
    ...disagreed.map((text) => `fails, but nothing is wrong: ${text}`),
    ...(aboutStatus.length > MAX_STATUS_FINDINGS
      ? [`${aboutStatus.length} failures for one wrong status: ${aboutStatus.slice(0, 5).join(', ')}, ...`]
      : []),
    ...missedBypasses.map((text) => `bypass missed: ${text}`),
    ...(diagnosis.state === 'wrong' ? [`wrong main diagnosis: ${diagnosis.names.join(', ')}`] : []),
  ];
}

export function compare(facts: Facts, document: ResultDocument, acceptable: readonly string[]): Comparison {
  const failing = document.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'harness-error');
  const warned = document.results.filter(({ verdict }) => verdict === 'warn');
  const reported = new Set([...failing, ...warned].map(({ id }) => id));
  const found = { aboutStatus: [] as string[], unmeasured: [] as string[], disagreed: [] as string[] };
  let agreed = 0;
  for (const { id, observed, verdict } of failing) {
    const about = [...facts].filter(([fact]) => isAbout(id, fact));
    const isBroken = about.some(([fact, outcome]) => stateOf(fact, outcome, facts) === 'broken');
    if (isBroken && verdict === 'fail') agreed += 1;
    else if (about.length === 0) found.unmeasured.push(id);
    else if (about.some(([fact]) => hasOtherStatus(fact, facts))) found.aboutStatus.push(id);
    else {
      const measured = about.slice(0, 4).map(([fact, { result, how }]) => `${fact} ${result} (${how})`);
      found.disagreed.push(`${id}, observed ${observed}; measured ${measured.join(', ')}`);
    }
  }
  const possible = acceptable.filter((name) => isPossible(name, facts));
  const accepts = facts.get('valid/buy')?.result === 'accepted';
  const broken = [...facts].filter(([fact, outcome]) => stateOf(fact, outcome, facts) === 'broken');
  const isMissed = (fact: string, among: ReadonlySet<string>) => ![...among].some((check) => isAbout(check, fact));
  const bypasses = broken.filter(([fact, outcome]) => isBypass(fact, outcome, facts));
  const noticedGroups = new Set(
    bypasses.filter(([fact]) => !isMissed(fact, reported)).map(([fact]) => shapeGroupOf(fact)),
  );
  const missedBypasses = bypasses
    .filter(([fact]) => !noticedGroups.has(shapeGroupOf(fact)) && !noticedGroups.has(baseGroupOf(fact)))
    .map(([fact, { how }]) => `${fact} (${how})`);
  const missed = broken
    .filter(([fact, outcome]) => accepts && !isBypass(fact, outcome, facts) && isMissed(fact, reported))
    .map(([fact, { how }]) => `${fact} (${how})`);
  const diagnosis = diagnosisOf(document, possible, failing.length);
  return { agreed, ...found, missedBypasses, missed, diagnosis };
}

/**
 * Returns the group of the request in the sender's usual shape. If this request passes, other shapes pass for the same
 * reason.
 */
const baseGroupOf = (fact: string) => shapeGroupOf(`${fact.slice(0, fact.indexOf('/'))}/json`);

/** Returns whether the fact is kept, but with a status other than 200 or 401. */
function hasOtherStatus(fact: string, facts: Facts): boolean {
  const { valid, missing, wrong } = dialectOf(facts);
  const { result, how } = facts.get(fact) ?? { result: 'crashed', how: '' };
  if (isForgery(fact)) return how !== '401' && (how === missing || how === wrong);
  return result === 'accepted' && how === valid && how !== '200';
}

/** Judges the diagnosis. `possible` contains the names that are true. */
function diagnosisOf({ diagnosis }: ResultDocument, possible: readonly string[], failures: number): Diagnosis {
  const main = diagnosis.find(({ relation }) => relation === 'main');
  if (main === undefined) return { state: failures > 0 ? 'not known' : 'nothing to name', names: [] };
  if (main.fault === NOT_KNOWN) return { state: 'not known', names: [] };
  const names = [main.fault, ...main.alike];
  if (names.some((name) => possible.includes(name))) return { state: 'correct', names };
  return { state: possible.some((name) => mistakeOf(name) === main.mistake) ? 'mistake' : 'wrong', names };
}
