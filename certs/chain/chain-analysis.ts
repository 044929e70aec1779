/** Input and result of a chain analysis, and the names of certificates in messages. Specification: TLS. */

import type { ChainFaultCode } from '../../contract/index.ts';
import type { CertificateFacts } from '../facts/certificate-facts.ts';
import type { ReadCertificate } from '../facts/read-certificate.ts';
import { visibleText } from '../facts/wording.ts';
import type { Link, TrustedCertificates } from './chain-path.ts';

export interface ChainInput {
  /** The certificates in DER, in the order in which the server sent them. */
  readonly sent: readonly Uint8Array[];
  /**
   * True when `sent` is exactly the list on the wire. When false, as for a list from a TLS library, order, duplicates
   * and extra certificates are not judged.
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
  /** The certificate's index in `sent`; null when the fault does not concern a sent certificate. */
  readonly at: number | null;
  /** One sentence that names the certificate and the dates, sizes or names concerned. */
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
  /** The certificates in the order sent. */
  readonly certificates: readonly ChainCertificate[];
  /** The path from the leaf upwards, as indexes into `certificates`. Empty when the leaf cannot be read. */
  readonly path: readonly number[];
  /** Subject of the trusted root that ends the path, whether the server sent it or not. */
  readonly anchor: string | null;
  readonly exact: boolean;
  /** Faults, with each code at most once per certificate. */
  readonly faults: readonly ChainFault[];
  /** Days until the first certificate of the path (trusted root included) expires; negative when one has expired. */
  readonly daysLeft: number | null;
  /** Time of the analysis, in ISO 8601. */
  readonly checkedAt: string;
}

const NAME_CHARACTERS = 80;
const MAX_LISTED = 5;

/** Returns `CN=hooks.example`, or the full name when there is no common name. */
export function nameOf({ subject }: ReadCertificate): string {
  if (subject.commonName !== null) return `CN=${visibleText(subject.commonName, NAME_CHARACTERS)}`;
  return subject.text === '' ? 'a certificate without a name' : visibleText(subject.text, NAME_CHARACTERS);
}

/** Returns the issuer's name, formatted like {@link nameOf}. */
export function issuerNameOf({ issuer }: ReadCertificate): string {
  if (issuer.commonName !== null) return `CN=${visibleText(issuer.commonName, NAME_CHARACTERS)}`;
  return issuer.text === '' ? 'a CA without a name' : visibleText(issuer.text, NAME_CHARACTERS);
}

/** Returns the position and name of a certificate: `the leaf CN=hooks.example`. */
export function titleOf(link: Link, leaf: Link | undefined): string {
  if (link === leaf) return `the leaf ${nameOf(link.certificate)}`;
  if (link.at === null) return `the trusted ${link.selfSigned ? 'root' : 'CA'} ${nameOf(link.certificate)}`;
  return `the ${link.selfSigned ? 'root' : 'intermediate'} ${nameOf(link.certificate)}`;
}

/** Returns the date part of a time: `2026-12-01`. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

export function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

/** Returns `first`, `second` or `4th` for a 0-based index. */
export function ordinalOf(at: number): string {
  return ['first', 'second', 'third'][at] ?? `${at + 1}th`;
}

/** Joins items and shortens the list: `a, b, c, d, e and 3 more`. */
export function listOf(items: readonly string[]): string {
  const shown = items.slice(0, MAX_LISTED).map((item) => visibleText(item, NAME_CHARACTERS));
  if (items.length > MAX_LISTED) return `${shown.join(', ')} and ${items.length - MAX_LISTED} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
