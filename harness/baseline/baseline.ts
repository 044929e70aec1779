/** A baseline: the failures that are known, each with a reason, an owner and the day until which it is put up with. */

export interface BaselineEntry {
  /** The id of the scenario. */
  readonly scenario: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it counts, in UTC: `2027-01-31`. */
  readonly expires: string;
}

export interface Baseline {
  /** The file as the user names it. */
  readonly file: string;
  readonly entries: readonly BaselineEntry[];
}

/** What stands in an entry until a person has written the reason and the owner. */
export const TO_FILL_IN = 'TODO';

export function isUnfilled({ reason, owner }: BaselineEntry): boolean {
  return [reason, owner].some((text) => text.startsWith(TO_FILL_IN));
}

/** The day of a moment, in UTC. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

export function isExpired({ expires }: BaselineEntry, now: Date): boolean {
  return expires < dayOf(now);
}
