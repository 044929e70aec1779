/**
 * What a run says of a mutant: `npm run matrix:try -- NAME...` prints the scenarios that are not passed, and the diagnosis. `none` is the right
 * receiver, `correct:NAME` one that is right and different. With `--tls` mutants and the right receiver are served with mutual TLS.
 */
import { findSubject, makeMaterial, runAgainst } from './play.ts';

const names = process.argv.slice(2).filter((name) => name !== '--tls');
const material = await makeMaterial();
for (const name of names) {
  const found = findSubject(name);
  const subject = process.argv.includes('--tls') && found.kind !== 'correct' ? { ...found, overTls: true } : found;
  const { counts, verdict, durationMs, results, diagnosis } = await runAgainst(subject, material);
  process.stdout.write(
    `${name}: ${verdict}, ${counts.fail} failed, ${counts.warn} warnings, ${counts.inconclusive} inconclusive, ${Math.round(durationMs)} ms\n`,
  );
  for (const { id, verdict: said, reason } of results)
    if (said !== 'pass' && said !== 'not-applicable')
      process.stdout.write(`  ${said.padEnd(12)} ${id}  ${reason.slice(0, 100)}\n`);
  for (const { fault, agreement, outcomes } of diagnosis)
    process.stdout.write(`  diagnosis: ${fault} ${agreement}/${outcomes}\n`);
}
