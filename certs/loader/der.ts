/** Enough of DER to tell what a file is: tags and lengths, never values that matter. X.690, section 8.1. */

/** One element as far as its bytes are there. */
export interface DerElement {
  readonly tag: number;
  /** The bytes of its content that are there. */
  readonly content: Buffer;
  /** How long the whole element says it is, header included; undefined for an indefinite length (BER). */
  readonly length: number | undefined;
  /** How many of those bytes are there. */
  readonly present: number;
}

export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utcTime: 0x17,
  generalisedTime: 0x18,
  sequence: 0x30,
  context0: 0xa0,
  context3: 0xa3,
} as const;

/** The element that begins the bytes, or undefined when none does. It may be cut short. */
export function derElement(bytes: Buffer): DerElement | undefined {
  const [tag, first] = bytes;
  // Tags of several bytes stand in none of the formats that are told apart here.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  if (first === 0x80) return { tag, content: bytes.subarray(2), length: undefined, present: bytes.length };
  const extra = first < 0x80 ? 0 : first - 0x80;
  if (extra > 4 || bytes.length < 2 + extra) return undefined;
  const size = extra === 0 ? first : bytes.readUIntBE(2, extra);
  const length = 2 + extra + size;
  return {
    tag,
    content: bytes.subarray(2 + extra, length),
    length,
    present: Math.min(length, bytes.length),
  };
}

/** The elements within one, at most `most`; the last of them may be cut short. */
export function derChildren(element: DerElement | undefined, most = 16): DerElement[] {
  const children: DerElement[] = [];
  let rest = element?.content ?? Buffer.alloc(0);
  while (children.length < most) {
    const child = derElement(rest);
    if (child === undefined) break;
    children.push(child);
    rest = rest.subarray(child.length ?? rest.length);
  }
  return children;
}
