/** Renders the page about all partners in the register: who may get traffic, until when, and with which evidence. */
import type { RegisterRecord } from '../../register/record.ts';
import { byNeed, type Changed, endpointOf, judgedBy, type Standing, type State } from '../../register/standing.ts';
import type { Verdict } from '../result-document.ts';
import { certificateInWords, STATE_SIGNS, trafficInWords } from '../standing-wording.ts';
import { html, joined, type Markup } from './markup.ts';
import { renderPage } from './page.ts';
import { barOf, faceOf, shape, suiteAnchor, suiteTitle } from './verdict-shapes.ts';

export interface FleetView {
  /** When the standings were derived, ISO 8601. */
  readonly at: string;
  readonly standings: readonly Standing[];
  /** The changed standings, and since when; null if nothing is compared. */
  readonly changes: { readonly since: string; readonly changed: readonly Changed[] } | null;
  /** The files in each partner's folder, by partner. The page links to them. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** Sentences about the whole page that readers must know. */
  readonly caveats: readonly string[];
}

/** The words that follow the number of partners in each state. */
const MANY: Readonly<Record<State, string>> = {
  certified: 'certified',
  allowed: 'allowed by an override',
  failing: 'failing',
  drifted: 'drifted',
  revoked: 'revoked',
  expired: 'expired',
  uncertified: 'never certified',
};

/** Maximum number of rows. With more, filtering would lag behind typing. */
const MAX_ROWS = 2000;
const MAX_CHANGES = 40;

/** Renders the page, ending with a newline. Partners are sorted by state (without traffic first), then by name. */
export function renderFleetPage(view: FleetView): string {
  const { standings } = view;
  const ordered = byNeed(standings)
    .flatMap(({ standings: own }) => own)
    .slice(0, MAX_ROWS);
  const changed = new Set(view.changes?.changed.map(({ now }) => now.partner));
  const suites = [...new Set(ordered.flatMap((one) => Object.keys(judgedBy(one)?.suites ?? {})))];
  const legend = (['fail', 'warn', 'inconclusive', 'pass', 'not-applicable'] as const).map(
    (verdict) => html`<span>${shape(verdict)}${faceOf(verdict).word}</span>`,
  );
  const columns = suites.map(
    (suite) => html`<th scope="col" class="s" title="${suiteTitle(suite)}"><span>${suite}</span></th>`,
  );
  const rows = ordered.map((one) => row(one, suites, changed.has(one.partner), view.files));
  return renderPage({
    title: `${trafficInWords(standings)} - hookproof`,
    styles: ['report.css', 'fleet.css'],
    script: 'fleet.js',
    kind: 'fleet',
    body: html`${masthead(view)}
<main>${changesOf(view)}<section><h2>Partners by suites</h2>${filterForm(view)}<p class="legend">${legend}</p>
<table id="fleet"><thead><tr>
<th scope="col">Partner</th><th scope="col" class="o">Traffic</th>${columns}</tr></thead>
<tbody>${rows}</tbody></table></section></main>`,
  });
}

function masthead({ at, caveats, standings }: FleetView): Markup {
  const present = byNeed(standings);
  const numbers = present.map(({ state, standings: own }) => `${own.length} ${MANY[state]}`);
  const parts = present.map(({ state, standings: own }) => ({ verdict: STATE_SIGNS[state], count: own.length }));
  const isCut = standings.length > MAX_ROWS;
  const cut = `This page has ${MAX_ROWS} of ${standings.length} partners, those without traffic first.`;
  const all = [...caveats, ...(isCut ? [`${cut} \`hookproof partners --json\` has all of them.`] : [])];
  return html`<header><p class="brand">hookproof partners</p>
<h1>${shape(STATE_SIGNS[present[0]?.state ?? 'uncertified'])}${trafficInWords(standings)}</h1>
${barOf(parts, standings.length)}
<p class="numbers">${numbers.join(', ')}.</p>${all.map((line) => html`<p class="caveat">${line}</p>`)}
<p class="close">From the register at ${when(at)}.</p></header>`;
}

/** Returns text such as "2026-11-21 19:52 UTC". */
function when(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

function changesOf({ changes }: FleetView): Markup | '' {
  if (changes === null) return '';
  const { changed, since } = changes;
  const left = changed.length - MAX_CHANGES;
  const line = ({ now, before }: Changed) =>
    html`<li><b>${now.partner}</b> ${before === null ? 'new' : before.state} to ${now.state}</li>`;
  const list = html`<ul class="changed">${changed.slice(0, MAX_CHANGES).map(line)}${
    left > 0 && html`<li>and ${left} more, marked below</li>`
  }</ul>`;
  return html`<section><h2>Since ${when(since)}</h2>${
    changed.length === 0 ? html`<p>No state has changed.</p>` : list
  }</section>`;
}

/** Renders the filter form, which stays hidden until the script that implements it runs. */
function filterForm({ changes, standings }: FleetView): Markup {
  const buttons = byNeed(standings).map(
    ({ state, standings: own }) =>
      html`<button type="button" aria-pressed="false" data-o="${state}">${state} ${own.length}</button>`,
  );
  const change =
    changes !== null &&
    html`<label>Change <select id="change"><option value="">any</option><option>changed</option></select></label>`;
  return html`<form id="filter" hidden><div class="verdicts">${buttons}</div>${change}
<label>Sort by <select id="sort"><option value="o">state</option><option value="n">name</option>
<option value="e">expiry</option></select></label>
<label class="words">Find <input id="words" type="search" autocomplete="off"></label>
<span id="found" role="status"></span></form>`;
}

function row(standing: Standing, suites: readonly string[], isChanged: boolean, files: FleetView['files']): Markup {
  const { partner, state, until, warnings } = standing;
  const judged = judgedBy(standing);
  const own = files.get(partner) ?? [];
  const isReported = own.includes('report.html');
  const mark = isChanged && html` <em class="${standing.mayGetTraffic ? 'better' : 'worse'}">changed</em>`;
  const cells = suites.map((suite) =>
    suiteCell(suite, judged?.suites[suite], isReported ? `${partner}/report.html#${suiteAnchor(suite)}` : null),
  );
  return html`<tr data-o="${state}" data-c="${isChanged ? 'changed' : ''}" data-e="${until ?? '~'}"
data-f="${wordsToFind(standing)}">
<th scope="row"><b>${partner}</b><span>${endpointOf(standing) ?? ''}</span></th>
<td class="o"><b class="v-${STATE_SIGNS[state]}">${shape(STATE_SIGNS[state])}${state}</b>${mark}
<span>${why(standing)}</span>${warnings.map((text) => html`<span class="v-warn">${text}</span>`)}
<span class="links">${joined(linksTo(partner, own), ' ')}</span></td>${cells}</tr>
`;
}

/** Returns what Find matches in addition to the shown texts: the newest cause, and suites with failures or warnings. */
function wordsToFind(standing: Standing): string {
  const suites = Object.entries(judgedBy(standing)?.suites ?? {});
  const found = suites.flatMap(([suite, { fail, warn }]) => (fail + warn > 0 ? [suite] : []));
  return [standing.last.find(({ cause }) => cause !== null)?.cause?.fault ?? '', ...found].join(' ');
}

function why(standing: Standing): string {
  const { reason, since, until } = standing;
  const time = until === null ? since && `since ${since.slice(0, 10)}` : `until ${until.slice(0, 10)}`;
  const because = reason === null ? null : `reason: ${reason}`;
  const parts = [time, ...certificateInWords(standing), because];
  return parts.filter((part) => part !== null).join('; ');
}

function linksTo(partner: string, files: readonly string[]): Markup[] {
  const known = [
    ['report.html', 'report'],
    ['run.json', 'run.json'],
    ['certificate.dsse.json', 'certificate'],
  ] as const;
  return known
    .filter(([file]) => files.includes(file))
    .map(([file, text]) => html`<a href="${partner}/${file}" aria-label="${text} of ${partner}">${text}</a>`);
}

type Counts = RegisterRecord['suites'][string];

const QUIET: ReadonlySet<Verdict> = new Set(['pass', 'not-applicable', 'inconclusive']);

function suiteCell(suite: string, counts: Counts | undefined, link: string | null): Markup {
  if (counts === undefined) return html`<td class="q"><span class="sr">not run</span></td>`;
  const [verdict, count] = worstOf(counts);
  const isQuiet = QUIET.has(verdict);
  const word = html`<span class="sr">${faceOf(verdict).word}</span>`;
  const number = html`${isQuiet ? '' : `${count} `}${word}`;
  const content = link === null || isQuiet ? number : html`<a href="${link}">${number}</a>`;
  return html`<td class="s v-${verdict}${isQuiet && ' q'}" data-w="${suite}"><i></i>${content}</td>`;
}

/** Returns the most severe verdict in the suite, and its number of checks. */
function worstOf(counts: Counts): readonly [Verdict, number] {
  if (counts.harnessError > 0) return ['harness-error', counts.harnessError];
  if (counts.fail > 0) return ['fail', counts.fail];
  if (counts.warn > 0) return ['warn', counts.warn];
  if (counts.inconclusive > 0) return ['inconclusive', counts.inconclusive];
  return counts.pass > 0 ? ['pass', counts.pass] : ['not-applicable', counts.notApplicable];
}
