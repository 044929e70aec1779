/** Selects entries of an inbox by flags: state, kind, transaction, time. */
import { HookproofError, NOTIFICATION_KINDS } from '../../../contract/index.ts';
import { visible } from '../../../contract/visible.ts';
import { nearestName } from '../../nearest-name.ts';
import { ENTRY_STATES, type EntryFilter, type EntryState } from '../receiver-entry.ts';

export interface FilterFlags {
  readonly state?: string[];
  readonly kind?: string[];
  readonly transaction?: string;
  readonly since?: string;
  readonly until?: string;
}

const KINDS: readonly string[] = [...NOTIFICATION_KINDS, 'UNKNOWN'];
const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const DURATION = /^(\d{1,6}(?:\.\d{1,3})?)([smhdw])$/;
/** Matches a date, or a date and a time; in UTC unless an offset is given. */
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Builds a filter from the flags. @throws HookproofError INBOX_FILTER */
export function entryFilter(flags: FilterFlags, now: Date): EntryFilter {
  const since = flags.since === undefined ? undefined : moment(flags.since, '--since', now);
  const until = flags.until === undefined ? undefined : moment(flags.until, '--until', now);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new HookproofError('INBOX_FILTER', '`--since` is not before `--until`', {
      hint: 'A duration counts back from now: `--since 2h --until 1h` selects the hour before the last one.',
    });
  }
  return {
    ...(flags.state === undefined ? {} : { states: flags.state.map((word) => oneOf(word, ENTRY_STATES, '--state')) }),
    ...(flags.kind === undefined ? {} : { kinds: flags.kind.map((word) => oneOf(word, KINDS, '--kind')) }),
    ...(flags.transaction === undefined ? {} : { transactionId: flags.transaction }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Parses a time, or a duration that counts back from `now`. @throws HookproofError INBOX_FILTER */
export function moment(text: string, flag: string, now: Date): Date {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) {
    return new Date(now.getTime() - Number(amount) * UNITS[unit as keyof typeof UNITS]);
  }
  const match = TIME.exec(text);
  const withOffset = text.length === 10 || match?.[1] !== undefined ? text : `${text}Z`;
  const time = match === null ? Number.NaN : Date.parse(withOffset.replace(' ', 'T'));
  if (!Number.isNaN(time)) return new Date(time);
  throw new HookproofError('INBOX_FILTER', `\`${flag} ${visible(text)}\` is neither a time nor a duration`, {
    hint: 'For example 2h, 7d, 2026-01-31 or 2026-01-31T12:00:00Z.',
  });
}

/** Formats the number of entries per state: "3 dead, 1 done". */
export function describeCounts(counts: ReadonlyMap<EntryState, number>): string {
  return ENTRY_STATES.flatMap((state) => {
    const count = counts.get(state) ?? 0;
    return count === 0 ? [] : [`${count} ${state}`];
  }).join(', ');
}

function oneOf<T extends string>(word: string, names: readonly T[], flag: string): T {
  const found = names.find((name) => name.toLowerCase() === word.toLowerCase());
  if (found !== undefined) return found;
  const near = nearestName(word, names);
  throw new HookproofError('INBOX_FILTER', `\`${flag} ${visible(word)}\` is not one of ${names.join(', ')}`, {
    hint: near === null ? 'The flag can be repeated.' : `Did you mean ${near}?`,
  });
}
