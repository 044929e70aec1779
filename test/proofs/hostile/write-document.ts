/**
 * Runs the program against every hostile endpoint and writes docs/hostile-endpoints.md. Run by `npm run proofs --
 * hostile`. With names, it uses only those endpoints and writes nothing. Fails if a run violates a rule.
 */
import { writeFileSync } from 'node:fs';
import { type Behaviour, makeMaterial } from './behaviour.ts';
import { BEHAVIOURS, behaviourNamed, GROUPS } from './behaviours/index.ts';
import { LIMITS, MAX_MEMORY_KB, type Outcome, runAgainst } from './play.ts';

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const seconds = (ms: number) => (ms / 1000).toFixed(1);
const mega = (kilobytes: number) => String(Math.round(kilobytes / 1024));
const kilo = (bytes = 0) => String(Math.round(bytes / 1024));

/** Returns the first diagnosis of the run, or why it has no verdict. */
function diagnosisOf({ document }: Outcome): string {
  if (document === null) return 'nothing';
  const [first] = document.diagnosis;
  return first?.title ?? document.results.find(({ verdict }) => verdict === 'inconclusive')?.reason ?? 'no diagnosis';
}

function row(outcome: Outcome): string {
  const { behaviour, document, exitCode, wallMs, boundMs, peakKb, sizes } = outcome;
  const cells = [
    `\`${behaviour.name}\``,
    cell(behaviour.what),
    document?.verdict ?? 'none',
    String(exitCode),
    cell(diagnosisOf(outcome).slice(0, 100)),
    String(document?.requests ?? 0),
    seconds(wallMs),
    seconds(boundMs),
    mega(peakKb),
    ['human', 'junit', 'json', 'ndjson'].map((name) => kilo(sizes.get(name))).join(' / '),
  ];
  return `| ${cells.join(' | ')} |`;
}

const HEAD = [
  '| endpoint | what it does | verdict | exit | diagnosis | requests | s | bound s | MB | reports, kB |',
  '|---|---|---|--:|---|--:|--:|--:|--:|--:|',
];

function table(outcomes: readonly Outcome[], behaviours: readonly Behaviour[]): string {
  return [...HEAD, ...outcomes.filter(({ behaviour }) => behaviours.includes(behaviour)).map(row)].join('\n');
}

function documentText(outcomes: readonly Outcome[]): string {
  const most = (of: (outcome: Outcome) => number) => Math.max(...outcomes.map(of));
  const slowest = outcomes.toSorted((a, b) => b.wallMs - a.wallMs)[0];
  const median = outcomes.map(({ wallMs }) => wallMs).toSorted((a, b) => a - b)[Math.floor(outcomes.length / 2)] ?? 0;
  const slowestText = `the slowest, \`${slowest?.behaviour.name}\`, ${seconds(slowest?.wallMs ?? 0)} s`;
  const harmless = outcomes.filter(({ complaints }) => complaints.length === 0).length;
  const memory = mega(most(({ peakKb }) => peakKb));
  const json = kilo(most(({ sizes }) => sizes.get('json') ?? 0));
  return `# Hostile endpoints

<!-- Written by \`npm run proofs -- hostile\`. Do not edit. -->

The operator runs hookproof against URLs that other people supply, so an endpoint may do anything. Each row is a whole
run of the compiled program, every suite, against an endpoint that does one hostile thing
([test/proofs/hostile/behaviours](../test/proofs/hostile/behaviours)). Measured on Node ${process.version}, with
\`--timeout ${LIMITS.timeoutMs}ms --recovery ${LIMITS.recoveryMs}ms\`.

**${outcomes.length} endpoints: ${harmless} caused no problem.** Median ${seconds(median)} s; ${slowestText};
at most ${memory} MB of memory, and a JSON report of at most ${json} kB.

For every run:

- It ends within its bound, and every planned check has a verdict. The bound is
  \`--timeout\` x (12 + 2 x checks / \`--concurrency\`) + 2 x \`--recovery\`, or \`--max-time\`: a check is two
  deliveries, the probe and the control after it, and each may take its whole time limit; twelve more are for
  handshakes, the first delivery and second tries. Checks without an answer are inconclusive.
- It ends earlier when deliveries have waited thirty time limits in total without an answer, when the first delivery is
  not accepted, and when the receiver is down and does not come back.
- It never exits with 0 and never reports conformant; the exit code is 1 or 3.
- At most ${mega(MAX_MEMORY_KB)} MB of memory at its peak. It reads at most 16 kB of head, 64 kB of body and 16 interim
  answers, and decompresses nothing.
- The JSON report matches its schema, the JUnit report is well-formed XML, every line of the events parses, and no
  report, nor the terminal, contains a control character, an invisible one, a CI command, or a credential.
- No error is unhandled, no redirect is followed, and no cookie is sent back but in the forged deliveries that try it as
  a credential.

${GROUPS.map(([title, behaviours]) => `## ${title}\n\n${table(outcomes, behaviours)}`).join('\n\n')}
`;
}

function summaryOf({ behaviour, document, exitCode, wallMs, peakKb, complaints, sizes }: Outcome): string {
  return [
    complaints.length === 0 ? '✓' : '✗',
    behaviour.name.padEnd(28),
    String(document?.verdict).padEnd(14),
    `exit ${exitCode} `,
    `${seconds(wallMs).padStart(5)} s `,
    `${mega(peakKb).padStart(4)} MB `,
    `${String(document?.requests).padStart(5)} requests `,
    `${kilo(sizes.get('json')).padStart(6)} kB`,
  ].join(' ');
}

const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = names.length === 0 ? BEHAVIOURS : names.map(behaviourNamed);
const material = await makeMaterial();
const outcomes: Outcome[] = [];
try {
  for (const behaviour of chosen) {
    const outcome = await runAgainst(behaviour, material);
    outcomes.push(outcome);
    process.stdout.write(`${summaryOf(outcome)}\n`);
    for (const complaint of outcome.complaints) process.stdout.write(`    ${complaint}\n`);
  }
} finally {
  if (!process.argv.includes('--keep')) await material.remove();
  else process.stdout.write(`${material.folder}\n`);
}
const failed = outcomes.filter(({ complaints }) => complaints.length > 0);
if (names.length === 0 && failed.length === 0) {
  const page = new URL('../../../docs/hostile-endpoints.md', import.meta.url).pathname;
  writeFileSync(page, documentText(outcomes));
  process.stdout.write(`${page}\n`);
}
process.stdout.write(`${outcomes.length - failed.length} of ${outcomes.length} endpoints caused no problem\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
