/** Analyses the certificates that a server sent, hop by hop. No network: what was sent and what is trusted come in. Specification: TLS. */
import { type CertificateFacts, factsOf, sha256, whyUnreadable } from '../facts/certificate-facts.ts';
import { type ReadCertificate, readCertificate } from '../facts/read-certificate.ts';
import { daysBetween } from '../facts/validity.ts';
import type { ChainAnalysis, ChainFault, ChainInput, ChainRole } from './chain-analysis.ts';
import { elementFaults } from './element-faults.ts';
import { findLeaf, findPath, isAnchored, reachable } from './find-path.ts';
import { hostFaults } from './host-faults.ts';
import { type Link, linksOf } from './link.ts';
import { reconcile } from './oracle.ts';
import { orderFaults } from './order-faults.ts';
import { trustFaults } from './trust-faults.ts';
import { trustListOf } from './trust-list.ts';
import { placeOf } from './wording.ts';

/** The facts of what cannot be read. */
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

/** Never throws for what a server can send: what cannot be read becomes the fault `unreadable`. */
export function analyseChain(input: ChainInput): ChainAnalysis {
  const { sent, exact, host, trusted, now, oracle } = input;
  const faults: ChainFault[] = [];
  const read = sent.map((der, at) => readOrSay(der, at, faults));
  if (sent.length === 0) {
    const fix = 'Configure the server with its certificate and the chain of it.';
    faults.push({ code: 'unreadable', at: null, text: 'The server sent no certificate.', fix });
  }
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
    daysLeft: firstExpiry(path, now),
    checkedAt: now.toISOString(),
  };
}

function readOrSay(der: Uint8Array, at: number, faults: ChainFault[]): ReadCertificate | undefined {
  try {
    return readCertificate(der);
  } catch (error) {
    const text = `The ${placeOf(at)} certificate that is sent (${der.length} bytes) cannot be read: ${whyUnreadable(der, error)}.`;
    faults.push({
      code: 'unreadable',
      at,
      text,
      fix: 'Make the file of the chain anew from the files of your authority.',
    });
    return undefined;
  }
}

function roleOf(link: Link | undefined, leaf: Link | undefined, related: ReadonlySet<Link>): ChainRole {
  if (link === undefined || !related.has(link)) return 'extra';
  if (link === leaf) return 'leaf';
  return link.selfSigned ? 'root' : 'intermediate';
}

function firstExpiry(path: readonly Link[], now: Date): number | null {
  if (path.length === 0) return null;
  return Math.min(...path.map(({ certificate }) => daysBetween(now, certificate.notAfter)));
}
