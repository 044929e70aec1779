/** Compares two runs, check by check and cause by cause. */
import { currentId } from '../../scenarios/index.ts';
import { type Cause, causeKey, causesOf, isCause, titleOf, withDiagnosisOf, withFindings } from './causes.ts';
import type { ComparedCause, ComparedCheck, Comparison } from './comparison-document.ts';
import { counted } from './layout.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { failsTheRun, isScored } from './verdict.ts';
import { answerInWords, partialInWords, reasonOf } from './wording.ts';

type Results = ReadonlyMap<string, ScenarioResult>;

/**
 * Compares the new run `now` with the old run `before`. Checks are matched by id; a former id matches the check that
 * replaced it. Failures in a baseline are listed like others, but not counted in `newFailures`.
 */
export function compareRuns(before: ResultDocument, now: ResultDocument): Comparison {
  const [earlier, current] = [byCurrentId(before.results), byCurrentId(now.results)];
  const lists = listsOf(earlier, current);
  const failing = lists.new
    .flatMap(({ id }) => current.get(id) ?? [])
    .filter((result) => {
      return failsTheRun(result.verdict, now.strict) && result.known === null && isScored(now, result);
    });
  return {
    schemaVersion: 1,
    before: runOf(before),
    now: runOf(now),
    notes: notesOn(before, now),
    shared: [...current.keys()].filter((id) => earlier.has(id)).length,
    newFailures: failing.length,
    causes: compareCauses(sideOf(before, earlier), sideOf(diagnosedLike(before, now), current)),
    ...lists,
  };
}

function runOf({ counts, partial, startedAt, target, tool, verdict }: ResultDocument): Comparison['now'] {
  return { url: target.url, startedAt, version: tool.version, verdict, partial, counts };
}

const isBad = ({ verdict }: ScenarioResult): boolean => verdict === 'fail' || verdict === 'warn';
const isDecided = (result: ScenarioResult): boolean => isBad(result) || result.verdict === 'pass';

/** Maps results by current id. If several former ids became one check, a failure or warning is kept. */
function byCurrentId(results: readonly ScenarioResult[]): Results {
  const found = new Map<string, ScenarioResult>();
  for (const result of results) {
    const id = currentId(result.id);
    const other = found.get(id);
    if (other === undefined || (isBad(result) && !isBad(other))) found.set(id, result);
  }
  return found;
}

type Lists = Pick<Comparison, 'fixed' | 'new' | 'stillFailing' | 'notDecided' | 'added' | 'removed'>;

function listsOf(earlier: Results, current: Results): Lists {
  const lists: Lists = { fixed: [], new: [], stillFailing: [], notDecided: [], added: [], removed: [] };
  for (const [id, result] of current) {
    const old = earlier.get(id);
    const check = comparedCheck(id, old, result);
    if (old === undefined) lists.added.push(check);
    if (isBad(result)) {
      const isWorse = old?.verdict === 'warn' && result.verdict === 'fail';
      const list = old !== undefined && isBad(old) && !isWorse ? lists.stillFailing : lists.new;
      list.push(check);
    } else if (old !== undefined && isDecided(old)) {
      if (!isDecided(result)) lists.notDecided.push(check);
      else if (isBad(old)) lists.fixed.push(check);
    }
  }
  for (const [id, old] of earlier) if (!current.has(id)) lists.removed.push(comparedCheck(id, old, undefined));
  for (const list of [lists.new, lists.stillFailing]) list.sort((one, other) => rank(one) - rank(other));
  return lists;
}

const rank = ({ now }: ComparedCheck): number => (now === 'fail' ? 0 : 1);

function comparedCheck(id: string, old: ScenarioResult | undefined, now: ScenarioResult | undefined): ComparedCheck {
  const { suite = '', title = '' } = now ?? old ?? {};
  const decided = now === undefined || now.verdict === 'pass' ? '' : reasonOf(now);
  const detail = now !== undefined && isBad(now) ? answerInWords(now) : decided;
  return { id, suite, title, before: old?.verdict ?? null, now: now?.verdict ?? null, detail };
}

/** Returns all causes of failures, including those in a baseline, because only one of the runs may have a baseline. */
function causesIn({ diagnosis, results }: ResultDocument): Cause[] {
  return withFindings(causesOf(results.filter(isBad), diagnosis), diagnosis).filter(isCause);
}

/** If a partial run has no diagnosis, adds the old run's diagnosis for the failures that both runs share. */
function diagnosedLike(before: ResultDocument, now: ResultDocument): ResultDocument {
  return now.partial && now.diagnosis.length === 0 ? withDiagnosisOf(before, now) : now;
}

/** Returns the key that a cause has in both runs: its mistake, because a partial run may not determine the fault. */
function keyOf({ diagnosis, members: [first] }: Cause): string {
  return diagnosis?.mistake ?? diagnosis?.fault ?? (first === undefined ? '' : causeKey(first));
}

const idsIn = ({ members }: Cause): string[] => members.map(({ id }) => currentId(id));

function causeIn(cause: Cause): ComparedCause['now'] {
  return { fault: cause.diagnosis?.fault ?? null, title: titleOf(cause), checks: idsIn(cause) };
}

/** The order of the list: new causes first, gone ones last. */
const ORDER: readonly ComparedCause['state'][] = ['new', 'changed', 'same', 'not-decided', 'gone'];

/** One of the two runs: its results, and its causes by key and by the check that they explain. */
interface Side {
  readonly causes: readonly Cause[];
  readonly byKey: ReadonlyMap<string, Cause>;
  readonly ofCheck: ReadonlyMap<string, Cause>;
  readonly results: Results;
}

function sideOf(document: ResultDocument, results: Results): Side {
  const causes = causesIn(document);
  const byKey = new Map(causes.toReversed().map((cause) => [keyOf(cause), cause]));
  const ofCheck = new Map(causes.flatMap((cause) => idsIn(cause).map((id) => [id, cause] as const)));
  return { causes, byKey, ofCheck, results };
}

function compareCauses(before: Side, now: Side): ComparedCause[] {
  const left = new Set(now.causes);
  const compared = before.causes.flatMap((cause): ComparedCause[] => {
    const same = now.byKey.get(keyOf(cause));
    const found = same ?? counterpartOf(cause, now);
    if (found !== undefined) left.delete(found);
    const changed = found === undefined ? endOf(cause, now.results) : 'changed';
    const state = same === undefined ? changed : 'same';
    return state === null ? [] : [{ state, before: causeIn(cause), now: found === undefined ? null : causeIn(found) }];
  });
  const others = [...left].map((cause): ComparedCause => {
    const same = before.byKey.get(keyOf(cause));
    // One old cause may have become several, none of which is new.
    const origin = same ?? (cause.members.length === 0 ? undefined : counterpartOf(cause, before));
    if (origin === undefined) return { state: 'new', before: null, now: causeIn(cause) };
    return { state: same === undefined ? 'changed' : 'same', before: causeIn(origin), now: causeIn(cause) };
  });
  return [...others, ...compared].toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
}

/** Returns the other run's cause for most of these checks, if at least half of those judged there fail or warn. */
function counterpartOf(cause: Cause, { causes, ofCheck, results }: Side): Cause | undefined {
  // A finding without checks, such as that nothing is listening, can only become another such finding.
  if (cause.members.length === 0) return causes.find(({ members }) => members.length === 0);
  const ids = idsIn(cause);
  const decided = ids.flatMap((id) => results.get(id) ?? []).filter(isDecided);
  const bad = decided.filter(isBad).length;
  if (bad === 0 || bad * 2 < decided.length) return undefined;
  const shares = new Map<Cause, number>();
  for (const other of ids.flatMap((id) => ofCheck.get(id) ?? [])) shares.set(other, (shares.get(other) ?? 0) + 1);
  return [...shares].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

/** Returns the state of a cause that the new run does not have; null if the new run has none of its checks. */
function endOf(cause: Cause, now: Results): 'gone' | 'not-decided' | null {
  const results = idsIn(cause).flatMap((id) => now.get(id) ?? []);
  if (cause.members.length > 0 && results.length === 0) return null;
  return cause.members.length === 0 || results.some(isDecided) ? 'gone' : 'not-decided';
}

function notesOn(before: ResultDocument, now: ResultDocument): Comparison['notes'] {
  const notes: Comparison['notes'] = [];
  const differ = (code: Comparison['notes'][number]['code'], what: string, old: string, current: string) => {
    if (old !== current) notes.push({ code, text: `${what}: ${old} before, ${current} now` });
  };
  if (Date.parse(before.startedAt) > Date.parse(now.startedAt)) {
    notes.push({ code: 'order', text: 'The old run started after the new one: check the order of the two' });
  }
  differ('endpoint', 'Different endpoints', placeOf(before.target.url), placeOf(now.target.url));
  differ('features', 'Different credentials or features', featuresIn(before), featuresIn(now));
  if (before.catalogue.digest !== now.catalogue.digest) {
    const [old, current] = [before, now].map(({ catalogue, tool }) => {
      return `${counted(catalogue.scenarios, 'check')} of hookproof ${tool.version}`;
    });
    notes.push({ code: 'catalogue', text: `Different catalogues: ${old} before, ${current} now` });
  }
  differ('revision', 'Scored by different revisions of the catalogue', revisionOf(before), revisionOf(now));
  for (const [run, which] of [
    [before, 'old'],
    [now, 'new'],
  ] as const) {
    if (run.partial) notes.push({ code: 'partial', text: `The ${which} run is partial: ${partialInWords(run)}` });
  }
  return notes;
}

/** Returns the URL without its query, which may contain a token. */
function placeOf(url: string): string {
  return url.split(/[?#]/, 1).join('');
}

function featuresIn({ target: { features } }: ResultDocument): string {
  return features.toSorted().join(', ') || 'none';
}

function revisionOf({ scoring }: ResultDocument): string {
  return scoring === undefined ? 'none' : `revision ${scoring.revision}`;
}
