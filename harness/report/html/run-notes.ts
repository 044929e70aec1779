/** What came to no verdict and why, with what was tried and what to do next. */
import { groupBy } from '../causes.ts';
import { counted } from '../layout.ts';
import type { BaselineOutcome, ResultDocument, ScenarioResult } from '../result-document.ts';
import { namesOf } from '../wording.ts';
import { checkLink, type Places } from './checks.ts';
import { milliseconds } from './exchanges.ts';
import { capital, html, joined, type Markup, prose, script } from './markup.ts';

const NAMED = 3;
const MOST_GROUPS = 12;

function reasonOf({ observed, reason }: ScenarioResult): string {
  return reason || observed || 'no reason was recorded';
}

function members(results: readonly ScenarioResult[], places: Places): Markup {
  if (results.length <= NAMED) {
    return joined(
      results.map(({ id }) => checkLink(id, places)),
      ', ',
    );
  }
  return html`${groupBy(results, ({ suite }) => suite)
    .map(([suite, inSuite]) => `${suite} ${inSuite.length}`)
    .join(', ')}`;
}

/** One entry a reason. */
function byReason(results: readonly ScenarioResult[], places: Places): Markup {
  const groups = groupBy(results, reasonOf);
  const left = groups.length - MOST_GROUPS;
  return html`<ul class="reasons">${groups
    .slice(0, MOST_GROUPS)
    .map(
      ([reason, group]) =>
        html`<li>${capital(reason)} <span class="close">${counted(group.length, 'check')}: ${members(group, places)}</span></li>`,
    )}${left > 0 && html`<li class="close">and ${counted(left, 'more reason')}, each beside its check below</li>`}</ul>`;
}

/** The first delivery that went wrong: address, phase and error, as far as it got. */
function attempted({ results, target }: ResultDocument): Markup | '' {
  const first = results
    .filter(({ verdict }) => verdict === 'inconclusive')
    .flatMap(({ exchanges }) => exchanges)
    .find(({ error, response }) => error !== null || (response !== null && response.status !== 200));
  if (first === undefined) return '';
  const { error, request, response, timings } = first;
  const came = response === null ? (error?.message ?? 'no answer') : `the answer ${response.status}`;
  const rows: [string, string][] = [
    [
      'Tried',
      `${first.label}: ${request.method} ${target.url}, ${counted(request.body.length, 'byte')}, signed and addressed as configured`,
    ],
    ['Came back', came],
    ['Error', error === null ? '' : `${error.code}, while: ${error.phase}, after ${milliseconds(timings.totalMs)}`],
  ];
  return html`${rows.map(([name, value]) => value !== '' && html`<dt>${name}</dt><dd>${value}</dd>`)}`;
}

function quoted(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`;
}

export function inconclusive(document: ResultDocument, places: Places): Markup | '' {
  const without = document.results.filter(({ verdict }) => verdict === 'inconclusive');
  if (without.length === 0) return '';
  return html`<section id="open"><h2>What has no verdict <span>${counted(without.length, 'check')}</span></h2>${byReason(without, places)}<dl>${attempted(document)}<dt>Next</dt><dd>Mend what stands in the way, and run again. This looks at DNS, connection, certificates, credentials and clock, and says what it finds:${script(`hookproof doctor ${quoted(document.target.url)}`)}</dd></dl></section>`;
}

export function harnessErrors(results: readonly ScenarioResult[], places: Places): Markup | '' {
  const errors = results.filter(({ verdict }) => verdict === 'harness-error');
  if (errors.length === 0) return '';
  return html`<section><h2>Faults of hookproof <span>${counted(errors.length, 'check')}</span></h2><p>The probe was not what it should have been, so it was not sent. It says nothing about the endpoint: please report it.</p>${byReason(errors, places)}</section>`;
}

/** What a reader has to know besides: the list of known failures, advice, notes, what does not apply, what no run can see. */

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
