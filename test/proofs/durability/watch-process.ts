/** Looks at a process from outside while it works: its memory, and the files that it writes. Linux. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Watch {
  /** The resident set in MB, the median of the samples since the last call. */
  memory(): number;
  /** The longest that the write-ahead log of a SQLite file was, in MB. */
  readonly largestWal: () => number;
  stop(): void;
}

const EVERY_MS = 50;
const MB = 1e6;

export function watchProcess(pid: number, inbox: string): Watch {
  const wal = inbox.startsWith('file:') ? `${fileURLToPath(inbox)}-wal` : null;
  let samples: number[] = [];
  let largest = 0;
  const sample = () => {
    samples.push(residentSet(pid));
    if (wal !== null && existsSync(wal)) largest = Math.max(largest, statSync(wal).size / MB);
  };
  const timer = setInterval(sample, EVERY_MS);
  return {
    memory() {
      sample();
      const sorted = samples.toSorted((one, other) => one - other);
      samples = [];
      return sorted[Math.floor(sorted.length / 2)] ?? 0;
    },
    largestWal: () => largest,
    stop: () => clearInterval(timer),
  };
}

function residentSet(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / MB;
}

/** User and system time of a process so far, in seconds. */
export function cpuSeconds(pid: number): number {
  // The name in brackets may hold blanks.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  const TICKS_A_SECOND = 100;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
