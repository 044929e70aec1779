/** Why a path does not end at a trusted root. OpenSSL has five codes for it, which do not tell these cases apart. */

import { visibleText } from '../facts/wording.ts';
import { type ChainFault, issuerNameOf, nameOf } from './chain-analysis.ts';
import { isAnchored, type Link, type Links, type TrustList } from './chain-path.ts';

const FULL_CHAIN =
  'Serve the full chain: the certificate first, then each intermediate, without the root (certbot calls this file fullchain.pem).';
const TRUSTED_ISSUER =
  'Use a certificate of an authority that is trusted everywhere, or give the root of yours with --ca.';

export function trustFaults(path: readonly Link[], links: Links, trust: TrustList): ChainFault[] {
  const [leaf] = path;
  const top = path.at(-1);
  if (leaf === undefined || top === undefined) return [];
  if (isAnchored(path)) return borrowed(path);
  const name = nameOf(top.certificate);
  const at = top.at ?? path.findLast((link) => link.at !== null)?.at ?? null;

  if (top === leaf && top.selfSigned) {
    return [
      {
        code: 'self-signed',
        at,
        text: `${name} is signed by its own key, and no authority vouches for it.`,
        fix: TRUSTED_ISSUER,
      },
    ];
  }
  const forged = forgedIssuer(top, links, trust);
  if (forged !== null) return [{ code: 'forged-issuer', at, ...forged }];
  if (top.selfSigned) {
    const text = `The chain ends at the root ${name}, which the server sends itself and which is not trusted here.`;
    return [{ code: 'unknown-authority', at, text, fix: TRUSTED_ISSUER }];
  }
  const issuer = issuerNameOf(top.certificate);
  if (path.some(({ trusted }) => trusted)) {
    const text = `The trust list holds ${name} but not ${issuer}, which issued it, and OpenSSL trusts only chains that end at a root.`;
    return [{ code: 'unknown-authority', at, text, fix: `Add the root ${issuer} to the trust list (--ca).` }];
  }
  return [unfinished(top, leaf, issuer, links, trust)];
}

/** Trusted, but only because the trust list holds an intermediate that the server should send. */
function borrowed(path: readonly Link[]): ChainFault[] {
  const index = path.findIndex(({ at, selfSigned }) => at === null && !selfSigned);
  const [below, missing] = [path[index - 1], path[index]];
  if (below === undefined || missing === undefined) return [];
  const text = `The server does not send the intermediate ${nameOf(missing.certificate)}, which issued ${nameOf(below.certificate)}: the chain is complete only where the trust list happens to hold it.`;
  return [{ code: 'missing-intermediate', at: below.at, text, fix: FULL_CHAIN }];
}

/** Somebody has the name of the issuer, and another key. */
function forgedIssuer(top: Link, links: Links, trust: TrustList): { text: string; fix: string } | null {
  const name = nameOf(top.certificate);
  const issuer = issuerNameOf(top.certificate);
  const roots = trust.bySubject(top.certificate.issuer.key);
  if (top.selfSigned && roots.length > 0) {
    const text = `The root that is sent calls itself ${name} like a trusted one, but it has another key.`;
    return {
      text,
      fix: 'Use a certificate that the trusted authority issued. If the authority was made anew, give its new root with --ca.',
    };
  }
  if (top.selfSigned || links.namesakes(top).length === 0) return null;
  if (roots.length > 0) {
    const text = `${name} names the trusted ${issuer} as its issuer, but the key of that one did not sign it.`;
    return {
      text,
      fix: 'Use a certificate that the trusted authority issued. If the authority was made anew, give its new root with --ca.',
    };
  }
  const text = `${name} names ${issuer} as its issuer, and the certificate of that name that is sent has another key.`;
  return {
    text,
    fix: 'Serve the intermediate that issued the certificate: one of the same name from another year has another key.',
  };
}

/**
 * The issuer is neither sent nor trusted. Is an intermediate missing, or is the authority unknown? Nothing says it for certain.
 * Authorities that are trusted everywhere write into a leaf where its issuer can be had; an intermediate of a private authority
 * often has such an address too, so for it only the organisation counts.
 */
function unfinished(top: Link, leaf: Link, issuer: string, links: Links, trust: TrustList): ChainFault {
  const { certificate, at } = top;
  const name = nameOf(certificate);
  const url = certificate.extensions.issuerUrl;
  const where = url === null ? '' : ` It can be had at ${visibleText(url, 200)}.`;
  const missing = (why: string): ChainFault => ({
    code: 'missing-intermediate',
    at,
    text: `${name} was issued by ${issuer}, which the server does not send: ${why}.`,
    fix: `${FULL_CHAIN}${where}`,
  });

  const { organisation } = certificate.issuer;
  if (organisation !== null && trust.organisations.has(organisation)) {
    return missing('a root of the same organisation is trusted, so an intermediate is missing in between');
  }
  if (top === leaf && url !== null)
    return missing('the certificate says where to get it, so an intermediate is missing');
  if (hasUnlinked(top, links))
    return missing('a certificate of a trusted authority is sent instead that did not issue it');
  const text =
    top === leaf
      ? `${name} was issued by ${issuer}, which is neither sent nor trusted here: it is a root that is not trusted, or an intermediate that the server should send.`
      : `The chain ends at ${name}, issued by ${issuer}, which is neither sent nor trusted here: a root that is not trusted, or one more intermediate that the server should send.`;
  return {
    code: 'unknown-authority',
    at,
    text,
    fix: `${TRUSTED_ISSUER} If ${issuer} is an intermediate, serve it too.${where}`,
  };
}

/** Whether a certificate is sent that leads to a trusted root and does not link to the leaf: the bundle of another certificate. */
function hasUnlinked(top: Link, links: Links): boolean {
  return links.sent.some((link) => {
    if (link === undefined || link === top || !link.certificate.extensions.basicConstraints?.authority) return false;
    return link.trusted || links.issuers(link).some(({ trusted }) => trusted);
  });
}
