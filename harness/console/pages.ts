/** The frame of every page, and the parts that several pages share. No page has a script. */

import { STATES, type State } from '../register/index.ts';
import { html, joined, type Markup, shape, textOf } from '../report/html/index.ts';
import { STATE_SIGNS } from '../report/index.ts';

const PLACES = [
  ['/', 'Now'],
  ['/expiring', 'Expiring'],
  ['/trends', 'Causes'],
  ['/queue', 'Queue'],
  ['/audit', 'Audit'],
] as const;
type Place = (typeof PLACES)[number][0];

interface PageParts {
  readonly title: string;
  /** The navigation entry to highlight; null for none. */
  readonly place: Place | null;
  readonly body: Markup;
}

/** Renders a page as text, ending with a newline. */
export function renderConsolePage({ body, place, title }: PageParts): string {
  const links = PLACES.map(
    ([path, text]) => html`<li><a href="${path}"${path === place && html` aria-current="page"`}>${text}</a></li>`,
  );
  return textOf(html`<!doctype html>
<html lang="en"><head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - hookproof console</title>
<link rel="stylesheet" href="/console.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
</head><body class="fleet console">
<nav class="places" aria-label="Console"><a class="brand" href="/">hookproof console</a><ul>${links}</ul></nav>
${body}</body></html>
`);
}

/** Renders a page with a message and a hint. */
export function renderMessage(title: string, message: string, hint: string | undefined): string {
  const body = html`<header><h1>${title}</h1></header><main><p>${message}</p>${
    hint !== undefined && html`<p class="close">${hint}</p>`
  }<p><a href="/">All partners</a></p></main>`;
  return renderConsolePage({ title, place: null, body });
}

/** Returns text such as "2026-11-21 19:52 UTC". */
export function when(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

/** Renders a time to the day or to the minute. */
export function timeMark(time: string, precision: 'day' | 'minute' = 'minute'): Markup {
  return html`<time datetime="${time}">${precision === 'day' ? time.slice(0, 10) : when(time)}</time>`;
}

export function stateMark(state: State): Markup {
  return html`<b class="v-${STATE_SIGNS[state]}">${shape(STATE_SIGNS[state])}${state}</b>`;
}

export function partnerLink(partner: string): Markup {
  return html`<a href="${pathOf(partner)}">${partner}</a>`;
}

export function pathOf(partner: string, ...rest: readonly string[]): string {
  return ['/partners', partner, ...rest].map((part, at) => (at === 0 ? part : encodeURIComponent(part))).join('/');
}

/** Returns the query with the given changes; undefined removes a parameter. */
export function queryWith(
  query: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...changes })) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== '') search.append(name, String(one));
    }
  }
  return `?${search}`;
}

/** Renders the links to the first and the next page. */
export function pageLinks(query: Readonly<Record<string, unknown>>, next: string | null): Markup | '' {
  const links = [
    ...(query.after === undefined ? [] : [html`<a href="${queryWith(query, { after: undefined })}">First page</a>`]),
    ...(next === null ? [] : [html`<a rel="next" href="${queryWith(query, { after: next })}">Next page</a>`]),
  ];
  return links.length === 0 ? '' : html`<nav class="pages" aria-label="Pages">${joined(links, ' ')}</nav>`;
}

/** Renders a table. On a phone it becomes a list, in which each cell repeats its column title. */
export function table(
  caption: string,
  columns: readonly (string | Markup)[],
  rows: readonly (readonly (readonly [column: string, content: Markup | string | number])[])[],
): Markup {
  const head = columns.map((column) => (typeof column === 'string' ? html`<th scope="col">${column}</th>` : column));
  const cell = ([column, content]: readonly [string, Markup | string | number], at: number) =>
    at === 0
      ? html`<th scope="row">${content}</th>`
      : html`<td data-w="${column}"${content === '' && html` class="empty"`}>${content}</td>`;
  return html`<table class="list"><caption class="sr">${caption}</caption><thead><tr>${head}</tr></thead>
<tbody>${rows.map(
    (cells) => html`<tr>${cells.map(cell)}</tr>
`,
  )}</tbody></table>`;
}

export function option(value: string, text: string, chosen: string | undefined): Markup {
  return html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`;
}

export const STATES_BY_NEED: readonly State[] = STATES.toReversed();
