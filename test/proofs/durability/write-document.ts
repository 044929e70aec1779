/**
 * Runs every proof and writes docs/durability.md, which takes a quarter of an hour. Exits with 1 if a claim does not
 * hold. With names of parts (kill, flushes, outages, replicas, soak), it runs only those and writes nothing. Run by
 * `npm run proofs -- durability`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { migrations, SQLITE } from '../../../receiver/inbox/schema.ts';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';
import { statements } from '../../../receiver/inbox/statements.ts';
import { sectionOf } from '../../setup/markdown-section.ts';
import { markdownTable } from '../../setup/markdown-table.ts';
import { FAULTS } from './faulty-receivers.ts';
import { BROKERS_HEADING, LIMITS_HEADING } from './headings.ts';
import { brokenClaims, type Proofs, runProofs } from './proofs.ts';

const PAGE = fileURLToPath(new URL('../../../docs/durability.md', import.meta.url));

const count = (value: number) => value.toLocaleString('en-GB');
const ms = (value: number) => `${value < 10 ? value.toFixed(1) : count(Math.round(value))} ms`;

const kind = (fault: string | null) => (fault === null ? 'correct' : `**faulty: ${fault}**`);

function kills({ kills: all }: Proofs): string {
  const rows = all.map(({ store, fault, clockBackMs, result: r }) => [
    store,
    clockBackMs > 0 ? `${kind(fault)}, its clock set back by an hour at each restart` : kind(fault),
    r.rounds,
    r.acknowledged,
    r.missing,
    r.duplicates,
    r.unhandled,
    r.handledUnstored,
    r.storedUnacknowledged,
    r.handledAgain,
  ]);
  const heads = [
    'store',
    'receiver',
    'kills',
    'acknowledged',
    'missing',
    'duplicate inserts',
    'acknowledged, not handled',
  ];
  return markdownTable([...heads, 'handled, not stored', 'stored, not acknowledged', 'handled again'], rows);
}

function flushes({ flushes: all }: Proofs): string {
  const rows = all.map(({ store, fault, result: r }) => [
    store,
    kind(fault),
    r.acknowledged,
    r.fsyncs ?? 'not counted',
  ]);
  return markdownTable(['store', 'receiver', 'acknowledged one after the other', 'flushes'], rows);
}

function outages({ outages: all }: Proofs): string {
  const rows = all.map((r) => [
    r.store,
    r.what,
    r.acknowledged,
    r.refused,
    ms(r.slowestMs),
    r.otherwise,
    r.acknowledgedWithoutRow,
    r.unhandled,
    r.handledAgain,
    ms(r.readyAfterMs),
    ms(r.backAfterMs),
    r.logLines.join(', '),
  ]);
  const heads = [
    'store',
    'what happens',
    'acknowledged',
    'answered 503',
    'slowest answer',
    'answered otherwise',
    '200 without a row',
  ];
  return markdownTable(
    [...heads, 'not handled', 'handled again', 'ready after', 'next 200 after', 'lines in the log'],
    rows,
  );
}

function replicas({ replicas: all }: Proofs): string {
  const rows = all.map(({ what, fault, result: r }) => [
    what,
    kind(fault),
    r.notifications,
    r.ok,
    r.accepted,
    r.rows,
    r.runs,
    r.handled,
    r.overlaps,
    `${count(r.outOfOrder)} of ${count(r.pairs)}`,
    r.shares.map(count).join(' and '),
  ]);
  const heads = [
    'receivers',
    'kind',
    'notifications',
    'answers 200',
    'reported as "accepted"',
    'rows',
    'handlers begun',
    'handled',
  ];
  return markdownTable([...heads, 'at the same time', 'pairs out of order', 'handled by each'], rows);
}

function soaks({ soaks: all }: Proofs): string {
  const heads = ['', ...all.map(({ store, what }) => `${store}, ${what}`)];
  const row = (name: string, value: (soak: Proofs['soaks'][number]) => string | number) => [name, ...all.map(value)];
  const each = (value: number | null) => (value === null ? 'not counted' : value.toFixed(3));
  return markdownTable(heads, [
    row('deliveries (20,000 of them to warm up)', ({ deliveries }) => deliveries),
    row('acknowledged', ({ acknowledged }) => acknowledged),
    row('rows', ({ rows }) => rows),
    row('handled, at the first attempt or without a handler', ({ handled }) => handled),
    row('deliveries a second', ({ deliveries, seconds }) => Math.round((deliveries - 20_000) / seconds)),
    row('CPU of the receiver for each', ({ cpuUs }) => `${Math.round(cpuUs)} us`),
    ...(['p50', 'p90', 'p99', 'p99.9', 'max'] as const).map((name) =>
      row(`answer ${name}`, ({ latency }) => ms(latency[name])),
    ),
    row('memory at each tenth, MB', ({ memory }) => memory.map((mb) => mb.toFixed(0)).join(' ')),
    row('last tenth against the first', ({ memory }) => `${((memory.at(-1) ?? 0) - (memory[0] ?? 0)).toFixed(1)} MB`),
    row('waiting for a handler at the end', ({ backlog }) => backlog),
    row('backlog handled in', ({ workedOffSeconds }) => `${workedOffSeconds.toFixed(1)} s`),
    row('largest write-ahead log', ({ walMb, store }) => (store === 'SQLite' ? `${walMb.toFixed(1)} MB` : '')),
    row('commits for each', ({ commitsEach }) => each(commitsEach)),
    row('flushes for each', ({ fsyncsEach }) => each(fsyncsEach)),
  ]);
}

async function renderDocument(proofs: Proofs): Promise<string> {
  return `# What the receiver does not lose

<!-- Written by \`npm run proofs -- durability\` from what it has measured. Do not edit. -->

The reference receiver answers 200 when a notification is on disk, and runs the handlers afterwards from what is stored.
Each claim below is tested by an experiment in \`test/proofs/durability/\`, and each experiment also runs against a
faulty receiver, which it must catch. Short forms of all of them run in \`npm run test:slow\`. The receiver is a
separate process; the test reads the stored rows with SQL, and what the handlers did from a file that they write, each
line with one \`write\`.

Measured on ${proofs.machine.join('; ')}. The machine was shared, so times are upper bounds.

## Killed under load

${proofs.kills[0]?.result.rounds ?? 0} times, \`kill -9\` at a random moment between 150 and 850 ms after the first
answer of a round, under 64 connections; one delivery in twenty is a duplicate of an earlier one. The correct receiver
is the compiled \`hookproof receiver --inbox ... --handlers ...\`. After each kill every acknowledged id is looked up in
the inbox. At the end, deliveries without an answer are sent again, all handlers run, and every acknowledged
notification must have been handled completely.

${kills(proofs)}

"Stored, not acknowledged" is correct: the answer was lost, the sender delivers again, and the receiver reports a
duplicate. "Handled again" is correct too: the handler was killed while it ran, or its end was not stored yet. Therefore
handlers get an idempotency key.

The faulty ones: ${Object.entries(FAULTS)
    .map(([name, what]) => `*${name}* ${what}`)
    .join('; ')}.

## On the disk

A \`kill -9\` cannot show that data is on disk: written data that is not flushed survives the process, and is lost when
the power fails. So flushes are counted, by a preloaded library (SQLite) and by the server (PostgreSQL,
\`pg_stat_wal\`). Notifications that arrive one after another over one connection need one flush each.

${flushes(proofs)}

## The inbox fails and comes back

The inbox fails during a load over 16 connections. The receiver is the same process from the first delivery to the last.
Deliveries that were answered 503 are sent again afterwards. While it fails, \`/readyz\` answers 503. The load stops
before the failure ends, so "ready after" is the time until \`/readyz\` answers 200 without any delivery; "next 200
after" is the time from the next delivery.

${outages(proofs)}

An answer comes within 5 s even when the database does not respond. A notification that was stored although its answer
was 503 is a duplicate when it is sent again, and is handled once. The table lists the log lines about the inbox; the
log also has one line for each rejected delivery. No line contains the password.

A folder, file or disk that cannot be written is an error at start-up with exit code 2 (\`INBOX_OPEN\`). So is a file
or log with damage, of which the tests have 20 kinds (\`INBOX_DAMAGED\`), a database with \`synchronous_commit = off\`
(\`INBOX_NOT_DURABLE\`), and one whose encoding is not UTF8 (\`INBOX_ENCODING\`). A row that a database rejects is
answered 503 alone: the rest of its batch is stored.

## Two receivers on one database

Both are behind a round robin of TCP connections; each notification is delivered three times at once over three
connections, so that both receivers get it. Handlers wait until half of the notifications are stored; after that, two of
one transaction must run in order.

${replicas(proofs)}

When one of them is killed, the other takes over what it was handling when the lease ends, and handles it again.

## A soak

New ids over 64 connections, five notifications a transaction. Memory is the resident set, the median of each tenth.

${soaks(proofs)}

Handling a notification takes three writes: stored, claimed, settled. Everything that arrives in one turn of the event
loop is committed together. A claim takes as many entries as handlers may run at once (16), so handlers that do nothing,
as here, cost two commits for 16.

## With a large backlog

Every query of the receiver uses an index, whatever the backlog. A claim that looked at every entry of a transaction
took 50 ms on SQLite with 100,000 entries (blocking the event loop) and 350 ms on PostgreSQL; entries that cannot run
yet are now marked, and released when it is their turn. The query plans of SQLite:

${await sqlitePlans()}

${sectionOf(readFileSync(PAGE, 'utf8'), BROKERS_HEADING)}${LIMITS_HEADING}

- A power failure. Flushes are counted; whether a disk honours them depends on the disk.
- Other file systems: the full disk is a file system in memory. Others may fail elsewhere, at a \`rename\` or when a
  file is closed.
- PostgreSQL with replicas: acknowledged data is on the disk of one server, unless \`synchronous_standby_names\` says
  otherwise.
- SQLite on a network file system, where its locks may not hold.
- Handlers that do real work: here they do nothing, or wait for some milliseconds.
`;
}

const EXPLAINED = ['claim', 'release', 'settle', 'reclaim', 'nextDue', 'depths'] as const;

/** Returns, for each statement, the tables and indexes that it searches or scans. */
async function readsOf(): Promise<readonly (readonly [statement: string, reads: readonly string[]])[]> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(':memory:');
  for (const statement of migrations(SQLITE).flat()) database.exec(statement);
  const sql = statements(SQLITE);
  const explain = (text: string) =>
    (database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .filter((detail) => /^(?:SEARCH|SCAN) \w/.test(detail) && / USING /.test(detail));
  const found = EXPLAINED.map((name) => [name, [...new Set(explain(sql[name]))]] as const);
  database.close();
  return found;
}

async function sqlitePlans(): Promise<string> {
  const rows = (await readsOf()).map(([name, reads]) => [name, reads.map((each) => `\`${each}\``).join('<br>')]);
  return markdownTable(['statement', 'what it reads'], rows);
}

const parts = process.argv.slice(2);
const proofs = await runProofs(parts, (what, result) => process.stdout.write(`${what}: ${JSON.stringify(result)}\n`));
if (parts.length === 0) writeFileSync(PAGE, await renderDocument(proofs));
for (const claim of brokenClaims(proofs)) {
  process.stdout.write(`DOES NOT HOLD: ${claim}\n`);
  process.exitCode = 1;
}
