/** Whether the clocks agree. Pure. */
import type { FactsOf } from '../doctor-document.ts';
import { advice, type DoctorFinding } from './finding.ts';

const MOST_MS = 30_000;

export function clockFindings({ aheadMs, uncertaintyMs }: FactsOf<'clock'>): DoctorFinding[] {
  if (Math.abs(aheadMs) - uncertaintyMs <= MOST_MS) return [];
  const title = `The clock of this machine is ${inWords(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the endpoint's.`;
  const fix = 'Find out which of the two is wrong (`timedatectl`, `date -u`), and have both set by NTP.';
  const detail =
    'Whether a certificate is valid is judged by the local clock on each side, and so are the times in logs and notifications.';
  return [advice('clock-skew', title, fix, detail)];
}

/** "45 seconds", "12 minutes", "3 days". */
export function inWords(milliseconds: number): string {
  const units: readonly (readonly [ms: number, name: string])[] = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
  ];
  const [ms, name] = units.find(([least]) => milliseconds >= 2 * least) ?? [1000, 'second'];
  const count = Math.round(milliseconds / ms);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
