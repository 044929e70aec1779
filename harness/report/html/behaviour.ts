/** What the endpoint behaves like: why it happens, and the fix for the stack. */
import type { Diagnosis, ResultDocument } from '../../result/result-document.ts';
import { closeness, NOTHING_FITS, namesOf } from '../diagnosis-words.ts';
import { html, type Markup } from './markup.ts';
import { prose } from './prose.ts';
import { script } from './script-text.ts';

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
