/** The table about the command line. */
import type { HelpResult, RunResult, RunResults } from './command-bench.ts';
import type { Table, Target } from './page.ts';
import { median, pairedRatio, ratioInWords } from './statistics.ts';

export function helpTarget({ helpMs, emptyMs, ratio }: HelpResult): Target {
  return {
    what: '`--help` against `node -e 0`',
    target: 'at most 1.25',
    measured: `${ratioInWords(ratio)}: ${helpMs.toFixed(0)} and ${emptyMs.toFixed(0)} ms`,
    met: ratio.median <= 1.25,
  };
}

export function runTargets({ plain, secure, distant }: RunResults): Target[] {
  return [
    runTarget('whole catalogue, loopback HTTP', plain, 1),
    runTarget('whole catalogue, loopback HTTPS and mutual TLS', secure, 3),
    runTarget('whole catalogue, HTTPS and mutual TLS, 50 ms away', distant, 20),
  ];
}

function runTarget(what: string, result: RunResult, limit: number): Target {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  const { wallMs } = result;
  const range = `${seconds(Math.min(...wallMs))} to ${seconds(Math.max(...wallMs))}`;
  return {
    what: `${what}, cold process, wall time`,
    target: `under ${limit} s`,
    measured: `${seconds(median(wallMs))} s (${range})`,
    met: median(wallMs) < limit * 1000,
  };
}

export function runTable(results: RunResults): Table {
  const rows = (['plain', 'secure', 'distant'] as const).map((name) => {
    const { runMs, requests, judged, planned } = results[name];
    return [NAMES[name], `${(runMs / 1000).toFixed(2)} s`, String(requests), `${judged} of ${planned}`];
  });
  const ratio = ratioInWords(pairedRatio(results.secure.wallMs, results.plain.wallMs));
  return {
    title: 'The last run of each',
    columns: ['whole catalogue', 'the run without start and end of the process', 'requests', 'judged'],
    rows,
    notes: [`Wall time of HTTPS and mutual TLS against plain HTTP: ${ratio}.`],
  };
}

const NAMES = {
  plain: 'loopback HTTP',
  secure: 'loopback HTTPS and mutual TLS',
  distant: 'HTTPS and mutual TLS, 50 ms away',
};
