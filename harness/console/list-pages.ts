/** The pages about all partners: who may get traffic now, what expires soon, and the causes by week. */
import { barOf, capital, html, joined, type Markup, shape } from '../report/html/index.ts';
import { counted, STATE_SIGNS } from '../report/index.ts';
import type { Trends } from './history.ts';
import {
  option,
  pageLinks,
  partnerLink,
  queryWith,
  renderConsolePage,
  STATES_BY_NEED,
  stateMark,
  table,
  timeMark,
  when,
} from './pages.ts';
import type { ListQuery, PartnerPage, PartnerSummary, Sort, Totals } from './schemas.ts';

export function nowPage(view: PartnerPage, totals: Totals, query: ListQuery): string {
  const all = Object.values(totals).reduce((sum, one) => sum + one, 0);
  const allowed = totals.certified + totals.allowed;
  const headline = `${allowed} of ${counted(all, 'partner')} may get traffic`;
  const present = STATES_BY_NEED.filter((state) => totals[state] > 0);
  const given = shownQuery(query);
  const columns = [
    sortable('Partner', 'name', query),
    sortable('Traffic', 'need', query),
    sortable('Until', 'until', query),
    sortable('Cause', 'cause', query),
    sortable('Last record', 'last', query),
  ];
  const body = html`<header><h1>${shape(STATE_SIGNS[present[0] ?? 'uncertified'])}${headline}</h1>
${barOf(
  present.map((state) => ({ verdict: STATE_SIGNS[state], count: totals[state] })),
  all,
)}
<p class="numbers">${present.map((state) => `${totals[state]} ${state}`).join(', ') || 'The register is empty'}.</p>
<p class="close">From the register at ${when(view.at)}. Who may get traffic is verified with the
public keys.</p>${
    !view.complete && html`<p class="caveat">Records are being read: other partners may be missing or out of date.</p>`
  }</header>
<main>${searchForm(query)}${
    view.partners.length === 0
      ? html`<p class="none">No partners found.</p>`
      : table('Partners', columns, view.partners.map(rowOf))
  }${pageLinks(given, view.next)}</main>`;
  return renderConsolePage({ title: headline, place: '/', body });
}

/** Returns the query for links, without the parameters that have their default. */
function shownQuery({ after, order, q, sort, state, limit }: ListQuery): Record<string, unknown> {
  return {
    q,
    state,
    sort: sort === 'need' ? undefined : sort,
    order: order === 'asc' ? undefined : order,
    limit: limit === 50 ? undefined : String(limit),
    after,
  };
}

function sortable(text: string, sort: Sort, query: ListQuery): Markup {
  const isSorted = query.sort === sort;
  const order = isSorted && query.order === 'asc' ? 'desc' : undefined;
  const link = queryWith(shownQuery(query), { sort: sort === 'need' ? undefined : sort, order, after: undefined });
  const direction = query.order === 'asc' ? 'ascending' : 'descending';
  return html`<th scope="col"${isSorted && html` aria-sort="${direction}"`}><a href="${link}">${text}</a></th>`;
}

function searchForm({ order, q, sort, state = [] }: ListQuery): Markup {
  const [chosen] = state;
  return html`<form class="search" method="get" action="/" role="search">
<label>Find <input name="q" type="search" value="${q}" maxlength="200"></label>
<label>State <select name="state">${option('', 'any', chosen ?? '')}${STATES_BY_NEED.map((one) =>
    option(one, one, chosen),
  )}</select></label>
<label>Sort by <select name="sort">${(
    [
      ['need', 'state'],
      ['name', 'name'],
      ['until', 'expiry'],
      ['last', 'last record'],
      ['host', 'host'],
      ['cause', 'cause'],
    ] as const
  ).map(([value, text]) => option(value, text, sort))}</select></label>
<label>Order <select name="order">${option('asc', 'ascending', order)}${option(
    'desc',
    'descending',
    order,
  )}</select></label>
<button type="submit">Show</button></form>`;
}

function rowOf(one: PartnerSummary) {
  const { cause, lastAt, lastEvent, partner, reason, since, state, until, url, warnings } = one;
  const why = [...(since === null ? [] : [`since ${since.slice(0, 10)}`]), ...(reason === null ? [] : [reason])];
  return [
    ['Partner', html`<b>${partnerLink(partner)}</b><span>${url ?? ''}</span>`],
    [
      'Traffic',
      html`${stateMark(state)}<span>${why.join('; ')}</span>${warnings.map(
        (text) => html`<span class="v-warn">${text}</span>`,
      )}`,
    ],
    ['Until', until === null ? '' : timeMark(until, 'day')],
    ['Cause', cause ?? ''],
    ['Last record', lastAt === null ? '' : html`${lastEvent}<span>${timeMark(lastAt)}</span>`],
  ] as const;
}

export function expiringPage(
  view: PartnerPage,
  { within, after }: { within: number; after?: string | undefined },
): string {
  const rows = view.partners.map(
    ({ partner, profile, revision, state, until, url }) =>
      [
        ['Partner', html`<b>${partnerLink(partner)}</b><span>${url ?? ''}</span>`],
        ['Until', until === null ? '' : html`${timeMark(until)}<span>${daysUntil(until, view.at)}</span>`],
        ['Traffic', stateMark(state)],
        ['Certificate', [profile, revision === null ? null : `revision ${revision}`].filter(Boolean).join(', ')],
      ] as const,
  );
  const choices = choicesOf('within', [7, 14, 30, 90], within, 'day');
  const body = html`<header><h1>Expiring within ${counted(within, 'day')}</h1>
<p class="numbers">Valid certificates that expire soon, the earliest first. Show ${choices}</p></header>
<main>${
    rows.length === 0
      ? html`<p class="none">No certificate expires within ${counted(within, 'day')}.</p>`
      : table('Expiring certificates', ['Partner', 'Until', 'Traffic', 'Certificate'], rows)
  }${pageLinks({ within: String(within), after }, view.next)}</main>`;
  return renderConsolePage({ title: 'Expiring', place: '/expiring', body });
}

/** Renders links to the same page with other periods. */
function choicesOf(name: string, counts: readonly number[], chosen: number, unit: string): Markup {
  const choices = counts.map((count) =>
    count === chosen
      ? html`<b aria-current="true">${counted(count, unit)}</b>`
      : html`<a href="${queryWith({}, { [name]: String(count) })}">${counted(count, unit)}</a>`,
  );
  return joined(choices, ' ');
}

function daysUntil(until: string, at: string): string {
  const days = Math.floor((Date.parse(until) - Date.parse(at)) / 86_400_000);
  return days < 1 ? 'in less than a day' : `in ${counted(days, 'day')}`;
}

export function trendsPage({ others, trends, weeks }: Trends): string {
  const rows = trends.map(({ cause, partners }) => {
    const newest = partners.at(-1) ?? 0;
    const before = partners.at(-2) ?? 0;
    const change = newest - before;
    return [
      ['Cause', html`<b><a href="${`/${queryWith({}, { q: cause })}`}">${capital(cause)}</a></b>`],
      ['By week', html`${strip(partners, weeks)}`],
      ['This week', newest],
      ['Change', change === 0 ? '0' : change > 0 ? `+${change}` : `${change}`.replace('-', '−')],
      ['Sum', partners.reduce((sum, one) => sum + one, 0)],
    ] as const;
  });
  const body = html`<header><h1>Causes by week</h1>
<p class="numbers">How many partners had a run with each cause, in each of ${counted(weeks.length, 'week')} since
${weeks[0] ?? ''}. Show ${choicesOf('weeks', [4, 12, 26, 52], weeks.length, 'week')}</p></header>
<main>${
    rows.length === 0
      ? html`<p class="none">No causes found.</p>`
      : table('Causes', ['Cause', 'By week', 'This week', 'Change', 'Sum'], rows)
  }${others > 0 && html`<p class="close">${counted(others, 'less frequent cause')} not shown.</p>`}</main>`;
  return renderConsolePage({ title: 'Causes by week', place: '/trends', body });
}

const BAR = 10;
const HEIGHT = 28;

/** Renders a bar for each week. The text alternative lists the numbers. */
function strip(counts: readonly number[], weeks: readonly string[]): Markup {
  const most = Math.max(1, ...counts);
  const bars = counts.map((count, at) => {
    const height = Math.max(count === 0 ? 0 : 1, Math.round((count / most) * HEIGHT));
    return html`<rect x="${at * BAR}" y="${HEIGHT - height}" width="${BAR - 2}" height="${height}"/>`;
  });
  const label = counts.map((count, at) => `${weeks[at]}: ${count}`).join(', ');
  return html`<svg class="weeks" role="img" width="${counts.length * BAR}" height="${HEIGHT}"
viewBox="0 0 ${counts.length * BAR} ${HEIGHT}" preserveAspectRatio="none"><title>${label}</title>${bars}</svg>`;
}
