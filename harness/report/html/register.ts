/** The requirements that the checks refer to, each once, with its text and what became of its checks. */
import { requirement } from '../../../scenarios/index.ts';
import type { ScenarioResult } from '../../result/result-document.ts';
import { html, type Markup } from './markup.ts';
import { FACES } from './verdicts.ts';

/** The ids in the order in which the checks name them. */
export function requirementIds(results: readonly ScenarioResult[]): string[] {
  return [...new Set(results.flatMap(({ requirements }) => requirements))];
}

function numbersOf(results: readonly ScenarioResult[]): string {
  return FACES.flatMap(({ counted, verdict }) => {
    const count = results.filter((result) => result.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${counted(count)}`];
  }).join(', ');
}

export function register(results: readonly ScenarioResult[]): Markup {
  const ids = requirementIds(results);
  const checksOf = new Map(ids.map((id) => [id, [] as ScenarioResult[]]));
  for (const result of results) for (const id of new Set(result.requirements)) checksOf.get(id)?.push(result);
  return html`<details class="fold" id="requirements"><summary>${ids.length} requirements with their texts</summary><dl class="register">${ids.map(
    (id, at) =>
      html`<dt id="q${at}">${id}</dt><dd>${requirement(id)?.text ?? 'Not in this catalogue.'} <span class="close">${numbersOf(checksOf.get(id) ?? [])}</span></dd>`,
  )}</dl></details>`;
}
