/** Renders what to fix: the diagnosis, and the failures and warnings by cause, however many checks a cause fails. */
import { requirement } from '../../../scenarios/index.ts';
import { answeredStatus, type Cause, causesOf } from '../causes.ts';
import { counted } from '../layout.ts';
import type { Diagnosis, ResultDocument, ScenarioResult } from '../result-document.ts';
import { isScored } from '../verdict.ts';
import { closeness, failuresIn, NOTHING_FITS, namesOf, notExplained, suitesOf } from '../wording.ts';
import { type Anchors, checkLink, checkLinks } from './checks.ts';
import { capital, field, html, type Markup, prose, script } from './markup.ts';

/** Renders the faults that explain the results, with the fix for the stack. Empty if there is nothing to explain. */
export function diagnosis(document: ResultDocument): Markup | '' {
  const { counts, diagnosis: faults } = document;
  const rest = notExplained(document);
  if (faults.length === 0 && counts.fail < 2) return '';
  return html`<section><h2>Diagnosis</h2>${faults.length === 0 && html`<p>${NOTHING_FITS}</p>`}${faults.map(
    (fault, at) => faultInFull(fault, at, counts.fail > 0),
  )}${rest !== '' && html`<p>${prose(rest)}</p>`}</section>`;
}

function faultInFull(fault: Diagnosis, at: number, failed: boolean): Markup {
  const { alike, fix, seen, stack, title, why } = fault;
  return html`<article class="fault${!failed && ' open'}">${at > 0 && html`<p class="label">in addition</p>`}
<h3>${prose(title)}</h3><p class="close">${closeness(fault)}</p><dl>${[
    field('Fix', fix === '' ? '' : prose(fix)),
    field('For', stack === null ? '' : `${stack.name} (${stack.source})`),
    field('Why', why === '' ? '' : prose(why)),
    field('Seen in', seen === '' ? '' : prose(seen)),
    field('Same as', alike.length === 0 ? '' : `${namesOf(alike)}: this run cannot distinguish them`),
    // Without a mistake, there is nothing more to explain.
    field('More', seen === '' ? '' : script(`hookproof explain ${fault.fault}`)),
  ]}</dl></article>`;
}

/**
 * Renders unknown failures with the warnings of the same cause, then other warnings, and separately the checks that are
 * not scored.
 */
export function causes(document: ResultDocument, anchors: Anchors): Markup {
  const { results, strict } = document;
  const isOpen = ({ known, verdict }: ScenarioResult) => known === null && (verdict === 'fail' || verdict === 'warn');
  const open = (wanted: boolean) => results.filter((one) => isOpen(one) && isScored(document, one) === wanted);
  const [scored, notScored] = [causesOf(open(true), document.diagnosis), causesOf(open(false), [])];
  const fails = ({ members }: Cause) => strict || members.some(({ verdict }) => verdict === 'fail');
  const warns = (cause: Cause) => !fails(cause);
  return html`${[
    list('What to fix', 'fix', scored.filter(fails), anchors),
    list('What should be fixed', 'warnings', scored.filter(warns), anchors),
    list('Not scored: newer than the catalogue revision', 'not-scored', notScored, anchors),
  ]}`;
}

/** Maximum number of causes shown; the others are folded. */
const MAX_SHOWN = 8;

function list(title: string, id: string, all: readonly Cause[], anchors: Anchors): Markup | '' {
  if (all.length === 0) return '';
  const checksIn = (some: readonly Cause[]) => counted(some.flatMap(({ members }) => members).length, 'check');
  const item = (cause: Cause) => html`<li>${causeOf(cause, anchors)}</li>`;
  const rest = all.slice(MAX_SHOWN);
  return html`<section id="${id}"><h2>${title} <span>${checksIn(all)}, ${counted(all.length, 'cause')}</span></h2>
<ol class="causes">${all.slice(0, MAX_SHOWN).map(item)}</ol>${
    rest.length > 0 &&
    html`<details class="fold"><summary>${counted(rest.length, 'more cause')} with ${checksIn(rest)}</summary>
<ol class="causes" start="${MAX_SHOWN + 1}">${rest.map(item)}</ol></details>`
  }</section>`;
}

function causeOf({ diagnosis: fault, members, title }: Cause, anchors: Anchors): Markup {
  const [first] = members;
  if (first === undefined) return html``;
  const close = (text: string) => html`<p class="close">${failuresIn(members)}: ${text}</p>`;
  if (fault !== null) {
    const place = `${suitesOf(members)}. See the fix above.`;
    return html`<h3>${prose(title)}</h3>${close(place)}${linksTo(members, anchors)}`;
  }
  if (members.length === 1) {
    const { defect, expected, fix, observed, title: name } = first;
    return html`<h3>${defect ?? name}</h3>${close(`expected ${expected}, observed ${observed || 'nothing'}`)}
<dl>${brokenRequirements(members)}${field('Fix', prose(fix))}</dl>${linksTo(members, anchors)}`;
  }
  const shared = sharedFix(first);
  const fix =
    shared ??
    html`${prose(first.fix)} <span class="close">for ${checkLink(first.id, anchors)}; each check has its own</span>`;
  return html`<h3>${capital(title)}</h3>${close(suitesOf(members))}
<dl>${brokenRequirements(members)}${field('Fix', fix)}</dl>${linksTo(members, anchors)}`;
}

/** Renders the requirements that all of the checks have in common. */
function brokenRequirements([first, ...others]: readonly ScenarioResult[]): Markup[] {
  const ids = first?.requirements.filter((id) => others.every(({ requirements }) => requirements.includes(id))) ?? [];
  return ids.flatMap((id) => requirement(id)?.text ?? []).map((text) => html`<dt>Broken</dt><dd>${text}</dd>`);
}

/** Maximum number of checks named without a fold. */
const MAX_NAMED = 3;

function linksTo(members: readonly ScenarioResult[], anchors: Anchors): Markup {
  if (members.length <= MAX_NAMED) return html`<p class="members">${checkLinks(members, anchors)}</p>`;
  return html`<details class="fold"><summary>The ${members.length} checks</summary><ul class="members">${members.map(
    ({ defect, id, title }) => html`<li>${checkLink(id, anchors)} ${defect ?? title}</li>`,
  )}</ul></details>`;
}

/** Returns the fix that does not depend on the check, for answers with 5xx and for missing answers; null otherwise. */
function sharedFix(result: ScenarioResult): string | null {
  const status = answeredStatus(result);
  if (status === null) {
    return 'Answer every delivery with a complete HTTP response. The logs of the endpoint or its proxy show the cause.';
  }
  return status < 500 ? null : 'The log of the endpoint shows why it answered 5xx: find the exception there.';
}
