import type { Scenario } from './scenario.ts';

/** Matches titles about deliveries: a verb, followed by a noun phrase. */
const ABOUT_A_DELIVERY = /^(?<verb>Accepts|Rejects|Handles) (?<delivery>.+)$/;

/** Outcomes that neither accept nor reject a delivery. */
const NO_ANSWER: ReadonlySet<string> = new Set(['closed', 'silence', 'other-protocol', 'seen']);

/**
 * Returns the defect of a receiver that fails a scenario, as the title of a finding: "Accepts a delivery without a
 * signature". The defect is derived from the title and the outcome, unless the scenario has a `defect`. `outcome` is a
 * status, `granted` (a handshake), the name of a TLS alert, or the reason for a missing answer (`closed`, `silence`).
 */
export function defectOf({ title, defect }: Pick<Scenario, 'title' | 'defect'>, outcome: string): string {
  if (defect !== undefined) return defect;
  const [, done] = /^Does not (reveal|write) /.exec(title) ?? [];
  if (done !== undefined) return title.replace(/^Does not \w+/, done === 'write' ? 'Writes' : 'Reveals');
  const { verb, delivery } = ABOUT_A_DELIVERY.exec(title)?.groups ?? {};
  if (delivery === undefined) return title;
  if (NO_ANSWER.has(outcome) || outcome.startsWith('5')) return `Fails on ${delivery}`;
  if (outcome.startsWith('3')) return `Redirects ${delivery}`;
  const answer = outcome === 'granted' || outcome.startsWith('2') ? 'Accepts' : 'Rejects';
  if (verb !== answer) return `${answer} ${delivery}`;
  return `${answer} ${delivery} with ${/^\d/.test(outcome) ? 'status ' : ''}${outcome}`;
}

/** Returns true if {@link defectOf} has a text for the scenario. A title that begins with "Records" is its own text. */
export function hasDefect({ title, defect }: Pick<Scenario, 'title' | 'defect'>): boolean {
  return defect !== undefined || /^(?:Accepts|Rejects|Handles|Does not reveal|Does not write|Records) /.test(title);
}
