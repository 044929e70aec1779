/** The certificates that can stand in a path, and who issued whom: by name and by signature, whatever the order sent. */
import { isSignedBy } from '../facts/issuing.ts';
import { isKnownSignature } from '../facts/object-ids.ts';
import type { ReadCertificate } from '../facts/read-certificate.ts';
import type { TrustList } from './trust-list.ts';

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
