/**
 * Kills receivers and brokers 20 times each, measures throughput, and writes the section about brokers of
 * docs/durability.md. With a number of kills as its argument, it writes nothing. Exits with 1 if a claim does not hold.
 * Run by `npm run proofs -- brokers`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withSection } from '../../setup/markdown-section.ts';
import { markdownTable } from '../../setup/markdown-table.ts';
import { pathOf } from '../../setup/programs.ts';
import { BROKERS_HEADING, LIMITS_HEADING } from '../durability/headings.ts';
import { BROKERS, type BrokerName } from './broker.ts';
import { type BrokerKillResult, brokerKillRounds } from './kill-rounds.ts';
import { measureThroughput, type Throughput } from './throughput.ts';

const PAGE = fileURLToPath(new URL('../../../docs/durability.md', import.meta.url));

interface Killed {
  readonly name: BrokerName;
  readonly fault: 'acknowledges first' | null;
  readonly result: BrokerKillResult;
}

async function killAll(kills: number): Promise<Killed[]> {
  const all: Killed[] = [];
  for (const name of Object.keys(BROKERS) as BrokerName[]) {
    for (const fault of [null, 'acknowledges first'] as const) {
      const rounds = fault === null ? kills : Math.min(kills, 3);
      const options = { name, kills: rounds, seed: 20, betweenMs: [150, 850] as const };
      const result = await brokerKillRounds({ ...options, ...(fault === null ? {} : { fault }) });
      all.push({ name, fault, result });
      const named = { lost: result.lost.slice(0, 5), duplicates: result.duplicates.slice(0, 5) };
      process.stdout.write(`${name}, ${fault ?? 'correct'}: ${JSON.stringify({ ...result, ...named })}\n`);
    }
  }
  return all;
}

function brokenClaims(all: readonly Killed[]): string[] {
  return all.flatMap(({ name, fault, result: r }) => {
    if (fault !== null) return r.lost.length > 0 ? [] : [`${name}: the faulty receiver is caught`];
    return [
      ...(r.lost.length > 0 ? [`${name}: every acknowledged notification is in the broker: ${r.lost}`] : []),
      ...(r.otherwise > 0 ? [`${name}: every answer is 200 or 503`] : []),
      ...(r.multiplied.length > 0 ? [`${name}: nothing is stored more often than it was sent: ${r.multiplied}`] : []),
      ...(name === 'NATS' && r.copies > 0 ? [`NATS stores no duplicate: ${r.duplicates}`] : []),
    ];
  });
}

function killTable(all: readonly Killed[]): string {
  const rows = all.map(({ name, fault, result: r }) => [
    name,
    fault === null ? 'correct' : `**faulty: ${fault}**`,
    `${r.kills} and ${r.kills}`,
    r.sent,
    r.acknowledged,
    r.lost.length,
    r.refused,
    r.copies,
    r.afterLostAnswer,
    `${Math.round(r.slowestReturnMs).toLocaleString('en-GB')} ms`,
  ]);
  const heads = ['broker', 'receiver', 'kills of receiver and broker', 'deliveries', 'acknowledged', 'lost'];
  const more = ['answered 503', 'copies in the broker', 'ids whose copy follows a lost answer', 'next 200 after'];
  return markdownTable([...heads, ...more], rows);
}

function throughputTable(all: readonly Throughput[]): string {
  const rows = all.map(({ store, toSqlite }) => [store, ...toSqlite.map((ratio) => ratio.toFixed(2))]);
  const heads = ['deliveries a second, compared with SQLite', 'lowest of five rounds', 'median', 'highest'];
  return markdownTable(heads, rows);
}

/** Returns the version that the program prints, or that of its Debian package. */
function versionOf(name: BrokerName): string {
  if (name === 'NATS') return execFileSync(pathOf('nats-server') ?? '', ['--version'], { encoding: 'utf8' }).trim();
  return execFileSync('dpkg-query', ['-W', 'rabbitmq-server'], { encoding: 'utf8' }).trim().replace('\t', ' ');
}

function render(kills: readonly Killed[], throughput: readonly Throughput[]): string {
  const versions = (Object.keys(BROKERS) as BrokerName[]).map(versionOf).join(', ');
  return `Measured by \`npm run proofs -- brokers\` with the sinks of \`receiver/examples/\`, one server each
(${versions}). The receiver and the broker are killed in turns (\`kill -9\`) under
64 connections; one delivery in twenty is a duplicate of an earlier one. At the end, deliveries without a 200 are sent
again, and everything is read from the broker.

${killTable(kills)}

NATS detects duplicates by id, also after it was killed. RabbitMQ does not: each copy was delivered twice by the sender,
some because an answer was lost. No id is in a broker more often than it was delivered. "Next 200 after" is the longest
time from the first delivery after a broker has started.

${throughputTable(throughput)}

The four take turns in each round. Load, receiver and broker share the machine, and so do other programs: where the
range is wide, the ratio is not known better. NATS acknowledges before it flushes its files, RabbitMQ and SQLite
afterwards.`;
}

const [given] = process.argv.slice(2);
const kills = await killAll(Number(given ?? 20));
const throughput = await measureThroughput();
process.stdout.write(`${killTable(kills)}\n\n${throughput.map((each) => JSON.stringify(each)).join('\n')}\n`);
if (given === undefined) {
  writeFileSync(
    PAGE,
    withSection(readFileSync(PAGE, 'utf8'), BROKERS_HEADING, render(kills, throughput), LIMITS_HEADING),
  );
}
for (const claim of brokenClaims(kills)) {
  process.stdout.write(`DOES NOT HOLD: ${claim}\n`);
  process.exitCode = 1;
}
