import { derived, shifted } from '../changes/signing.ts';
import { RIGHT_SIGNATURE, rightShifted } from '../changes/signing-shell.ts';
import { refused } from '../expectations.ts';
import type { Scenario } from '../scenario.ts';

const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));

/** With the first character and the first one after it that differs exchanged. */
function exchanged(right: string): string {
  const at = [...right].findIndex((character) => character !== right[0]);
  return `${right.charAt(at)}${right.slice(1, at)}${right.charAt(0)}${right.slice(at + 1)}`;
}

/** The right signature with some of its characters changed: what a comparison lets through that skips a part or folds case. */
export const alteredSignatures: readonly Scenario[] = [
  {
    id: 'signature/swapped-case',
    title: 'Refuses the right signature with upper and lower case swapped',
    level: 'must',
    requirements: ['hmac-base64', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature with upper and lower case swapped',
        swapCase,
        `${RIGHT_SIGNATURE} | tr 'A-Za-z' 'a-zA-Z'`,
        (right) => swapCase(right) !== right,
      ),
    },
    expect: refused,
    why: 'In Base64 the case of a letter carries data. Ignoring it makes very many signatures count as the same one.',
    fix: 'Remove the case folding: it is a habit from hexadecimal signatures, where it does no harm.',
  },
  {
    id: 'signature/lower-case',
    title: 'Refuses the right signature in lower case',
    level: 'must',
    requirements: ['hmac-base64', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature in lower case',
        (right) => right.toLowerCase(),
        `${RIGHT_SIGNATURE} | tr 'A-Z' 'a-z'`,
        (right) => right.toLowerCase() !== right,
      ),
    },
    expect: refused,
    why: 'A receiver that lower-cases what it computed compares a thing that is no longer the signature.',
    fix: 'Look for .toLowerCase() on the expected value, or for a gateway that lower-cases header values, and take it out.',
  },
  {
    id: 'signature/first-character-changed',
    title: 'Refuses the right signature with its first character changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, first character changed',
        (right) => shifted(right, 0, 1),
        rightShifted(0, 1),
      ),
    },
    expect: refused,
    why: 'A comparison that starts too late, behind an assumed prefix, does not notice the change.',
    fix: 'Compare from the first character on: no "sha256=" and no "v1," stands before the value to be skipped.',
  },
  {
    id: 'signature/middle-character-changed',
    title: 'Refuses the right signature with its 21st character changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, character 21 changed',
        (right) => shifted(right, 20, 21),
        rightShifted(20, 21),
      ),
    },
    expect: refused,
    why: 'One wrong character in the middle is a wrong signature; passing it means that both ends alone are looked at.',
    fix: 'Use the constant-time comparison of your language on the two whole values, not on parts of them.',
  },
  {
    id: 'signature/last-character-changed',
    title: 'Refuses the right signature with its last character before the padding changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, last character before the padding changed',
        (right) => shifted(right, 42, 43),
        rightShifted(42, 43),
      ),
    },
    expect: refused,
    why: 'The last byte of the digest differs. A comparison that leaves it out is off by one, and may leave out more.',
    fix: 'Check the bounds of the loop that compares, or better: drop the loop for a library function.',
  },
  {
    id: 'signature/last-11-characters-changed',
    title: 'Refuses the right signature with everything behind character 32 changed',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, characters 33 to 43 changed',
        (right) => shifted(right, 32, 43),
        rightShifted(32, 43),
      ),
    },
    expect: refused,
    why: 'A receiver that takes 32 characters for 32 bytes leaves a quarter of the signature unchecked.',
    fix: 'A digest of 32 bytes is 44 characters in Base64: compare all of them, with no slice(0, 32).',
  },
  {
    id: 'signature/last-character-spare-bits',
    title: 'Refuses the other spelling of the last character, which decodes to the same bytes',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, only the two unused bits of its last character changed',
        (right) => shifted(right, 42, 43, 1),
        rightShifted(42, 43, 1),
      ),
    },
    expect: refused,
    why: 'Four spellings decode to each digest. It opens no door, but two deliveries that look different count as signed alike.',
    fix: 'Compare the Base64 text that you compute with the text of the header, in place of decoding what came.',
  },
  {
    id: 'signature/characters-exchanged',
    title: 'Refuses the right signature with two of its characters exchanged',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, two characters exchanged',
        exchanged,
        `${RIGHT_SIGNATURE} | sed -E 's/^(.)(\\1*)(.)/\\3\\2\\1/'`,
      ),
    },
    expect: refused,
    why: 'A comparison that adds differences up, or compares sets of characters, finds each of them in both.',
    fix: 'Use the constant-time comparison of your library, and none that you have written yourself.',
  },
];
