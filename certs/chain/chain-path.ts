/**
 * Links certificates with their issuers by name and signature, and finds the best path from the leaf to a trusted root.
 */

import type { X509Certificate } from 'node:crypto';
import { isKnownSignature } from '../facts/key-facts.ts';
import { isSignedBy, type ReadCertificate, readCertificate, readSubject } from '../facts/read-certificate.ts';
import { certificateBlocks } from '../loader/pem.ts';

/**
 * A certificate in the chain. `at` is its index in the list that was sent, or null when only the trust list contains
 * it.
 */
export interface Link {
  readonly certificate: ReadCertificate;
  readonly at: number | null;
  /** True when the trust list contains it. */
  readonly trusted: boolean;
  /** True when it is signed with its own key. */
  readonly selfSigned: boolean;
}

export interface Links {
  /** The certificates that were sent, by index. Undefined for unreadable certificates and duplicates. */
  readonly sent: readonly (Link | undefined)[];
  /** Maps the index of each duplicate to the index at which the certificate was sent first. */
  readonly repeats: ReadonlyMap<number, number>;
  /** Returns the other certificates, sent or trusted, whose subject is the issuer of this one. */
  namesakes(link: Link): readonly Link[];
  /** Returns those namesakes whose key signed this certificate. */
  issuers(link: Link): readonly Link[];
}

/**
 * The trusted certificates, indexed by subject. Indexing reads only names; a certificate is parsed when a chain refers
 * to it.
 */
export interface TrustList {
  /** Returns the certificates with this subject. `key` is a {@link DistinguishedName.key}. */
  bySubject(key: string): readonly ReadCertificate[];
  /** {@link DistinguishedName.organisation} of all subjects. */
  readonly organisations: ReadonlySet<string>;
}

/** PEM texts with one or more certificates each, or parsed certificates. */
export type TrustedCertificates = readonly (string | X509Certificate)[];

/**
 * Maximum number of signatures that are verified per chain, because a hostile server can send many certificates with
 * the same name.
 */
const MAX_VERIFICATIONS = 500;
const MAX_DEPTH = 20;
/** Maximum number of steps to an issuer, because a hostile server can send certificates that certify each other. */
const MAX_STEPS = 500;

/**
 * Returns true when the issuer signed the certificate. Also returns true when the signature algorithm is unknown, so
 * that the path continues; a fault then reports that the signature was not verified.
 */
function mayHaveSigned(issuer: ReadCertificate, certificate: ReadCertificate): boolean {
  return isSignedBy(certificate.x509, issuer.x509) || !isKnownSignature(certificate.signature);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/**
 * Indexes the certificates that were sent and the trust list.
 *
 * @param read the certificates that were sent; undefined for those that cannot be read
 */
export function linksOf(read: readonly (ReadCertificate | undefined)[], trust: TrustList): Links {
  let left = MAX_VERIFICATIONS;
  const verified = (issuer: ReadCertificate, certificate: ReadCertificate) =>
    left-- > 0 && mayHaveSigned(issuer, certificate);

  const linkOf = (certificate: ReadCertificate, at: number | null, trusted: boolean): Link => ({
    certificate,
    at,
    trusted,
    selfSigned: certificate.subject.key === certificate.issuer.key && verified(certificate, certificate),
  });

  const firstAt = new Map<string, number>();
  const repeats = new Map<number, number>();
  const sent = read.map((certificate, at) => {
    if (certificate === undefined) return undefined;
    const first = firstAt.get(certificate.x509.fingerprint256);
    if (first !== undefined) {
      repeats.set(at, first);
      return undefined;
    }
    firstAt.set(certificate.x509.fingerprint256, at);
    const trusted = trust.bySubject(certificate.subject.key).some(({ der }) => sameBytes(der, certificate.der));
    return linkOf(certificate, at, trusted);
  });

  const trustedLinks = new Map<ReadCertificate, Link>();
  const trustedLink = (certificate: ReadCertificate): Link => {
    const link = trustedLinks.get(certificate) ?? linkOf(certificate, null, true);
    trustedLinks.set(certificate, link);
    return link;
  };

  const namesakes = memoise(({ certificate: { issuer, der } }: Link) => {
    const fromSent = sent.filter((link) => link?.certificate.subject.key === issuer.key) as Link[];
    const others = trust
      .bySubject(issuer.key)
      .filter((trusted) => !fromSent.some((link) => sameBytes(link.certificate.der, trusted.der)));
    return [...fromSent, ...others.map(trustedLink)].filter((link) => !sameBytes(link.certificate.der, der));
  });

  const issuers = memoise((link: Link) => {
    if (link.selfSigned) return [];
    return namesakes(link).filter((issuer) => verified(issuer.certificate, link.certificate));
  });

  return { sent, repeats, namesakes, issuers };
}

function memoise(find: (link: Link) => readonly Link[]): (link: Link) => readonly Link[] {
  const found = new Map<Link, readonly Link[]>();
  return (link) => {
    const links = found.get(link) ?? find(link);
    found.set(link, links);
    return links;
  };
}

/** Returns true when the path ends at a self-signed certificate in the trust list, as Node requires. */
export function isAnchored(path: readonly Link[]): boolean {
  const top = path.at(-1);
  return top?.selfSigned === true && top.trusted;
}

/** Returns all paths from the leaf upwards. Each path ends where no issuer is found. */
function pathsFrom(leaf: Link, links: Links): Link[][] {
  const paths: Link[][] = [];
  let steps = MAX_STEPS;
  const climb = (path: Link[], link: Link): void => {
    const issuers = path.length > MAX_DEPTH ? [] : links.issuers(link).filter((issuer) => !path.includes(issuer));
    if (issuers.length === 0) paths.push(path);
    for (const issuer of issuers) if (steps-- > 0) climb([...path, issuer], issuer);
  };
  climb([leaf], leaf);
  return paths;
}

type Coded = { readonly code: string };

/** Returns a rank. Ranks are compared number by number from the left; the lower one is better. */
function rank(path: readonly Link[], faults: readonly Coded[]): number[] {
  const warnings = faults.filter(({ code }) => code === 'expires-soon').length;
  const anchored = isAnchored(path);
  return [
    anchored ? 0 : 1,
    faults.length - warnings,
    countMismatches(path),
    warnings,
    anchored ? path.length : -path.length,
  ];
}

/**
 * Counts the issuers that OpenSSL rejects despite a valid signature, because key identifiers differ or the issuer may
 * not sign certificates.
 */
export function countMismatches(path: readonly Link[]): number {
  return path.filter(({ certificate }, index) => {
    const issuer = path[index + 1];
    return issuer !== undefined && !certificate.x509.checkIssued(issuer.certificate.x509);
  }).length;
}

function better(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index >= 0 && (a[index] ?? 0) < (b[index] ?? 0);
}

/** Returns the path from the leaf upwards that a client would choose. */
export function findPath(leaf: Link, links: Links, faultsOf: (path: readonly Link[]) => readonly Coded[]): Link[] {
  let best: { path: Link[]; ranks: number[] } | undefined;
  for (const path of pathsFrom(leaf, links)) {
    const ranks = rank(path, faultsOf(path));
    if (best === undefined || better(ranks, best.ranks)) best = { path, ranks };
  }
  return best?.path ?? [leaf];
}

/** Returns all links on the path, and all that can be reached from them upwards. */
export function reachable(path: readonly Link[], upwards: (link: Link) => readonly Link[]): Set<Link> {
  const found = new Set(path);
  // The loop also visits the links that it adds.
  for (const link of found) for (const next of upwards(link)) found.add(next);
  return found;
}

/**
 * Returns the server's own certificate. This is the first one, as TLS requires. If the first one is a CA that issued a
 * later certificate, directly or not, the order is wrong, and the later one is the leaf.
 */
export function findLeaf(links: Links): Link | undefined {
  const [first] = links.sent;
  if (!first?.certificate.extensions.basicConstraints?.authority) return first;
  const later = links.sent.find((link): link is Link => {
    if (link === undefined || link.certificate.extensions.basicConstraints?.authority) return false;
    return reachable([link], links.issuers).has(first);
  });
  return later ?? first;
}

interface Entry {
  readonly der: Uint8Array;
  readonly known: X509Certificate | undefined;
}

function entriesOf(trusted: TrustedCertificates): Entry[] {
  return trusted.flatMap((item): Entry[] => {
    if (typeof item !== 'string') return [{ der: item.raw, known: item }];
    return certificateBlocks(item).map(({ der }) => ({ der, known: undefined }));
  });
}

function index(trusted: TrustedCertificates): TrustList {
  const entries = new Map<string, Entry[]>();
  const organisations = new Set<string>();
  for (const entry of entriesOf(trusted)) {
    try {
      const { key, organisation } = readSubject(entry.der);
      if (organisation !== null) organisations.add(organisation);
      entries.set(key, [...(entries.get(key) ?? []), entry]);
    } catch {
      // An unreadable certificate cannot be an issuer. The loader reports it.
    }
  }
  const read = new Map<string, readonly ReadCertificate[]>();
  return {
    organisations,
    bySubject(key) {
      const found = read.get(key) ?? (entries.get(key) ?? []).flatMap(readEntry);
      read.set(key, found);
      return found;
    },
  };
}

function readEntry({ der, known }: Entry): ReadCertificate[] {
  try {
    return [readCertificate(der, known)];
  } catch {
    return [];
  }
}

const LISTS = new WeakMap<TrustedCertificates, { readonly length: number; readonly list: TrustList }>();

/** Returns the index of the trusted certificates. It is cached as long as the length of the array stays the same. */
export function trustListOf(trusted: TrustedCertificates): TrustList {
  const cached = LISTS.get(trusted);
  if (cached?.length === trusted.length) return cached.list;
  const list = index(trusted);
  LISTS.set(trusted, { length: trusted.length, list });
  return list;
}
