/** Progress of the measurements, on standard error. */
import { performance } from 'node:perf_hooks';

export function note(text: string): void {
  const seconds = Math.round(performance.now() / 1000);
  process.stderr.write(`[${String(seconds).padStart(4)} s] ${text}\n`);
}
