/**
 * Runs the whole catalogue against every recipe whose toolchain is installed, attacks each recipe and kills it under
 * load, and writes docs/recipes.md. Exits with 1 if a claim does not hold. With names of stacks, it runs only those and
 * writes nothing. Run by `npm run proofs -- recipes`.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { recipeOf, STACKS, type Stack, titleOfStack } from '../../../contract/index.ts';
import { type ResultDocument, run } from '../../../harness/index.ts';
import { RECIPE_FACTS } from '../../recipes/recipe-facts.ts';
import { copyRecipe, outputOf, removeCopy, startRecipe, textsOf, whyNotRun } from '../../recipes/recipe-process.ts';
import { windowTable } from '../../recipes/window-table.ts';
import { markdownTable } from '../../setup/markdown-table.ts';
import { SECRET } from '../durability/deliveries.ts';
import { FAULTY_JOURNALS, type JournalFault, killRecipe, type RecipeKills } from './kill-rounds.ts';
import { type Outcome, PROMISES, played } from './promises.ts';

const PAGE = fileURLToPath(new URL('../../../docs/recipes.md', import.meta.url));
const ROUNDS = 10;
const API_KEY = 'key-of-the-recipes-proof';

interface Measured {
  readonly stack: Stack;
  readonly version: string;
  /** Number of lines in each file of the receiver. */
  readonly lines: readonly (readonly [file: string, lines: number])[];
  readonly checks: number;
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
  readonly undecided: readonly string[];
  readonly kills: RecipeKills;
  readonly promises: readonly Outcome[];
}

async function measure(stack: Stack): Promise<Measured> {
  const { results } = await check(stack);
  const idsOf = (...verdicts: string[]) =>
    results.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id }) => id);
  const { version } = RECIPE_FACTS[stack] ?? {};
  return {
    stack,
    version: version === undefined ? '' : outputOf(version).split('\n')[0] || 'unknown',
    lines: textsOf(stack).map(([file, text]) => [file, text.split('\n').filter((line) => line.trim() !== '').length]),
    checks: results.length - idsOf('not-applicable').length,
    failures: idsOf('fail'),
    warnings: idsOf('warn'),
    undecided: idsOf('inconclusive', 'harness-error'),
    kills: await killRecipe({ stack, rounds: ROUNDS, seed: 17 }),
    promises: await playAll(stack),
  };
}

async function playAll(stack: Stack): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const promise of PROMISES) outcomes.push(await played(promise, stack));
  return outcomes;
}

async function check(stack: Stack): Promise<ResultDocument> {
  const folder = copyRecipe(stack);
  const recipe = await startRecipe(stack, { folder, secret: SECRET, apiKey: API_KEY });
  try {
    return await run({ partner: { url: recipe.url, signing: { secret: SECRET }, apiKey: { value: API_KEY } }, stack });
  } finally {
    await recipe.kill();
    removeCopy(folder);
  }
}

function brokenClaims({ stack, failures, warnings, undecided, kills, promises }: Measured): string[] {
  const unnamed = warnings.filter((id) => RECIPE_FACTS[stack]?.warnings?.[id] === undefined);
  return [
    ...failures.map((id) => `fails ${id}`),
    ...unnamed.map((id) => `warns about ${id}`),
    ...undecided.map((id) => `no conclusion about ${id}`),
    ...promises.flatMap(({ holds, figure }, at) => (holds ? [] : [`breaks ${PROMISES[at]?.name}: ${figure}`])),
    ...(kills.lost > 0 ? [`lost ${kills.lost} acknowledged deliveries`] : []),
    ...(kills.storedTwice > 0 ? [`stored ${kills.storedTwice} deliveries twice`] : []),
    ...(kills.altered > 0 ? [`altered ${kills.altered} bodies`] : []),
  ].map((claim) => `${stack}: ${claim}`);
}

function page(measured: readonly Measured[], faulty: readonly (readonly [JournalFault, RecipeKills])[]): string {
  const named = measured.flatMap(({ stack, warnings }) =>
    warnings.map((id) => `- ${titleOfStack(stack).title}: \`${id}\`: ${RECIPE_FACTS[stack]?.warnings?.[id] ?? '?'}.`),
  );
  const notRun = RECIPES.filter((stack) => !measured.some((one) => one.stack === stack)).map(
    (stack) => `- ${titleOfStack(stack).title}: ${whyNotRun(stack) ?? 'was not selected'}.`,
  );
  const killRow = (what: string, { rounds, acknowledged, lost, storedTwice, cutOff }: RecipeKills) => [
    what,
    rounds,
    acknowledged,
    lost,
    storedTwice,
    cutOff,
  ];
  return `# Receivers to copy

<!-- Written by \`npm run proofs -- recipes\` from what it has measured. Do not edit. -->

[recipes/](../recipes/) has whole receivers for ${RECIPES.length} stacks.
\`hookproof init --stack NAME\` copies one into your folder, with a configuration that fits. \`npm run test:slow\` runs
the whole catalogue against each of them whose toolchain is installed, and two suites against a copy that verifies
re-serialised JSON, which must be caught with a fix for that language.

Measured on ${type()}, ${availableParallelism()} cores, Node ${process.versions.node}, with signature and API key.

## The whole catalogue

The lines are those that are not blank, with comments. What several recipes of a language share is in one file.

${markdownTable(
  ['name', 'stack', 'language', 'version', 'lines', 'checks', 'failures', 'warnings'],
  measured.map(({ stack, version, lines, checks, failures, warnings }) => {
    const { title, language } = titleOfStack(stack);
    const files = lines.map(([file, count]) => `${file} ${count}`).join(', ');
    return [`\`${stack}\``, title, language, version, files, checks, failures.length, warnings.length];
  }),
)}

Each warning is about the server under the receiver:

${named.join('\n')}
${notRun.length === 0 ? '' : `\nNot run:\n\n${notRun.join('\n')}\n`}

## Promises

Each attack runs against a running copy. The second process of PHP shares the journal, because each delivery has a
process of its own there; all others refuse to start. Memory is what an attack adds to the peak of the idle process.

${markdownTable(
  ['receiver', ...PROMISES.map(({ name }) => name)],
  measured.map(({ stack, promises }) => [
    titleOfStack(stack).title,
    ...promises.map(({ holds }) => (holds ? 'holds' : '**broken**')),
  ]),
)}

${PROMISES.map(
  ({ name, what }, at) =>
    `### ${name}: ${what}\n\n${markdownTable(
      ['receiver', 'measured'],
      measured.map(({ stack, promises }) => [titleOfStack(stack).title, promises[at]?.figure ?? '']),
    )}`,
).join('\n\n')}

${windowTable()}
## Killed under load

\`kill -9\` at a random moment between 100 and 600 ms after the first answer of a round, under 32 connections; one
delivery in twenty is a copy of an earlier one. After each kill, every acknowledged id is looked up in the journal. At
the end everything unacknowledged is delivered again. A line that the kill cut off is removed at the next start.

${markdownTable(
  ['receiver', 'kills', 'acknowledged', 'lost', 'stored twice', 'lines cut off'],
  [
    ...measured.map(({ stack, kills }) => killRow(titleOfStack(stack).title, kills)),
    ...faulty.map(([fault, kills]) => killRow(`**faulty: Express, ${fault}**`, kills)),
  ],
)}
`;
}

const RECIPES = STACKS.filter((stack) => recipeOf(stack).stack === stack);
const selected = process.argv.slice(2);
const measured: Measured[] = [];
for (const stack of RECIPES) {
  if (selected.length > 0 && !selected.includes(stack)) continue;
  const reason = whyNotRun(stack);
  if (reason !== null) {
    console.log(`${stack}: not run, ${reason}`);
    continue;
  }
  const one = await measure(stack);
  measured.push(one);
  const { acknowledged, lost, storedTwice } = one.kills;
  console.log(
    `${stack}: ${one.checks} checks, ${one.failures.length} failed, ${one.warnings.length} warned; ` +
      `${acknowledged} acknowledged, ${lost} lost, ${storedTwice} stored twice`,
  );
}
const broken = measured.flatMap(brokenClaims);
if (selected.length === 0) {
  const faults = Object.keys(FAULTY_JOURNALS) as JournalFault[];
  const faulty: [JournalFault, RecipeKills][] = [];
  for (const fault of faults) {
    const kills = await killRecipe({ stack: 'express', rounds: ROUNDS, seed: 17, fault });
    faulty.push([fault, kills]);
    if (kills.lost + kills.storedTwice === 0) broken.push(`a receiver that ${fault} was not caught`);
  }
  writeFileSync(PAGE, page(measured, faulty));
  console.log(`wrote ${PAGE}`);
}
for (const claim of broken) console.error(claim);
process.exitCode = broken.length === 0 ? 0 : 1;
