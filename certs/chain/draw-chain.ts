/** Renders an analysed chain as a tree for a terminal, with the root at the top. */

import { daysBetween } from '../facts/certificate-facts.ts';
import type { KeyFacts } from '../facts/key-facts.ts';
import { type ChainAnalysis, days, ordinalOf } from './chain-analysis.ts';

export interface ChainLine {
  /** Indentation and branch characters before the text of the line. */
  readonly lead: string;
  readonly text: string;
  /** True when the line ends with fault codes. */
  readonly hasFaults: boolean;
}

/**
 * Returns the lines of the tree: names, keys, signatures, dates, and fault codes in brackets. Certificates outside the
 * path follow the tree. With `ascii`, the branches are drawn without box-drawing characters.
 */
export function chainLines(analysis: ChainAnalysis, { ascii = false }: { readonly ascii?: boolean } = {}): ChainLine[] {
  const { certificates, path, anchor, faults, exact } = analysis;
  const branch = ascii ? '`- ' : '└─ ';
  const now = new Date(analysis.checkedAt);

  const marked = (text: string, at: number | null, after = '') => {
    const codes = faults.filter((fault) => fault.at === at && !(at === null && fault.code === 'unexplained'));
    const marks = codes.map(({ code }) => ` [${code}]`).join('');
    return { text: `${text}${after === '' ? marks : `${marks} ${after}`}`, hasFaults: codes.length > 0 };
  };
  const plain = (text: string) => ({ lead: '', text, hasFaults: false });
  const line = (at: number, after = '') => {
    const certificate = certificates[at];
    if (certificate === undefined) return plain('');
    if (certificate.notAfter === '') return marked(certificate.subject, at, after);
    const left = daysBetween(now, new Date(certificate.notAfter));
    const until = `until ${certificate.notAfter.slice(0, 10)} (${left < 0 ? 'expired' : days(left)})`;
    const { commonName, key, signature, subject } = certificate;
    const name = commonName === null ? subject || '(no name)' : `CN=${commonName}`;
    const facts = [name, keyText(key), signature, until];
    return marked(facts.join(', '), at, after);
  };

  const top = certificates[path.at(-1) ?? -1];
  const endsAtAnchor = top !== undefined && top.subject === anchor && (top.role === 'root' || path.length === 1);
  const levels = path.toReversed().map((at, depth) => line(at, endsAtAnchor && depth === 0 ? '(trusted here)' : ''));
  if (!endsAtAnchor && anchor !== null) levels.unshift(marked(`${anchor} (trusted here)`, null));
  else if (top !== undefined && !endsAtAnchor && !top.selfIssued) {
    levels.unshift(plain(`${top.issuer} (not sent, not trusted here)`));
  } else if (top === undefined) levels.push(marked('(no certificate that can be read)', null));
  const tree = levels.map((level, depth): ChainLine => {
    return { ...level, lead: depth === 0 ? '' : `${'   '.repeat(depth - 1)}${branch}` };
  });

  const others = certificates.flatMap((_, at): ChainLine[] => {
    const { text, hasFaults } = line(at);
    return path.includes(at) ? [] : [{ lead: '   ', text: `${ordinalOf(at)}: ${text}`, hasFaults }];
  });
  if (others.length > 0) tree.push(plain('also sent:'), ...others);
  if (!exact) tree.push(plain('(order and extra certificates are not visible over TLS 1.3)'));
  for (const fault of faults)
    if (fault.code === 'unexplained' && fault.at === null) tree.push(plain(`[unexplained] ${fault.text}`));
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
