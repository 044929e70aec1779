/** The pages about one partner: standing, history, reports, and the comparison of two runs. */

import { EVENTS, endpointOf, type Standing } from '../register/index.ts';
import { comparisonBody, field, html, joined, type Markup, shape } from '../report/html/index.ts';
import { type compareRuns, counted, EVENT_SIGNS, STATE_SIGNS } from '../report/index.ts';
import { option, pageLinks, pathOf, renderConsolePage, table, timeMark, when } from './pages.ts';
import type { StoredRun } from './runs.ts';
import type { ActionName, AuditEntry, RecordPage, RecordsQuery, ShownRecord } from './schemas.ts';

export interface PartnerView {
  readonly standing: Standing;
  readonly page: RecordPage & { readonly unreadable: number };
  readonly query: RecordsQuery;
  readonly runs: readonly StoredRun[];
  /** The actions to offer; null if the console has no tokens. */
  readonly offered: readonly ActionName[] | null;
  readonly audit: readonly AuditEntry[];
  /** The result of the action that led to this page. */
  readonly notice: { readonly text: string; readonly isError: boolean } | null;
}

export function partnerPage(view: PartnerView): string {
  const { audit, notice, page, query, runs, standing } = view;
  const { certificate, mayGetTraffic, partner, reason, since, state, until, warnings } = standing;
  const unread = page.unreadable === 0 ? null : counted(page.unreadable, 'record');
  const sentence = mayGetTraffic ? 'may get traffic' : 'may not get traffic';
  const facts = [
    field('Endpoint', endpointOf(standing) ?? ''),
    field('Since', since === null ? '' : when(since)),
    field('Until', until === null ? '' : when(until)),
    field('Reason', reason ?? ''),
    ...(certificate === null
      ? []
      : [
          field('Profile', `${certificate.profile}, revision ${certificate.revision}`),
          field('Evidence level', String(certificate.evidenceLevel)),
          field('Certificate', html`<code>sha256 ${certificate.certificate}</code>`),
          field('Issued', `${when(certificate.issuedAt)}, expires ${when(certificate.expiresAt)}`),
          field('Key id', html`<code>${certificate.keyId}</code>`),
        ]),
  ];
  const body = html`<header><p class="brand">Partner</p>
<h1>${shape(STATE_SIGNS[state])}${partner}: ${state}</h1><p class="numbers">It ${sentence}.</p>
<dl class="facts">${facts}</dl>${warnings.map((text) => html`<p class="caveat">${text}</p>`)}
${notice !== null && html`<p class="${notice.isError ? 'caveat' : 'done'}" role="status">${notice.text}</p>`}</header>
<main>${actions(view)}${runList(partner, runs)}<section><h2>History</h2>${eventForm(partner, query)}${
    page.records.length === 0
      ? html`<p class="none">No records.</p>`
      : table(
          'Records',
          ['Event', 'Reason and cause', 'Run'],
          page.records.map((record) => recordRow(record, runs)),
        )
  }${unread !== null && html`<p class="caveat">${unread} cannot be read.</p>`}${pageLinks(
    { event: query.event, after: query.after },
    page.next,
  )}</section>${audit.length > 0 && html`<section><h2>Decided here</h2>${auditTable(audit)}</section>`}</main>`;
  return renderConsolePage({ title: `${partner}: ${state}`, place: '/', body });
}

function recordRow(record: ShownRecord, runs: readonly StoredRun[]) {
  const { at, cause, event, partner, reason, run, suites, version } = record;
  const failed = Object.entries(suites).filter(([, { fail }]) => fail > 0);
  const counts = failed.map(([suite, { fail }]) => `${fail} in ${suite}`).join(', ');
  const stored = run === null ? undefined : runs.find(({ startedAt }) => startedAt === run.startedAt);
  return [
    [
      'Event',
      html`<b class="v-${EVENT_SIGNS[event]}">${shape(EVENT_SIGNS[event])}${event}</b><span>${when(at)}</span>`,
    ],
    [
      'Reason and cause',
      html`${cause?.title ?? ''}${reason !== null && reason !== cause?.title && html`<span>${reason}</span>`}${
        counts !== '' && html`<span>failed: ${counts}</span>`
      }`,
    ],
    ['Run', html`${stored !== undefined && fileLinks(partner, stored)}<span>hookproof ${version}</span>`],
  ] as const;
}

function fileLinks(partner: string, { files, id }: StoredRun): Markup {
  const links = files.map((file) => html`<a href="${pathOf(partner, 'files', id, file)}">${file}</a>`);
  return joined(links, ' ');
}

function eventForm(partner: string, { event = [] }: RecordsQuery): Markup {
  return html`<form class="search" method="get" action="${pathOf(partner)}"><label>Event <select name="event">${option(
    '',
    'any',
    event[0] ?? '',
  )}${EVENTS.map((one) => option(one, one, event[0]))}</select></label><button type="submit">Show</button></form>`;
}

function runList(partner: string, runs: readonly StoredRun[]): Markup | '' {
  if (runs.length === 0) return '';
  const name = ({ id, startedAt }: StoredRun) => (startedAt === null ? id : when(startedAt));
  const compared = runs.filter(({ files }) => files.includes('run.json'));
  const choice = (field: string, chosen: StoredRun | undefined) =>
    html`<select name="${field}">${compared.map((run) => option(run.id, name(run), chosen?.id))}</select>`;
  return html`<section><h2>Reports</h2><ul class="runs">${runs.map(
    (run) => html`<li>${name(run)}: ${fileLinks(partner, run)}</li>`,
  )}</ul>${
    compared.length > 1 &&
    html`<form class="search" method="get" action="${pathOf(partner, 'compare')}">
<label>Compare ${choice('before', compared[1])}</label> <label>with ${choice('now', compared[0])}</label>
<button type="submit">Compare</button></form>`
  }</section>`;
}

const TITLES: Readonly<Record<ActionName, readonly [title: string, text: string]>> = {
  revoke: ['Revoke', 'Ends the certificate. The partner gets no traffic until it is certified again.'],
  override: ['Override', 'Reinstates the suspended certificate.'],
  'run-now': ['Run now', 'Certifies or rechecks the partner as soon as a worker is free.'],
  reschedule: ['Reschedule', 'Also certifies or rechecks the partner at the given time.'],
};

const MORE: Partial<Readonly<Record<ActionName, Markup>>> = {
  override: html`<label>Days <input name="days" type="number" min="1" max="398"></label>`,
  reschedule: html`<label>Time (UTC) <input name="at" type="datetime-local" required></label>`,
};

/** Renders a form for each action. The user enters the token in a field: with a cookie, other sites could submit it. */
function actions({ offered, standing }: PartnerView): Markup | '' {
  if (offered === null || offered.length === 0) return '';
  const forms = offered.map((name) => {
    const [title, text] = TITLES[name];
    return html`<details class="action"><summary>${title}</summary>
<form method="post" action="${pathOf(standing.partner, name)}"><p>${text}</p>${MORE[name] ?? ''}
<label>Reason <input name="reason" required maxlength="500"></label>
<label>Token <input name="token" type="password" required autocomplete="off" maxlength="200"></label>
<button type="submit">${title}</button></form></details>`;
  });
  return html`<section class="actions" aria-label="Actions">${forms}</section>`;
}

export function auditTable(entries: readonly AuditEntry[]): Markup {
  const rows = entries.map(
    ({ action, at, partner, reason, who }) =>
      [
        ['Time', timeMark(at)],
        ['Who', who],
        ['Action', action],
        ['Partner', partner === null ? '' : html`<a href="${pathOf(partner)}">${partner}</a>`],
        ['Reason', reason ?? ''],
      ] as const,
  );
  return table('Audit', ['Time', 'Who', 'Action', 'Partner', 'Reason'], rows);
}

interface ComparedSide {
  readonly name: string;
  readonly report: string | null;
}

export function comparePage(
  partner: string,
  comparison: ReturnType<typeof compareRuns>,
  sides: readonly [ComparedSide, ComparedSide],
): string {
  const { body, title } = comparisonBody(comparison, sides);
  const back = html`<nav class="back" aria-label="Partner"><a href="${pathOf(partner)}">${partner}</a></nav>`;
  return renderConsolePage({ title, place: '/', body: html`${back}${body}` });
}
