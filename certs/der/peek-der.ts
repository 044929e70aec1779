/** Looks at what may be DER, whole or not: enough to tell what a file is. X.690, section 8.1. */
import { type DerHead, readHead } from './read-der.ts';

/** One element as far as its bytes are there. */
export interface PeekedElement {
  readonly tag: number;
  /** The bytes of its content that are there. */
  readonly content: Uint8Array;
  /** How long the whole element says it is, head included; undefined for an indefinite length (BER). */
  readonly length: number | undefined;
  /** How many of those bytes are there. */
  readonly present: number;
}

/** The element that begins the bytes, or undefined when none does. It may be cut short. */
export function peekElement(bytes: Uint8Array): PeekedElement | undefined {
  const head = peekHead(bytes);
  if (head === undefined) return undefined;
  const { tag, start, length } = head;
  if (length === null) return { tag, content: bytes.subarray(start), length: undefined, present: bytes.length };
  const end = start + length;
  return { tag, content: bytes.subarray(start, end), length: end, present: Math.min(end, bytes.length) };
}

/** The elements within one, at most `most`: no container that is told apart here needs more. The last of them may be cut short. */
export function peekParts(element: PeekedElement | undefined, most = 16): PeekedElement[] {
  const parts: PeekedElement[] = [];
  let rest = element?.content ?? new Uint8Array();
  while (parts.length < most) {
    const part = peekElement(rest);
    if (part === undefined) break;
    parts.push(part);
    rest = rest.subarray(part.length ?? rest.length);
  }
  return parts;
}

function peekHead(bytes: Uint8Array): DerHead | undefined {
  try {
    return readHead(bytes);
  } catch {
    return undefined;
  }
}
