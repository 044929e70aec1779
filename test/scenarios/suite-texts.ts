/** What must hold of the texts of every scenario of a suite. Returns what does not. */
import { requirement } from '../../scenarios/requirements.ts';
import type { Suite } from '../../scenarios/scenario.ts';

function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

export function faultsOfTexts(suite: Suite): string[] {
  const { scenarios } = suite;
  return [
    ...repeated(scenarios.map(({ id }) => id)).map((id) => `id twice: ${id}`),
    ...repeated(scenarios.map(({ title }) => title)).map((title) => `title twice: ${title}`),
    ...repeated(scenarios.map(({ why }) => why)).map((why) => `why twice: ${why}`),
    ...repeated(scenarios.map(({ fix }) => fix)).map((fix) => `fix twice: ${fix}`),
    ...scenarios.flatMap(({ id, title, why, fix, requirements }) => [
      ...(new RegExp(`^${suite.name}/[a-z0-9]+(-[a-z0-9]+)*$`).test(id) ? [] : [`id: ${id}`]),
      ...(/^[A-Z].{10,110}[^.]$/.test(title) ? [] : [`title of ${id}`]),
      ...(/^.{20,260}\.$/.test(why) ? [] : [`why of ${id}`]),
      ...(/^.{20,260}\.$/.test(fix) ? [] : [`fix of ${id}`]),
      ...(requirements.length > 0 && requirements.every((name) => requirement(name) !== undefined)
        ? []
        : [`requirements of ${id}`]),
    ]),
  ];
}
