/** Renders a comparison of two runs: as a separate page, and as a section in the report of the new run. */
import type { ComparedCause, ComparedCheck, Comparison } from '../comparison-document.ts';
import {
  CAUSE_SIGNS,
  causeChange,
  changesSince,
  comparedLists,
  comparisonDecision,
  comparisonHeadline,
  onlyInOne,
  runInWords,
  timeOf,
} from '../comparison-wording.ts';
import { counted } from '../layout.ts';
import { capital, field, html, type Markup, prose } from './markup.ts';
import { renderPage } from './page.ts';
import { shape } from './verdict-shapes.ts';

/** Renders the id of a check as a link to the report that shows it. */
type Link = (check: ComparedCheck) => Markup;

/** One of the two runs. */
export interface ComparedFile {
  /** The name of the run on the page. */
  readonly name: string;
  /** The URL of the run's HTML report, relative to the page; null if there is none next to the run. */
  readonly report: string | null;
}

/** Matches ids as in the catalogue. Other ids in an untrusted document are not linked. */
const LINKED_ID = /^[\w/.-]{1,100}$/;

type ComparedFiles = readonly [before: ComparedFile, now: ComparedFile];

/** Renders the comparison as a page, ending with a newline. */
export function renderComparisonPage(comparison: Comparison, files: ComparedFiles): string {
  return renderPage({ ...comparisonBody(comparison, files), styles: ['report.css'], script: 'report.js' });
}

/** Renders the content and the title of the page about a comparison. */
export function comparisonBody(
  comparison: Comparison,
  [before, now]: ComparedFiles,
): { readonly title: string; readonly body: Markup } {
  const { headline: loud, sign } = comparisonHeadline(comparison);
  const headline = loud.toLowerCase();
  const at = ({ report }: ComparedFile, id: string, text: Markup | string) =>
    report === null || !LINKED_ID.test(id) ? text : html`<a href="${report}#${id}">${text}</a>`;
  const link = ({ before: verdict, id }: ComparedCheck) =>
    html`${at(now, id, html`<code>${id}</code>`)}${
      verdict !== null && before.report !== null && html` (${at(before, id, 'before')})`
    }`;
  const run = ({ name, report }: ComparedFile, of: Comparison['now']) =>
    html`${report === null ? name : html`<a href="${report}">${name}</a>`}: ${runInWords(of)}`;
  const others = onlyInOne(comparison).map((line) => html`<li>${line}</li>`);
  const body = html`<header><p class="brand">hookproof comparison</p><h1>${shape(sign)}${capital(headline)}</h1>
<p class="url">${comparison.now.url}</p><p class="numbers">${changesSince(comparison)}.</p>
<dl class="facts">${field('Old run', run(before, comparison.before))}${field('New run', run(now, comparison.now))}</dl>
${comparison.notes.map(({ text }) => html`<p class="caveat">${text}.</p>`)}</header>
<main><div class="lead">${parts(comparison, link, head2)}
${section(head2('Not in both runs', ''), 'reasons', others)}<section><p>${comparisonDecision(comparison)}.</p></section>
</div></main>`;
  const title = `${headline}: ${comparison.now.url} - hookproof`;
  return { title, body };
}

/** Renders the section for the new run's report: what has changed since the old run. */
export function comparisonSection(comparison: Comparison, link: Link): Markup {
  return html`<section id="since"><h2>Since the run of ${timeOf(comparison.before)}</h2>
${comparison.notes.map(({ text }) => html`<p class="caveat">${text}.</p>`)}${parts(comparison, link, head3)}</section>`;
}

type Head = (title: string, size: string) => Markup;
const head2: Head = (title, size) => html`<h2>${title} <span>${size}</span></h2>`;
const head3: Head = (title, size) => html`<h3>${title} <span>${size}</span></h3>`;

function parts(comparison: Comparison, link: Link, head: Head): Markup {
  const { causes } = comparison;
  return html`${[
    section(head('Causes', counted(causes.length, 'cause')), 'reasons', causes.map(causeItem)),
    comparedLists(comparison).map(({ checks, name, say }) => {
      const items = checks.map(
        (check) => html`<li>${shape(check.now ?? 'inconclusive')}${link(check)} ${prose(say(check))}</li>`,
      );
      return section(head(name, counted(checks.length, 'check')), 'members', items);
    }),
  ]}`;
}

function causeItem(cause: ComparedCause): Markup {
  const { size, title } = causeChange(cause);
  const sign = CAUSE_SIGNS[cause.state];
  const state = capital(cause.state.replace('-', ' '));
  return html`<li><b class="v-${sign}">${shape(sign)}${state}</b> ${prose(title)}
<span class="close">${size}</span></li>`;
}

/** Maximum number of items to show; the others are folded. */
const MAX_SHOWN = 12;

function section(head: Markup, kind: 'reasons' | 'members', items: readonly Markup[]): Markup | '' {
  if (items.length === 0) return '';
  const rest = items.slice(MAX_SHOWN);
  return html`<section>${head}<ul class="${kind}">${items.slice(0, MAX_SHOWN)}</ul>${
    rest.length > 0 &&
    html`<details class="fold"><summary>${rest.length} more</summary><ul class="${kind}">${rest}</ul></details>`
  }</section>`;
}
