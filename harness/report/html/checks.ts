/**
 * Renders every check by suite, with a filter: checks that did not pass come first; passes and checks that do not apply
 * are folded.
 */
import { requirement } from '../../../scenarios/index.ts';
import type { ScenarioResult, Verdict } from '../result-document.ts';
import { milliseconds, type ShownExchanges } from './exchanges.ts';
import { capital, field, html, joined, type Markup, prose, script } from './markup.ts';
import { bySuite, countOf, FACES, type Face, faceOf, suiteAnchor, suiteTitle } from './verdict-shapes.ts';

/** The anchors of checks and requirements. They are numbered, so no string in a document becomes an id. */
export interface Anchors {
  readonly ofCheck: ReadonlyMap<string, number>;
  readonly ofRequirement: ReadonlyMap<string, number>;
}

export function anchorsOf(results: readonly ScenarioResult[]): Anchors {
  const numbered = (names: Iterable<string>) => new Map([...new Set(names)].map((name, at) => [name, at]));
  return {
    ofCheck: numbered(results.map(({ id }) => id)),
    ofRequirement: numbered(results.flatMap(({ requirements }) => requirements)),
  };
}

/** Renders the id of a check, as a link if the page contains the check. */
export function checkLink(id: string, anchors: Anchors): Markup {
  const at = anchors.ofCheck.get(id);
  return at === undefined ? html`<code>${id}</code>` : html`<a href="#c${at}"><code>${id}</code></a>`;
}

export function checkLinks(members: readonly ScenarioResult[], anchors: Anchors): Markup {
  const links = members.map(({ id }) => checkLink(id, anchors));
  return joined(links, ', ');
}

/** Verdicts that are folded by default. */
const QUIET: ReadonlySet<Verdict> = new Set(['pass', 'not-applicable']);

/** Maximum number of inconclusive checks shown unfolded. More usually share a reason, which is shown once. */
const MAX_INCONCLUSIVE = 20;

export function checks(
  results: readonly ScenarioResult[],
  evidence: ReadonlyMap<ScenarioResult, ShownExchanges>,
  anchors: Anchors,
): Markup {
  const suites = bySuite(results);
  const foldsInconclusive = countOf(results, 'inconclusive') > MAX_INCONCLUSIVE;
  const isQuiet = (verdict: Verdict) => QUIET.has(verdict) || (verdict === 'inconclusive' && foldsInconclusive);
  const line = (result: ScenarioResult) => check(result, evidence.get(result), anchors);
  const fold = (face: Face, members: readonly ScenarioResult[]) =>
    members.length > 0 &&
    html`<details class="quiet"><summary>${members.length} ${face.counted(members.length)}</summary>
${members.map(line)}</details>`;
  const sections = suites.map(
    ([suite, members], at) => html`<section class="suite" data-s="${at}">
<h3 id="${suiteAnchor(suite)}">${suite} <span>${suiteTitle(suite)}</span></h3>${[
      ...members.filter(({ verdict }) => !isQuiet(verdict)).map(line),
      ...FACES.filter(({ verdict }) => isQuiet(verdict)).map((face) =>
        fold(
          face,
          members.filter(({ verdict }) => verdict === face.verdict),
        ),
      ),
    ]}</section>`,
  );
  const names = suites.map(([suite]) => suite);
  return html`${filterForm(results, names)}${sections}`;
}

/** Renders the filter form, which stays hidden until the script that implements it runs. */
function filterForm(results: readonly ScenarioResult[], suites: readonly string[]): Markup {
  const buttons = FACES.map(({ verdict, word }) => {
    const count = countOf(results, verdict);
    return (
      count > 0 && html`<button type="button" aria-pressed="false" data-v="${verdict}"><b>${word}</b> ${count}</button>`
    );
  });
  const options = suites.map((suite, at) => html`<option value="${at}">${suite}</option>`);
  return html`<form id="filter" hidden><div class="verdicts" role="group" aria-label="Verdict">${buttons}</div>
<label>Suite <select id="suite"><option value="">all</option>${options}</select></label>
<label class="words">Find <input type="search" id="words" autocomplete="off" spellcheck="false"></label>
<button type="button" id="unfold">Open all shown</button><p id="found" role="status"></p></form>`;
}

/**
 * Renders one check: a line that unfolds into its details. The evidence is passed in, because its size is limited for
 * the whole page.
 */
function check(result: ScenarioResult, evidence: ShownExchanges | undefined, anchors: Anchors): Markup {
  const { defect, id, known, level, title, verdict } = result;
  const tags = [level === 'must' ? '' : level, known === null ? '' : 'known'].filter((tag) => tag !== '');
  const text = QUIET.has(verdict) ? inShort(result, anchors) : inFull(result, anchors);
  const isRepeated = evidence?.isRepeated === true && html` class="repeated"`;
  const name = html`${defect ?? title}${tags.map((tag) => html` <em>${tag}</em>`)}`;
  return html`<details data-v="${verdict}"${isRepeated}>
<summary><b>${faceOf(verdict).word}</b><code>${id}</code><span>${name}</span></summary>
<div id="c${anchors.ofCheck.get(id)}">${text}${evidence?.exchanges}</div></details>
`;
}

/** Renders a result that needs no action, briefly, because a page contains hundreds of them. */
function inShort(result: ScenarioResult, anchors: Anchors): Markup {
  const { durationMs, expected, observed, reason, verdict, why } = result;
  const took = durationMs > 0 ? `, in ${milliseconds(durationMs)}` : '';
  const outcome =
    observed === expected ? `${observed}, as expected${took}` : `Observed ${observed}; expected ${expected}${took}`;
  const sentences = (verdict === 'pass' ? [outcome, reason] : [reason]).filter((text) => text !== '');
  return html`<p>${sentences.map((text) => `${capital(text)}. `)}${prose(why)}</p>
<p>${requirementsOf(result, anchors)}</p>`;
}

function inFull(result: ScenarioResult, anchors: Anchors): Markup {
  const { durationMs, expected, fix, known, observed, reason, reproduce, verdict, why } = result;
  const { curl, command } = reproduce ?? { curl: null, command: null };
  // Without a verdict, there is no defect to fix.
  const hasFix = (verdict === 'fail' || verdict === 'warn') && fix !== '';
  return html`<dl>${[
    field('Expected', expected),
    field('Observed', observed),
    field('Reason', reason === observed ? '' : capital(reason)),
    field('Known', known === null ? '' : `${known.reason} (owner: ${known.owner}, until ${known.expires})`),
    field('Why it matters', why === '' ? '' : prose(why)),
    field('Fix', hasFix ? prose(fix) : ''),
    field('Requirement', requirementsOf(result, anchors)),
    field('Took', durationMs > 0 ? milliseconds(durationMs) : ''),
    field('Run it again', command === null ? '' : script(command)),
    curl === null ? '' : html`<dt class="screen">With curl</dt><dd class="screen">${script(curl)}</dd>`,
  ]}</dl>`;
}

/**
 * Renders the requirements: with their texts for a failure or warning, otherwise as links to the list at the end of the
 * page.
 */
function requirementsOf({ requirements, verdict }: ScenarioResult, anchors: Anchors): Markup | '' {
  if (requirements.length === 0) return '';
  const link = (id: string) => {
    const at = anchors.ofRequirement.get(id);
    return at === undefined ? html`<code>${id}</code>` : html`<a href="#q${at}">${id}</a>`;
  };
  if (verdict !== 'fail' && verdict !== 'warn') return joined(requirements.map(link), ', ');
  return joined(
    requirements.map((id) => html`${link(id)}: ${requirementText(id)}`),
    html`<br>`,
  );
}

function requirementText(id: string): string {
  return requirement(id)?.text ?? 'Not in this catalogue.';
}

/** Renders the requirements of the checks, each once, with its text and the results of its checks. */
export function requirementList(results: readonly ScenarioResult[], { ofRequirement }: Anchors): Markup {
  const checksOf = new Map([...ofRequirement.keys()].map((id) => [id, [] as ScenarioResult[]]));
  for (const result of results) for (const id of new Set(result.requirements)) checksOf.get(id)?.push(result);
  const rows = [...checksOf].map(
    ([id, members]) => html`<dt id="q${ofRequirement.get(id)}">${id}</dt>
<dd>${requirementText(id)} <span class="close">${numbersOf(members)}</span></dd>`,
  );
  return html`<details class="fold" id="requirements"><summary>${checksOf.size} requirements with their texts</summary>
<dl class="requirements">${rows}</dl></details>`;
}

function numbersOf(results: readonly ScenarioResult[]): string {
  return FACES.flatMap(({ counted, verdict }) => {
    const count = countOf(results, verdict);
    return count === 0 ? [] : [`${count} ${counted(count)}`];
  }).join(', ');
}
