import { swapCase } from '../changes/addressing.ts';
import { derived, type SigningScheme, shifted } from '../changes/signing.ts';
import { refusedUnusualHeader } from '../expectations.ts';
import type { Scenario, SignChange } from '../scenario.ts';
import { family } from './family.ts';
import { enclosed, oneByOne, piped, rejected } from './signature-family.ts';

/** Swaps the first item with the first one that differs from it. */
function exchanged<Item>(items: readonly Item[]): Item[] {
  const at = items.findIndex((item) => item !== items[0]);
  return items.with(0, items[at] as Item).with(at, items[0] as Item);
}

/** Shifts the characters in [start, end) of the valid signature up the base64 alphabet, as `shifted` does. */
const shift =
  ({ shell }: SigningScheme, start: number, end: number, steps: 1 | 4 = 4) =>
  (label: string) => {
    const map = steps === 4 ? "tr 'A-Za-z0-9+/' 'E-Za-z0-9+/A-D'" : "tr 'A-Za-z0-9+/' 'B-Za-z0-9+/A'";
    const before = start === 0 ? '' : `$(printf %s "$right" | cut -c1-${start})`;
    const moved = `$(printf %s "$right" | cut -c${start + 1}-${end} | ${map})`;
    const after = `$(printf %s "$right" | cut -c${end + 1}-)`;
    const command = `{ right=$(${shell}); printf %s "${before}${moved}${after}"; }`;
    return { sign: derived(label, (valid) => shifted(valid, start, end, steps), command) };
  };

/** A digest in base64 ends with `=`. */
const encodingOf = (signature: string) => (/^[\da-f]+$/.test(signature) ? 'hex' : 'base64');

/** Sends another digest, derived from the valid one, in the same encoding. */
function onDigest(
  label: string,
  alter: (digest: Buffer) => Uint8Array,
  suits?: (digest: Buffer) => boolean,
): SignChange {
  const digestOf = (valid: string) => Buffer.from(valid, encodingOf(valid));
  const from = (valid: string) => Buffer.from(alter(digestOf(valid))).toString(encodingOf(valid));
  return derived(label, from, undefined, suits && ((valid) => suits(digestOf(valid))));
}

/** Replaces each byte that is not valid UTF-8 with another such byte. The decoded text stays the same. */
function sameAsText(digest: Buffer): Buffer {
  const text = digest.toString('utf8');
  const other = Buffer.from(digest);
  for (const [at, byte] of digest.entries()) {
    // FE and FF never occur in UTF-8 text.
    other[at] = byte === 0xff ? 0xfe : 0xff;
    if (other.toString('utf8') !== text) other[at] = byte;
  }
  return other;
}

/**
 * Returns the position at which a comparison of C strings would stop. Zero bytes near the end of a digest are ignored,
 * because little follows them.
 */
const zeroByteIn = (digest: Buffer) => digest.subarray(0, 24).indexOf(0);

/** Inverts every bit of the digest after its first zero byte. */
function invertedAfterZero(digest: Buffer): Uint8Array {
  const zeroAt = zeroByteIn(digest);
  return digest.map((byte, at) => (at > zeroAt ? byte ^ 0xff : byte));
}

const sameText = (label: string) => ({
  sign: onDigest(label, sameAsText, (digest) => !sameAsText(digest).equals(digest)),
});
const sameUpToZero = (label: string) => ({
  sign: onDigest(label, invertedAfterZero, (digest) => zeroByteIn(digest) >= 0),
});
const otherOrders = oneByOne([
  onDigest('the valid digest with two bytes exchanged', (digest) => Buffer.from(exchanged([...digest]))),
  onDigest('the valid digest with its bytes in reverse', (digest) => digest.toReversed()),
]);

const highestBitsSet = derived('the valid signature with the highest bit of every character set', (valid) =>
  Buffer.from(Buffer.from(valid).map((byte) => byte | 0x80)).toString('latin1'),
);
const highestBitsCleared = onDigest('the valid digest with the highest bit of every byte cleared', (digest) =>
  digest.map((byte) => byte & 0x7f),
);
const otherHighestBits = {
  flow: () => [...oneByOne([highestBitsSet], refusedUnusualHeader).flow(), ...oneByOne([highestBitsCleared]).flow()],
};

/** The valid signature with some characters changed. A comparison that skips a part or ignores case accepts it. */
export function alteredSignatures(scheme: SigningScheme): Scenario[] {
  const swappedCase = piped(scheme, swapCase, "tr 'A-Za-z' 'a-zA-Z'", (valid) => swapCase(valid) !== valid);
  const lowerCase = piped(
    scheme,
    (valid) => valid.toLowerCase(),
    "tr 'A-Z' 'a-z'",
    (valid) => valid.toLowerCase() !== valid,
  );
  const charactersExchanged = piped(
    scheme,
    (valid) => exchanged([...valid]).join(''),
    "sed -E 's/^(.)(\\1*)(.)/\\3\\2\\1/'",
  );
  const of = 'the valid signature';
  return [
    ...family(
      { ...rejected(scheme, 'encoding', 'invalid'), of, mistake: 'signature-letter-case' },
      {
        'swapped-case': ['with upper and lower case swapped', swappedCase],
        'lower-case': ['in lower case', lowerCase],
      },
    ),
    ...family(
      { ...rejected(scheme, 'invalid'), of, mistake: 'partial-comparison' },
      {
        'first-character-changed': [
          'with its first character changed',
          shift(scheme, 0, 1),
          { note: 'Code that skips an assumed prefix, such as "sha256=", does not detect the change.' },
        ],
        'middle-character-changed': ['with its 21st character changed', shift(scheme, 20, 21)],
        'last-character-changed': [
          'with its last character before the padding changed',
          shift(scheme, 42, 43),
          'hand-written-comparison',
        ],
        'last-11-characters-changed': [
          'with everything after character 32 changed',
          shift(scheme, 32, 43),
          { note: 'Such a receiver confuses 32 characters with 32 bytes.' },
        ],
      },
    ),
    ...family(
      { ...rejected(scheme, 'encoding'), level: 'should' },
      {
        'last-character-spare-bits': [
          'a different last character that decodes to the same bytes',
          shift(scheme, 42, 43, 1),
          'base64-variant',
          { note: 'Four last characters decode to the same digest.' },
        ],
      },
    ),
    ...family(
      { ...rejected(scheme, 'invalid'), mistake: 'digest-handled-as-text' },
      {
        'same-as-text': ['a digest that decodes to the same UTF-8 text as the valid one', sameText],
        'characters-exchanged': [
          'the valid signature with two characters swapped',
          charactersExchanged,
          'hand-written-comparison',
        ],
        'bytes-exchanged': ['the valid digest with its bytes in another order', otherOrders, 'hand-written-comparison'],
        'after-zero-byte': [
          'a digest that equals the valid one up to a zero byte',
          sameUpToZero,
          { note: 'One digest in 256 begins with a zero byte, so an attacker varies the body until its digest does.' },
        ],
        'eighth-bit': ['the valid signature with the highest bit of its bytes changed', otherHighestBits],
      },
    ),
  ];
}

/** The valid signature, truncated or extended. A receiver that compares only a part accepts it. */
export function cutOrGrownSignatures(scheme: SigningScheme): Scenario[] {
  const cut = (length: number, command = `cut -c1-${length}`) =>
    piped(scheme, (valid) => valid.slice(0, length), command);
  return [
    ...family(
      { ...rejected(scheme, 'invalid'), mistake: 'partial-comparison' },
      {
        'first-1-character': ['the first character of the valid signature', cut(1, 'cut -c1')],
        'first-4-characters': ['the first four characters of the valid signature', cut(4)],
        'first-20-characters': ['the first 20 characters of the valid signature', cut(20)],
      },
    ),
    ...family(
      { ...rejected(scheme, 'encoding'), level: 'should', of: 'the valid signature', mistake: 'base64-variant' },
      {
        'first-43-characters': ['without its padding', cut(43, "tr -d '='")],
        'four-more-characters': [
          'followed by AAAA',
          enclosed(scheme, '', 'AAAA'),
          { note: 'A decoder that stops at the padding ignores what follows.' },
        ],
        'comma-behind': ['followed by ",x"', enclosed(scheme, '', ',x'), 'several-signatures'],
        'word-behind': ['followed by a space and an x', enclosed(scheme, '', ' x'), 'surrounding-text-ignored'],
        'characters-before': ['preceded by AAAA', enclosed(scheme, 'AAAA', ''), 'surrounding-text-ignored'],
      },
    ),
  ];
}
