import type { Scenario } from './scenario.ts';

/** The verbs with which the titles of deliveries begin. What follows them is a noun phrase. */
const ABOUT_A_DELIVERY = /^(?<verb>Accepts|Rejects|Handles) (?<delivery>.+)$/;

/**
 * What is wrong with a receiver that fails a scenario, as the title of a finding: "Accepts a delivery without a
 * signature". Derived from the title and the status of the answer (null when there was no answer or it has no status),
 * unless the scenario has a `defect`.
 */
export function defectOf({ title, defect }: Pick<Scenario, 'title' | 'defect'>, status: number | null): string {
  if (defect !== undefined) return defect;
  if (title.startsWith('Does not reveal ')) return title.replace('Does not reveal ', 'Reveals ');
  const { verb, delivery } = ABOUT_A_DELIVERY.exec(title)?.groups ?? {};
  if (delivery === undefined) return title;
  if (status === null || status >= 500) return `Fails on ${delivery}`;
  if (status >= 300 && status < 400) return `Redirects ${delivery}`;
  const expected = status < 300 ? 'Accepts' : 'Rejects';
  return verb === expected ? `${expected} ${delivery} with status ${status}` : `${expected} ${delivery}`;
}

/** Whether a finding's title can be made for a scenario. Scenarios that only record something need none. */
export function hasDefect({ title, defect }: Pick<Scenario, 'title' | 'defect'>): boolean {
  return defect !== undefined || /^(?:Accepts|Rejects|Handles|Does not reveal|Records) /.test(title);
}
