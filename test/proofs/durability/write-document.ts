/**
 * Runs every proof and writes docs/durability.md; takes a quarter of an hour. Exits with 1 when a claim does not hold.
 * With names of parts (kill, flushes, outages, replicas, soak) it runs only those and writes nothing. Run by `npm run
 * proofs -- durability`.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { broken } from './claims.ts';
import { renderDocument } from './document.ts';
import { runProofs } from './proofs.ts';

const PAGE = fileURLToPath(new URL('../../../docs/durability.md', import.meta.url));

const parts = process.argv.slice(2);
const proofs = await runProofs(parts, (what, result) => process.stdout.write(`${what}: ${JSON.stringify(result)}\n`));
if (parts.length === 0) writeFileSync(PAGE, await renderDocument(proofs));
for (const claim of broken(proofs)) {
  process.stdout.write(`DOES NOT HOLD: ${claim}\n`);
  process.exitCode = 1;
}
