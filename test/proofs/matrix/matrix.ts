/**
 * The kill matrix: plays every mutant and every correct receiver, writes `scenarios/fault-dictionary.json` and
 * docs/kill-matrix.md, and exits with 1 if a rule is violated. Run by `npm run matrix`. Options:
 *
 * - `--suite NAME` plays only the receivers of one suite, takes the recorded outcomes of the other mutants, and prints
 *   how much of the suite is proved.
 * - `--only ID` (repeatable) plays one check against every receiver, or everything against one mutant, and records only
 *   its cells.
 * - `--part` plays what has changed and a rotating share of the rest (see part.ts), and takes the recorded outcomes of
 *   the others; `--subset` plays a part of each mutant (see dictionary.ts).
 * - `--check` writes nothing and fails if a file is stale; with `--runs N` everything is played N times, and an outcome
 *   that differs fails.
 * - `--jobs N` sets the number of processes (default: one per core); `--without-missing` leaves out correct receivers
 *   whose programs are not installed.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadDictionary } from '../../../harness/diagnose/index.ts';
import { FAULTS } from '../../../mutants/index.ts';
import { catalogueDigest } from '../../../scenarios/index.ts';
import { GATE, isAsKnown, makeOutcomes, outcomesText, playedBefore, subsetsOf } from './dictionary.ts';
import { killMatrixDocument, PROBES } from './document.ts';
import { EXEMPT_PROBES, UNCERTAIN, withoutUncertain } from './exceptions.ts';
import { changedEntries, currentShare, isInShare, isTouched } from './part.ts';
import { isApplicable, isOfSuite, missingPrograms, type Played, SUBJECTS } from './play.ts';
import { playAll, type Task } from './play-all.ts';
import { type Complaint, complaintsAbout, isIdleByLevel, killsOf, type Matrix, RULE_TITLES } from './rules.ts';

const FILES = {
  dictionary: new URL('../../../scenarios/fault-dictionary.json', import.meta.url),
  document: new URL('../../../docs/kill-matrix.md', import.meta.url),
};

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    subset: { type: 'boolean', default: false },
    suite: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    part: { type: 'boolean', default: false },
    runs: { type: 'string', default: '1' },
    jobs: { type: 'string' },
    'without-missing': { type: 'boolean', default: false },
  },
});

const IDS = PROBES.map(({ id }) => id);

function play(tasks: readonly Task[], what: string): Promise<readonly Played[]> {
  return playAll(tasks, {
    ...(values.jobs !== undefined && { processes: Number(values.jobs) }),
    progress: (done) => {
      if (done % 20 === 0 || done === tasks.length) process.stderr.write(`${what}: ${done} of ${tasks.length}\n`);
    },
  });
}

/**
 * Plays a part of each mutant. What differs from the recorded outcomes, or is held against a correct receiver, is
 * played in full, and once more if it still is: a cell that depends on chance, and is not declared as such, fails no
 * build.
 */
async function playSubset(names: readonly string[], what: string): Promise<readonly Played[]> {
  const subsets = subsetsOf(await loadDictionary(), catalogueDigest(), IDS);
  const isDoubtful = (one: Played) => {
    if (one.kind !== 'fault') return Object.keys({ ...one.outcomes, ...one.undecided }).length > 0;
    const fault = subsets.has(one.name) ? known.get(one.name) : undefined;
    return fault !== undefined && !isAsKnown(one, fault);
  };
  let played = await play(
    names.map((name) => ({ name, only: subsets.get(name) })),
    what,
  );
  for (const again of ['in full', 'once more']) {
    const doubtful = played.filter((one) => isDoubtful(withoutUncertain(one, UNCERTAIN)));
    if (doubtful.length === 0) break;
    const fresh = await play(
      doubtful.map(({ name }) => ({ name })),
      `${what}, ${again}`,
    );
    played = played.map((one) => fresh.find(({ name }) => name === one.name) ?? one);
  }
  return played;
}

const known = new Map((await loadDictionary()).faults.map((fault) => [fault.name, fault]));
const onlyChecks = values.only.filter((id) => id.includes('/'));
for (const id of onlyChecks) if (!IDS.includes(id)) throw new Error(`no scenario ${id}`);
for (const name of values.only) {
  if (!onlyChecks.includes(name) && !FAULTS.some((fault) => fault.name === name)) throw new Error(`no mutant ${name}`);
}

/** Plays single checks, and takes the recorded outcomes of the others. */
async function playChecks(names: readonly string[]): Promise<readonly Played[]> {
  const fresh = await play(
    names.map((name) => ({ name, only: [GATE, ...onlyChecks] })),
    onlyChecks.join(', '),
  );
  return fresh.map((one) => {
    const { outcomes = {}, features = one.features } = known.get(one.name) ?? {};
    const others = Object.entries(outcomes).filter(([id]) => !onlyChecks.includes(id));
    return { ...one, features, outcomes: { ...Object.fromEntries(others), ...one.outcomes } };
  });
}

/** Plays receivers in full, or a part of each. */
function playOnce(names: readonly string[], what: string): Promise<readonly Played[]> {
  if (values.subset) return playSubset(names, what);
  return play(
    names.map((name) => ({ name })),
    what,
  );
}

async function playRuns(names: readonly string[], count: number): Promise<(readonly Played[])[]> {
  // A new mutant has no recorded outcomes of other checks.
  const isNew = (name: string) => FAULTS.some((fault) => fault.name === name) && !known.has(name);
  const whole = names.filter((name) => onlyChecks.length === 0 || values.only.includes(name) || isNew(name));
  const others = names.filter((name) => !whole.includes(name));
  const runs: (readonly Played[])[] = [];
  for (let run = 1; run <= count; run++) {
    const played = [...(await playChecks(others)), ...(await playOnce(whole, `run ${run} of ${count}`))];
    runs.push(played.map((one) => withoutUncertain(one, UNCERTAIN)));
  }
  return runs;
}

function print(complaints: readonly Complaint[]): void {
  for (const [rule, title] of Object.entries(RULE_TITLES)) {
    const messages = complaints.filter((complaint) => complaint.rule === rule).map(({ message }) => message);
    if (messages.length === 0) continue;
    process.stdout.write(`\n${title}: ${messages.length}\n${messages.map((message) => `  ${message}\n`).join('')}`);
  }
}

const { suite, part, only } = values;
if (suite !== undefined && !PROBES.some((probe) => probe.suite === suite)) throw new Error(`no suite ${suite}`);
const subjects = (await chosen()).filter((subject) => suite === undefined || isOfSuite(subject, suite));

async function chosen(): Promise<typeof SUBJECTS> {
  if (only.length > 0) return SUBJECTS.filter((subject) => only.includes(subject.name) || canShow(subject));
  if (!part) return SUBJECTS;
  const share = currentShare();
  const changed = await changedEntries();
  return SUBJECTS.filter(
    ({ name }) => isInShare(name, share) || isTouched(known.get(name) ?? { name, outcomes: {} }, changed),
  );
}

/** Returns whether a receiver accepts the plain delivery and has what one of the checks needs. */
function canShow(subject: (typeof SUBJECTS)[number]): boolean {
  if (known.get(subject.name)?.refusal !== undefined) return false;
  return onlyChecks.some((id) => isApplicable(subject, id));
}

/** Returns the recorded outcomes of the mutants that are not played. */
async function notPlayed(): Promise<readonly Played[]> {
  const { catalogue, faults } = await loadDictionary();
  if (suite === undefined && !part && only.length === 0) return [];
  // A new check has no outcomes yet.
  if (![catalogueDigest(), catalogueDigest(undefined, onlyChecks)].includes(catalogue))
    throw new Error('the dictionary is of another catalogue: play the whole matrix');
  return playedBefore(faults.filter(({ name }) => !subjects.some((subject) => subject.name === name)));
}

const started = performance.now();
const before = await notPlayed();
const missing = subjects
  .map((subject) => ({ name: subject.name, missing: missingPrograms(subject) }))
  .filter((one) => one.missing.length > 0);
for (const one of missing) process.stdout.write(`left out: ${one.name} needs ${one.missing.join(' and ')}\n`);
const isHere = (name: string) => !missing.some((one) => one.name === name);
const names = subjects.map(({ name }) => name).filter(isHere);
const runs = (await playRuns(names, Number(values.runs))).map((run) => [...run, ...before]);
const seconds = (performance.now() - started) / 1000;

const matrix: Matrix = {
  faults: FAULTS,
  probes: PROBES,
  exempt: EXEMPT_PROBES,
  uncertain: UNCERTAIN,
  runs,
  leftOut: values['without-missing'] ? [] : missing,
};
const complaints = complaintsAbout(matrix);
print(complaints);

const recorded = makeOutcomes(runs[0] ?? [], catalogueDigest(), UNCERTAIN);
const texts = { dictionary: outcomesText(recorded), document: killMatrixDocument(recorded.faults, 'summary') };
let stale = 0;
for (const [what, text] of Object.entries(texts)) {
  const file = FILES[what as keyof typeof FILES];
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (values.check) {
    stale++;
    process.stdout.write(`\n${file.pathname.split('/').slice(-2).join('/')} is stale: run \`npm run matrix\`.\n`);
  } else writeFileSync(file, text);
}
if (values.check && stale > 0) printDifferences();

/** Prints how much of a suite is proved. */
function printSuite(name: string): void {
  const mutants = played.filter(({ kind }) => kind === 'fault');
  const correct = played.filter(({ kind }) => kind !== 'fault');
  const kills = killsOf({ faults: FAULTS, probes: PROBES, runs });
  const probes = PROBES.filter((probe) => probe.suite === name && !isIdleByLevel(probe));
  const found = mutants.filter(({ outcomes }) => Object.keys(outcomes).length > 0);
  const working = probes.filter(({ id }) => (kills.get(id)?.length ?? 0) > 0);
  const silent = correct.filter(({ outcomes, undecided }) => Object.keys({ ...outcomes, ...undecided }).length === 0);
  process.stdout.write(
    `\n${name}: ${found.length} of ${mutants.length} mutants found, ` +
      `${working.length} of ${probes.length} scenarios find a mutant, ` +
      `${silent.length} of ${correct.length} correct receivers without a finding\n`,
  );
}

/** Prints each outcome that differs from the dictionary, to distinguish random variation from a real change. */
function printDifferences(): void {
  for (const { name, outcomes } of recorded.faults) {
    const before = known.get(name)?.outcomes ?? {};
    for (const id of new Set([...Object.keys(before), ...Object.keys(outcomes)])) {
      if (before[id] === outcomes[id]) continue;
      process.stdout.write(`  ${name}: ${id} was ${before[id] ?? 'a pass'}, is ${outcomes[id] ?? 'a pass'}\n`);
    }
  }
}

const played = (runs[0] ?? []).filter(({ name }) => names.includes(name));
if (suite !== undefined) printSuite(suite);
process.stdout.write(
  `\n${played.length} receivers times ${matrix.probes.length} scenarios in ${seconds.toFixed(0)} s, ` +
    `${complaints.length} complaints\n`,
);
if (complaints.length + stale > 0) process.exitCode = 1;
