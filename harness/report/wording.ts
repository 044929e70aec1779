/** The wording that all reports share: verdict, numbers, what was tested, caveats, and the diagnosis. */
import { visible } from '../../contract/visible.ts';
import { isEvidenceSource, SOURCE_TEXTS } from '../../scenarios/profiles.ts';
import { groupBy } from './causes.ts';
import { counted } from './layout.ts';
import type {
  BaselineOutcome,
  Diagnosis,
  FullRun,
  PartialReason,
  ResultDocument,
  RunVerdict,
  ScenarioResult,
} from './result-document.ts';
import { decisionOf, isScored, withVerdict } from './verdict.ts';

const VERDICT_WORDS: Readonly<Record<RunVerdict, string>> = {
  conformant: 'CONFORMANT',
  nonconformant: 'NOT CONFORMANT',
  inconclusive: 'NO VERDICT',
  'harness-error': 'HARNESS ERROR',
};

/** Whether a check has no verdict because it was not run. */
export function wasNotPlayed({ exchanges, observed, verdict }: ScenarioResult): boolean {
  return verdict === 'inconclusive' && observed === '' && exchanges.length === 0;
}

/** Counts the planned checks: run, without a verdict, not run. */
function runCounts({ counts, planned, results }: ResultDocument): { run: number; judged: number; notRun: number } {
  const judged = counts.pass + counts.fail + counts.warn;
  const left = results.filter(wasNotPlayed).length;
  const notRun = left + planned - results.length;
  return { run: planned - notRun - counts.notApplicable, judged, notRun };
}

/** Returns "NOT CONFORMANT"; for a conformant run whose baseline has stale entries, also {@link outOfDate}. */
export function headline(document: ResultDocument): string {
  return `${verdictInWords(document)}${outOfDate(document)}`;
}

/**
 * Returns "NOT CONFORMANT" or "NOT CONFORMANT, all failures known"; for a partial run "3 of 680 checks run, all passed
 * (partial run, no verdict)".
 */
export function verdictInWords(document: ResultDocument): string {
  const { because, known } = decisionOf(document);
  const isKnown = known > 0 && (because === 'passed' || because === 'stale-baseline');
  if (!document.partial) return `${VERDICT_WORDS[document.verdict]}${isKnown ? ', all failures known' : ''}`;
  const { catalogue, counts } = document;
  const { run } = runCounts(document);
  const warned =
    document.strict && counts.warn > 0 ? `, ${counted(counts.warn, 'warning')} with --strict` : ', none failed';
  const passed = run === counts.pass ? ', all passed' : warned;
  const outcome = counts.fail > 0 ? `, ${counted(counts.fail, isKnown ? 'known failure' : 'failure')}` : passed;
  return `${run} of ${counted(catalogue.scenarios, 'check')} run${run > 0 ? outcome : ''} (partial run, no verdict)`;
}

/** Whether nothing but stale entries of the baseline fails the run. */
function failsByBaseline(document: ResultDocument): boolean {
  return !document.interrupted && decisionOf(document).because === 'stale-baseline';
}

/**
 * Returns text such as ", but known.yaml is out of date (34 entries pass now)" if this alone fails the run; otherwise
 * empty. Control characters in the name of the file are escaped.
 */
export function outOfDate(document: ResultDocument): string {
  const { baseline, partial, verdict } = document;
  if (baseline === null || !failsByBaseline(document)) return '';
  const counts = groupBy(baseline.stale, ({ problem }) => problem).map(([, members]) => staleCount(members));
  const but = verdict === 'conformant' && !partial ? ', but' : ';';
  return `${but} ${visible(baseline.file)} is out of date (${counts.join(', ')})`;
}

type Stale = BaselineOutcome['stale'];

const STALE_WORDS: Readonly<Record<Stale[number]['problem'], readonly [one: string, many: string]>> = {
  passes: ['entry passes now', 'entries pass now'],
  'unknown-scenario': ['entry names no check', 'entries name no check'],
  expired: ['entry has expired', 'entries have expired'],
};

/** Returns text such as "34 entries pass now". The entries have the same problem. */
function staleCount(members: Stale): string {
  return members[0] === undefined ? '' : counted(members.length, ...STALE_WORDS[members[0].problem]);
}

/** Maximum number of stale entries with the same problem that have a line each. */
const MAX_STALE = 3;

/**
 * Returns the message of each stale entry, but one line for many with the same problem: "34 entries pass now: NAMES".
 */
export function staleInWords({ stale }: BaselineOutcome, max = MAX_STALE): string[] {
  return groupBy(stale, ({ problem }) => problem).flatMap(([, members]) =>
    members.length > max
      ? [`${staleCount(members)}: ${namesOf(members.map(({ scenario }) => scenario))}`]
      : members.map(({ message }) => message),
  );
}

const VERDICT_SIGN = {
  conformant: 'pass',
  nonconformant: 'fail',
  inconclusive: 'inconclusive',
  'harness-error': 'harness-error',
} as const;

/** Returns the check verdict whose sign represents the run: its verdict, or a failure because of the baseline. */
export function signOf(document: ResultDocument): (typeof VERDICT_SIGN)[RunVerdict] {
  return failsByBaseline(document) ? 'fail' : VERDICT_SIGN[document.verdict];
}

const PARTIAL_WORDS: Readonly<Record<PartialReason, string>> = {
  selection: 'a selection of checks',
  shard: 'one shard',
  bail: 'stopped after the first failure',
  'time-limit': 'stopped at the time limit',
  interruption: 'interrupted',
};

/** Returns what the reader must know in addition to the verdict. */
export function caveats(document: ResultDocument): string[] {
  const lines: string[] = [];
  if (document.partial) lines.push(`${partialInWords(document)}: only a run of the whole catalogue gives a verdict`);
  if (document.lastFullRun !== undefined) lines.push(`last full run: ${fullRunInWords(document.lastFullRun)}`);
  const { features } = document.target;
  if (!features.includes('hmac') && !features.includes('api-key'))
    lines.push('no secret and no API key: authentication was not checked');
  if (document.verdict === 'harness-error') lines.push('internal error in hookproof: no conclusion about the endpoint');
  if (document.verdict === 'inconclusive' && !document.partial) lines.push('no conclusion about the endpoint');
  if (document.strict && document.counts.warn > 0) lines.push('strict: warnings fail the run');
  return lines;
}

/** Formats why a run is partial: "a selection of checks, stopped at the time limit". */
export function partialInWords({ interrupted, partialReasons }: ResultDocument): string {
  const fallback = interrupted ? ('interruption' as const) : ('shard' as const);
  return (partialReasons ?? [fallback]).map((reason) => PARTIAL_WORDS[reason]).join(', ');
}

/** Returns text such as "NOT CONFORMANT on 2026-11-23 at 21:50 UTC (34 failed, 606 passed)". */
export function fullRunInWords({
  counts,
  startedAt,
  verdict,
}: Pick<FullRun, 'counts' | 'startedAt' | 'verdict'>): string {
  const at = `${startedAt.slice(0, 10)} at ${startedAt.slice(11, 16)} UTC`;
  // A nonconformant run without failures was strict: its warnings failed it.
  const strict = verdict === 'nonconformant' && counts.fail === 0 ? ' with --strict' : '';
  return `${VERDICT_WORDS[verdict]} on ${at}${strict} (${numbers({ counts, results: [] })})`;
}

/** Describes what decided the exit code: "Exit code 1: 34 checks failed; 6 known in known.yaml". */
export function decisionInWords(document: ResultDocument): string {
  if (document.interrupted) return 'Interrupted: no verdict';
  const { baseline, inProcess } = document;
  const { because, code, count, known } = decisionOf(document);
  const file = baseline?.file ?? 'the baseline';
  const stale = baseline?.stale.length ?? 0;
  const also = [
    known > 0 ? `; ${known} known in ${file}` : '',
    stale > 0 ? `; ${counted(stale, 'stale entry', 'stale entries')} in ${file}` : '',
  ].join('');
  const words = {
    'harness-errors': `${counted(count, 'harness error')}: no conclusion about the endpoint`,
    'stale-baseline': `${counted(count, 'stale entry', 'stale entries')} in ${file}`,
    failures: `${counted(count, 'check')} failed${also}${document.partial ? ' (partial run)' : ''}`,
    warnings: `${counted(count, 'warning')} with ${inProcess === true ? '`strict`' : '--strict'}${also}`,
    inconclusive: `${counted(count, 'check')} without a conclusion, none failed`,
    'nothing-judged': 'no check was evaluated',
    passed: passedInWords(document, known, file),
  };
  // A test has no exit code.
  return inProcess === true ? words[because] : `Exit code ${code}: ${words[because]}`;
}

function passedInWords(document: ResultDocument, known: number, file: string): string {
  const { counts } = document;
  const partial = document.partial ? ' (partial run, no verdict)' : '';
  const selected = partial === '' ? 'check' : 'selected check';
  const verdict = document.partial ? '' : `${VERDICT_WORDS[document.verdict].toLowerCase()}, `;
  if (known > 0)
    return `${verdict}${known === 1 ? 'the failure is' : `all ${known} failures are`} known (${file})${partial}`;
  if (counts.fail > 0) return `the ${counted(counts.fail, 'failure')} ${counts.fail === 1 ? 'is' : 'are'} not scored`;
  if (counts.warn === 0) return `every ${selected} passed${partial}`;
  return `no ${selected} failed; ${counted(counts.warn, 'warning')}${partial}`;
}

/** Formats the counts: "48 failed, 15 warnings, 407 passed, 130 not applicable". */
export function numbers(document: Pick<ResultDocument, 'counts' | 'results' | 'scoring'>): string {
  const { counts, results } = document;
  const failed = results.filter(({ verdict }) => verdict === 'fail');
  const known = failed.filter((result) => result.known !== null).length;
  const aside = failed.filter((result) => !isScored(document, result)).length;
  const added = [known > 0 ? `${known} known` : '', aside > 0 ? `${aside} not scored` : ''].filter(Boolean).join(', ');
  const parts: [number, string][] = [
    [counts.fail, added === '' ? 'failed' : `failed (${added})`],
    [counts.harnessError, counts.harnessError === 1 ? 'harness error' : 'harness errors'],
    [counts.warn, counts.warn === 1 ? 'warning' : 'warnings'],
    [counts.inconclusive, 'inconclusive'],
    [counts.pass, 'passed'],
    [counts.notApplicable, 'not applicable'],
  ];
  const named = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return named.length === 0 ? 'no check was run' : named.join(', ');
}

/**
 * Returns text such as "304 of 680 planned checks evaluated, 376 not run". {@link numbers} has the other checks without
 * a verdict.
 */
export function judgedLine(document: ResultDocument): string {
  const { judged, notRun } = runCounts(document);
  return `${judged} of ${document.planned} planned checks evaluated${notRun > 0 ? `, ${notRun} not run` : ''}`;
}

/** Returns text such as "12 answers 429, 3 answers 503, 2 checks tried again"; empty if there were none. */
export function metOnTheWay({ retried = [], turnedAway = { 429: 0, 503: 0 } }: ResultDocument): string {
  const answers = ([429, 503] as const).flatMap((status) => {
    const count = turnedAway[status];
    return count === 0 ? [] : `${counted(count, 'answer')} ${status}`;
  });
  const again = retried.length === 0 ? [] : [`${counted(retried.length, 'check')} tried again`];
  return [...answers, ...again].join(', ');
}

/** Whether every planned check that applies has a verdict. */
export function isComplete(document: ResultDocument): boolean {
  const { counts, interrupted, planned } = document;
  return !interrupted && runCounts(document).judged + counts.notApplicable === planned;
}

/** Returns text such as "TLSv1.3 TLS_AES_256_GCM_SHA384, certificate until 2027-01-31". */
export function connectionOf({ protocol, cipher, chain }: NonNullable<ResultDocument['target']['tls']>): string {
  const words = protocol === null ? 'no TLS handshake' : `${protocol} ${cipher ?? ''}`.trim();
  const [leaf] = chain;
  return leaf === undefined ? words : `${words}, certificate until ${leaf.notAfter.slice(0, 10)}`;
}

const FIXTURE = 'fixture-';

/** Returns text such as "security features: hmac, api-key". */
export function featuresOf(target: ResultDocument['target']): string {
  return `security features: ${featureNames(target)}`;
}

/** Returns text such as "hmac, api-key" or "none". Evidence sources are not security features. */
export function featureNames({ features, scheme }: ResultDocument['target']): string {
  const isOther = (feature: string) => feature.startsWith(FIXTURE) || feature === 'rotation';
  const on = features.filter((feature) => !isOther(feature) && !isEvidenceSource(feature));
  const names = on.map((feature) =>
    feature === 'hmac' && scheme !== undefined ? `signature in the scheme ${scheme}` : feature,
  );
  return names.length === 0 ? 'none' : names.join(', ');
}

/**
 * Returns text such as "evidence level 1: answers and effects (effects are the receiver's own statement)". A partial
 * run has no level: "evidence sources: effects, log". Returns '' without either.
 */
export function evidenceOf({ evidence, target }: Pick<ResultDocument, 'evidence' | 'target'>): string {
  if (evidence !== undefined) return `evidence ${levelInWords(evidence)}`;
  const sources = sourcesOf(target);
  return sources === '' ? '' : `evidence sources: ${sources}`;
}

/** Returns text such as "rotation of the secret: steps old, both, new (switched by a command)"; empty without one. */
export function rotationOf({ rotation }: Pick<ResultDocument, 'rotation'>): string {
  return rotation === undefined ? '' : `rotation of the secret: ${stepsInWords(rotation)}`;
}

/** Returns text such as "steps old, both, new (switched by a command)". */
export function stepsInWords({ steps, switchedBy }: NonNullable<ResultDocument['rotation']>): string {
  return `steps ${steps.join(', ')} (switched by a ${switchedBy})`;
}

/** Returns text such as "level 0: the answers alone". */
export function levelInWords({ level, statement }: NonNullable<ResultDocument['evidence']>): string {
  return `level ${level}: ${statement}`;
}

/** Returns text such as "effects, log"; empty without any source. */
export function sourcesOf({ features }: ResultDocument['target']): string {
  return features.filter(isEvidenceSource).join(', ');
}

/**
 * Returns text such as "4 requirements (see --effects), 1 requirement (see --log)": what further evidence sources would
 * verify. Returns '' if there is nothing to verify.
 */
export function verifiableIn({ inProcess, notVerified }: Pick<ResultDocument, 'inProcess' | 'notVerified'>): string {
  const name = inProcess === true ? 'option' : 'flag';
  const entries = notVerified.flatMap(({ verifiable }) => verifiable ?? []);
  return groupBy(entries, ({ sources }) => sources.map((source) => SOURCE_TEXTS[source][name]).join(' and '))
    .map(([flags, group]) => `${counted(group.length, 'requirement')} (see ${flags})`)
    .join(', ');
}

/** Lists the faulty client certificates that the run presented; empty if there were none. */
export function fixturesOf({ features }: ResultDocument['target']): string {
  return features
    .filter((feature) => feature.startsWith(FIXTURE))
    .map((feature) => feature.slice(FIXTURE.length))
    .join(', ');
}

/**
 * Returns text such as "verifies-reserialised-json, matches 31 of 33 outcomes", or the number of checks that show the
 * mistake: a single check is weak evidence.
 */
export function closeness({ fault, mistake, agreement, outcomes }: Diagnosis): string {
  if (outcomes === 1) return `${fault}, shown by one check`;
  // Unlike a fault, a mistake predicts no outcomes, so there is no ratio to state.
  if (fault === mistake && agreement === outcomes) return `${fault}, shown by ${outcomes} checks`;
  return outcomes === 0 ? fault : `${fault}, matches ${agreement} of ${counted(outcomes, 'outcome')}`;
}

/** Returns text such as "signature: no signature header". */
export function changeInWords({ stage, label }: { readonly stage: string; readonly label: string }): string {
  return `${stage === 'sign' ? 'signature' : stage}: ${label}`;
}

/** Maximum number of names before the rest is counted. */
const NAMED = 4;

/** Returns text such as "raw-body/spaces, raw-body/tabs and 12 more". */
export function namesOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more <= 1 ? names.join(', ') : `${names.slice(0, NAMED).join(', ')} and ${more} more`;
}

/**
 * Returns text such as "2 other failures that this does not explain: NAME, NAME"; empty if none is left or there is no
 * diagnosis.
 */
export function notExplained({ diagnosis, results }: Pick<ResultDocument, 'diagnosis' | 'results'>): string {
  const said = new Set(diagnosis.flatMap(({ evidence }) => evidence));
  const failed = results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
  const rest = failed.filter((id) => !said.has(id));
  if (rest.length === 0 || diagnosis.length === 0) return '';
  return `${counted(rest.length, 'other failure')} that this does not explain: ${namesOf(rest)}`;
}

/** The title of the notes, which are neither failures nor warnings. */
export const GOOD_TO_KNOW = 'Good to know: notes on checks that passed';

/** The text for failures that no known fault explains. */
export const NOTHING_FITS = 'No known fault explains these failures. Each one is listed separately below.';

/** Returns text such as "34 failures, 5 warnings". */
export function failuresIn(members: readonly ScenarioResult[]): string {
  const failures = withVerdict(members, 'fail').length;
  const warnings = members.length - failures;
  return [failures > 0 && counted(failures, 'failure'), warnings > 0 && counted(warnings, 'warning')]
    .filter((part) => part !== false)
    .join(', ');
}

/** Returns text such as "3 in raw-body, 1 in signature". */
export function suitesOf(members: readonly Pick<ScenarioResult, 'suite'>[]): string {
  return groupBy(members, ({ suite }) => suite)
    .map(([suite, inSuite]) => `${inSuite.length} in ${suite}`)
    .join(', ');
}

/** Returns why a check has no verdict, or the note on its verdict. */
export function reasonOf({ observed, reason }: ScenarioResult): string {
  return reason || observed || 'no reason was recorded';
}

/** The values of `decidedBy` for results that cannot be explained by the status of one answer. */
const SHOWN_BY_MORE: ReadonlySet<string> = new Set([
  'observation',
  'answers-differ',
  'leak',
  'certificate-fault',
  'receiver-stopped',
]);

/** Returns text such as "answered 401, expected 200 or 4xx". */
export function answerInWords(result: ScenarioResult): string {
  const { answered, decidedBy, expected, expectedOutcomes = [], observed, reason } = result;
  if (decidedBy !== undefined && SHOWN_BY_MORE.has(decidedBy)) return `${reason || observed}; expected ${expected}`;
  const status = answered?.status ?? (/^\d{3}$/.test(observed) ? observed : null);
  const outcomes = expectedOutcomes.every((outcome) => /^\d(?:\d\d|xx)$/.test(outcome)) ? expectedOutcomes : [];
  const [last = expected, ...before] = outcomes.toReversed();
  const wanted = before.length === 0 ? last : `${before.toReversed().join(', ')} or ${last}`;
  return `${status === null ? observed || reason : `answered ${status}`}, expected ${wanted}`;
}
