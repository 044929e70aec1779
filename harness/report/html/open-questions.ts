/** What came to no verdict and why, with what was tried and what to do next. */
import type { ResultDocument, ScenarioResult } from '../../result/result-document.ts';
import { groupBy } from '../group.ts';
import { counted } from '../layout.ts';
import { checkLink, type Places } from './check.ts';
import { html, joined, type Markup } from './markup.ts';
import { capital } from './prose.ts';
import { script } from './script-text.ts';
import { milliseconds } from './timings.ts';

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
export function byReason(results: readonly ScenarioResult[], places: Places): Markup {
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
