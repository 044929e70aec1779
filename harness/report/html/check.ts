/** One check: a line that unfolds into everything that is known of it. */
import { requirement } from '../../../scenarios/index.ts';
import type { ScenarioResult } from '../../result/result-document.ts';
import type { Evidence } from './allowance.ts';
import { html, joined, type Markup } from './markup.ts';
import { capital, prose } from './prose.ts';
import { script } from './script-text.ts';
import { milliseconds } from './timings.ts';
import { faceOf } from './verdicts.ts';

/** Where things stand in the page: numbers, so that no string of a document becomes a name. */
export interface Places {
  readonly ofCheck: ReadonlyMap<string, number>;
  readonly ofRequirement: ReadonlyMap<string, number>;
}

/** The id of a check as a link to its line; as it is when the page does not have it. */
export function checkLink(id: string, places: Places): Markup {
  const at = places.ofCheck.get(id);
  return at === undefined ? html`<code>${id}</code>` : html`<a href="#c${at}"><code>${id}</code></a>`;
}

function field(name: string, value: Markup | string): Markup | '' {
  return value === '' ? '' : html`<dt>${name}</dt><dd>${value}</dd>`;
}

/** With their texts where something has to be mended; elsewhere they lead to the register at the end of the page. */
function requirementsOf({ requirements, verdict }: ScenarioResult, places: Places): Markup | '' {
  if (requirements.length === 0) return '';
  const inFull = verdict === 'fail' || verdict === 'warn';
  const link = (id: string) => {
    const at = places.ofRequirement.get(id);
    return at === undefined ? html`<code>${id}</code>` : html`<a href="#q${at}">${id}</a>`;
  };
  if (!inFull) return joined(requirements.map(link), ', ');
  return joined(
    requirements.map((id) => html`${link(id)}: ${requirement(id)?.text ?? 'not in this catalogue'}`),
    html`<br>`,
  );
}

function knownText({ known }: ScenarioResult): string {
  return known === null ? '' : `${known.reason} (owner: ${known.owner}, until ${known.expires})`;
}

/** Where nothing is to be done a few words are enough: there are hundreds of these. */
function inShort(result: ScenarioResult, places: Places): Markup {
  const { durationMs, expected, observed, reason, verdict, why } = result;
  const took = durationMs > 0 ? `, in ${milliseconds(durationMs)}` : '';
  const came =
    observed === expected ? `${observed}, as expected${took}` : `Observed ${observed}; expected ${expected}${took}`;
  const said = verdict === 'pass' ? [came, reason] : [reason];
  return html`<p>${said.filter((text) => text !== '').map((text) => `${capital(text)}. `)}${prose(why)}</p><p>${requirementsOf(result, places)}</p>`;
}

function inFull(result: ScenarioResult, places: Places): Markup {
  const { durationMs, expected, observed, reason, reproduce, verdict, why } = result;
  // Without a verdict there is no mistake in sight that the fix would mend.
  const mends = (verdict === 'fail' || verdict === 'warn') && result.fix !== '';
  const curl = reproduce?.curl ?? null;
  return html`<dl>${[
    field('Expected', expected),
    field('Observed', observed),
    field('Reason', reason === observed ? '' : capital(reason)),
    field('Known', knownText(result)),
    field('Why it matters', why === '' ? '' : prose(why)),
    field('Fix', mends ? prose(result.fix) : ''),
    field('Requirement', requirementsOf(result, places)),
    field('Took', durationMs > 0 ? milliseconds(durationMs) : ''),
    field('Run it alone', reproduce === null ? '' : script(reproduce.command)),
    curl === null ? '' : html`<dt class="screen">With curl</dt><dd class="screen">${script(curl)}</dd>`,
  ]}</dl>`;
}

/** The evidence is finished, because how much of it is shown depends on the whole page. */
export function check(result: ScenarioResult, evidence: Evidence | undefined, places: Places): Markup {
  const { id, known, level, title, verdict } = result;
  const tags = [level === 'must' ? '' : level, known === null ? '' : 'known'].filter((tag) => tag !== '');
  const said = verdict === 'pass' || verdict === 'not-applicable' ? inShort(result, places) : inFull(result, places);
  return html`<details data-v="${verdict}"${evidence?.again === true && html` class="again"`}><summary><b>${faceOf(verdict).word}</b><code>${id}</code><span>${title}${tags.map((tag) => html` <em>${tag}</em>`)}</span></summary><div id="c${places.ofCheck.get(id)}">${said}${evidence?.exchanges}</div></details>
`;
}
