/** The bytes of certificates and keys: from a file, or from a variable that holds PEM text itself. */
import type { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type MaterialFile, type MaterialFinding, privateKeyTexts, readAuthorities } from '../../certs/index.ts';
import { type Given, problemWith } from './given.ts';
import { readBounded } from './read-bounded.ts';
import { type Resolution, redacted } from './resolution.ts';
import { MAX_PEM_BYTES } from './settings.ts';

/** Longer texts of these characters alone are base64 or hexadecimal digits rather than a path. */
const ENCODED = /^[A-Za-z0-9+/=_-]{40,}$/;

/** The settings that name the two files. */
export interface Places {
  readonly certificate: Given<string>;
  readonly key: Given<string>;
}

/** Reads what a setting names. undefined when that fails; the problem is noted. Private keys become secrets. */
export async function readMaterial(given: Given<string>, resolution: Resolution): Promise<MaterialFile | undefined> {
  const isValue = isMaterial(given);
  if (isValue && given.layer !== 'environment') {
    const what = given.value.includes('-----BEGIN')
      ? 'is PEM text, and the path of a file is wanted'
      : 'is no path of a file that exists, and looks like a key or a certificate itself';
    const hint = 'Put it into a file and give its path, or put it into the environment variable.';
    resolution.problems.push(problemWith(given, what, hint, 'CONFIG_TLS'));
    return undefined;
  }
  const content = isValue
    ? { bytes: Buffer.from(given.value) }
    : await readBounded(resolve(given.base, given.value), MAX_PEM_BYTES);
  if ('bytes' in content) {
    resolution.secrets.push(...privateKeyTexts(content.bytes));
    return { bytes: content.bytes, source: isValue ? { name: 'the value' } : { file: given.value } };
  }
  const what = `the file ${given.value} ${content.reason}`;
  resolution.problems.push(problemWith(given, what, 'Give the path of a PEM or DER file.', 'CONFIG_TLS'));
  return undefined;
}

/** Reads the authorities that a setting names. undefined when that fails; the problem is noted, and so is advice. */
export async function readCa(
  given: Given<string>,
  resolution: Resolution,
): Promise<readonly X509Certificate[] | undefined> {
  const file = await readMaterial(given, resolution);
  if (file === undefined) return undefined;
  const { value, problems, advice } = readAuthorities(file.bytes, { source: file.source });
  const places = { certificate: given, key: given };
  noteProblems(problems, places, resolution);
  noteAdvice(advice, places, resolution);
  return value;
}

/** How a setting of TLS material is shown. */
export function shownMaterial(given: Given<string> | undefined): string {
  if (given === undefined) return 'not set';
  return isMaterial(given) ? redacted(given.value) : given.value;
}

/** What the loader found wrong, at the place of the setting that it is about. */
export function noteProblems(findings: readonly MaterialFinding[], places: Places, { problems }: Resolution): void {
  for (const { about, what, hint } of findings) problems.push(problemWith(places[about], what, hint, 'CONFIG_TLS'));
}

/** What the loader advises, each with its place. */
export function noteAdvice(findings: readonly MaterialFinding[], places: Places, { advice }: Resolution): void {
  for (const { about, what, hint } of findings) advice.push(`${places[about].where}: ${what}. ${hint}`);
}

/** Whether a value is the material itself and no path: a message must not repeat it then. */
function isMaterial({ value, base }: Given<string>): boolean {
  if (/BEGIN [A-Z0-9 ]+/.test(value) || /[\r\n]/.test(value)) return true;
  return ENCODED.test(value) && !existsSync(resolve(base, value));
}
