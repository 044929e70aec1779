/** The terminal report. It reads from the top: the verdict, the cause, what failed and how to mend it, then all the rest. */
import type { ResultDocument } from '../result/result-document.ts';
import { isPartial, isScored } from '../result/tally.ts';
import { renderKnown, renderStale } from './human-baseline.ts';
import { renderCases } from './human-cases.ts';
import { renderDiagnosis } from './human-diagnosis.ts';
import {
  renderAdvice,
  renderHarnessErrors,
  renderInconclusive,
  renderNotApplicable,
  renderNotes,
  renderNotVerified,
} from './human-groups.ts';
import { renderClosing, renderHeadline } from './human-headline.ts';
import { renderNotScored } from './human-not-scored.ts';
import { renderLastLine, renderTable } from './human-table.ts';
import { createLayout, type TerminalOptions } from './layout.ts';

/** A longer report has scrolled its first line away: the verdict is then said again at the end. */
const SCREEN_LINES = 100;

/**
 * The document as text for a terminal, ending with a newline. The first line is the verdict; the last one says how many of
 * the planned checks were judged.
 *
 * Lines keep to `columns` (40 at the least, 120 at the most), except what is there to be copied (commands and scripts) and the
 * last line. Whatever came from the endpoint is escaped: no control character reaches the terminal.
 */
export function renderHuman(document: ResultDocument, options: TerminalOptions): string {
  const layout = createLayout(options);
  const { results } = document;
  const scored = results.filter((result) => isScored(document, result));
  const fresh = scored.filter(({ known }) => known === null);
  const sections = [
    renderHeadline(document, layout),
    renderDiagnosis(document, layout),
    renderStale(document.baseline, layout),
    renderHarnessErrors(scored, layout),
    renderCases(
      'Failures',
      fresh.filter((result) => result.verdict === 'fail'),
      layout,
    ),
    renderCases(
      'Warnings',
      fresh.filter((result) => result.verdict === 'warn'),
      layout,
    ),
    renderKnown(scored, document.baseline, layout),
    renderInconclusive(scored, layout),
    renderNotScored(document, layout),
    renderNotes(results, layout),
    renderNotApplicable(results, layout),
    renderAdvice(document.advice, layout),
    renderNotVerified(document.notVerified, layout),
    renderTable(results, layout),
    [renderLastLine(document, layout)],
  ];
  const long = sections.flat().length > SCREEN_LINES;
  if (long && (document.verdict !== 'conformant' || isPartial(document)))
    sections.splice(-1, 0, renderClosing(document, layout));
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}
