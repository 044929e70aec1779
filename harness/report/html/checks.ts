/** Every check, by suite: first what is no pass, then the passes and what does not apply behind folds. With a filter. */

import { requirement } from '../../../scenarios/index.ts';
import { groupBy } from '../causes.ts';
import type { ScenarioResult, Verdict } from '../result-document.ts';
import { type Evidence, milliseconds } from './exchanges.ts';
import { capital, html, joined, type Markup, prose, script } from './markup.ts';
import { FACES, type Face, faceOf, suiteTitle } from './verdict-shapes.ts';

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

/** One check: a line that unfolds into everything that is known of it. */

/** Where things stand in the page: numbers, so that no string of a document becomes a name. */
export interface Places {
  readonly ofCheck: ReadonlyMap<string, number>;
  readonly ofRequirement: ReadonlyMap<string, number>;
}

/** The id of a check as a link to its line; as it is when the page does not have it. */
export function checkLink(id: string, places: Places): Markup {
  const at = places.ofCheck.get(id);
  return at === undefined ? html`<code>${id}</code>` : html`<a href="#c${at}"><code>${id}</code></a>`;
}

function field(name: string, value: Markup | string): Markup | '' {
  return value === '' ? '' : html`<dt>${name}</dt><dd>${value}</dd>`;
}

/** With their texts where something has to be mended; elsewhere they lead to the register at the end of the page. */
function requirementsOf({ requirements, verdict }: ScenarioResult, places: Places): Markup | '' {
  if (requirements.length === 0) return '';
  const inFull = verdict === 'fail' || verdict === 'warn';
  const link = (id: string) => {
    const at = places.ofRequirement.get(id);
    return at === undefined ? html`<code>${id}</code>` : html`<a href="#q${at}">${id}</a>`;
  };
  if (!inFull) return joined(requirements.map(link), ', ');
  return joined(
    requirements.map((id) => html`${link(id)}: ${requirement(id)?.text ?? 'not in this catalogue'}`),
    html`<br>`,
  );
}

function knownText({ known }: ScenarioResult): string {
  return known === null ? '' : `${known.reason} (owner: ${known.owner}, until ${known.expires})`;
}

/** Where nothing is to be done a few words are enough: there are hundreds of these. */
function inShort(result: ScenarioResult, places: Places): Markup {
  const { durationMs, expected, observed, reason, verdict, why } = result;
  const took = durationMs > 0 ? `, in ${milliseconds(durationMs)}` : '';
  const came =
    observed === expected ? `${observed}, as expected${took}` : `Observed ${observed}; expected ${expected}${took}`;
  const said = verdict === 'pass' ? [came, reason] : [reason];
  return html`<p>${said.filter((text) => text !== '').map((text) => `${capital(text)}. `)}${prose(why)}</p><p>${requirementsOf(result, places)}</p>`;
}

function inFull(result: ScenarioResult, places: Places): Markup {
  const { durationMs, expected, observed, reason, reproduce, verdict, why } = result;
  // Without a verdict there is no mistake in sight that the fix would mend.
  const mends = (verdict === 'fail' || verdict === 'warn') && result.fix !== '';
  const curl = reproduce?.curl ?? null;
  return html`<dl>${[
    field('Expected', expected),
    field('Observed', observed),
    field('Reason', reason === observed ? '' : capital(reason)),
    field('Known', knownText(result)),
    field('Why it matters', why === '' ? '' : prose(why)),
    field('Fix', mends ? prose(result.fix) : ''),
    field('Requirement', requirementsOf(result, places)),
    field('Took', durationMs > 0 ? milliseconds(durationMs) : ''),
    field('Run it alone', reproduce === null ? '' : script(reproduce.command)),
    curl === null ? '' : html`<dt class="screen">With curl</dt><dd class="screen">${script(curl)}</dd>`,
  ]}</dl>`;
}

/** The evidence is finished, because how much of it is shown depends on the whole page. */
function check(result: ScenarioResult, evidence: Evidence | undefined, places: Places): Markup {
  const { id, known, level, title, verdict } = result;
  const tags = [level === 'must' ? '' : level, known === null ? '' : 'known'].filter((tag) => tag !== '');
  const said = verdict === 'pass' || verdict === 'not-applicable' ? inShort(result, places) : inFull(result, places);
  return html`<details data-v="${verdict}"${evidence?.again === true && html` class="again"`}><summary><b>${faceOf(verdict).word}</b><code>${id}</code><span>${title}${tags.map((tag) => html` <em>${tag}</em>`)}</span></summary><div id="c${places.ofCheck.get(id)}">${said}${evidence?.exchanges}</div></details>
`;
}

/** The requirements that the checks refer to, each once, with its text and what became of its checks. */

/** The ids in the order in which the checks name them. */
export function requirementIds(results: readonly ScenarioResult[]): string[] {
  return [...new Set(results.flatMap(({ requirements }) => requirements))];
}

function numbersOf(results: readonly ScenarioResult[]): string {
  return FACES.flatMap(({ counted, verdict }) => {
    const count = results.filter((result) => result.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${counted(count)}`];
  }).join(', ');
}

export function register(results: readonly ScenarioResult[]): Markup {
  const ids = requirementIds(results);
  const checksOf = new Map(ids.map((id) => [id, [] as ScenarioResult[]]));
  for (const result of results) for (const id of new Set(result.requirements)) checksOf.get(id)?.push(result);
  return html`<details class="fold" id="requirements"><summary>${ids.length} requirements with their texts</summary><dl class="register">${ids.map(
    (id, at) =>
      html`<dt id="q${at}">${id}</dt><dd>${requirement(id)?.text ?? 'Not in this catalogue.'} <span class="close">${numbersOf(checksOf.get(id) ?? [])}</span></dd>`,
  )}</dl></details>`;
}
