/**
 * Explains why a path does not end at a trusted root. OpenSSL's five error codes for this do not distinguish the cases.
 */

import { visibleText } from '../facts/wording.ts';
import { type ChainFault, issuerNameOf, nameOf } from './chain-analysis.ts';
import { isAnchored, type Link, type Links, type TrustList } from './chain-path.ts';

export function trustFaults(path: readonly Link[], links: Links, trust: TrustList): ChainFault[] {
  const [leaf] = path;
  const top = path.at(-1);
  if (leaf === undefined || top === undefined) return [];
  if (isAnchored(path)) return missingButTrusted(path);
  const name = nameOf(top.certificate);
  const at = top.at ?? path.findLast((link) => link.at !== null)?.at ?? null;
  const fault = (code: ChainFault['code'], text: string) => [{ code, at, text }];

  if (top === leaf && top.selfSigned) return fault('self-signed', `${name} is self-signed: no CA vouches for it.`);
  const forged = forgedIssuer(top, links, trust);
  if (forged !== null) return fault('forged-issuer', forged);
  if (top.selfSigned) {
    const text = `The chain ends at the root ${name}, which the server sends but which is not trusted.`;
    return fault('unknown-authority', text);
  }
  const issuer = issuerNameOf(top.certificate);
  if (path.some(({ trusted }) => trusted)) {
    const text =
      `The trust list contains ${name} but not its issuer ${issuer}, and OpenSSL trusts only chains that end ` +
      'at a root.';
    return fault('unknown-authority', text);
  }
  return [issuerAbsent(top, leaf, issuer, links, trust)];
}

/**
 * Reports an intermediate that the server should send. The chain is trusted only because the trust list contains it.
 */
function missingButTrusted(path: readonly Link[]): ChainFault[] {
  const index = path.findIndex(({ at, selfSigned }) => at === null && !selfSigned);
  const [below, missing] = [path[index - 1], path[index]];
  if (below === undefined || missing === undefined) return [];
  const text =
    `The server does not send the intermediate ${nameOf(missing.certificate)}, which issued ` +
    `${nameOf(below.certificate)}: the chain is complete only if the trust list contains it.`;
  return [{ code: 'missing-intermediate', at: below.at, text }];
}

/** Describes a certificate that has the name of the issuer but another key. Returns null if there is none. */
function forgedIssuer(top: Link, links: Links, trust: TrustList): string | null {
  const name = nameOf(top.certificate);
  const issuer = issuerNameOf(top.certificate);
  const roots = trust.bySubject(top.certificate.issuer.key);
  if (top.selfSigned && roots.length > 0) {
    return `The server sends a root with the name ${name} of a trusted root, but with another key.`;
  }
  if (top.selfSigned || links.namesakes(top).length === 0) return null;
  if (roots.length > 0) return `${name} names the trusted ${issuer} as its issuer but is signed with another key.`;
  return `${name} names ${issuer} as its issuer, but the certificate of that name in the chain has another key.`;
}

/**
 * Reports an issuer that is neither sent nor trusted. Whether an intermediate is missing or the CA is unknown cannot be
 * decided with certainty. A trusted root of the same organisation, or the URL of the issuer in a leaf, indicates a
 * missing intermediate. The URL in an intermediate is ignored, because private CAs often include one as well.
 */
function issuerAbsent(top: Link, leaf: Link, issuer: string, links: Links, trust: TrustList): ChainFault {
  const { certificate, at } = top;
  const name = nameOf(certificate);
  const url = certificate.extensions.issuerUrl;
  const where = url === null ? '' : ` Download it from ${visibleText(url, 200)}.`;
  const missing = (why: string): ChainFault => ({
    code: 'missing-intermediate',
    at,
    text: `${name} was issued by ${issuer}, which the server does not send: ${why}.${where}`,
  });

  const { organisation } = certificate.issuer;
  if (organisation !== null && trust.organisations.has(organisation)) {
    return missing('a root of the same organisation is trusted, so an intermediate is missing');
  }
  if (top === leaf && url !== null)
    return missing('the certificate states where to download it, so an intermediate is missing');
  if (hasUnlinked(top, links)) return missing('the server sends an intermediate of a trusted CA that did not issue it');
  const text =
    top === leaf
      ? `${name} was issued by ${issuer}, which is neither sent nor trusted: either an untrusted root, or an ` +
        'intermediate that the server should send.'
      : `The chain ends at ${name}, issued by ${issuer}, which is neither sent nor trusted: either an ` +
        'untrusted root, or another intermediate that the server should send.';
  return { code: 'unknown-authority', at, text: `${text}${where}` };
}

/**
 * Returns true when the server sends the chain of another certificate: a CA that leads to a trusted root, but did not
 * issue this one.
 */
function hasUnlinked(top: Link, links: Links): boolean {
  return links.sent.some((link) => {
    if (link === undefined || link === top || !link.certificate.extensions.basicConstraints?.authority) return false;
    return link.trusted || links.issuers(link).some(({ trusted }) => trusted);
  });
}
