/** The first lines of the terminal report: the verdict, the numbers, and what was tested. */
import type { ResultDocument } from '../result/result-document.ts';
import { caveats, connectionOf, featuresOf, fixturesOf, headline, numbers, VERDICT_SIGN } from './headline-words.ts';
import type { Layout } from './layout.ts';
import { displayWidth } from './wrap.ts';

function circumstances(document: ResultDocument): string {
  const { target, profile, scoring, shard } = document;
  const fixtures = fixturesOf(target);
  const parts = [featuresOf(target)];
  if (fixtures !== '') parts.push(`client certificates to refuse: ${fixtures}`);
  if (profile !== null)
    parts.push(`profile ${profile}${scoring === undefined ? '' : `, revision ${scoring.revision}`}`);
  if (target.tls !== null) parts.push(connectionOf(target.tls));
  if (shard !== null) parts.push(`shard ${shard.index} of ${shard.of}`);
  return parts.join('; ');
}

/** The verdict in short, for the end of a long report. */
export function renderClosing(document: ResultDocument, layout: Layout): string[] {
  const verdict = VERDICT_SIGN[document.verdict];
  const words = layout.paint(headline(document), 'bold', layout.style(verdict));
  const [main] = document.diagnosis;
  return [
    `${layout.sign(verdict)} ${words}: ${numbers(document)}`,
    ...(main === undefined ? [] : layout.paragraph('  main cause  ', main.title)),
  ];
}

export function renderHeadline(document: ResultDocument, layout: Layout): string[] {
  const verdict = VERDICT_SIGN[document.verdict];
  const words = layout.paint(headline(document), 'bold', layout.style(verdict));
  const first = `${layout.sign(verdict)} ${words}`;
  const url = layout.safe(document.target.url);
  const besides = headline(document).length + 4;
  return [
    // A URL is only broken when a line of its own is too short for it.
    ...(displayWidth(url) <= layout.width - besides ? [`${first}  ${url}`] : [first, ...layout.paragraph('  ', url)]),
    ...layout.paragraph('  ', numbers(document)),
    ...layout.paragraph('  ', circumstances(document), 'dim'),
    ...caveats(document).flatMap((line) => layout.paragraph('  ', line, 'yellow')),
  ];
}
