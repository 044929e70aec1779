/** The verdict of a run in words that every report shares: the verdict, the numbers, what was tested, what to bear in mind. Pure. */
import type { ResultDocument, RunVerdict } from '../result/result-document.ts';
import { counted } from './layout.ts';

export const VERDICT_WORDS: Readonly<Record<RunVerdict, string>> = {
  conformant: 'CONFORMANT',
  nonconformant: 'NOT CONFORMANT',
  inconclusive: 'NO VERDICT',
  'harness-error': 'HARNESS ERROR',
};

/** The sign that stands beside the verdict of a run: that of the checks which decided it. */
export const VERDICT_SIGN = {
  conformant: 'pass',
  nonconformant: 'fail',
  inconclusive: 'inconclusive',
  'harness-error': 'harness-error',
} as const;

/** What the verdict does not say by itself. */
export function caveats(document: ResultDocument): string[] {
  const lines: string[] = [];
  if (document.interrupted) lines.push('interrupted: what follows is a partial report');
  if (document.verdict === 'harness-error')
    lines.push('hookproof itself went wrong, so this says nothing about the endpoint');
  if (document.verdict === 'inconclusive') lines.push('nothing is proved, neither for the endpoint nor against it');
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
export function numbers({ counts, results }: Pick<ResultDocument, 'counts' | 'results'>): string {
  const known = results.filter((result) => result.known !== null && result.verdict === 'fail').length;
  const parts: [number, string][] = [
    [counts.fail, known === 0 ? 'failed' : `failed (${known} known)`],
    [counts.harnessError, counts.harnessError === 1 ? 'harness error' : 'harness errors'],
    [counts.warn, counts.warn === 1 ? 'warning' : 'warnings'],
    [counts.inconclusive, 'inconclusive'],
    [counts.pass, 'passed'],
    [counts.notApplicable, 'not applicable'],
  ];
  const named = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return named.length === 0 ? 'nothing was judged' : named.join(', ');
}

/** "600 of 600 planned checks judged". */
export function judgedLine({ judged, planned }: Pick<ResultDocument, 'judged' | 'planned'>): string {
  return `${judged} of ${planned} planned checks judged`;
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
