/** Renders what to fix: the failures and warnings by cause, however many checks a cause fails. */
import { requirement } from '../../../scenarios/index.ts';
import { answeredStatus, type Cause, causesOf, titleOf } from '../causes.ts';
import { counted } from '../layout.ts';
import type { Diagnosis, ResultDocument, ScenarioResult } from '../result-document.ts';
import { causesIn, checkCommandOf } from '../shown-causes.ts';
import { isScored } from '../verdict.ts';
import { closeness, failuresIn, NOTHING_FITS, namesOf, suitesOf } from '../wording.ts';
import { type Anchors, checkLink, checkLinks } from './checks.ts';
import { field, html, type Markup, prose, script } from './markup.ts';

/**
 * Renders the causes, numbered as in every report, then the warnings without a cause, and separately the checks that
 * are not scored.
 */
export function causes(document: ResultDocument, anchors: Anchors): Markup {
  const { results } = document;
  const shown = causesIn(document);
  const notScored = results.filter(
    (one) => one.known === null && (one.verdict === 'fail' || one.verdict === 'warn') && !isScored(document, one),
  );
  const isUnknown = document.diagnosis.length === 0 && document.counts.fail > 1;
  return html`${[
    list('What to fix', 'fix', shown.causes, document, anchors, isUnknown && html`<p>${NOTHING_FITS}</p>`),
    list('What should be fixed', 'warnings', shown.warnings, document, anchors),
    list('Not scored: newer than the catalogue revision', 'not-scored', causesOf(notScored, []), document, anchors),
  ]}`;
}

/** Maximum number of causes shown; the others are folded. */
const MAX_SHOWN = 8;

function list(
  title: string,
  id: string,
  all: readonly Cause[],
  document: ResultDocument,
  anchors: Anchors,
  intro: Markup | false = false,
): Markup | '' {
  if (all.length === 0) return '';
  const checksIn = (some: readonly Cause[]) => counted(some.flatMap(({ members }) => members).length, 'check');
  const item = (cause: Cause) => html`<li>${causeOf(cause, document, anchors)}</li>`;
  const rest = all.slice(MAX_SHOWN);
  const numbers = `${checksIn(all)}, ${counted(all.length, 'cause')}`;
  return html`<section id="${id}"><h2>${title} <span>${numbers}</span></h2>${intro}
<ol class="causes">${all.slice(0, MAX_SHOWN).map(item)}</ol>${
    rest.length > 0 &&
    html`<details class="fold"><summary>${counted(rest.length, 'more cause')} with ${checksIn(rest)}</summary>
<ol class="causes" start="${MAX_SHOWN + 1}">${rest.map(item)}</ol></details>`
  }</section>`;
}

function causeOf(cause: Cause, document: ResultDocument, anchors: Anchors): Markup {
  const { diagnosis, members } = cause;
  const fields = diagnosis === null ? groupFields(cause, anchors) : faultFields(diagnosis);
  const [first] = members;
  const about =
    diagnosis !== null
      ? closeness(diagnosis)
      : members.length === 1 && first !== undefined
        ? `expected ${first.expected}, observed ${first.observed || 'nothing'}`
        : suitesOf(members);
  const size = members.length === 0 ? '' : `${failuresIn(members)}: `;
  return html`<h3>${prose(titleOf(cause))}</h3><p class="close">${size}${about}</p><dl>${fields}${field(
    'Check',
    members.length === 0 || document.inProcess === true ? '' : script(checkCommandOf(cause, document)),
  )}</dl>${members.length > 0 && linksTo(members, anchors)}`;
}

function faultFields({ alike, fault, fix, seen, stack, why }: Diagnosis): Markup[] {
  return [
    field('Fix', fix === '' ? '' : prose(fix)),
    field('For', stack === null ? '' : `${stack.name} (${stack.source})`),
    field('Why', why === '' ? '' : prose(why)),
    field('Seen in', seen === '' ? '' : prose(seen)),
    field('Same as', alike.length === 0 ? '' : `${namesOf(alike)}: this run cannot distinguish them`),
    // Without `seen`, the fault is not a mistake in the library, and `explain` adds nothing.
    field('More', seen === '' ? '' : script(`hookproof explain ${fault}`)),
  ].filter((one) => one !== '');
}

function groupFields({ members }: Cause, anchors: Anchors): Markup[] {
  const [first] = members;
  if (first === undefined) return [];
  const whose = html`<span class="close">for ${checkLink(first.id, anchors)}; each check has its own</span>`;
  const each = html`${prose(first.fix)} ${whose}`;
  const fix = members.length === 1 ? prose(first.fix) : (sharedFix(first) ?? each);
  return [...brokenRequirements(members), field('Fix', fix)].filter((one) => one !== '');
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

/** Returns the fix for a 5xx or a missing answer, which is the same for every check; null for other results. */
function sharedFix(result: ScenarioResult): string | null {
  const status = answeredStatus(result);
  if (status === null) {
    return 'Answer every delivery with a complete HTTP response. The logs of the endpoint or its proxy show the cause.';
  }
  return status < 500 ? null : 'The log of the endpoint shows why it answered 5xx: find the exception there.';
}
