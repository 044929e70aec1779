/**
 * Checks the name that `verify` gives to each vector of the signing mistakes, which OpenSSL, Python and the printers of
 * other languages have created. Then checks that it gives no name to 200 random bodies that are signed with another
 * secret. Run by `npm run proofs -- transformations`.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explainSignature, SIGNING_MISTAKES, signatureOf } from '../../contract/signing/index.ts';
import { SAMPLES } from '../contract/samples.ts';
import { markdownTable } from '../setup/markdown-table.ts';

const PAIRS = 200;
const ODD = `#= $NAME/\${x}\\n"'&<>+%2F:;,`;

const file = join(import.meta.dirname, '..', 'contract', 'signing', 'vectors', 'mistakes.json');
const { vectors, ...defaults } = JSON.parse(readFileSync(file, 'utf8'));
const kinds = new Map(SIGNING_MISTAKES.map(({ name, kind, title }) => [name, { kind, title }]));

const rows = vectors.map((vector: Readonly<Record<string, string>>) => {
  const { mistake = '', signature: header = '', bodyBase64, secret, apiKey, url } = { ...defaults, ...vector };
  const body = Buffer.from(bodyBase64, 'base64');
  const named = explainSignature({ body, secret, header, apiKey, url }).explanation?.fault ?? 'none';
  const { kind = '', title = '' } = kinds.get(mistake) ?? {};
  return [kind, title, mistake, named === mistake ? 'yes' : `NO: ${named}`];
});
process.stdout.write(`${markdownTable(['step', 'the signer', 'mistake', 'named by verify'], rows)}\n\n`);

const samples = Object.values(SAMPLES);
const secretOf = () => `${randomBytes(24).toString('base64')}${ODD}${randomBytes(6).toString('hex')}`;
let matches = 0;
for (let at = 0; at < PAIRS; at++) {
  const value = { ...samples[at % samples.length], id: randomBytes(16).toString('hex') };
  const body = Buffer.from(JSON.stringify(value, null, at % 3));
  const header = signatureOf(body, secretOf());
  const { explanation, matches: isRight } = explainSignature({ body, secret: secretOf(), header });
  if (isRight || explanation !== null) matches++;
}
const missed = rows.filter(([, , , named = '']: string[]) => named !== 'yes').length;
process.stdout.write(`${rows.length - missed} of ${rows.length} named; ${matches} false matches in ${PAIRS} pairs\n`);
if (missed + matches > 0) process.exitCode = 1;
