/** Changes single bytes of a file. */
import type { Verification } from '../../../harness/certify/verify.ts';

/**
 * Bits that are flipped in each byte: the lowest, the one of letter case, the highest. `npm run proofs -- tampering`
 * tries every other value of every byte.
 */
export const PATTERNS = [0x01, 0x20, 0x80] as const;
export const EVERY_PATTERN = Array.from({ length: 255 }, (_, at) => at + 1);

export interface Tampering {
  readonly tried: number;
  /** The changes that were accepted, each as the byte and the pattern. */
  readonly taken: readonly string[];
  /** For each reason, how often it was the first one. */
  readonly reasons: Readonly<Record<string, number>>;
}

export function flipEveryByte(
  original: Uint8Array,
  patterns: readonly number[],
  verify: (bytes: Uint8Array) => Verification,
): Tampering {
  const bytes = Buffer.from(original);
  const taken: string[] = [];
  const reasons: Record<string, number> = {};
  for (let at = 0; at < bytes.length; at++) {
    for (const pattern of patterns) {
      bytes[at] = original[at]! ^ pattern;
      const { valid, reasons: said } = verify(bytes);
      if (valid) taken.push(`byte ${at} ^ ${pattern}`);
      const code = said[0]?.code ?? 'none';
      reasons[code] = (reasons[code] ?? 0) + 1;
    }
    bytes[at] = original[at]!;
  }
  return { tried: bytes.length * patterns.length, taken, reasons };
}
