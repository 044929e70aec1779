/**
 * Plays the correct receivers in each set-up and prints a table: `npm run proofs -- correct [--set-up NAME] [NAME...]`.
 * Fails if one of them gets a failure, an unexpected warning, or no verdict.
 */
import { CORRECT_RECEIVERS } from './correct/index.ts';
import { findSubject, makeMaterial, missingPrograms, runAgainst } from './play.ts';
import { SET_UPS, type SetUp } from './set-ups.ts';

/** Number of concurrent receivers in each set-up. With jitter, most of the time is spent waiting. */
const AT_ONCE: Readonly<Record<SetUp, number>> = { loopback: 4, nginx: 4, proxy: 4, jitter: 10 };

/** Set-ups that forward HTTP. */
const HTTP_ONLY: readonly SetUp[] = ['nginx', 'proxy'];

/** Receivers that send an unrequested interim answer, which nginx mistakes for the beginning of the final one. */
const NOT_BEHIND_NGINX = ['early-hints', 'early-continue'];

interface Cell {
  readonly receiver: string;
  readonly setUp: SetUp;
  /** The counts, or the reason why the receiver was not played. */
  readonly result: string;
  readonly alarms: readonly string[];
  readonly seconds: number;
}

const args = process.argv.slice(2);
const at = args.indexOf('--set-up');
const chosen = at === -1 ? undefined : args.splice(at, 2)[1];
const receivers = CORRECT_RECEIVERS.filter(({ name }) => args.length === 0 || args.includes(name));
const setUps = SET_UPS.filter((name) => chosen === undefined || name === chosen);
if (receivers.length === 0 || setUps.length === 0) throw new Error(`there is no receiver or set-up ${args} ${chosen}`);

const material = await makeMaterial();

async function play(name: string, setUp: SetUp): Promise<Cell> {
  const subject = findSubject(`correct:${name}`);
  const missing = missingPrograms(subject);
  const cell = { receiver: name, setUp, alarms: [], seconds: 0 };
  if (missing.length > 0) return { ...cell, result: `needs ${missing.join(', ')}` };
  if (HTTP_ONLY.includes(setUp) && subject.overTls) return { ...cell, result: 'over TLS' };
  if (setUp === 'nginx' && NOT_BEHIND_NGINX.includes(name)) return { ...cell, result: 'sends interim answers' };
  const document = await runAgainst(subject, material, [], setUp);
  const allowed = subject.kind === 'correct' ? (subject.receiver.trueWarnings ?? []) : [];
  const warned = document.results.filter(({ id, verdict }) => verdict === 'warn' && allowed.includes(id));
  const alarms = document.results
    .filter((one) => one.verdict !== 'pass' && one.verdict !== 'not-applicable' && !warned.includes(one))
    .map(({ id, verdict, reason }) => `${verdict} ${id}: ${reason}`);
  const { counts, judged, planned, durationMs } = document;
  const notes = warned.length > 0 ? `, ${warned.length} true` : '';
  const summary = `${counts.fail} / ${counts.warn}${notes} / ${planned - judged}`;
  return { ...cell, alarms, result: summary, seconds: Math.round(durationMs / 1000) };
}

for (const setUp of setUps) {
  console.log(`\n${setUp}: failures / warnings / without verdict\n`);
  const queue = receivers.map(({ name }) => name);
  const cells: Cell[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE[setUp] }, async () => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
        const cell = await play(name, setUp);
        cells.push(cell);
        console.log(`| ${cell.receiver} | ${cell.result} | ${cell.seconds} s |`);
        for (const alarm of cell.alarms) console.log(`    ${alarm.slice(0, 200)}`);
      }
    }),
  );
  const played = cells.filter(({ seconds }) => seconds > 0);
  const clean = played.filter(({ alarms }) => alarms.length === 0);
  console.log(`\n${clean.length} of ${played.length} clean, ${cells.length - played.length} not played`);
  if (clean.length < played.length) process.exitCode = 1;
}
process.exit();
