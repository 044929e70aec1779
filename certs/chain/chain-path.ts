/** The certificates that can stand in a path, and who issued whom: by name and by signature, whatever the order sent. */

import type { X509Certificate } from 'node:crypto';
import { isKnownSignature } from '../facts/key-facts.ts';
import { isSignedBy, type ReadCertificate, readCertificate, readSubject } from '../facts/read-certificate.ts';
import { certificateBlocks } from '../loader/pem.ts';

/** A certificate with its place: its index among those sent, or null for one that only the trust list has. */
export interface Link {
  readonly certificate: ReadCertificate;
  readonly at: number | null;
  /** It is in the trust list. */
  readonly trusted: boolean;
  /** Its own key signed it. */
  readonly selfSigned: boolean;
}

export interface Links {
  /** Those sent, by index; undefined for what cannot be read and for a repetition. */
  readonly sent: readonly (Link | undefined)[];
  /** For the index of a repetition, where the same certificate was sent first. */
  readonly repeats: ReadonlyMap<number, number>;
  /** Certificates that have the name of this one's issuer, sent or trusted. */
  namesakes(link: Link): readonly Link[];
  /** Those of them that signed it. */
  issuers(link: Link): readonly Link[];
}

/** A hostile server can send many certificates with one name: so many signatures are verified for one chain, and no more. */
const VERIFICATIONS = 500;

/** A signature of an algorithm that is not known here is taken for one: the path goes on, and says that nobody verified it. */
function signed(issuer: ReadCertificate, certificate: ReadCertificate): boolean {
  return isSignedBy(certificate.x509, issuer.x509) || !isKnownSignature(certificate.signature);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** `read` holds what was sent, with undefined for what cannot be read. */
export function linksOf(read: readonly (ReadCertificate | undefined)[], trust: TrustList): Links {
  let left = VERIFICATIONS;
  const verified = (issuer: ReadCertificate, certificate: ReadCertificate) => left-- > 0 && signed(issuer, certificate);

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

  const namesakes = remember(({ certificate: { issuer, der } }: Link) => {
    const fromSent = sent.filter((link) => link?.certificate.subject.key === issuer.key) as Link[];
    const others = trust
      .bySubject(issuer.key)
      .filter((trusted) => !fromSent.some((link) => sameBytes(link.certificate.der, trusted.der)));
    return [...fromSent, ...others.map(trustedLink)].filter((link) => !sameBytes(link.certificate.der, der));
  });

  const issuers = remember((link: Link) => {
    if (link.selfSigned) return [];
    return namesakes(link).filter((issuer) => verified(issuer.certificate, link.certificate));
  });

  return { sent, repeats, namesakes, issuers };
}

function remember(find: (link: Link) => readonly Link[]): (link: Link) => readonly Link[] {
  const found = new Map<Link, readonly Link[]>();
  return (link) => {
    const links = found.get(link) ?? find(link);
    found.set(link, links);
    return links;
  };
}

/** Finds the path from the leaf up. With several, the best one counts, as a client would take it. */

const DEPTH = 20;
/** A hostile server can send certificates that certify each other in every order. */
const STEPS = 500;

/** Whether the path ends at a self-signed certificate of the trust list, which is what Node asks for. */
export function isAnchored(path: readonly Link[]): boolean {
  const top = path.at(-1);
  return top?.selfSigned === true && top.trusted;
}

/** Every path up from the leaf, each until nobody is found who issued its last certificate. */
function pathsFrom(leaf: Link, links: Links): Link[][] {
  const paths: Link[][] = [];
  let steps = STEPS;
  const climb = (path: Link[], link: Link): void => {
    const issuers = path.length > DEPTH ? [] : links.issuers(link).filter((issuer) => !path.includes(issuer));
    if (issuers.length === 0) paths.push(path);
    for (const issuer of issuers) if (steps-- > 0) climb([...path, issuer], issuer);
  };
  climb([leaf], leaf);
  return paths;
}

/** A fault, as far as it matters here. */
type Coded = { readonly code: string };

/** Lower is better, compared from the left. */
function rank(path: readonly Link[], faults: readonly Coded[]): number[] {
  const warnings = faults.filter(({ code }) => code === 'expires-soon').length;
  const anchored = isAnchored(path);
  return [anchored ? 0 : 1, faults.length - warnings, misfits(path), warnings, anchored ? path.length : -path.length];
}

/** Steps that OpenSSL does not take although the signature is right: the key identifiers differ, or the issuer may not sign. */
export function misfits(path: readonly Link[]): number {
  return path.filter(({ certificate }, index) => {
    const issuer = path[index + 1];
    return issuer !== undefined && !certificate.x509.checkIssued(issuer.certificate.x509);
  }).length;
}

function better(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index >= 0 && (a[index] ?? 0) < (b[index] ?? 0);
}

export function findPath(leaf: Link, links: Links, faultsOf: (path: readonly Link[]) => readonly Coded[]): Link[] {
  let best: { path: Link[]; ranks: number[] } | undefined;
  for (const path of pathsFrom(leaf, links)) {
    const ranks = rank(path, faultsOf(path));
    if (best === undefined || better(ranks, best.ranks)) best = { path, ranks };
  }
  return best?.path ?? [leaf];
}

/** Every link that can be reached upwards from the path. */
export function reachable(path: readonly Link[], upwards: (link: Link) => readonly Link[]): Set<Link> {
  const found = new Set(path);
  // A set that grows while it is walked is walked to its new end.
  for (const link of found) for (const next of upwards(link)) found.add(next);
  return found;
}

/**
 * The certificate that the server means to prove itself with: the first one, as TLS has it. When that one is an authority and
 * an ordinary certificate comes after it that leads up to it, the order is wrong and the ordinary one is meant.
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

/**
 * The trusted certificates, by subject. Some 145 roots are looked into once for each list: only for their names, which takes
 * a few milliseconds, and a root is read whole when a chain names it.
 */

export interface TrustList {
  /** The certificates with this subject ({@link DistinguishedName.key}). */
  bySubject(key: string): readonly ReadCertificate[];
  /** Organisations of all subjects, as {@link DistinguishedName.organisation} has them. */
  readonly organisations: ReadonlySet<string>;
}

/** What a caller gives: PEM with one certificate or several, or certificates that are read already. */
export type TrustedCertificates = readonly (string | X509Certificate)[];

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
      // What cannot be read can be nobody's issuer. That it is in the list is for the loader to say.
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

/** The index of the list, made at the first call with this array and again when its length has changed. */
export function trustListOf(trusted: TrustedCertificates): TrustList {
  const made = LISTS.get(trusted);
  if (made?.length === trusted.length) return made.list;
  const list = index(trusted);
  LISTS.set(trusted, { length: trusted.length, list });
  return list;
}
