import { derived, joined, RIGHT_SIGNATURE, rightShifted, shifted } from '../changes/signing.ts';
import { refused, refusedOddHeader } from '../expectations.ts';
import type { Delivery, Scenario } from '../scenario.ts';

const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));

/** Replaces each byte of the digest that is not valid UTF-8 with another such byte: decoded, the text is the same. */
function sameAsText(valid: string): string {
  const digest = Buffer.from(valid, 'base64');
  const text = digest.toString('utf8');
  for (const [at, byte] of digest.entries()) {
    // Neither FE nor FF occurs in UTF-8 text.
    digest[at] = byte === 0xff ? 0xfe : 0xff;
    if (digest.toString('utf8') !== text) digest[at] = byte;
  }
  return digest.toString('base64');
}

/** Swaps the first character and the next one that differs from it. */
function exchanged(valid: string): string {
  const at = [...valid].findIndex((character) => character !== valid[0]);
  return `${valid.charAt(at)}${valid.slice(1, at)}${valid.charAt(0)}${valid.slice(at + 1)}`;
}

/** The first two bytes that differ, exchanged. */
function exchangedBytes(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = bytes.findIndex((byte) => byte !== bytes[0]);
  copy[0] = bytes[at] ?? 0;
  copy[at] = bytes[0] ?? 0;
  return copy;
}

/** Where a comparison of C strings stops. Zero bytes at the end of a digest would change little. */
const zeroByteIn = (valid: string) => Buffer.from(valid, 'base64').subarray(0, 24).indexOf(0);

/** The digest with every bit after its first zero byte inverted. */
function invertedAfterZero(valid: string): string {
  const zeroAt = zeroByteIn(valid);
  const digest = Buffer.from(valid, 'base64').map((byte, at) => (at > zeroAt ? byte ^ 0xff : byte));
  return Buffer.from(digest).toString('base64');
}

/** A delivery with another digest that is made from the valid one, in Base64. */
function altered(label: string, alter: (digest: Buffer) => Uint8Array): Delivery {
  const sign = derived(label, (valid) => Buffer.from(alter(Buffer.from(valid, 'base64'))).toString('base64'));
  return { label, change: { sign }, expect: refused };
}

/** The valid signature with some characters changed. A comparison that skips a part or ignores case accepts it. */
export const alteredSignatures: readonly Scenario[] = [
  {
    id: 'signature/swapped-case',
    title: 'Rejects the valid signature with upper and lower case swapped',
    level: 'must',
    requirements: ['hmac-base64', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature with upper and lower case swapped',
        swapCase,
        `${RIGHT_SIGNATURE} | tr 'A-Za-z' 'a-zA-Z'`,
        (valid) => swapCase(valid) !== valid,
      ),
    },
    expect: refused,
    why:
      'In Base64, upper and lower case are different digits. Ignoring case accepts a large number of other ' +
      'signatures.',
    fix: 'Remove the case conversion. It is harmless only for hexadecimal signatures.',
  },
  {
    id: 'signature/lower-case',
    title: 'Rejects the valid signature in lower case',
    level: 'must',
    requirements: ['hmac-base64', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature in lower case',
        (valid) => valid.toLowerCase(),
        `${RIGHT_SIGNATURE} | tr 'A-Z' 'a-z'`,
        (valid) => valid.toLowerCase() !== valid,
      ),
    },
    expect: refused,
    why: 'A receiver that lower-cases the computed value no longer compares the signature.',
    fix: 'Remove .toLowerCase() on the expected value, or the gateway rule that lower-cases header values.',
  },
  {
    id: 'signature/first-character-changed',
    title: 'Rejects the valid signature with its first character changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, first character changed',
        (valid) => shifted(valid, 0, 1),
        rightShifted(0, 1),
      ),
    },
    expect: refused,
    why: 'A comparison that skips an assumed prefix does not detect the change.',
    fix: 'Compare from the first character: the value has no "sha256=" or "v1," prefix.',
  },
  {
    id: 'signature/middle-character-changed',
    title: 'Rejects the valid signature with its 21st character changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, character 21 changed',
        (valid) => shifted(valid, 20, 21),
        rightShifted(20, 21),
      ),
    },
    expect: refused,
    why: 'A receiver that accepts this does not compare the middle of the signature.',
    fix: "Compare the two complete values with your language's constant-time comparison function.",
  },
  {
    id: 'signature/last-character-changed',
    title: 'Rejects the valid signature with its last character before the padding changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, last character before the padding changed',
        (valid) => shifted(valid, 42, 43),
        rightShifted(42, 43),
      ),
    },
    expect: refused,
    why: 'The last byte of the digest differs. A comparison that ignores it has an off-by-one error.',
    fix: 'Replace the comparison loop with a library function.',
  },
  {
    id: 'signature/last-11-characters-changed',
    title: 'Rejects the valid signature with everything after character 32 changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, characters 33 to 43 changed',
        (valid) => shifted(valid, 32, 43),
        rightShifted(32, 43),
      ),
    },
    expect: refused,
    why: 'A receiver that confuses 32 characters with 32 bytes leaves a quarter of the signature unverified.',
    fix: 'Compare all 44 characters of the Base64 value, without slice(0, 32).',
  },
  {
    id: 'signature/last-character-spare-bits',
    title: 'Rejects a different last character that decodes to the same bytes',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, only the two unused bits of its last character changed',
        (valid) => shifted(valid, 42, 43, 1),
        rightShifted(42, 43, 1),
      ),
    },
    expect: refused,
    why:
      'Four last characters decode to the same digest. This is not a forgery, but two different headers count ' +
      'as the same signature.',
    fix: 'Compare the computed Base64 string with the header instead of decoding the header.',
  },
  {
    id: 'signature/same-as-text',
    title: 'Rejects a digest that decodes to the same UTF-8 text as the valid one',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid digest, invalid UTF-8 bytes replaced with others',
        sameAsText,
        undefined,
        (valid) => sameAsText(valid) !== valid,
      ),
    },
    expect: refused,
    why: 'Decoding a digest as text maps every invalid UTF-8 byte to the same character, so many digests match.',
    fix: 'Compare the bytes or the Base64 strings. Do not decode a digest as text.',
  },
  {
    id: 'signature/characters-exchanged',
    title: 'Rejects the valid signature with two characters swapped',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, two characters swapped',
        exchanged,
        `${RIGHT_SIGNATURE} | sed -E 's/^(.)(\\1*)(.)/\\3\\2\\1/'`,
      ),
    },
    expect: refused,
    why: 'A comparison that adds up differences, or compares sets of characters, does not detect this.',
    fix: "Use your library's constant-time comparison function instead of your own.",
  },
  {
    id: 'signature/bytes-exchanged',
    title: 'Rejects the valid digest with its bytes in another order',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    flow: () => [
      [altered('the valid digest, two bytes exchanged', exchangedBytes)],
      [altered('the valid digest, its bytes in reverse', (bytes) => Buffer.from(bytes).reverse())],
    ],
    why: 'A comparison of sums, of XOR over all bytes or of sorted bytes does not detect another order.',
    fix: "Compare byte by byte, with your library's constant-time comparison function.",
  },
  {
    id: 'signature/after-zero-byte',
    title: 'Rejects a digest that equals the valid one up to a zero byte',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid digest, everything after its first zero byte inverted',
        invertedAfterZero,
        undefined,
        (valid) => zeroByteIn(valid) >= 0,
      ),
    },
    expect: refused,
    why:
      'A C string ends at a zero byte. An attacker varies the body until its digest begins with one, which takes 256 ' +
      'attempts, and any signature that begins with one is then valid.',
    fix: 'Compare the bytes with a function that takes a length (memcmp, CRYPTO_memcmp), not with strcmp or strncmp.',
  },
  {
    id: 'signature/eighth-bit',
    title: 'Rejects the valid signature with the highest bit of its bytes changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    flow: () => [
      [
        {
          label: 'the valid signature, the highest bit of every character set',
          change: {
            sign: derived('the valid signature, the highest bit of every character set', (valid) =>
              Buffer.from(valid.split('').map((c) => c.charCodeAt(0) | 0x80)).toString('latin1'),
            ),
          },
          expect: refusedOddHeader,
        },
      ],
      [altered('the valid digest, the highest bit of every byte cleared', (bytes) => bytes.map((byte) => byte & 0x7f))],
    ],
    why: 'Seven-bit text functions, or a conversion to ASCII before the comparison, ignore the highest bit.',
    fix: 'Compare bytes, not text that was converted to another character set.',
  },
];

/** The valid signature truncated or extended. A comparison of a part accepts it. */
export const cutOrGrownSignatures: readonly Scenario[] = [
  {
    id: 'signature/first-1-character',
    title: 'Rejects the first character of the valid signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the first character of the valid signature',
        (valid) => valid.slice(0, 1),
        `${RIGHT_SIGNATURE} | cut -c1`,
      ),
    },
    expect: refused,
    why: 'If one character is enough, an attacker needs at most 64 attempts to forge a delivery.',
    fix:
      'Compare lengths first. A loop up to the shorter length, or expected.startsWith(received), is the usual ' +
      'cause.',
  },
  {
    id: 'signature/first-4-characters',
    title: 'Rejects the first four characters of the valid signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the first 4 characters of the valid signature',
        (valid) => valid.slice(0, 4),
        `${RIGHT_SIGNATURE} | cut -c1-4`,
      ),
    },
    expect: refused,
    why: 'They decode to three bytes. A byte comparison that stops at the shorter side treats them as equal.',
    fix: 'After decoding, require 32 bytes before you compare.',
  },
  {
    id: 'signature/first-20-characters',
    title: 'Rejects the first 20 characters of the valid signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the first 20 characters of the valid signature',
        (valid) => valid.slice(0, 20),
        `${RIGHT_SIGNATURE} | cut -c1-20`,
      ),
    },
    expect: refused,
    why: 'A database column or proxy that truncates headers can lead a receiver to accept part of the signature.',
    fix: 'Keep the whole header, and compare all 44 characters or all 32 bytes.',
  },
  {
    id: 'signature/first-43-characters',
    title: 'Rejects the valid signature without its padding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature without the = at its end',
        (valid) => valid.slice(0, 43),
        `${RIGHT_SIGNATURE} | tr -d '='`,
      ),
    },
    expect: refused,
    why:
      'It does not help an attacker, but a receiver that accepts two encodings is more lenient than the ' +
      'specification.',
    fix:
      'Compare the header with the expected Base64 string. Buffer.from(x, "base64") and most decoders do not ' +
      'require padding.',
  },
  {
    id: 'signature/four-more-characters',
    title: 'Rejects the valid signature followed by AAAA',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature and AAAA',
        (valid) => `${valid}AAAA`,
        joined(RIGHT_SIGNATURE, "printf %s 'AAAA'"),
      ),
    },
    expect: refused,
    why: 'A decoder that stops at the padding ignores what follows, so a signature passes whatever is appended to it.',
    fix: 'Compare the header as a string, or check that it has 44 characters.',
  },
  {
    id: 'signature/comma-behind',
    title: 'Rejects the valid signature followed by ",x"',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived('the valid signature and ",x"', (valid) => `${valid},x`, joined(RIGHT_SIGNATURE, "printf %s ',x'")),
    },
    expect: refused,
    why: 'A receiver that splits the header on commas, like a list, accepts this. The header is a single value.',
    fix:
      'Do not split the header. To rotate secrets, keep several secrets in the receiver, not several values in ' +
      'the header.',
  },
  {
    id: 'signature/word-behind',
    title: 'Rejects the valid signature followed by a space and an x',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived('the valid signature and " x"', (valid) => `${valid} x`, joined(RIGHT_SIGNATURE, "printf %s ' x'")),
    },
    expect: refused,
    why:
      'A receiver that only tests whether the header contains the signature, or that splits it on spaces, ' +
      'accepts many other values as well.',
    fix: 'Replace received.includes(expected), or the split, with one comparison of the complete value.',
  },
  {
    id: 'signature/characters-before',
    title: 'Rejects the valid signature preceded by AAAA',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'AAAA and the valid signature',
        (valid) => `AAAA${valid}`,
        joined("printf %s 'AAAA'", RIGHT_SIGNATURE),
      ),
    },
    expect: refused,
    why:
      'A comparison from the end of the header accepts this. Such code was written for a prefix that this sender ' +
      'does not use.',
    fix: 'Remove endsWith, or the slice of the last 44 characters, and compare the complete value.',
  },
];
