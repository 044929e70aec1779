/**
 * Prints the scenarios that a mutant does not pass, and the diagnosis: `npm run matrix:try -- NAME...`. `none` is the
 * reference receiver, and `correct:NAME` another correct one. With `--tls`, mutants and the reference receiver are
 * served with mutual TLS.
 */
import { findSubject, makeMaterial, runAgainst } from './play.ts';

const names = process.argv.slice(2).filter((name) => name !== '--tls');
const material = await makeMaterial();
for (const name of names) {
  const found = findSubject(name);
  const subject = process.argv.includes('--tls') && found.kind !== 'correct' ? { ...found, overTls: true } : found;
  const { counts, verdict, durationMs, results, diagnosis } = await runAgainst(subject, material);
  process.stdout.write(
    `${name}: ${verdict}, ${counts.fail} failed, ${counts.warn} warnings, ${counts.inconclusive} inconclusive, ` +
      `${Math.round(durationMs)} ms\n`,
  );
  for (const { id, verdict: said, reason } of results)
    if (said !== 'pass' && said !== 'not-applicable')
      process.stdout.write(`  ${said.padEnd(12)} ${id}  ${reason.slice(0, 100)}\n`);
  for (const { fault, agreement, outcomes } of diagnosis)
    process.stdout.write(`  diagnosis: ${fault} ${agreement}/${outcomes}\n`);
}
