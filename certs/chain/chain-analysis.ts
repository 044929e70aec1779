/** What the analysis of a chain takes and tells. Specification: TLS. */
import type { ChainFaultCode } from '../../contract/index.ts';
import type { CertificateFacts } from '../facts/certificate-facts.ts';
import type { ReadCertificate } from '../facts/read-certificate.ts';
import { visibleText } from '../facts/wording.ts';
import type { Link, TrustedCertificates } from './chain-path.ts';

export interface ChainInput {
  /** The certificates in DER, in the order in which the server sent them. */
  readonly sent: readonly Uint8Array[];
  /**
   * The list is what was on the wire. False for what a TLS library hands out, in its own order and without what it had no use
   * for: order, repetitions and extra certificates are then not judged.
   */
  readonly exact: boolean;
  /** The host of the URL: a name, or an address with or without brackets. */
  readonly host: string;
  /** The trusted certificates. Give the same array each time: its index is kept with it. */
  readonly trusted: TrustedCertificates;
  readonly now: Date;
  /** What Node says of the chain: the code of its error, null when it trusts the chain, undefined when it was not asked. */
  readonly oracle: string | null | undefined;
}

export interface ChainFault {
  readonly code: ChainFaultCode;
  /** Index in `sent` of the certificate that it is about; null when it is about none of them, for example about the trusted root. */
  readonly at: number | null;
  /** One sentence that names the certificate, and dates, sizes or names. */
  readonly text: string;
  readonly fix: string;
}

/**
 * `extra` belongs to no link of the chain, repeats an earlier one, or cannot be read (its facts are then empty). An
 * `intermediate` or `root` that is not in the path belongs to another path from the same leaf.
 */
export type ChainRole = 'leaf' | 'intermediate' | 'root' | 'extra';

export interface ChainCertificate extends CertificateFacts {
  readonly role: ChainRole;
}

export interface ChainAnalysis {
  /** In the order sent. */
  readonly certificates: readonly ChainCertificate[];
  /** Indexes of the path from the leaf up, of the certificates that were sent. Empty when the leaf cannot be read. */
  readonly path: readonly number[];
  /** The subject of the trusted root that ends the path, sent or not. */
  readonly anchor: string | null;
  readonly exact: boolean;
  /** Each code at most once for each certificate. */
  readonly faults: readonly ChainFault[];
  /** Whole days until the first certificate of the path, the trusted root included, expires; negative when one has. */
  readonly daysLeft: number | null;
  /** The time to which `daysLeft` and the faults refer, ISO 8601. */
  readonly checkedAt: string;
}

/** How the analysis speaks of certificates, dates and lists. */

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
