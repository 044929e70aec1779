/** What a reader has to know besides: the list of known failures, advice, notes, what does not apply, what no run can see. */
import type { BaselineOutcome, ResultDocument, ScenarioResult } from '../../result/result-document.ts';
import { namesOf } from '../diagnosis-words.ts';
import { groupBy } from '../group.ts';
import { counted } from '../layout.ts';
import { checkLink, type Places } from './check.ts';
import { html, type Markup } from './markup.ts';
import { byReason } from './open-questions.ts';
import { capital, prose } from './prose.ts';
import { script } from './script-text.ts';

/** Entries of the baseline that fail the run. */
export function stale(baseline: BaselineOutcome | null, places: Places): Markup | '' {
  if (baseline === null || baseline.stale.length === 0) return '';
  return html`<section><h2>Not true any longer in ${baseline.file} <span>${counted(baseline.stale.length, 'entry', 'entries')}</span></h2><p>Each of them fails the run, so that the list of known failures stays true.</p><ul class="reasons">${baseline.stale.map(
    ({ message, scenario }) => html`<li>${message} <span class="close">${checkLink(scenario, places)}</span></li>`,
  )}</ul>${script(`hookproof baseline update ${baseline.file}`)}</section>`;
}

function noteOn(names: readonly string[], words: string): Markup | '' {
  if (names.length === 0) return '';
  return html`<p class="caveat">${counted(names.length, 'entry', 'entries')} ${words}: ${namesOf(names)}.</p>`;
}

/** What failed or warned and is on the list. */
export function known(
  results: readonly ScenarioResult[],
  baseline: BaselineOutcome | null,
  places: Places,
): Markup | '' {
  if (baseline === null) return '';
  const listed = results.flatMap((result) => (result.known === null ? [] : [{ ...result, known: result.known }]));
  const notes = [
    noteOn(baseline.unfilled, 'without a reason or an owner'),
    noteOn(baseline.notJudged, 'not judged in this run'),
  ];
  if (listed.length === 0 && notes.every((note) => note === '')) return '';
  return html`<section><h2>Known failures <span>${listed.length}, from ${baseline.file}</span></h2>${notes}<ul class="reasons">${listed.map(
    ({ id, observed, known: { expires, owner, reason } }) =>
      html`<li>${checkLink(id, places)}: ${observed} <span class="close">${reason} Owner: ${owner}, until ${expires}.</span></li>`,
  )}</ul></section>`;
}

export function advice(lines: readonly string[]): Markup | '' {
  if (lines.length === 0) return '';
  return html`<section><h2>Advice</h2><ul class="reasons">${lines.map((line) => html`<li>${prose(line)}</li>`)}</ul></section>`;
}

/** Passes that come with a word, and what was not asked, each by its reason. */
export function notes(results: readonly ScenarioResult[], places: Places): Markup {
  const noted = results.filter(({ reason, verdict }) => verdict === 'pass' && reason !== '');
  const off = results.filter(({ verdict }) => verdict === 'not-applicable');
  return html`${noted.length > 0 && html`<section><h2>Passed with a note <span>${noted.length}</span></h2>${byReason(noted, places)}</section>`}${
    off.length > 0 &&
    html`<section><h2>Not applicable <span>${off.length}</span></h2>${byReason(off, places)}</section>`
  }`;
}

/** By reason, because several requirements share one. */
export function notVerified(entries: ResultDocument['notVerified']): Markup | '' {
  if (entries.length === 0) return '';
  return html`<section class="unseen"><h2>Not verified <span>by any test from outside</span></h2><ul>${groupBy(
    entries,
    ({ reason }) => reason,
  ).map(
    ([reason, group]) =>
      html`<li>${group.map(({ requirement, text }) => html`<p><b title="${requirement}">${capital(text)}</b></p>`)}<p>${prose(reason)}</p></li>`,
  )}</ul></section>`;
}
