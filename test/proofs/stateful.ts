/**
 * Checks that receivers whose answers depend on earlier requests get the same exit code in every run, at the default
 * concurrency: `npm run proofs -- stateful [RUNS [NAME...]]`. A test plays each of them once.
 */
import { fileURLToPath } from 'node:url';
import { exitCodeOf } from '../../harness/index.ts';
import { findSubject, makeMaterial, runAgainst } from './matrix/play.ts';

/** Mutants that keep state, with the exit code of every run. A finding of level `should` is only a warning. */
export const STATEFUL: readonly (readonly [string, number])[] = [
  ['last-signature-accepted-again', 1],
  ['previous-body-verified', 1],
  ['known-id-not-verified', 1],
  ['known-ids-refused-in-other-words', 0],
  ['forged-tenth-let-through', 1],
  ['locks-out-after-ten-failures', 1],
  ['second-request-on-connection-reset', 1],
  ['every-20th-is-reset', 1],
  ['every-7th-answers-500', 1],
  ['same-second-taken-for-a-copy', 1],
  ['same-second-of-customer-taken-for-a-copy', 1],
  ['equal-data-taken-for-a-copy', 1],
];

type Material = Awaited<ReturnType<typeof makeMaterial>>;

/** Returns the exit code of one run of the given scenarios, or of all. */
export async function exitCodeFor(name: string, material: Material, scenarios: readonly string[] = []) {
  return exitCodeOf(await runAgainst(findSubject(name), material, scenarios));
}

async function measure(runs: number, names: readonly string[]): Promise<void> {
  const material = await makeMaterial();
  for (const [name, expected] of STATEFUL.filter((one) => names.length === 0 || names.includes(one[0]))) {
    process.stdout.write(`${name}:`);
    let differing = 0;
    for (let turn = 0; turn < runs; turn++) {
      const code = await exitCodeFor(name, material);
      if (code !== expected) differing++;
      process.stdout.write(` ${code}`);
    }
    if (differing > 0) process.exitCode = 1;
    process.stdout.write(`; expected ${expected}, ${differing} of ${runs} runs differ\n`);
  }
}

const [, program, runs = '20', ...names] = process.argv;
if (program === fileURLToPath(import.meta.url)) await measure(Number(runs), names);
