/** Reads the schedule of `hookproof operate` from the group `operate` in the operator's file of defaults. */
import { dirname } from 'node:path';
import { findConfigFile } from './config-file.ts';
import { type Given, type GivenSettings, givenText, givenTexts, startResolution } from './given.ts';
import { throwIfAny } from './problems.ts';
import type { SettingPath } from './settings.ts';
import { duration } from './values.ts';

export interface Schedule {
  /** The interval between the runs of a partner. */
  readonly everyMs: number;
  /** Time before the expiry of a certificate at which the partner is certified again. */
  readonly certifyBeforeMs: number;
  /** The quiet hours, in which no run starts, in minutes since midnight; null if there are none. */
  readonly quiet: { readonly from: number; readonly to: number } | null;
  /** The time zone of the quiet hours. */
  readonly timeZone: string;
  /** Maximum number of partners of one host that are run at the same time. */
  readonly perHost: number;
  /** The pauses before further attempts to reach a partner, one for each attempt. */
  readonly retryAfterMs: readonly number[];
  /** The revision of the catalogue that the file of defaults selects; null for the latest. */
  readonly revision: number | null;
}

const DAY_MS = 86_400_000;
const MAX_WAIT_MS = 12 * 3_600_000;

/**
 * Reads the schedule. Without a file, the defaults apply.
 *
 * @throws HookproofError with every problem of the file
 */
export async function loadSchedule(defaultsFile: string | null): Promise<Schedule> {
  const { problems, advice, readFile } = startResolution({ env: {} });
  const scope = { partner: null, folder: dirname(defaultsFile ?? ''), names: [] };
  const { settings } = await findConfigFile(
    { configFile: defaultsFile, cwd: process.cwd(), scope, readFile },
    problems,
    advice,
  );
  const waits = givenTexts(settings, 'operate.retry-after').map((given) => duration(given, [0, MAX_WAIT_MS], problems));
  throwIfAny(problems);
  const hours = textAt(settings, 'operate.quiet-hours');
  return {
    everyMs: daysAt(settings, 'operate.recheck-every', 1),
    certifyBeforeMs: daysAt(settings, 'operate.certify-before', 14),
    quiet: hours === undefined ? null : { from: minutesOf(hours.slice(0, 5)), to: minutesOf(hours.slice(6)) },
    timeZone: textAt(settings, 'operate.time-zone') ?? 'UTC',
    perHost: Number(textAt(settings, 'operate.per-host') ?? 1),
    retryAfterMs: settings.has('operate.retry-after')
      ? waits.flatMap((wait) => wait ?? [])
      : [1, 5, 30].map((minutes) => minutes * 60_000),
    revision: settings.has('revision') ? Number(textAt(settings, 'revision')) : null,
  };
}

function textAt(settings: GivenSettings, path: SettingPath): string | undefined {
  const given: Given<string> | undefined = givenText(settings, path);
  return given?.value;
}

const daysAt = (settings: GivenSettings, path: SettingPath, standard: number) =>
  Number.parseInt(textAt(settings, path) ?? `${standard}`, 10) * DAY_MS;

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
