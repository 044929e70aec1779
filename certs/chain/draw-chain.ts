/** Renders an analysed chain as a tree for a terminal, with the root at the top. */

import { daysBetween } from '../facts/certificate-facts.ts';
import type { KeyFacts } from '../facts/key-facts.ts';
import { type ChainAnalysis, type ChainCertificate, days, placeOf } from './chain-analysis.ts';

/**
 * Returns the lines of the tree: names, keys, signatures, dates, and the codes of faults in brackets. Certificates
 * outside the path follow. `ascii` draws the branches without box characters.
 */
export function drawChain(analysis: ChainAnalysis, { ascii = false }: { ascii?: boolean } = {}): string[] {
  const { certificates, path, anchor, faults, exact } = analysis;
  const branch = ascii ? '`- ' : '└─ ';
  const now = new Date(analysis.checkedAt);

  const marks = (at: number | null): string =>
    faults
      .filter((fault) => fault.at === at && !(at === null && fault.code === 'unexplained'))
      .map(({ code }) => ` [${code}]`)
      .join('');
  const line = (at: number): string => {
    const certificate = certificates[at];
    if (certificate === undefined) return '';
    if (certificate.notAfter === '') return `${certificate.subject}${marks(at)}`;
    const left = daysBetween(now, new Date(certificate.notAfter));
    const until = `until ${certificate.notAfter.slice(0, 10)} (${left < 0 ? 'expired' : days(left)})`;
    return [shortName(certificate), keyText(certificate.key), certificate.signature, until].join(', ') + marks(at);
  };

  const levels = path.toReversed().map(line);
  const top = certificates[path.at(-1) ?? -1];
  const endsAtAnchor = top !== undefined && top.subject === anchor && (top.role === 'root' || path.length === 1);
  if (endsAtAnchor) levels[0] = `${levels[0]} (trusted here)`;
  else if (anchor !== null) levels.unshift(`${anchor} (trusted here)${marks(null)}`);
  else if (top !== undefined && !top.selfIssued) levels.unshift(`${top.issuer} (not sent, not trusted here)`);
  else if (top === undefined) levels.push(`(no certificate that can be read)${marks(null)}`);
  const tree = levels.map((text, depth) => (depth === 0 ? text : `${'   '.repeat(depth - 1)}${branch}${text}`));

  const others = certificates.flatMap((_, at) => (path.includes(at) ? [] : [`   ${placeOf(at)}: ${line(at)}`]));
  if (others.length > 0) tree.push('also sent:', ...others);
  if (!exact) tree.push('(order and extra certificates are not visible over TLS 1.3)');
  for (const fault of faults)
    if (fault.code === 'unexplained' && fault.at === null) tree.push(`[unexplained] ${fault.text}`);
  return tree;
}

function keyText({ kind, bits, curve }: KeyFacts): string {
  if (curve !== null) return curve;
  const name = {
    rsa: 'RSA',
    dsa: 'DSA',
    ec: 'elliptic curve',
    ed25519: 'Ed25519',
    ed448: 'Ed448',
    other: 'unknown key',
  }[kind];
  return bits === null ? name : `${name} ${bits}`;
}

function shortName({ commonName, subject }: ChainCertificate): string {
  return commonName === null ? subject || '(no name)' : `CN=${commonName}`;
}
