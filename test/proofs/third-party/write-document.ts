/**
 * Runs hookproof against receivers made of published packages, compares each run with the facts of a separate prober,
 * and writes docs/third-party.md. Run by `npm run proofs -- third-party`. With names of files, it uses only those
 * receivers and writes nothing. With `--facts`, it prints the measured facts. Fails if a failing check disagrees with
 * the measurement, if a bypass is missed, or if a main diagnosis is wrong.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { MAIN } from '../../cli/hookproof.ts';
import { type Comparison, compare, complaintsOf } from './compare.ts';
import { RECEIVERS, type Receiver } from './corpus.ts';
import { dialectOf, type Facts, isAbout, isBypass, stalePatterns, stateOf } from './facts.ts';
import { probe } from './prober.ts';
import { startReceiver, versionOf, whyUnavailable } from './start-receiver.ts';

interface Played {
  readonly receiver: Receiver;
  readonly facts: Facts;
  readonly document: ResultDocument;
  readonly exitCode: number | null;
  readonly comparison: Comparison;
}

const FOLDER = new URL('.', import.meta.url).pathname;
const PATH = '/hooks';
const DEFAULT_HEADER = 'X-Service-Signature';

/** Installs the packages if the lockfile is newer than the installed ones. */
function install(): void {
  const installed = join(FOLDER, 'node_modules/.package-lock.json');
  const lockfile = join(FOLDER, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs) return;
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm ci failed.');
}

async function play(receiver: Receiver, scratch: string): Promise<Played> {
  const secret = randomBytes(24).toString('base64url');
  const apiKey = `key-${randomBytes(12).toString('hex')}`;
  const running = await startReceiver(receiver, { secret, apiKey }, scratch);
  try {
    const { header = DEFAULT_HEADER, headers = {}, hasKey = false } = receiver;
    const facts = await probe({
      port: running.port,
      path: PATH,
      signatureHeader: header,
      secret,
      apiKey: hasKey ? apiKey : null,
      headers,
      revive: running.revive,
    });
    const report = join(scratch, `${receiver.file}.json`);
    const url = `http://127.0.0.1:${running.port}${PATH}`;
    const custom = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
    const flags = ['--signature-header', header, ...custom, '--seed', 'third-party', '--timeout', '5s'];
    const credentials = { HOOKPROOF_SECRET: secret, ...(hasKey && { HOOKPROOF_API_KEY: apiKey }) };
    const exitCode = await hookproof(['run', url, ...flags], credentials, report);
    const document: ResultDocument = JSON.parse(readFileSync(report, 'utf8'));
    return { receiver, facts, document, exitCode, comparison: compare(facts, document, receiver.faults) };
  } finally {
    await running.stop();
  }
}

/** Runs the program. Rejects if it writes no report. */
async function hookproof(args: readonly string[], env: NodeJS.ProcessEnv, report: string): Promise<number | null> {
  const { PATH: path, HOME } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args, '--reporter', `json=${report}`], {
    env: { PATH: path, HOME, ...env },
    cwd: dirname(report),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (piece) => {
    stderr = `${stderr}${piece}`.slice(-1000);
  });
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (!existsSync(report)) throw new Error(`hookproof ended with ${exitCode} and without a report: ${stderr}`);
  return exitCode;
}

// The document.

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const some = (all: readonly string[], most: number) =>
  all.length > most ? `${all.slice(0, most).join(', ')} and ${all.length - most} more` : all.join(', ');

/** Summarises the measured facts. */
function truthOf(facts: Facts): string {
  const { valid, missing, wrong } = dialectOf(facts);
  const broken = [...facts].filter(([fact, outcome]) => stateOf(fact, outcome, facts) === 'broken');
  const forged = broken.filter(([fact, outcome]) => isBypass(fact, outcome, facts)).map(([fact]) => fact);
  const other = broken.filter(([fact, outcome]) => !isBypass(fact, outcome, facts));
  const texts = other.map(([fact, { how }]) => `${fact} ${how}`);
  return [
    `valid ${valid}, missing ${missing}, wrong ${wrong}`,
    ...(forged.length > 0 ? [`**accepts** ${some(forged, 6)}`] : []),
    ...(texts.length > 0 && facts.get('valid/buy')?.result === 'accepted' ? [`broken: ${some(texts, 6)}`] : []),
  ].join('; ');
}

function row({ receiver, facts, document, exitCode, comparison }: Played): string {
  const { packages, file, note } = receiver;
  const { agreed, unmeasured, aboutStatus, diagnosis } = comparison;
  const { fail, warn } = document.counts;
  const complaints = complaintsOf(comparison);
  const basis = `${agreed} measured, ${aboutStatus.length} about a status, ${unmeasured.length} not measured`;
  const verdict = `${document.verdict}, exit ${exitCode}; ${fail} failed (${basis}), ${warn} warned`;
  return `| ${[
    `[${file}](../test/proofs/third-party/receivers/${file})`,
    packages.map((name) => `${name} ${versionOf(name, file)}`).join(', '),
    cell(note),
    cell(truthOf(facts)),
    verdict,
    diagnosis.names.length > 0 ? `${some(diagnosis.names, 3)} (${diagnosis.state})` : diagnosis.state,
    complaints.length === 0 ? 'yes' : `no: ${complaints.length}`,
  ].join(' | ')} |`;
}

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `\n## ${title}\n\n${lines.map((line) => `- ${cell(line)}`).join('\n')}\n`;

function documentText(all: readonly Played[], skipped: readonly string[], stale: readonly string[]): string {
  const agreeing = all.filter(({ comparison }) => complaintsOf(comparison).length === 0).length;
  const states = new Map<string, number>();
  for (const { comparison } of all) {
    states.set(comparison.diagnosis.state, (states.get(comparison.diagnosis.state) ?? 0) + 1);
  }
  const lists = (of: (comparison: Comparison) => readonly string[]) =>
    all.flatMap(({ receiver, comparison }) => of(comparison).map((text) => `\`${receiver.file}\`: ${text}`));
  const missed = all
    .filter(({ comparison }) => comparison.missed.length > 0)
    .map(({ receiver, comparison }) => `\`${receiver.file}\`: ${some(comparison.missed, 12)}`);
  const unmeasured = [...new Set(all.flatMap(({ comparison }) => comparison.unmeasured))];
  const diagnoses = [...states].map(([state, count]) => `${count} ${state}`).join(', ');
  return `# Third-party receivers

<!-- Written by \`npm run proofs -- third-party\`. Do not edit. -->

Receivers made of published packages and samples, as their documentation shows
([test/proofs/third-party](../test/proofs/third-party)). A prober that shares no code with hookproof measures how each
answers more than 300 kinds of requests. Then hookproof runs every check; it knows only the URL, the credentials and the
headers that the package reads. A package that expects another signature scheme is not adapted.
Measured on Node ${process.version}.

**${all.length} receivers; ${agreeing} runs agree with the measurement.** Main diagnoses: ${diagnoses}.

- A run agrees when each failing check is about a fact that is broken, no forgery that passes is missed, and the main
  diagnosis is true. Its mistake alone, or no diagnosis, is not wrong.
- A status other than 200 or 401 is one finding; additional failures for the same status count as a disagreement.
- *Broken*: accepted although forged, rejected although valid, or a 5xx, a closed connection, no answer within 4 s, or a
  process that ends (\`died\`). The process is started again.

| receiver | packages | what it does | measured | run | main diagnosis | agrees |
|---|---|---|---|---|---|---|
${all.map(row).join('\n')}
${section('Disagreements', lists(complaintsOf))}${section('Broken, neither failed nor warned', missed)}${section(
  'Failing checks about which nothing is measured',
  unmeasured.map((id) => `\`${id}\``),
)}${section('Not run', skipped)}${section(
  'Patterns of checks that match none',
  stale.map((text) => `\`${text}\``),
)}`;
}

function summaryOf({ receiver, document, exitCode, comparison }: Played): string {
  const complaints = complaintsOf(comparison);
  const { fail, warn } = document.counts;
  const counts = `exit ${exitCode} ${String(fail).padStart(3)} failed ${String(warn).padStart(3)} warned`;
  const seconds = `${(document.durationMs / 1000).toFixed(1)} s`.padStart(7);
  const { state, names } = comparison.diagnosis;
  const mark = complaints.length === 0 ? '✓' : '✗';
  return [
    `${mark} ${receiver.file.padEnd(34)} ${counts} ${seconds}  ${state}: ${some(names, 2)}`,
    ...complaints.map((text) => `    ${text}`),
  ].join('\n');
}

/** Prints the broken facts, what the run reports about them, and the diagnosis. */
function printFacts({ facts, document }: Played): void {
  for (const { id, verdict, observed } of document.results) {
    const isBroken = [...facts].some(
      ([fact, outcome]) => isAbout(id, fact) && stateOf(fact, outcome, facts) === 'broken',
    );
    if (isBroken || verdict === 'fail' || verdict === 'warn') console.log(verdict.padEnd(12), id.padEnd(36), observed);
  }
  for (const { relation, fault, agreement, outcomes, title } of document.diagnosis) {
    console.log(relation.padEnd(12), fault.padEnd(36), `${agreement} of ${outcomes}`, title);
  }
  for (const [fact, outcome] of facts) {
    const state = stateOf(fact, outcome, facts);
    if (state !== 'kept') console.log(state.padEnd(12), fact.padEnd(36), outcome.result, outcome.how);
  }
}

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('--'));
const chosen =
  names.length === 0 ? RECEIVERS : RECEIVERS.filter(({ file }) => names.some((name) => file.includes(name)));
const scratch = mkdtempSync(join(tmpdir(), 'hookproof-third-party-'));
const played: Played[] = [];
const skipped: string[] = [];
try {
  install();
  for (const receiver of chosen) {
    const reason = whyUnavailable(receiver, scratch);
    if (reason === null) {
      const one = await play(receiver, scratch);
      played.push(one);
      process.stdout.write(`${summaryOf(one)}\n`);
    } else {
      skipped.push(`\`${receiver.file}\`: ${reason}`);
      process.stdout.write(`- ${receiver.file}: not run, ${reason}\n`);
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const checks = played[0]?.document.results.map(({ id }) => id) ?? [];
const stale = stalePatterns(checks);
if (names.length === 0) {
  const page = new URL('../../../docs/third-party.md', import.meta.url).pathname;
  writeFileSync(page, documentText(played, skipped, stale));
  process.stdout.write(`${page}\n`);
}
if (words.includes('--facts')) for (const one of played) printFacts(one);
const failed = played.filter(({ comparison }) => complaintsOf(comparison).length > 0);
process.stdout.write(`${played.length - failed.length} of ${played.length} runs agree with the measurement\n`);
process.exitCode = failed.length > 0 || played.length === 0 ? 1 : 0;
