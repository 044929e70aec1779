/** The names of a certificate as messages have them. */
import type { X509Certificate } from 'node:crypto';
import type { DistinguishedName } from './distinguished-name.ts';
import { readingOf } from './read-certificate.ts';
import { visibleText } from './visible-text.ts';

const CHARACTERS = 100;

function inWords(name: DistinguishedName | undefined): string {
  if (name === undefined) return 'with a name that cannot be read';
  return name.text === '' ? 'without a name' : visibleText(name.text, CHARACTERS);
}

/** The subject in one line that is safe to print and not longer than a message can bear. */
export function subjectInWords(certificate: X509Certificate): string {
  return inWords(readingOf(certificate)?.subject);
}

/** The issuer, as {@link subjectInWords}. */
export function issuerInWords(certificate: X509Certificate): string {
  return inWords(readingOf(certificate)?.issuer);
}
