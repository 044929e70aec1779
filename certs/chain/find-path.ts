/** Finds the path from the leaf up. With several, the best one counts, as a client would take it. */
import type { ChainFault } from './chain-analysis.ts';
import type { Link, Links } from './link.ts';

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

/** Lower is better, compared from the left. */
function rank(path: readonly Link[], faults: readonly ChainFault[]): number[] {
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

export function findPath(leaf: Link, links: Links, faultsOf: (path: readonly Link[]) => readonly ChainFault[]): Link[] {
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
