/**
 * Examines the shape of a signature header before any key is used: whether its form is valid, and what surrounds the
 * value.
 */

import type { MistakeText } from './mistake.ts';

/** A value to compare with the signature. `removed` describes what was removed from the header to get it. */
export interface HeaderCandidate {
  readonly value: string;
  readonly removed: MistakeText | undefined;
}

export interface HeaderShape {
  readonly findings: readonly MistakeText[];
  /** The whole value first, then the values that remain when a label, quotes or other surrounding text is removed. */
  readonly candidates: readonly HeaderCandidate[];
}

/** Maximum number of values in one header that are compared. */
const MAX_PARTS = 100;

const FINDING = {
  empty: {
    name: 'empty-header',
    title: 'The header is empty.',
    mistake: 'credentials-differ',
    note: 'Check the name of the header, and that signing is turned on for this endpoint.',
  },
  outerSpace: {
    name: 'outer-white-space',
    title: 'There is whitespace around the value. HTTP removes it, so it was ignored.',
    mistake: 'changed-signature-value',
  },
  innerSpace: {
    name: 'inner-white-space',
    title: 'There is whitespace within the value.',
    mistake: 'base64-variant',
    note: 'Use an encoder that does not break lines (Base64.strict_encode64 in Ruby, base64 -w0 in a shell).',
  },
  headerName: {
    name: 'header-name-included',
    title: 'The value starts with the name of a header and a colon.',
    mistake: 'changed-signature-value',
  },
  quoted: {
    name: 'quoted-header',
    title: 'There are quotes around the value.',
    mistake: 'changed-signature-value',
  },
  prefix: {
    name: 'prefixed-header',
    title: 'The value has a label before it, such as "v1," or "sha256=".',
    mistake: 'foreign-signature-format',
  },
  several: {
    name: 'several-values',
    title: 'The header holds several values, or occurs several times.',
    mistake: 'several-signatures',
  },
  notAscii: {
    name: 'not-ascii',
    title: 'The value has characters outside ASCII.',
    mistake: 'digest-handled-as-text',
  },
  hex: {
    name: 'looks-like-hex',
    title: 'The value looks like hexadecimal.',
    mistake: 'wrong-digest-encoding',
  },
  urlAlphabet: {
    name: 'looks-like-base64url',
    title: 'The value is in the URL-safe base64 alphabet ("-" and "_").',
    mistake: 'base64-variant',
  },
  unpadded: {
    name: 'no-padding',
    title: 'The value has the length of a SHA-256 signature without its "=" padding.',
    mistake: 'base64-variant',
  },
  notBase64: {
    name: 'not-base64',
    title: 'The value is not standard base64.',
    mistake: 'wrong-digest-encoding',
  },
  length: {
    name: 'wrong-length',
    title: 'The value is base64, but not of 32 bytes.',
    mistake: 'other-hmac-hash',
    note: 'An HMAC-SHA256 has 32 bytes, 44 characters of base64: the value may also be cut off.',
  },
} as const satisfies Record<string, MistakeText>;

/** Every finding about the shape of a header. */
export const HEADER_FINDINGS: readonly MistakeText[] = Object.values(FINDING);

/**
 * Examines a signature header. Pure, and needs no secret. If the header occurs several times, join its lines with ", ".
 */
export function headerShape(header: string): HeaderShape {
  const value = header.trim();
  const findings: MistakeText[] = [];
  const candidates: HeaderCandidate[] = [{ value, removed: undefined }];
  if (value !== header) findings.push(FINDING.outerSpace);
  if (value === '') return { findings: [...findings, FINDING.empty], candidates: [] };
  const parts = partsOf(value);
  for (const { finding, values } of parts) {
    findings.push(finding);
    for (const part of values) if (part !== '') candidates.push({ value: part, removed: finding });
  }
  const alphabet = alphabetFinding(parts[0]?.values.at(-1) ?? value);
  if (alphabet) findings.push(alphabet);
  return { findings, candidates };
}

interface Part {
  readonly finding: MistakeText;
  readonly values: readonly string[];
}

/** Finds each part that seems to surround the signature, and returns what remains of the value without that part. */
function partsOf(value: string): Part[] {
  const parts: Part[] = [];
  const name = /^(?:[\w-]+:\s|(?=[A-Za-z]\w*-[\w-])[\w-]+:)(.*)$/s.exec(value);
  if (name) parts.push({ finding: FINDING.headerName, values: [name[1]?.trimStart() ?? ''] });
  const unquoted = withoutQuotes(value);
  if (unquoted !== value) parts.push({ finding: FINDING.quoted, values: [unquoted] });
  const unlabelled = withoutLabel(value);
  if (unlabelled !== value) parts.push({ finding: FINDING.prefix, values: [unlabelled] });
  const pieces = value.split(/[,;]\s*|(?<![\s:])\s+(?=v\d)/).filter((piece) => piece !== '');
  if (/^t=\d+/.test(value)) {
    parts.push({ finding: FINDING.prefix, values: pieces.slice(1).map(withoutLabel) });
  } else if (pieces[0] !== value && !(unlabelled !== value && pieces.length === 2)) {
    const values = pieces.slice(0, MAX_PARTS).flatMap((piece) => [piece, withoutQuotes(piece), withoutLabel(piece)]);
    parts.push({ finding: FINDING.several, values });
  }
  if (/\s/.test(name?.[1]?.trimStart() ?? value)) {
    parts.push({ finding: FINDING.innerSpace, values: [value.replace(/\s+/g, '')] });
  }
  return parts;
}

function withoutQuotes(value: string): string {
  return value.replace(/^(["'])(.*)\1$/s, '$2');
}

/** Removes a label such as `v1,` or `sha256=` before the value. */
function withoutLabel(value: string): string {
  return value.replace(/^(?:v\d+[,=]|(?:sha-?\d+|hmac-?sha-?\d+|hmac|signature|sig|s|bearer)[=: ]\s*)/i, '');
}

function alphabetFinding(value: string): MistakeText | undefined {
  if (/[^\0-\x7f]/.test(value)) return FINDING.notAscii;
  if (/^(?:[0-9a-f]{2}){16,}$/i.test(value)) return FINDING.hex;
  if (/^(?=[A-Za-z0-9]*[_-])[A-Za-z0-9_-]+={0,2}$/.test(value)) return FINDING.urlAlphabet;
  if (/^[A-Za-z0-9+/]{43}$/.test(value)) return FINDING.unpadded;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)) return FINDING.notBase64;
  return Buffer.from(value, 'base64').length === 32 ? undefined : FINDING.length;
}
