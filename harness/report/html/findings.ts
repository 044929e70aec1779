/** What the endpoint behaves like: why it happens, and the fix for the stack. */

import { requirement } from '../../../scenarios/index.ts';
import { type Cause, causesOf, groupBy } from '../causes.ts';
import { counted } from '../layout.ts';
import type { Diagnosis, ResultDocument, ScenarioResult } from '../result-document.ts';
import { isScored } from '../verdict.ts';
import { closeness, NOTHING_FITS, namesOf } from '../wording.ts';
import { checkLink, type Places } from './checks.ts';
import { capital, html, joined, type Markup, prose, script } from './markup.ts';

function field(name: string, value: Markup | string): Markup | '' {
  return value === '' ? '' : html`<dt>${name}</dt><dd>${value}</dd>`;
}

function inFull(diagnosis: Diagnosis, at: number, failed: boolean): Markup {
  const { alike, fix, seen, stack, title, why } = diagnosis;
  return html`<article class="fault${!failed && ' open'}">${at > 0 && html`<p class="label">and at the same time</p>`}<h3>${prose(title)}</h3><p class="close">${closeness(diagnosis)}</p><dl>${[
    field('Fix', fix === '' ? '' : prose(fix)),
    field('For', stack === null ? '' : `${stack.name} (${stack.told})`),
    field('Why', why === '' ? '' : prose(why)),
    field('Seen', seen === '' ? '' : prose(seen)),
    field('Same as', alike.length === 0 ? '' : `${namesOf(alike)}: this run cannot tell them apart`),
    // What the dictionary has, it has more of.
    field('More', seen === '' ? '' : script(`hookproof explain ${diagnosis.fault}`)),
  ]}</dl></article>`;
}

/** Empty when there is nothing to explain. */
export function behaviour({ counts, diagnosis }: Pick<ResultDocument, 'counts' | 'diagnosis'>): Markup | '' {
  if (diagnosis.length === 0) {
    return counts.fail < 2
      ? ''
      : html`<section><h2>What the endpoint behaves like</h2><p>${NOTHING_FITS}</p></section>`;
  }
  const others = diagnosis.filter(({ relation }) => relation === 'or');
  return html`<section><h2>What the endpoint behaves like</h2>${diagnosis.filter(({ relation }) => relation !== 'or').map((one, at) => inFull(one, at, counts.fail > 0))}${
    others.length > 0 &&
    html`<details class="fold"><summary>${others.length} other ${others.length === 1 ? 'explanation' : 'explanations'} that fit less well</summary><ul>${others.map(
      (other) => html`<li>${prose(other.title)} <span class="close">${closeness(other)}</span></li>`,
    )}</ul></details>`
  }</section>`;
}

/** What must be mended, by cause: one entry a mistake, however many checks it fails. */

/** So many causes stand in full; the others are behind a fold. */
const MOST_CAUSES = 8;

/** Up to this many checks are named at once. */
const NAMED = 3;

function numbersOf(members: readonly ScenarioResult[]): string {
  const failures = members.filter(({ verdict }) => verdict === 'fail').length;
  const warnings = members.length - failures;
  return [failures > 0 && counted(failures, 'failure'), warnings > 0 && counted(warnings, 'warning')]
    .filter((words) => words !== false)
    .join(', ');
}

function suitesOf(members: readonly ScenarioResult[]): string {
  return groupBy(members, ({ suite }) => suite)
    .map(([suite, inSuite]) => `${suite} ${inSuite.length}`)
    .join(', ');
}

/** What all of them break, in words. */
function brokenBy([first, ...others]: readonly ScenarioResult[]): string[] {
  const shared =
    first?.requirements.filter((id) => others.every(({ requirements }) => requirements.includes(id))) ?? [];
  return shared.flatMap((id) => requirement(id)?.text ?? []);
}

function membersOf(members: readonly ScenarioResult[], places: Places): Markup {
  if (members.length <= NAMED) {
    return html`<p class="members">${joined(
      members.map(({ id }) => checkLink(id, places)),
      ', ',
    )}</p>`;
  }
  return html`<details class="fold"><summary>The ${members.length} checks</summary><ul class="members">${members.map(
    ({ id, title }) => html`<li>${checkLink(id, places)} ${title}</li>`,
  )}</ul></details>`;
}

/** Where no answer came that could be judged, what is to be done does not depend on the check. */
function sharedFix({ observed }: ScenarioResult): string | null {
  if (/^[2-4]\d\d\b/.test(observed)) return null;
  if (/^5\d\d\b/.test(observed))
    return 'Find the exception in the log of the endpoint: a 5xx is a crash of the handler.';
  return 'Let every delivery be answered with whole HTTP, whatever its body: look into the log of the endpoint, and of a proxy in front of it, for what broke the answer off.';
}

/** Alone a check speaks for itself; together they are told by what they have in common, and one of them by its fix. */
function unexplained({ title, members }: Cause, places: Places): Markup {
  const [first] = members;
  if (first === undefined) return html``;
  const alone = members.length === 1;
  const shared = alone ? null : sharedFix(first);
  const broken = brokenBy(members).map((text) => html`<dt>Broken</dt><dd>${text}</dd>`);
  return html`<h3>${alone ? first.title : capital(title)}</h3><p class="close">${numbersOf(members)}: ${alone ? `expected ${first.expected}, observed ${first.observed || 'nothing'}` : suitesOf(members)}</p><dl>${broken}<dt>Fix</dt><dd>${prose(shared ?? first.fix)}${
    shared === null &&
    !alone &&
    html` <span class="close">for ${checkLink(first.id, places)}; each check has its own</span>`
  }</dd></dl>${membersOf(members, places)}`;
}

function cause(one: Cause, places: Places): Markup {
  if (one.diagnosis === null) return html`<li>${unexplained(one, places)}</li>`;
  return html`<li><h3>${prose(one.title)}</h3><p class="close">${numbersOf(one.members)}: ${suitesOf(one.members)}. The fix stands above.</p>${membersOf(one.members, places)}</li>`;
}

function list(title: string, id: string, causes: readonly Cause[], places: Places): Markup | '' {
  if (causes.length === 0) return '';
  const rest = causes.slice(MOST_CAUSES);
  const checks = counted(causes.flatMap(({ members }) => members).length, 'check');
  return html`<section id="${id}"><h2>${title} <span>${checks}, ${counted(causes.length, 'cause')}</span></h2><ol class="causes">${causes
    .slice(0, MOST_CAUSES)
    .map((one) => cause(one, places))}</ol>${
    rest.length > 0 &&
    html`<details class="fold"><summary>${counted(rest.length, 'more cause')} with ${counted(rest.flatMap(({ members }) => members).length, 'check')}</summary><ol class="causes" start="${MOST_CAUSES + 1}">${rest.map((one) => cause(one, places))}</ol></details>`
  }</section>`;
}

/** Failures that are not known, with the warnings of the same cause, and then the other warnings; apart, what is not scored. */
export function mend(document: ResultDocument, places: Places): Markup {
  const { diagnosis, results, strict } = document;
  const red = results.filter(({ known, verdict }) => known === null && (verdict === 'fail' || verdict === 'warn'));
  const fresh = red.filter((result) => isScored(document, result));
  const aside = causesOf(
    red.filter((result) => !isScored(document, result)),
    [],
  );
  const causes = causesOf(fresh, diagnosis);
  const fails = ({ members }: Cause): boolean => strict || members.some(({ verdict }) => verdict === 'fail');
  return html`${list('What must be mended', 'mend', causes.filter(fails), places)}${list(
    'What is worth mending',
    'warnings',
    causes.filter((one) => !fails(one)),
    places,
  )}${list('Not scored: newer than the revision of the catalogue', 'not-scored', aside, places)}`;
}
