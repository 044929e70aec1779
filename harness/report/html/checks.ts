/** Every check, by suite: first what is no pass, then the passes and what does not apply behind folds. With a filter. */
import type { ScenarioResult, Verdict } from '../../result/result-document.ts';
import { groupBy } from '../group.ts';
import type { Evidence } from './allowance.ts';
import { check, type Places } from './check.ts';
import { html, type Markup } from './markup.ts';
import { suiteTitle } from './matrix.ts';
import { FACES, type Face } from './verdicts.ts';

/** Folded away unless asked for. */
const QUIET: ReadonlySet<Verdict> = new Set(['pass', 'not-applicable']);

/** Of more checks without a verdict than this, most share one reason, which stands above: these are folded away too. */
const FEW = 20;

function filterForm(results: readonly ScenarioResult[], suites: readonly string[]): Markup {
  const buttons = FACES.map((face) => ({
    face,
    count: results.filter(({ verdict }) => verdict === face.verdict).length,
  }))
    .filter(({ count }) => count > 0)
    .map(
      ({ face, count }) =>
        html`<button type="button" aria-pressed="false" data-v="${face.verdict}"><b>${face.word}</b> ${count}</button>`,
    );
  // Without the script there is nothing that would filter, so the script is what shows it.
  return html`<form id="filter" hidden><div class="verdicts" role="group" aria-label="Verdict">${buttons}</div><label>Suite <select id="suite"><option value="">all</option>${suites.map(
    (suite, at) => html`<option value="${at}">${suite}</option>`,
  )}</select></label><label class="words">Find <input type="search" id="words" autocomplete="off" spellcheck="false"></label><button type="button" id="unfold">Open all shown</button><p id="found" role="status"></p></form>`;
}

function folded(face: Face, members: readonly ScenarioResult[], line: (result: ScenarioResult) => Markup): Markup | '' {
  if (members.length === 0) return '';
  return html`<details class="quiet"><summary>${members.length} ${face.counted(members.length)}</summary>${members.map(line)}</details>`;
}

export function checks(
  results: readonly ScenarioResult[],
  evidence: ReadonlyMap<ScenarioResult, Evidence>,
  places: Places,
): Markup {
  const suites = groupBy(results, ({ suite }) => suite);
  const open = results.filter(({ verdict }) => verdict === 'inconclusive').length;
  const isQuiet = (verdict: Verdict): boolean => QUIET.has(verdict) || (verdict === 'inconclusive' && open > FEW);
  const line = (result: ScenarioResult): Markup => check(result, evidence.get(result), places);
  const sections = suites.map(([suite, members], at) => {
    const loud = members.filter(({ verdict }) => !isQuiet(verdict));
    return html`<section class="suite" data-s="${at}"><h3 id="s${at}">${suite} <span>${suiteTitle(suite)}</span></h3>${loud.map(line)}${FACES.filter(
      ({ verdict }) => isQuiet(verdict),
    ).map((face) =>
      folded(
        face,
        members.filter(({ verdict }) => verdict === face.verdict),
        line,
      ),
    )}</section>`;
  });
  return html`${filterForm(
    results,
    suites.map(([suite]) => suite),
  )}${sections}`;
}
