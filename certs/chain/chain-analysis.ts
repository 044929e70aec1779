/** The input and the result of a chain analysis, and how it names certificates. Specification: TLS. */

import type { ChainFaultCode } from '../../contract/index.ts';
import type { CertificateFacts } from '../facts/certificate-facts.ts';
import type { ReadCertificate } from '../facts/read-certificate.ts';
import { visibleText } from '../facts/wording.ts';
import type { Link, TrustedCertificates } from './chain-path.ts';

export interface ChainInput {
  /** The certificates in DER, in the order in which the server sent them. */
  readonly sent: readonly Uint8Array[];
  /**
   * Whether `sent` is exactly the list on the wire. If false, as for a list from a TLS library, order, duplicates and
   * extra certificates are not judged.
   */
  readonly exact: boolean;
  /** The host of the URL: a name, or an address with or without brackets. */
  readonly host: string;
  /** The trusted certificates. Pass the same array each time, because its index is cached. */
  readonly trusted: TrustedCertificates;
  readonly now: Date;
  /** The error code of Node for the chain; null if Node trusts it, undefined if unknown. */
  readonly oracle: string | null | undefined;
}

export interface ChainFault {
  readonly code: ChainFaultCode;
  /**
   * The index in `sent` of the certificate; null if the fault is about none of them, for example about the trusted
   * root.
   */
  readonly at: number | null;
  /** One sentence that names the certificate, and dates, sizes or names. */
  readonly text: string;
}

/**
 * `extra` does not belong to the chain, is a duplicate, or cannot be read (its facts are then empty). An `intermediate`
 * or `root` outside the path belongs to another path from the same leaf.
 */
export type ChainRole = 'leaf' | 'intermediate' | 'root' | 'extra';

export interface ChainCertificate extends CertificateFacts {
  readonly role: ChainRole;
}

export interface ChainAnalysis {
  /** In the order sent. */
  readonly certificates: readonly ChainCertificate[];
  /** The path from the leaf up, as indexes of `certificates`. Empty if the leaf cannot be read. */
  readonly path: readonly number[];
  /** The subject of the trusted root that ends the path, sent or not. */
  readonly anchor: string | null;
  readonly exact: boolean;
  /** Each code at most once per certificate. */
  readonly faults: readonly ChainFault[];
  /** Days until the first certificate of the path expires, including the trusted root; negative if one has expired. */
  readonly daysLeft: number | null;
  /** The time of the analysis, ISO 8601. */
  readonly checkedAt: string;
}

const NAME_CHARACTERS = 80;
const MAX_LISTED = 5;

/** `CN=hooks.example`, or the full name if it has no common name. */
export function nameOf({ subject }: ReadCertificate): string {
  if (subject.commonName !== null) return `CN=${visibleText(subject.commonName, NAME_CHARACTERS)}`;
  return subject.text === '' ? 'a certificate without a name' : visibleText(subject.text, NAME_CHARACTERS);
}

/** The issuer's name, formatted like {@link nameOf}. */
export function issuerNameOf({ issuer }: ReadCertificate): string {
  if (issuer.commonName !== null) return `CN=${visibleText(issuer.commonName, NAME_CHARACTERS)}`;
  return issuer.text === '' ? 'a CA without a name' : visibleText(issuer.text, NAME_CHARACTERS);
}

/** `the leaf CN=hooks.example`. */
export function titleOf(link: Link, leaf: Link | undefined): string {
  if (link === leaf) return `the leaf ${nameOf(link.certificate)}`;
  if (link.at === null) return `the trusted ${link.selfSigned ? 'root' : 'CA'} ${nameOf(link.certificate)}`;
  return `the ${link.selfSigned ? 'root' : 'intermediate'} ${nameOf(link.certificate)}`;
}

/** `2026-12-01`. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

export function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

/** `first`, `second`, `4th`, for a 0-based index. */
export function placeOf(at: number): string {
  return ['first', 'second', 'third'][at] ?? `${at + 1}th`;
}

/** `a, b, c, d, e and 3 more`. */
export function listOf(items: readonly string[]): string {
  const shown = items.slice(0, MAX_LISTED).map((item) => visibleText(item, NAME_CHARACTERS));
  if (items.length > MAX_LISTED) return `${shown.join(', ')} and ${items.length - MAX_LISTED} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
