/** The page about many partners: partners by suites, and what changed since the previous certification. */
import { changeOf, type FleetDocument, type FleetPartner, OUTCOMES, type Outcome } from '../../fleet.ts';
import { counted, formatDuration } from '../layout.ts';
import type { Verdict } from '../result-document.ts';
import { html, joined, type Markup } from './markup.ts';
import { renderPage } from './page.ts';
import { barOf, faceOf, shape, suiteTitle } from './verdict-shapes.ts';

/** How each outcome looks: the shape of a verdict, a word, and the words after a number of partners. */
const FACE: Readonly<Record<Outcome, readonly [verdict: Verdict, word: string, many: string]>> = {
  'harness-error': ['harness-error', 'error', 'with a harness error'],
  failed: ['fail', 'failed', 'failed'],
  refused: ['warn', 'refused', 'refused'],
  inconclusive: ['inconclusive', 'no verdict', 'without a verdict'],
  'not-run': ['not-applicable', 'not run', 'not run'],
  certified: ['pass', 'certified', 'certified'],
};

/** The document as a page, ending with a newline. Partners are sorted by outcome, the worst first, then by name. */
export function renderFleetPage(document: FleetDocument): string {
  const { partners } = document;
  const suites = [...new Set(partners.flatMap((partner) => Object.keys(partner.suites)))];
  const ordered = OUTCOMES.flatMap((name) => partners.filter(({ outcome }) => outcome === name));
  const legend = (['fail', 'warn', 'inconclusive', 'pass', 'not-applicable'] as const).map(
    (verdict) => html`<span>${shape(verdict)}${faceOf(verdict).word}</span>`,
  );
  const columns = suites.map(
    (suite) => html`<th scope="col" class="s" title="${suiteTitle(suite)}"><span>${suite}</span></th>`,
  );
  return renderPage({
    title: `${certifiedOf(document)} - hookproof`,
    styles: ['report.css', 'fleet.css'],
    script: 'fleet.js',
    kind: 'fleet',
    body: html`${masthead(document)}
<main>${changes(document)}<section><h2>Partners by suites</h2>${filterForm(document)}<p class="legend">${legend}</p>
<table id="fleet"><thead><tr>
<th scope="col">Partner</th><th scope="col" class="o">Outcome</th>${columns}</tr></thead>
<tbody>${ordered.map((partner) => row(partner, suites))}</tbody></table></section></main>`,
  });
}

function masthead(document: FleetDocument): Markup {
  const { catalogue, complete, durationMs, partners, previous, shard, startedAt, tool, totals } = document;
  const present = OUTCOMES.filter((name) => totals[name] > 0);
  const numbers = present.map((name) => `${totals[name]} ${FACE[name][2]}`);
  const parts = present.map((name) => ({ verdict: FACE[name][0], count: totals[name] }));
  const caveats = [
    ...(complete ? [] : ['Incomplete: still running, or interrupted. Continue with --resume.']),
    ...(shard === null ? [] : [`Shard ${shard.index} of ${shard.of}: a part of the partners.`]),
  ];
  return html`<header><p class="brand">hookproof partners</p>
<h1>${shape(FACE[present[0] ?? 'not-run'][0])}${certifiedOf(document)}</h1>
${barOf(parts, partners.length)}
<p class="numbers">${numbers.join(', ')}.</p>${caveats.map((line) => html`<p class="caveat">${line}</p>`)}
<p class="close">${when(startedAt)}, ${formatDuration(durationMs)}. ${tool.name} ${tool.version},
catalogue ${catalogue.digest.slice(0, 19)}.${
    previous !== null && html` Compared with ${when(previous.startedAt)}.`
  }</p></header>`;
}

function certifiedOf({ partners, totals }: FleetDocument): string {
  return `${totals.certified} of ${counted(partners.length, 'partner')} certified`;
}

/** "2026-11-21 19:52 UTC". */
function when(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

/** What became worse or better since the previous certification. Empty without one. */
function changes({ partners, previous }: FleetDocument): Markup | '' {
  if (previous === null) return '';
  const line = ({ name, outcome, previous: before }: FleetPartner) =>
    html`<li><b>${name}</b> ${before === null ? '' : FACE[before.outcome][1]} to ${FACE[outcome][1]}</li>`;
  const list = (change: 'worse' | 'better', title: string) => {
    const changed = partners.filter((partner) => partner.previous !== null && changeOf(partner) === change);
    if (changed.length === 0) return [];
    const left = changed.length - MAX_CHANGES;
    return html`<div><h3>${title} <span>${changed.length}</span></h3><ul class="changed">${changed
      .slice(0, MAX_CHANGES)
      .map(line)}${left > 0 && html`<li>and ${left} more, marked below</li>`}</ul></div>`;
  };
  const lists = [list('worse', 'Worse'), list('better', 'Better')].flat();
  return html`<section><h2>Since ${when(previous.startedAt)}</h2>${
    lists.length === 0 ? html`<p>No outcome has changed.</p>` : html`<div class="trend">${lists}</div>`
  }</section>`;
}

const MAX_CHANGES = 40;

/** Hidden: only the script, which does the filtering, shows it. */
function filterForm({ partners, totals }: FleetDocument): Markup {
  const buttons = OUTCOMES.filter((name) => totals[name] > 0).map(
    (name) =>
      html`<button type="button" aria-pressed="false" data-o="${name}">${FACE[name][1]} ${totals[name]}</button>`,
  );
  const change =
    partners.some(({ previous }) => previous !== null) &&
    html`<label>Change <select id="change"><option value="">any</option>
<option>worse</option><option>better</option><option>new</option></select></label>`;
  return html`<form id="filter" hidden><div class="verdicts">${buttons}</div>${change}
<label>Sort by <select id="sort"><option value="o">outcome</option><option value="n">name</option>
<option value="t">time taken</option><option value="e">expiry</option></select></label>
<label class="words">Find <input id="words" type="search" autocomplete="off"></label>
<span id="found" role="status"></span></form>`;
}

function row(partner: FleetPartner, suites: readonly string[]): Markup {
  const { certificate, durationMs, name, outcome, url } = partner;
  const [verdict, word] = FACE[outcome];
  const change = changeOf(partner);
  const isChanged = partner.previous !== null && change !== 'same';
  const links = linksOf(partner);
  const expiry = certificate?.expiresAt ?? '~';
  const mark = isChanged && html` <em class="${change}">${change}</em>`;
  const cells = suites.map((suite) => suiteCell(suite, partner.suites[suite]));
  return html`<tr data-o="${outcome}" data-c="${change}" data-t="${Math.round(durationMs)}" data-e="${expiry}">
<th scope="row"><b>${name}</b><span>${url}</span></th>
<td class="o"><b class="v-${verdict}">${shape(verdict)}${word}</b>${mark}
<span>${why(partner)}</span>
<span class="links">${joined([...links, formatDuration(durationMs)], ' ')}</span></td>${cells}</tr>
`;
}

function why({ certificate, counts, diagnosis, evidenceLevel, refusals }: FleetPartner): string {
  if (certificate !== null) {
    const level = evidenceLevel === null ? '' : `, evidence level ${evidenceLevel}`;
    return `until ${certificate.expiresAt.slice(0, 10)}${level}`;
  }
  if (diagnosis !== null) return diagnosis.title;
  const [first, ...others] = refusals;
  if (first === undefined) return '';
  const failed = counts !== null && first.code === 'failed';
  const reason = failed ? `${counted(counts.fail, 'scored check')} failed` : first.message;
  return others.length === 0 ? reason : `${reason} (and ${counted(others.length, 'other reason')})`;
}

function linksOf({ files, name }: FleetPartner): Markup[] {
  const known = [
    ['report.html', 'report'],
    ['run.json', 'run.json'],
    ['certificate.dsse.json', 'certificate'],
  ] as const;
  return known
    .filter(([file]) => files.includes(file))
    .map(([file, text]) => html`<a href="${name}/${file}" aria-label="${text} of ${name}">${text}</a>`);
}

type Counts = NonNullable<FleetPartner['counts']>;

const QUIET: ReadonlySet<Verdict> = new Set(['pass', 'not-applicable', 'inconclusive']);

function suiteCell(suite: string, counts: Counts | undefined): Markup {
  if (counts === undefined) return html`<td class="q"><span class="sr">not run</span></td>`;
  const [verdict, count] = worst(counts);
  const isQuiet = QUIET.has(verdict);
  const word = html`<span class="sr">${faceOf(verdict).word}</span>`;
  const number = isQuiet ? '' : `${count} `;
  return html`<td class="s v-${verdict}${isQuiet && ' q'}" data-w="${suite}"><i></i>${number}${word}</td>`;
}

/** The verdict of a suite that needs attention most, and its number of checks. */
function worst(counts: Counts): readonly [Verdict, number] {
  if (counts.harnessError > 0) return ['harness-error', counts.harnessError];
  if (counts.fail > 0) return ['fail', counts.fail];
  if (counts.warn > 0) return ['warn', counts.warn];
  if (counts.inconclusive > 0) return ['inconclusive', counts.inconclusive];
  return counts.pass > 0 ? ['pass', counts.pass] : ['not-applicable', counts.notApplicable];
}
