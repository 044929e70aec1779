/**
 * Replaces every byte of a small certificate with every other value, and flips every bit of a certificate for the whole
 * catalogue. Takes minutes. Run by `npm run proofs -- tampering`; the tests do a part of it.
 */
import { verifyCertificate } from '../../harness/certify/index.ts';
import { CATALOGUE } from '../../scenarios/index.ts';
import { certificate, certifiedDocument, keyPair, options } from '../harness/certify/certificates.ts';
import { EVERY_PATTERN, flipEveryByte } from '../harness/certify/tamper.ts';
import { resultWith } from '../harness/report/documents.ts';

const { privateKey, publicKey } = keyPair();
const whole = certifiedDocument({
  results: CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => resultWith({ id }))),
});
const single = [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => 1 << bit);
const verify = (bytes: Uint8Array) => verifyCertificate(bytes, options(publicKey));

for (const [name, bytes, patterns] of [
  ['three checks, every other value', certificate(privateKey), EVERY_PATTERN],
  ['the whole catalogue, every bit', certificate(privateKey, whole), single],
] as const) {
  if (!verify(bytes).valid) throw new Error(`${name}: the certificate itself is refused`);
  const started = performance.now();
  const { tried, taken, reasons } = flipEveryByte(bytes, patterns, verify);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${name}: ${bytes.length} bytes, ${tried} changes, ${taken.length} taken, ${seconds} s\n`);
  process.stdout.write(`  first reason: ${JSON.stringify(reasons)}\n`);
  for (const one of taken.slice(0, 20)) process.stdout.write(`  TAKEN ${one}\n`);
  if (taken.length > 0) process.exitCode = 1;
}
