/** Input and result of a chain analysis, and how messages name certificates. Specification: TLS. */

import type { ChainFaultCode } from '../../contract/index.ts';
import type { CertificateFacts } from '../facts/certificate-facts.ts';
import type { ReadCertificate } from '../facts/read-certificate.ts';
import { visibleText } from '../facts/wording.ts';
import type { Link, TrustedCertificates } from './chain-path.ts';

export interface ChainInput {
  /** The certificates as DER, in the order in which the server sent them. */
  readonly sent: readonly Uint8Array[];
  /**
   * True when `sent` is exactly the list on the wire. Otherwise, for example for a list from a TLS library, order,
   * duplicates and extra certificates are not checked.
   */
  readonly exact: boolean;
  /** The host of the URL: a name, or an IP address with or without brackets. */
  readonly host: string;
  /** The trusted certificates. Pass the same array each time, because the index is cached per array. */
  readonly trusted: TrustedCertificates;
  readonly now: Date;
  /** Node's error code for the chain. Null if Node trusts it, undefined if Node's verdict is not known. */
  readonly oracle: string | null | undefined;
}

export interface ChainFault {
  readonly code: ChainFaultCode;
  /** Index of the certificate in `sent`. Null when the fault does not concern a certificate that was sent. */
  readonly at: number | null;
  /** One sentence that names the certificate and its relevant dates, sizes or names. */
  readonly text: string;
}

/**
 * `extra` means that the certificate does not belong to the chain, is a duplicate, or cannot be read (its facts are
 * then empty). An `intermediate` or `root` that is not in `path` belongs to another path from the same leaf.
 */
export type ChainRole = 'leaf' | 'intermediate' | 'root' | 'extra';

export interface ChainCertificate extends CertificateFacts {
  readonly role: ChainRole;
}

export interface ChainAnalysis {
  /** The certificates in the order in which they were sent. */
  readonly certificates: readonly ChainCertificate[];
  /** The path from the leaf upwards, as indexes into `certificates`. Empty when there is no readable leaf. */
  readonly path: readonly number[];
  /** Subject of the trusted root at the end of the path, whether or not the server sent it. Null if there is none. */
  readonly anchor: string | null;
  readonly exact: boolean;
  /** The faults, each code at most once per certificate. */
  readonly faults: readonly ChainFault[];
  /**
   * Days until the first certificate of the path expires, including the trusted root. Negative when one has expired.
   */
  readonly daysLeft: number | null;
  /** Time of the analysis, as ISO 8601. */
  readonly checkedAt: string;
}

const NAME_CHARACTERS = 80;
const MAX_LISTED = 5;

/** Returns `CN=hooks.example`, or the full name when there is no common name. */
export function nameOf({ subject }: ReadCertificate): string {
  if (subject.commonName !== null) return `CN=${visibleText(subject.commonName, NAME_CHARACTERS)}`;
  return subject.text === '' ? 'a certificate without a name' : visibleText(subject.text, NAME_CHARACTERS);
}

/** Returns the name of the issuer, formatted as by {@link nameOf}. */
export function issuerNameOf({ issuer }: ReadCertificate): string {
  if (issuer.commonName !== null) return `CN=${visibleText(issuer.commonName, NAME_CHARACTERS)}`;
  return issuer.text === '' ? 'a CA without a name' : visibleText(issuer.text, NAME_CHARACTERS);
}

/** Returns the role and name of a certificate: `the leaf CN=hooks.example`. */
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

/** Returns the ordinal of an index that starts at 0: `first`, `second`, `third`, `4th`. */
export function ordinalOf(at: number): string {
  return ['first', 'second', 'third'][at] ?? `${at + 1}th`;
}

/** Joins items, and shortens a long list: `a, b, c, d, e and 3 more`. */
export function listOf(items: readonly string[]): string {
  const shown = items.slice(0, MAX_LISTED).map((item) => visibleText(item, NAME_CHARACTERS));
  if (items.length > MAX_LISTED) return `${shown.join(', ')} and ${items.length - MAX_LISTED} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
