/**
 * Checks that two checkouts classify errors in the same way: `npm run proofs -- same-errors OTHER [NAME...]`, where
 * OTHER is the folder of another built checkout. Both run against every hostile endpoint, at the same time and each
 * against a separate server, until the kinds and phases of their transport errors are the same sets. Some endpoints end
 * a connection by chance, so several runs count together. Exits with 1 if one of them finally still sees an error that
 * the other never saw.
 */
import { resolve } from 'node:path';
import { CLI } from '../bench/processes.ts';
import { type Behaviour, makeMaterial } from './behaviour.ts';
import { BEHAVIOURS, behaviourNamed } from './behaviours/index.ts';
import { runAgainst } from './play.ts';

const MAX_RUNS = 6;

interface Seen {
  readonly errors: Map<string, number>;
  readonly outcomes: Set<string>;
}

async function play(program: string, behaviour: Behaviour, { errors, outcomes }: Seen): Promise<void> {
  const material = await makeMaterial();
  try {
    const { document, exitCode } = await runAgainst(behaviour, material, ['--evidence'], program);
    outcomes.add(`${document?.verdict} (${exitCode})`);
    for (const { error } of document?.results.flatMap(({ exchanges }) => exchanges) ?? []) {
      if (error === null) continue;
      const name = `${error.kind} (${error.phase})`;
      errors.set(name, (errors.get(name) ?? 0) + 1);
    }
  } finally {
    await material.remove();
  }
}

const missingIn = (one: Seen, other: Seen) =>
  [...one.errors].filter(([name]) => !other.errors.has(name)).map(([name, times]) => `${name}, ${times} times`);

const [other, ...names] = process.argv.slice(2);
if (other === undefined) throw new Error('name the folder of the other checkout');
const chosen = names.length === 0 ? BEHAVIOURS : names.map(behaviourNamed);
let different = 0;
for (const behaviour of chosen) {
  const [ours, theirs] = [newSeen(), newSeen()];
  let runs = 0;
  do {
    runs += 1;
    await Promise.all([play(resolve(CLI), behaviour, ours), play(resolve(other, CLI), behaviour, theirs)]);
  } while (runs < MAX_RUNS && [...missingIn(ours, theirs), ...missingIn(theirs, ours)].length > 0);
  const [only, lost] = [missingIn(ours, theirs), missingIn(theirs, ours)];
  const isSame = only.length + lost.length === 0;
  if (!isSame) different += 1;
  const verdicts = [ours, theirs].map(({ outcomes }) => [...outcomes].join(', ')).join(' | ');
  const lead = `${isSame ? '✓' : '✗'} ${behaviour.name.padEnd(28)}`;
  process.stdout.write(`${lead} ${ours.errors.size} errors, ${runs} runs; ${verdicts}\n`);
  for (const name of only) process.stdout.write(`    only here: ${name}\n`);
  for (const name of lost) process.stdout.write(`    only there: ${name}\n`);
}
process.stdout.write(`${chosen.length - different} of ${chosen.length} endpoints cause the same transport errors\n`);
process.exitCode = different > 0 ? 1 : 0;

function newSeen(): Seen {
  return { errors: new Map(), outcomes: new Set() };
}
