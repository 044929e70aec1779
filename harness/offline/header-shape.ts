/** What the header value looks like, before any key is used: whether it can be a signature at all, and what is around it. */

/** Something odd about the shape of a signature header. It never quotes the value. */
export interface HeaderFinding {
  readonly name: string;
  readonly title: string;
  readonly fix: string;
}

/** A value to compare with, and what was taken off the header to get it: nothing, or one finding. */
export interface HeaderCandidate {
  readonly value: string;
  readonly removed: HeaderFinding | undefined;
}

export interface HeaderShape {
  readonly findings: readonly HeaderFinding[];
  /** The value as it is first, then without what seems to be around it. */
  readonly candidates: readonly HeaderCandidate[];
}

const FINDING = {
  empty: {
    name: 'empty-header',
    title: 'The header is empty.',
    fix: 'Check the name of the header, and that the signature feature is on for this endpoint.',
  },
  outerSpace: {
    name: 'outer-white-space',
    title: 'There is white space around the value. HTTP takes it away, so it was left out of account.',
    fix: 'Take it away when the value is passed by hand.',
  },
  innerSpace: {
    name: 'inner-white-space',
    title: 'There is white space within the value.',
    fix: 'Use a base64 encoder that breaks no lines (Base64.strict_encode64 in Ruby, base64 -w0 in a shell).',
  },
  headerName: {
    name: 'header-name-included',
    title: 'The value starts with the name of a header and a colon.',
    fix: 'Give the value only.',
  },
  quoted: { name: 'quoted-header', title: 'There are quotes around the value.', fix: 'Send the value without quotes.' },
  prefix: {
    name: 'prefixed-header',
    title: 'The value has a label in front of it, such as "v1," or "sha256=".',
    fix: 'The header holds the base64 text and nothing else: no scheme, version or time stands before it.',
  },
  several: {
    name: 'several-values',
    title: 'The header holds several values, or occurs several times.',
    fix: 'Send one signature. Two lines of the same header reach most receivers joined by a comma.',
  },
  notAscii: {
    name: 'not-ascii',
    title: 'The value has characters outside ASCII.',
    fix: 'A signature has only A-Z, a-z, 0-9, "+", "/" and "=".',
  },
  hex: {
    name: 'looks-like-hex',
    title: 'The value looks like hexadecimal.',
    fix: 'The signature is standard base64 of the raw digest.',
  },
  urlAlphabet: {
    name: 'looks-like-base64url',
    title: 'The value is in the URL-safe base64 alphabet ("-" and "_").',
    fix: 'Use the standard alphabet ("+" and "/").',
  },
  unpadded: {
    name: 'no-padding',
    title: 'The value has the length of a SHA-256 signature without its "=" padding.',
    fix: 'Keep the padding: the signature has 44 characters and ends in "=".',
  },
  notBase64: {
    name: 'not-base64',
    title: 'The value is not standard base64.',
    fix: 'The signature is standard base64 of the raw digest.',
  },
  length: {
    name: 'wrong-length',
    title: 'The value is base64, but not of 32 bytes.',
    fix: 'An HMAC-SHA256 has 32 bytes, which are 44 characters of base64. Check the hash function, and that nothing is cut off.',
  },
} as const satisfies Record<string, HeaderFinding>;

/** Headers with labels have them joined by commas; base64 itself has neither commas nor spaces. */
const LABEL = /^(?:v\d+[,=]|(?:sha-?\d+|hmac-?sha-?\d+|hmac|signature|sig|s)[=: ]\s*)/i;

function alphabetFinding(value: string): HeaderFinding | undefined {
  if (/[^\0-\x7f]/.test(value)) return FINDING.notAscii;
  if (/^(?:[0-9a-f]{2}){16,}$/i.test(value)) return FINDING.hex;
  if (/^[A-Za-z0-9_-]*[_-][A-Za-z0-9_-]*={0,2}$/.test(value)) return FINDING.urlAlphabet;
  if (/^[A-Za-z0-9+/]{43}$/.test(value)) return FINDING.unpadded;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)) return FINDING.notBase64;
  return Buffer.from(value, 'base64').length === 32 ? undefined : FINDING.length;
}

/** What remains of a header value without one thing around it, or nothing where there is no such thing. */
function partsOf(value: string): { finding: HeaderFinding; values: string[] }[] {
  const parts: { finding: HeaderFinding; values: string[] }[] = [];
  const name = /^[\w-]+:\s+(.*)$/s.exec(value);
  if (name) parts.push({ finding: FINDING.headerName, values: [name[1] ?? ''] });
  const quoted = /^(["'])(.*)\1$/s.exec(value);
  if (quoted) parts.push({ finding: FINDING.quoted, values: [quoted[2] ?? ''] });
  const label = LABEL.exec(value);
  if (label) parts.push({ finding: FINDING.prefix, values: [value.slice(label[0].length)] });
  const pieces = value.split(/[,;]\s*|\s+(?=v\d)/).filter((piece) => piece !== '');
  if (/^t=\d+/.test(value)) {
    parts.push({ finding: FINDING.prefix, values: pieces.slice(1).map((piece) => piece.replace(LABEL, '')) });
  } else if (pieces.length > 1 && !(label && pieces.length === 2)) {
    parts.push({ finding: FINDING.several, values: pieces.slice(0, 5) });
  }
  if (/\s/.test(value)) parts.push({ finding: FINDING.innerSpace, values: [value.replace(/\s+/g, '')] });
  return parts;
}

/** Looks at the shape of a signature header. Pure, and without any secret. */
export function headerShape(header: string): HeaderShape {
  const value = header.trim();
  const findings: HeaderFinding[] = [];
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
