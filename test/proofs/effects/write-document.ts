/**
 * Runs the proof of effects and writes docs/effects.md. Exits with 1 if a line is not as expected. With arguments, it
 * runs the cases whose name or store contains one of them, and writes nothing. Run by `npm run proofs -- effects`.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { whyNotRun } from '../../recipes/recipe-process.ts';
import { markdownTable } from '../../setup/markdown-table.ts';
import { newDatabase, startPostgres } from '../../setup/postgres.ts';
import { CASES, type Case } from './cases.ts';
import { type Certified, certifyLevels } from './certificates.ts';
import { type Played, play, problemsOf } from './play.ts';

const PAGE = fileURLToPath(new URL('../../../docs/effects.md', import.meta.url));

interface Line {
  readonly one: Case;
  readonly played: Played;
  readonly problems: readonly string[];
}

/** Maximum number of checks in a line of the table. */
const MAX_SHOWN = 3;

function redText({ red }: Played): string {
  const ids = red.map(({ id, verdict }) => `${verdict === 'warn' ? '(warning) ' : ''}\`${id}\``);
  const more = ids.length > MAX_SHOWN ? ` and ${ids.length - MAX_SHOWN} more` : '';
  return ids.length === 0 ? '' : ids.slice(0, MAX_SHOWN).join(', ') + more;
}

function diagnosisText({ diagnosis: [main] }: Played): string {
  return main === undefined ? '' : `\`${main}\``;
}

function table(lines: readonly Line[], part: Case['part']): string {
  const rows = lines
    .filter(({ one }) => one.part === part)
    .map(({ one, played, problems }) => [
      problems.length === 0 ? one.name : `✗ ${one.name}`,
      one.store,
      played.code,
      played.level,
      played.passed,
      redText(played),
      ...(part === 'faulty' ? [diagnosisText(played)] : []),
    ]);
  const heads = ['receiver', 'store', 'exit code', 'level', 'passed', 'did not pass'];
  return markdownTable([...heads, ...(part === 'faulty' ? ['diagnosis'] : [])], rows);
}

function certificates(all: readonly Certified[]): string {
  const rows = all.map(({ sources, demanded, code, verified, said }) => [
    sources,
    demanded,
    code,
    verified === null ? '' : `exit code ${verified}`,
    said,
  ]);
  return markdownTable(['sources of the run', 'demanded level', '`certify`', '`certify verify`', 'says'], rows);
}

function render(lines: readonly Line[], certified: readonly Certified[]): string {
  return `# What the effects window shows

<!-- Written by \`npm run proofs -- effects\` from what it has measured. Do not edit. -->

Each line is a full \`hookproof run\` against a receiver in its own process. At level 2 a restart command kills the
receiver with \`kill -9\` during the run, right after it has acknowledged notifications, and starts it again; \`--log\`
names its log. Effects are the receiver's own statement. Measured on ${availableParallelism()} cores with Node
${process.versions.node}; the machine was shared.

## The reference receiver

\`hookproof receiver --effects\`. Level 2 needs a store and a record that survive the kill.

${table(lines, 'reference')}

## Faulty receivers

The faulty receivers of the [durability proof](durability.md), and mutants of the kill matrix that only a restart
shows. The diagnosis must name what is wrong, or say that it does not know. A row with ✗ is not as it must be.

${table(lines, 'faulty')}

## Recipes in other languages

Each with its effects window as a second process, without a restart command.

${table(lines, 'recipes')}

## Certificates

\`hookproof certify --profile staging --evidence-level N\` against the reference receiver over HTTPS on SQLite, and
\`hookproof certify verify\` with the public key alone.

${certificates(certified)}

## What this does not show

- Whether the window says the truth: a receiver can state effects that it did not have.
- A power failure. Data that was written and not flushed survives \`kill -9\`: see [durability](durability.md).
- A kill at another moment. One that comes some milliseconds later finds the work of a fast receiver done; the faulty
  ones take half a second.
`;
}

const wanted = process.argv.slice(2);
const isWanted = (text: string) => wanted.length === 0 || wanted.some((part) => text.includes(part));
const postgres = await startPostgres();
if (postgres === null) throw new Error('this proof needs PostgreSQL (apt-get install postgresql)');

function print(what: string, problems: readonly string[], facts: string): void {
  console.log(`${problems.length === 0 ? '✓' : '✗'} ${[what, ...problems].join('; ')}; ${facts}`);
  if (problems.length > 0) process.exitCode = 1;
}

try {
  const lines: Line[] = [];
  for (const one of CASES.filter(({ name, store }) => isWanted(`${store}: ${name}`))) {
    const lack = one.receiver.how === 'recipe' ? whyNotRun(one.receiver.stack) : null;
    if (lack !== null) {
      console.log(`Skipped ${one.name}: ${lack}`);
      continue;
    }
    const played = await play(one, one.store === 'PostgreSQL' ? await newDatabase(postgres.url) : '');
    const problems = problemsOf(one, played);
    lines.push({ one, played, problems });
    const { code, level, passed, slowestMs, seconds } = played;
    const found = [redText(played), diagnosisText(played)].filter((text) => text !== '').join('; ');
    const took = `slowest effect ${slowestMs} ms, ${seconds.toFixed(1)} s`;
    const facts = `exit ${code}, level ${level}, ${passed} passed, ${took}`;
    print(`${one.store}: ${one.name}`, problems, found === '' ? facts : `${facts}; ${found}`);
  }
  const certified: Certified[] = [];
  if (isWanted('certificates')) {
    for await (const one of certifyLevels()) {
      certified.push(one);
      print(`certificate, ${one.sources}, level ${one.demanded} demanded`, one.problems, `${one.code}: ${one.said}`);
    }
  }
  if (wanted.length === 0) writeFileSync(PAGE, render(lines, certified));
} finally {
  await postgres.remove();
}
