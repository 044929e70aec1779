/**
 * Plays a whole run against every hostile endpoint and writes docs/hostile-endpoints.md. Run by `npm run proofs --
 * hostile`; with names, only those are played and nothing is written. It fails when a run does anything that it must
 * not.
 */
import { writeFileSync } from 'node:fs';
import { BEHAVIOURS, behaviourNamed } from './behaviours/index.ts';
import { documentText } from './document.ts';
import { makeMaterial } from './material.ts';
import { type Outcome, play } from './play.ts';

const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = names.length === 0 ? BEHAVIOURS : names.map(behaviourNamed);
const material = await makeMaterial();
const outcomes: Outcome[] = [];
try {
  for (const behaviour of chosen) {
    const outcome = await play(behaviour, material);
    outcomes.push(outcome);
    const { document, exitCode, wallMs, peakKb, complaints, sizes } = outcome;
    const json = ((sizes.get('json') ?? 0) / 1024).toFixed(0);
    process.stdout.write(
      `${complaints.length === 0 ? '✓' : '✗'} ${behaviour.name.padEnd(28)} ${String(document?.verdict).padEnd(14)} exit ${exitCode}  ${(wallMs / 1000).toFixed(1).padStart(5)} s  ${(peakKb / 1024).toFixed(0).padStart(4)} MB  ${String(document?.requests).padStart(5)} requests  ${json.padStart(6)} kB\n`,
    );
    for (const complaint of complaints) process.stdout.write(`    ${complaint}\n`);
  }
} finally {
  if (!process.argv.includes('--keep')) await material.remove();
  else process.stdout.write(`${material.folder}\n`);
}
const failed = outcomes.filter(({ complaints }) => complaints.length > 0);
if (names.length === 0 && failed.length === 0) {
  const page = new URL('../../../docs/hostile-endpoints.md', import.meta.url).pathname;
  writeFileSync(page, documentText(outcomes));
  process.stdout.write(`${page}\n`);
}
process.stdout.write(`${outcomes.length - failed.length} of ${outcomes.length} endpoints did no harm\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
