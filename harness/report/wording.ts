/** The verdict of a run in words that every report shares: the verdict, the numbers, what was tested, what to bear in mind. Pure. */

import { counted } from './layout.ts';
import type { Diagnosis, PartialReason, ResultDocument, RunVerdict } from './result-document.ts';
import { isPartial, isScored } from './verdict.ts';

const VERDICT_WORDS: Readonly<Record<RunVerdict, string>> = {
  conformant: 'CONFORMANT',
  nonconformant: 'NOT CONFORMANT',
  inconclusive: 'NO VERDICT',
  'harness-error': 'HARNESS ERROR',
};

/** The numbers of checks that were run, without a verdict, and of those that were not run. */
function runCounts({ counts, planned, results }: ResultDocument): { run: number; judged: number; notRun: number } {
  const judged = counts.pass + counts.fail + counts.warn;
  const left = results.filter(
    ({ exchanges, observed, verdict }) => verdict === 'inconclusive' && observed === '' && exchanges.length === 0,
  ).length;
  const notRun = left + planned - results.length;
  return { run: planned - notRun - counts.notApplicable, judged, notRun };
}

/**
 * "NOT CONFORMANT"; of a partial run, which has no verdict, "3 of 680 checks run, all passed (partial run, no verdict)".
 */
export function headline(document: ResultDocument): string {
  if (!isPartial(document)) return VERDICT_WORDS[document.verdict];
  const { catalogue, counts } = document;
  const { run } = runCounts(document);
  const outcome = run > 0 && run === counts.pass ? 'all passed' : counted(counts.fail, 'failure');
  const passed = outcome === '0 failures' ? 'none failed' : outcome;
  return `${run} of ${counted(catalogue.scenarios, 'check')} run${run > 0 ? `, ${passed}` : ''} (partial run, no verdict)`;
}

/** The sign that stands beside the verdict of a run: that of the checks which decided it. */
export const VERDICT_SIGN = {
  conformant: 'pass',
  nonconformant: 'fail',
  inconclusive: 'inconclusive',
  'harness-error': 'harness-error',
} as const;

const PARTIAL_WORDS: Readonly<Record<PartialReason, string>> = {
  selection: 'a selection of checks',
  shard: 'one shard',
  bail: 'stopped after the first failure',
  'time-limit': 'stopped at the time limit',
  interruption: 'interrupted',
};

/** What the verdict does not say by itself. */
export function caveats(document: ResultDocument): string[] {
  const lines: string[] = [];
  const because = (document.partialReasons ?? []).map((reason) => PARTIAL_WORDS[reason]);
  if (document.interrupted && because.length === 0) because.push(PARTIAL_WORDS.interruption);
  if (isPartial(document)) lines.push(`${because.join(', ')}: only a run of the whole catalogue gives a verdict`);
  if (document.verdict === 'harness-error')
    lines.push('hookproof itself went wrong, so this says nothing about the endpoint');
  if (document.verdict === 'inconclusive' && !isPartial(document))
    lines.push('nothing is proved, neither for the endpoint nor against it');
  if (document.strict && document.counts.warn > 0) lines.push('strict: warnings fail the run');
  return [...lines, ...aboutBaseline(document)];
}

/** What the list of known failures does to the run. */
function aboutBaseline({ baseline, counts, results }: ResultDocument): string[] {
  if (baseline === null) return [];
  const known = results.filter((result) => result.known !== null && result.verdict === 'fail').length;
  const stale = counted(baseline.stale.length, 'entry', 'entries');
  return [
    ...(known > 0 && known === counts.fail
      ? [`${known === 1 ? 'the failure is' : `all ${known} failures are`} known (${baseline.file}): no failure is new`]
      : []),
    ...(baseline.stale.length > 0 ? [`not true any longer: ${stale} of ${baseline.file}, so the run fails`] : []),
  ];
}

/** "48 failed, 15 warnings, 407 passed, 130 not applicable". */
export function numbers(document: Pick<ResultDocument, 'counts' | 'results' | 'scoring'>): string {
  const { counts, results } = document;
  const failed = results.filter(({ verdict }) => verdict === 'fail');
  const known = failed.filter((result) => result.known !== null).length;
  const aside = failed.filter((result) => !isScored(document, result)).length;
  const besides = [known > 0 ? `${known} known` : '', aside > 0 ? `${aside} not scored` : '']
    .filter(Boolean)
    .join(', ');
  const parts: [number, string][] = [
    [counts.fail, besides === '' ? 'failed' : `failed (${besides})`],
    [counts.harnessError, counts.harnessError === 1 ? 'harness error' : 'harness errors'],
    [counts.warn, counts.warn === 1 ? 'warning' : 'warnings'],
    [counts.inconclusive, 'inconclusive'],
    [counts.pass, 'passed'],
    [counts.notApplicable, 'not applicable'],
  ];
  const named = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return named.length === 0 ? 'nothing was judged' : named.join(', ');
}

/** "304 of 680 planned checks judged, 376 not run". */
export function judgedLine(document: ResultDocument): string {
  const { counts, planned } = document;
  const { judged, notRun } = runCounts(document);
  const rest: [number, string][] = [
    [counts.notApplicable, 'not applicable'],
    [planned - judged - notRun - counts.notApplicable, 'without a verdict'],
    [notRun, 'not run'],
  ];
  const named = rest.filter(([count]) => count > 0).map(([count, word]) => `, ${count} ${word}`);
  return `${judged} of ${planned} planned checks judged${named.join('')}`;
}

/** Whether every planned check that applies has a verdict. */
export function isComplete(document: ResultDocument): boolean {
  const { counts, interrupted, planned } = document;
  return !interrupted && runCounts(document).judged + counts.notApplicable === planned;
}

/** "TLSv1.3 TLS_AES_256_GCM_SHA384, certificate until 2027-01-31". */
export function connectionOf({ protocol, cipher, chain }: NonNullable<ResultDocument['target']['tls']>): string {
  const words = protocol === null ? 'no TLS handshake' : `${protocol} ${cipher ?? ''}`.trim();
  const [leaf] = chain;
  return leaf === undefined ? words : `${words}, certificate until ${leaf.notAfter.slice(0, 10)}`;
}

const FIXTURE = 'fixture-';

/** "with hmac, api-key", or that nothing is on. */
export function featuresOf({ features }: ResultDocument['target']): string {
  const on = features.filter((feature) => !feature.startsWith(FIXTURE));
  return on.length === 0 ? 'no security feature on' : `with ${on.join(', ')}`;
}

/** The client certificates that were there to be refused; empty when there were none. */
export function fixturesOf({ features }: ResultDocument['target']): string {
  return features
    .filter((feature) => feature.startsWith(FIXTURE))
    .map((feature) => feature.slice(FIXTURE.length))
    .join(', ');
}

/** The diagnosis in words that every report shares. Pure. */

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
