/** The first lines of the terminal report: the verdict, the numbers, and what was tested. */
import type { ResultDocument, RunVerdict } from '../result/result-document.ts';
import { isScored } from '../result/tally.ts';
import { counted, type Layout } from './layout.ts';
import { displayWidth } from './wrap.ts';

const VERDICT_WORDS: Readonly<Record<RunVerdict, string>> = {
  conformant: 'CONFORMANT',
  nonconformant: 'NOT CONFORMANT',
  inconclusive: 'NO VERDICT',
  'harness-error': 'HARNESS ERROR',
};

const VERDICT_SIGN = {
  conformant: 'pass',
  nonconformant: 'fail',
  inconclusive: 'inconclusive',
  'harness-error': 'harness-error',
} as const;

/** What the verdict does not say by itself. */
function caveats(document: ResultDocument): string[] {
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

function numbers(document: Pick<ResultDocument, 'counts' | 'results' | 'scoring'>): string {
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

/** "TLSv1.3 TLS_AES_256_GCM_SHA384, certificate until 2027-01-31". */
function connectionOf({ protocol, cipher, chain }: NonNullable<ResultDocument['target']['tls']>): string {
  const words = protocol === null ? 'no TLS handshake' : `${protocol} ${cipher ?? ''}`.trim();
  const [leaf] = chain;
  return leaf === undefined ? words : `${words}, certificate until ${leaf.notAfter.slice(0, 10)}`;
}

const FIXTURE = 'fixture-';
const nameOfFixture = (feature: string) => feature.slice(FIXTURE.length);

function circumstances(document: ResultDocument): string {
  const { target, profile, scoring, shard } = document;
  const features = target.features.filter((feature) => !feature.startsWith(FIXTURE));
  const fixtures = target.features.filter((feature) => feature.startsWith(FIXTURE));
  const parts = [features.length === 0 ? 'no security feature on' : `with ${features.join(', ')}`];
  if (fixtures.length > 0) parts.push(`client certificates to refuse: ${fixtures.map(nameOfFixture).join(', ')}`);
  if (profile !== null)
    parts.push(`profile ${profile}${scoring === undefined ? '' : `, revision ${scoring.revision}`}`);
  if (target.tls !== null) parts.push(connectionOf(target.tls));
  if (shard !== null) parts.push(`shard ${shard.index} of ${shard.of}`);
  return parts.join('; ');
}

/** The verdict in short, for the end of a long report. */
export function renderClosing(document: ResultDocument, layout: Layout): string[] {
  const verdict = VERDICT_SIGN[document.verdict];
  const words = layout.paint(VERDICT_WORDS[document.verdict], 'bold', layout.style(verdict));
  const [main] = document.diagnosis;
  return [
    `${layout.sign(verdict)} ${words}: ${numbers(document)}`,
    ...(main === undefined ? [] : layout.paragraph('  main cause  ', main.title)),
  ];
}

export function renderHeadline(document: ResultDocument, layout: Layout): string[] {
  const verdict = VERDICT_SIGN[document.verdict];
  const words = layout.paint(VERDICT_WORDS[document.verdict], 'bold', layout.style(verdict));
  const first = `${layout.sign(verdict)} ${words}`;
  const url = layout.safe(document.target.url);
  const besides = VERDICT_WORDS[document.verdict].length + 4;
  return [
    // A URL is only broken when a line of its own is too short for it.
    ...(displayWidth(url) <= layout.width - besides ? [`${first}  ${url}`] : [first, ...layout.paragraph('  ', url)]),
    ...layout.paragraph('  ', numbers(document)),
    ...layout.paragraph('  ', circumstances(document), 'dim'),
    ...caveats(document).flatMap((line) => layout.paragraph('  ', line, 'yellow')),
  ];
}
