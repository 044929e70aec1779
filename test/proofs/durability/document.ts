/** docs/durability.md, from what the proofs have given. */
import { sqlitePlans } from './plans.ts';
import type { Proofs } from './proofs.ts';
import { WRONG_WAYS } from './wrong-receivers.ts';

const count = (value: number) => value.toLocaleString('en-GB');
const ms = (value: number) => `${value < 10 ? value.toFixed(1) : count(Math.round(value))} ms`;

function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell) => (typeof cell === 'number' ? count(cell) : cell)).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

const right = (wrong: string | null) => (wrong === null ? 'right' : `**wrong: ${wrong}**`);

function kills({ kills: all }: Proofs): string {
  const rows = all.map(({ store, wrong, result: r }) => [
    store,
    right(wrong),
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
    'of them missing',
    'duplicate inserts',
    'acknowledged, not handled',
  ];
  return table([...heads, 'handled, not stored', 'stored, not acknowledged', 'handled again'], rows);
}

function flushes({ flushes: all }: Proofs): string {
  const rows = all.map(({ store, wrong, result: r }) => [
    store,
    right(wrong),
    r.acknowledged,
    r.fsyncs ?? 'not counted',
  ]);
  return table(['store', 'receiver', 'acknowledged one after the other', 'flushes'], rows);
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
  return table([...heads, 'not handled', 'handled again', 'next 200 after', 'lines in the log'], rows);
}

function replicas({ replicas: all }: Proofs): string {
  const rows = all.map(({ what, wrong, result: r }) => [
    what,
    right(wrong),
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
    'they are',
    'notifications',
    'answers 200',
    'of them "accepted"',
    'rows',
    'handlers begun',
    'handled',
  ];
  return table([...heads, 'at the same time', 'pairs out of order', 'handled by each'], rows);
}

function soaks({ soaks: all }: Proofs): string {
  const heads = ['', ...all.map(({ store, what }) => `${store}, ${what}`)];
  const row = (name: string, value: (soak: Proofs['soaks'][number]) => string | number) => [name, ...all.map(value)];
  const each = (value: number | null) => (value === null ? 'not counted' : value.toFixed(3));
  return table(heads, [
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
    row('worked off in', ({ workedOffSeconds }) => `${workedOffSeconds.toFixed(1)} s`),
    row('largest write-ahead log', ({ walMb, store }) => (store === 'SQLite' ? `${walMb.toFixed(1)} MB` : '')),
    row('commits for each', ({ commitsEach }) => each(commitsEach)),
    row('flushes for each', ({ fsyncsEach }) => each(fsyncsEach)),
  ]);
}

export async function renderDocument(proofs: Proofs): Promise<string> {
  return `# What the receiver does not lose

<!-- Written by \`npm run proofs -- durability\` from what it has measured. Do not edit. -->

The reference receiver answers 200 when a notification is on the disk, and runs the handlers afterwards from what is stored. Each claim below is shown by
an experiment in \`test/proofs/durability/\`, and each experiment shows its own power on a receiver that is wrong in one known way: an experiment that the wrong
receiver passes would prove nothing. Short forms of all of them run in \`npm test\`. The receiver runs in a process of its own; what it has stored is read
with SQL from outside, and what handlers did is read in a file that they write themselves, each line with one \`write\`.

Measured on ${proofs.machine.join('; ')}. The machine was shared, so figures of time are upper bounds rather than promises.

## Killed under load

${proofs.kills[0]?.result.rounds ?? 0} times, \`kill -9\` at a random moment between 150 and 850 ms after the first answer of a round, under 64 connections; one delivery in twenty is
a duplicate of an earlier one. The right receiver is the compiled \`hookproof receiver --inbox ... --handlers ...\`. After each kill every acknowledged id
is looked up in the inbox. At the end what had no answer is delivered again, everything is worked off, and every acknowledged notification has to have been
handled to the end.

${kills(proofs)}

"Stored, not acknowledged" is right: the answer was on its way, the sender delivers again and is told that it is a duplicate. "Handled again" is right too:
the handler was killed in the middle, or its end was not written down yet. That is why handlers get an idempotency key.

The wrong ones: ${Object.entries(WRONG_WAYS)
    .map(([name, what]) => `*${name}* ${what}`)
    .join('; ')}.

## On the disk

A \`kill -9\` cannot show that anything is on the disk: what was written and not flushed outlives the process, and is lost when the power fails. So flushes
are counted, by a library loaded before all others (SQLite) and by the server itself (PostgreSQL, \`pg_stat_wal\`). Notifications that come one after the
other over one connection each need a flush of their own.

${flushes(proofs)}

## The inbox fails and comes back

In the middle of a load over 16 connections. The receiver is not started again: it is the same process from the first delivery to the last. What was
answered 503 is delivered again afterwards.

${outages(proofs)}

An answer comes within 5 s even when the database says nothing at all. What was stored although its answer was 503 is a duplicate when it comes again, and is
handled once. Lines in the log are those about the inbox; beside them there is one for each delivery that was refused. No line holds the password.

At the start a folder or a file that may not be written is an error with exit code 2 (\`INBOX_OPEN\`), and a database with \`synchronous_commit = off\` is
refused (\`INBOX_NOT_DURABLE\`).

## Two receivers on one database

Behind a round robin of TCP connections; each notification is delivered three times at the same instant over three connections, so that both receivers get
it. Handlers stand still until half of the notifications are stored; from then on two of one transaction that were both there have to run in their order.

${replicas(proofs)}

When one of them is killed, what it was handling is taken over by the other when its lease is over, and handled again.

## A soak

New ids over 64 connections, five notifications a transaction. Memory is the resident set, the median of each tenth.

${soaks(proofs)}

A notification that is handled costs three writes: stored, claimed, settled. What arrives in one turn of the event loop is committed together. A claim takes
as many as handlers may run at the same time (16), so handlers that do nothing, as here, cost two commits for each 16.

## With much to do

Each question of the receiver is answered from an index, whatever waits. A claim that looked at every entry of a transaction took 50 ms on SQLite with
100,000 of them (the event loop stands still) and 350 ms on PostgreSQL; entries that cannot run yet are now put behind, and let go when it is their turn. How
SQLite answers each of them:

${await sqlitePlans()}

## What this does not show

- Nobody has cut the power. Flushes are counted; whether a disk keeps its word about them is a matter of the disk.
- A file system in memory stands for the full disk. Other file systems may fail in other places, at a \`rename\` or when a file is closed.
- PostgreSQL with replicas of its own: what is acknowledged is on the disk of one server, unless \`synchronous_standby_names\` says otherwise.
- SQLite on a network file system, where its locks may not hold.
- Handlers that do real work: here they do nothing, or wait for some milliseconds.
`;
}
