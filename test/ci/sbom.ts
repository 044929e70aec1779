/**
 * Writes the bill of materials of the package (CycloneDX, as npm makes it) to reports/sbom.cdx.json, and refuses a production dependency whose
 * licence is not allowed. It is made anew for each release and never committed.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Bill, billOfPackage, type Lock } from './bill.ts';
import { licenceOf, refused } from './licences.ts';

const ROOT = new URL('../..', import.meta.url);
const PLACE = new URL('reports/sbom.cdx.json', ROOT);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));

const whole: Bill = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--loglevel=error'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }),
);
const lock: Lock = read('package-lock.json');
const { bill, missing } = billOfPackage(whole, lock, read('package.json').name);
mkdirSync(new URL('.', PLACE), { recursive: true });
writeFileSync(PLACE, `${JSON.stringify(bill, null, 2)}\n`);

const counts = new Map<string, number>();
for (const component of bill.components) {
  const licence = licenceOf(component).replace(/^\((.*)\)$/, '$1');
  counts.set(licence, (counts.get(licence) ?? 0) + 1);
}
const told = [...counts].toSorted(([, a], [, b]) => b - a).map(([licence, count]) => `${licence} ${count}`);
console.log(`${bill.components.length} production components: ${told.join(', ')}`);
const wrong = [
  ...refused(bill.components).map((line) => `not allowed: ${line}`),
  ...missing.map((line) => `in the lock file and not in the bill: ${line}`),
];
for (const line of wrong) console.error(line);
process.exitCode = wrong.length === 0 ? 0 : 1;
