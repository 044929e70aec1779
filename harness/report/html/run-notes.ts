/**
 * Renders the sections that are not about defects of the endpoint: no verdict, the baseline, advice, notes, and what is
 * not verified.
 */
import { quotedUrl } from '../../../contract/masked-url.ts';
import { groupBy } from '../causes.ts';
import { counted } from '../layout.ts';
import type { BaselineOutcome, ResultDocument, ScenarioResult } from '../result-document.ts';
import { updateCommandOf } from '../shown-causes.ts';
import { withVerdict } from '../verdict.ts';
import { namesOf, reasonOf, suitesOf } from '../wording.ts';
import { type Anchors, checkLink, checkLinks } from './checks.ts';
import { milliseconds } from './exchanges.ts';
import { capital, field, html, type Markup, prose, script } from './markup.ts';

/** Renders the checks without a verdict: why, what was tried, and what to do next. */
export function inconclusive(document: ResultDocument, anchors: Anchors): Markup | '' {
  const without = withVerdict(document.results, 'inconclusive');
  if (without.length === 0) return '';
  const doctor = `hookproof doctor ${quotedUrl(document.target.url)}`;
  return html`<section id="open"><h2>Without a verdict <span>${counted(without.length, 'check')}</span></h2>
${byReason(without, anchors)}<dl>${firstFailedDelivery(without, document.target.url)}
<dt>Next</dt><dd>Fix the problem above and run again.
This command checks DNS, connection, certificates, credentials and clock:${script(doctor)}</dd></dl></section>`;
}

/** Renders the first failed delivery: address, phase and error. */
function firstFailedDelivery(results: readonly ScenarioResult[], url: string): Markup | '' {
  const failed = results
    .flatMap(({ exchanges }) => exchanges)
    .find(({ error, response }) => error !== null || (response !== null && response.status !== 200));
  if (failed === undefined) return '';
  const { error, label, request, response, timings } = failed;
  const size = counted(request.body.length, 'byte');
  return html`${[
    field('Sent', `${label}: ${request.method} ${url}, ${size}, signed as configured`),
    field('Answer', response === null ? (error?.message ?? 'none') : `status ${response.status}`),
    field('Error', (error && `${error.code} in phase ${error.phase}, after ${milliseconds(timings.totalMs)}`) || ''),
  ]}`;
}

export function harnessErrors(results: readonly ScenarioResult[], anchors: Anchors): Markup | '' {
  const errors = withVerdict(results, 'harness-error');
  if (errors.length === 0) return '';
  return html`<section><h2>Harness errors <span>${counted(errors.length, 'check')}</span></h2>
<p>hookproof built an invalid probe and did not send it. No conclusion about the endpoint. Please report it.</p>
${byReason(errors, anchors)}</section>`;
}

/** Renders the baseline entries that fail the run. */
export function stale(document: ResultDocument, anchors: Anchors): Markup | '' {
  const { baseline } = document;
  if (baseline === null || baseline.stale.length === 0) return '';
  const items = baseline.stale.map(
    ({ message, scenario }) => html`<li>${message} <span class="close">${checkLink(scenario, anchors)}</span></li>`,
  );
  const count = counted(baseline.stale.length, 'entry', 'entries');
  return html`<section><h2>Stale entries in ${baseline.file} <span>${count}</span></h2>
<p>Stale entries fail the run. This command removes or updates them:</p>
${script(updateCommandOf(baseline, document))}<ul class="reasons">${items}</ul></section>`;
}

/** Renders the failures and warnings that are in the baseline. */
export function known(
  results: readonly ScenarioResult[],
  baseline: BaselineOutcome | null,
  anchors: Anchors,
): Markup | '' {
  if (baseline === null) return '';
  const listed = results.flatMap((result) => (result.known === null ? [] : [{ ...result, known: result.known }]));
  const caveats = [
    entriesCaveat(baseline.unfilled, 'without a reason or an owner'),
    entriesCaveat(baseline.notJudged, 'not evaluated in this run'),
  ];
  if (listed.length === 0 && caveats.every((caveat) => caveat === '')) return '';
  const items = listed.map(
    ({ id, observed, known: { expires, owner, reason } }) => html`<li>${checkLink(id, anchors)}: ${observed}
<span class="close">${reason} Owner: ${owner}, until ${expires}.</span></li>`,
  );
  return html`<section><h2>Known failures <span>${listed.length}, from ${baseline.file}</span></h2>${caveats}
<ul class="reasons">${items}</ul></section>`;
}

function entriesCaveat(names: readonly string[], words: string): Markup | '' {
  if (names.length === 0) return '';
  return html`<p class="caveat">${counted(names.length, 'entry', 'entries')} ${words}: ${namesOf(names)}.</p>`;
}

export function lines(title: string, texts: readonly string[]): Markup | '' {
  if (texts.length === 0) return '';
  const items = texts.map((line) => html`<li>${prose(line)}</li>`);
  return html`<section><h2>${title}</h2><ul class="reasons">${items}</ul></section>`;
}

/** Renders the passes with a comment and the checks that do not apply, by reason. */
export function notes(results: readonly ScenarioResult[], anchors: Anchors): Markup {
  const section = (title: string, members: readonly ScenarioResult[]) =>
    members.length > 0 &&
    html`<section><h2>${title} <span>${members.length}</span></h2>${byReason(members, anchors)}</section>`;
  const noted = withVerdict(results, 'pass').filter(({ reason }) => reason !== '');
  const notApplicable = withVerdict(results, 'not-applicable');
  return html`${section('Passed with a note', noted)}${section('Not applicable', notApplicable)}`;
}

/** Renders the requirements that this run did not verify, by reason, because several share one. */
export function notVerified(entries: ResultDocument['notVerified']): Markup | '' {
  if (entries.length === 0) return '';
  const items = groupBy(entries, ({ reason }) => reason).map(([reason, group]) => {
    const texts = group.map(({ requirement, text }) => html`<p><b title="${requirement}">${capital(text)}</b></p>`);
    return html`<li>${texts}<p>${prose(reason)}</p></li>`;
  });
  const by = entries.some(({ verifiable }) => verifiable !== undefined) ? 'by this run' : 'by black-box test';
  return html`<section class="unseen"><h2>Not verified <span>${by}</span></h2><ul>${items}</ul></section>`;
}

/** Maximum number of checks named for one reason; beyond it, the suites are counted. */
const MAX_NAMED = 3;
const MAX_REASONS = 12;

function byReason(results: readonly ScenarioResult[], anchors: Anchors): Markup {
  const groups = groupBy(results, reasonOf);
  const left = groups.length - MAX_REASONS;
  const items = groups.slice(0, MAX_REASONS).map(([reason, members]) => {
    const names = members.length <= MAX_NAMED ? checkLinks(members, anchors) : suitesOf(members);
    return html`<li>${capital(reason)} <span class="close">${counted(members.length, 'check')}: ${names}</span></li>`;
  });
  const more = left > 0 && html`<li class="close">and ${counted(left, 'more reason')}: see the checks below</li>`;
  return html`<ul class="reasons">${items}${more}</ul>`;
}
