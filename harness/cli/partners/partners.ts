/** `hookproof partners`: lists who may get traffic now, until when and why, or the history of one partner. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { daysOfFlag } from '../../config/index.ts';
import { byNeed, changedSince, expiringWithin, STATES, type Standing } from '../../register/index.ts';
import { counted, type Layout, trafficInWords } from '../../report/index.ts';
import { timeOf } from '../certify/issued.ts';
import { outputLayout } from '../certify/output.ts';
import { printAdvice } from '../terminal.ts';
import { noPartner } from './decisions.ts';
import {
  importRecords,
  publicKeys,
  type RegisterFlags,
  readRecords,
  readStandings,
  registerOf,
  requireRegister,
  standingsAt,
} from './register-input.ts';
import { historyLines, standingLines } from './standing-lines.ts';

export interface PartnersFlags extends RegisterFlags {
  readonly key?: readonly string[];
  readonly expiring?: string;
  readonly changed?: string | true;
  readonly at?: string;
  readonly import?: string;
  readonly json?: boolean;
}

const HOURS = { hours: true };

/**
 * Returns 0. Exceptions: with a name, 1 if the partner must not get traffic; with `--expiring` or `--changed`, 1 if a
 * partner is found.
 */
export async function partnersCommand(name: string | undefined, flags: PartnersFlags): Promise<number> {
  const { changed, expiring, json = false } = flags;
  if ([name, changed, expiring].filter((one) => one !== undefined).length > 1) {
    throw new HookproofError('PARTNERS_FLAGS', 'a name, `--expiring` and `--changed` cannot be combined', {
      hint: 'Ask one question at a time.',
    });
  }
  requireRegister(flags);
  if (flags.import !== undefined) requireRegister({ register: flags.import });
  const keys = await publicKeys(flags.key);
  const register = await registerOf(flags);
  const now = timeOf(flags.at);
  try {
    if (flags.import !== undefined) {
      const added = await importRecords(register, keys, flags.import);
      printAdvice([`${counted(added, 'record')} added from ${visible(flags.import)}`]);
    }
    if (changed !== undefined) {
      const since = new Date(now.getTime() - daysOfFlag('--changed', changed === true ? '1d' : changed, HOURS));
      const records = await readRecords(register);
      const found = changedSince(standingsAt(records, keys, now), standingsAt(records, keys, since));
      const listed = found.map(({ now: one, before }) => ({ ...one, before: before?.state ?? null }));
      return answer(listed, json, (layout) => [
        ...found.flatMap(({ now: one, before }) => standingLines(one, layout, before)),
        `${counted(found.length, 'partner')} changed since ${since.toISOString()}`,
      ]);
    }
    const all = await readStandings(register, keys, now);
    if (name !== undefined) {
      const found = all.find(({ partner }) => partner === name);
      if (found === undefined) throw noPartner(name, all);
      if (json) print(found);
      else printLines(historyLines(found, outputLayout()));
      return found.mayGetTraffic ? 0 : 1;
    }
    if (expiring !== undefined) {
      const found = expiringWithin(all, now, daysOfFlag('--expiring', expiring, HOURS));
      return answer(found, json, (layout) => [
        ...found.flatMap((one) => standingLines(one, layout)),
        `${expiringInWords(found)} within ${expiring}`,
      ]);
    }
    if (json) print({ schemaVersion: 1, at: now.toISOString(), totals: totalsOf(all), partners: all });
    else printLines(listLines(all, outputLayout()));
    return 0;
  } finally {
    await register.close();
  }
}

/** Returns text such as "2 certificates and 1 override expire". */
function expiringInWords(found: readonly Standing[]): string {
  const overrides = found.filter(({ state }) => state === 'allowed').length;
  const certificates = found.length - overrides;
  const parts = [
    ...(certificates > 0 || overrides === 0 ? [counted(certificates, 'certificate')] : []),
    ...(overrides > 0 ? [counted(overrides, 'override')] : []),
  ];
  return `${parts.join(' and ')} ${found.length === 1 ? 'expires' : 'expire'}`;
}

function answer(found: readonly unknown[], json: boolean, lines: (layout: Layout) => readonly string[]): number {
  if (json) print({ schemaVersion: 1, partners: found });
  else printLines(lines(outputLayout()));
  return found.length > 0 ? 1 : 0;
}

function listLines(all: readonly Standing[], layout: Layout): string[] {
  if (all.length === 0) return ['no partner is in the register: `hookproof certify --partners FOLDER` adds them'];
  const groups = byNeed(all);
  const parts = groups.toReversed().map(({ state, standings }) => `${standings.length} ${state}`);
  return [
    ...groups.flatMap(({ standings }) => standings.flatMap((one) => standingLines(one, layout))),
    `${trafficInWords(all)}: ${parts.join(', ')}`,
  ];
}

function totalsOf(all: readonly Standing[]): Record<Standing['state'], number> {
  const of = (state: Standing['state']) => all.filter((one) => one.state === state).length;
  return Object.fromEntries(STATES.map((state) => [state, of(state)])) as Record<Standing['state'], number>;
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

function printLines(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
