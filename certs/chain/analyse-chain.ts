/** Analyses the certificates that a server sent, without network access. Specification: TLS. */

import { type CertificateFacts, daysBetween, factsOf, sha256, whyUnreadable } from '../facts/certificate-facts.ts';
import { type ReadCertificate, readCertificate } from '../facts/read-certificate.ts';
import {
  type ChainAnalysis,
  type ChainFault,
  type ChainInput,
  type ChainRole,
  nameOf,
  ordinalOf,
} from './chain-analysis.ts';
import {
  findLeaf,
  findPath,
  isAnchored,
  type Link,
  type Links,
  linksOf,
  reachable,
  trustListOf,
} from './chain-path.ts';
import { elementFaults } from './element-faults.ts';
import { hostFaults } from './host-faults.ts';
import { reconcile } from './oracle.ts';
import { trustFaults } from './trust-faults.ts';

/** Analyses a chain. Never throws: a certificate that cannot be read yields the fault `unreadable`. */
export function analyseChain(input: ChainInput): ChainAnalysis {
  const { sent, exact, host, trusted, now, oracle } = input;
  const faults: ChainFault[] = [];
  const read = sent.map((der, at) => readOrReport(der, at, faults));
  if (sent.length === 0) faults.push({ code: 'unreadable', at: null, text: 'The server sent no certificate.' });
  const trust = trustListOf(trusted);
  const links = linksOf(read, trust);
  const leaf = findLeaf(links);
  const path = leaf === undefined ? [] : findPath(leaf, links, (each) => elementFaults(each, now));
  const anchored = isAnchored(path);
  const related = reachable(path, anchored ? links.issuers : links.namesakes);
  if (leaf !== undefined) {
    faults.push(...trustFaults(path, links, trust), ...elementFaults(path, now), ...hostFaults(leaf, host));
    if (exact) faults.push(...orderFaults(read, links, path, related));
  }
  return {
    certificates: sent.map((der, at) => {
      const certificate = read[at];
      const facts = certificate === undefined ? noFacts(der) : factsOf(certificate);
      return { ...facts, role: roleOf(links.sent[at], leaf, related) };
    }),
    path: path.flatMap(({ at }) => (at === null ? [] : [at])),
    anchor: anchored ? (path.at(-1)?.certificate.subject.text ?? null) : null,
    exact,
    faults: leaf === undefined ? faults : reconcile(faults, path, anchored, oracle),
    daysLeft:
      path.length === 0 ? null : Math.min(...path.map(({ certificate }) => daysBetween(now, certificate.notAfter))),
    checkedAt: now.toISOString(),
  };
}

/** Returns the facts for a certificate that cannot be read. */
function noFacts(der: Uint8Array): CertificateFacts {
  return {
    subject: '(unreadable)',
    issuer: '(unreadable)',
    hosts: [],
    commonName: null,
    notBefore: '',
    notAfter: '',
    key: { kind: 'other', bits: null, curve: null },
    signature: '',
    authority: false,
    pathLength: null,
    usages: null,
    fingerprint: sha256(der),
    keyFingerprint: '',
    issuerUrl: null,
    selfIssued: false,
    mustStaple: false,
  };
}

function readOrReport(der: Uint8Array, at: number, faults: ChainFault[]): ReadCertificate | undefined {
  try {
    return readCertificate(der);
  } catch (error) {
    const text = `The ${ordinalOf(at)} certificate in the chain (${der.length} bytes) cannot be read`;
    faults.push({ code: 'unreadable', at, text: `${text}: ${whyUnreadable(der, error)}.` });
    return undefined;
  }
}

function roleOf(link: Link | undefined, leaf: Link | undefined, related: ReadonlySet<Link>): ChainRole {
  if (link === undefined || !related.has(link)) return 'extra';
  if (link === leaf) return 'leaf';
  return link.selfSigned ? 'root' : 'intermediate';
}

/**
 * Returns the faults of the list itself: order, duplicates, unnecessary and unrelated certificates. `related` contains
 * all links on any path from the leaf.
 */
function orderFaults(
  read: readonly (ReadCertificate | undefined)[],
  links: Links,
  path: readonly Link[],
  related: ReadonlySet<Link>,
): ChainFault[] {
  const faults: ChainFault[] = [];
  const places = path.flatMap(({ at }) => (at === null ? [] : [at]));
  const misplaced = places.findIndex((at, index) => at < (places[index - 1] ?? 0) || (index === 0 && at !== 0));
  const [late, early] = [places[misplaced - 1] ?? places[0], places[misplaced]];
  if (misplaced >= 0 && late !== undefined && early !== undefined) {
    faults.push({ code: 'misordered', at: early, text: misorder(read, late, early) });
  }
  read.forEach((certificate, at) => {
    if (certificate === undefined) return;
    const name = nameOf(certificate);
    const link = links.sent[at];
    if (link === undefined) {
      const first = links.repeats.get(at) ?? 0;
      const text = `${name} is sent twice, as the ${ordinalOf(first)} and the ${ordinalOf(at)} certificate.`;
      faults.push({ code: 'duplicate', at, text });
    } else if (link !== path[0] && link.selfSigned && (link.trusted || (related.has(link) && path.at(-1)?.trusted))) {
      const text =
        `The root ${name} is sent: clients that trust it already have it, and it costs ` +
        `${certificate.der.length} bytes per handshake.`;
      faults.push({ code: 'root-sent', at, text });
    } else if (!related.has(link)) {
      const text = `${name} is sent as the ${ordinalOf(at)} certificate and does not belong to the chain.`;
      faults.push({ code: 'unrelated', at, text });
    }
  });
  return faults;
}

function misorder(read: readonly (ReadCertificate | undefined)[], late: number, early: number): string {
  const name = (at: number) => {
    const certificate = read[at];
    return certificate === undefined ? 'a certificate' : nameOf(certificate);
  };
  if (late === early)
    return `The leaf ${name(early)} is sent as the ${ordinalOf(early)} certificate; it must be the first.`;
  return `${name(early)} is sent as the ${ordinalOf(early)} certificate, before ${name(late)}, which it issued.`;
}
