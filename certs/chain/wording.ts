/** How the analysis speaks of certificates, dates and lists. */

import type { ReadCertificate } from '../facts/read-certificate.ts';
import { visibleText } from '../facts/visible-text.ts';
import type { Link } from './link.ts';

const NAME_CHARACTERS = 80;
const SHOWN = 5;

/** `CN=hooks.example`, or the whole name when it has no common name. */
export function nameOf({ subject }: ReadCertificate): string {
  if (subject.commonName !== null) return `CN=${visibleText(subject.commonName, NAME_CHARACTERS)}`;
  return subject.text === '' ? 'a certificate without a name' : visibleText(subject.text, NAME_CHARACTERS);
}

/** The issuer's name, as {@link nameOf}. */
export function issuerNameOf({ issuer }: ReadCertificate): string {
  if (issuer.commonName !== null) return `CN=${visibleText(issuer.commonName, NAME_CHARACTERS)}`;
  return issuer.text === '' ? 'an authority without a name' : visibleText(issuer.text, NAME_CHARACTERS);
}

/** `the leaf CN=hooks.example`. */
export function titleOf(link: Link, leaf: Link | undefined): string {
  if (link === leaf) return `the leaf ${nameOf(link.certificate)}`;
  if (link.at === null) return `the trusted ${link.selfSigned ? 'root' : 'authority'} ${nameOf(link.certificate)}`;
  return `the ${link.selfSigned ? 'root' : 'intermediate'} ${nameOf(link.certificate)}`;
}

/** `2026-12-01`. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

export function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

/** `first`, `second`, and `4th`, for a place counted from 0. */
export function placeOf(at: number): string {
  return ['first', 'second', 'third'][at] ?? `${at + 1}th`;
}

/** `a, b, c, d, e and 3 more`. */
export function listOf(items: readonly string[]): string {
  const shown = items.slice(0, SHOWN).map((item) => visibleText(item, NAME_CHARACTERS));
  if (items.length > SHOWN) return `${shown.join(', ')} and ${items.length - SHOWN} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
