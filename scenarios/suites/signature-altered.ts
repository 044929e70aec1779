import { derived, shifted } from '../changes/signing.ts';
import { joined, RIGHT_SIGNATURE, rightShifted } from '../changes/signing-shell.ts';
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

/** The right signature cut short, or with something before or behind it: what a comparison of a part lets through. */
export const cutOrGrownSignatures: readonly Scenario[] = [
  {
    id: 'signature/first-1-character',
    title: 'Refuses the first character of the right signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the first character of the right signature',
        (right) => right.slice(0, 1),
        `${RIGHT_SIGNATURE} | cut -c1`,
      ),
    },
    expect: refused,
    why: 'Whoever may send one character needs at most 64 tries to forge a delivery.',
    fix: 'Compare lengths first. A loop up to the shorter length, or expected.startsWith(received), is the usual cause.',
  },
  {
    id: 'signature/first-4-characters',
    title: 'Refuses the first four characters of the right signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the first 4 characters of the right signature',
        (right) => right.slice(0, 4),
        `${RIGHT_SIGNATURE} | cut -c1-4`,
      ),
    },
    expect: refused,
    why: 'Four characters decode to three whole bytes. A byte comparison that stops at the shorter side takes them for equal.',
    fix: 'After decoding, require 32 bytes before you compare; a signature of any other length is wrong.',
  },
  {
    id: 'signature/first-20-characters',
    title: 'Refuses the first twenty characters of the right signature',
    level: 'must',
    requirements: ['hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the first 20 characters of the right signature',
        (right) => right.slice(0, 20),
        `${RIGHT_SIGNATURE} | cut -c1-20`,
      ),
    },
    expect: refused,
    why: 'A database column or a proxy that cuts headers can make a receiver settle for a part of the signature.',
    fix: 'Keep the header whole on its way to the check, and compare all 44 characters or all 32 bytes.',
  },
  {
    id: 'signature/first-43-characters',
    title: 'Refuses the right signature without its last character, the padding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature without the = at its end',
        (right) => right.slice(0, 43),
        `${RIGHT_SIGNATURE} | tr -d '='`,
      ),
    },
    expect: refused,
    why: 'No forger gains from it, but a check that takes two spellings of one signature is looser than the agreement.',
    fix: 'Compare the header with the expected Base64 text. Most decoders, Buffer.from(x, "base64") among them, do not ask for padding.',
  },
  {
    id: 'signature/four-more-characters',
    title: 'Refuses the right signature with AAAA behind it',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature and AAAA',
        (right) => `${right}AAAA`,
        joined(RIGHT_SIGNATURE, "printf %s 'AAAA'"),
      ),
    },
    expect: refused,
    why: 'A decoder that stops at the padding never sees what follows, so signatures with any ending pass.',
    fix: 'Compare the text of the header, not what a lenient decoder makes of it, or check that the text has 44 characters.',
  },
  {
    id: 'signature/comma-behind',
    title: 'Refuses the right signature with ",x" behind it',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived('the right signature and ",x"', (right) => `${right},x`, joined(RIGHT_SIGNATURE, "printf %s ',x'")),
    },
    expect: refused,
    why: 'It shows that the header is split at commas as if it held a list; the agreement is one value.',
    fix: 'Drop the split. Rotation of secrets means several secrets on your side, not several values in the header.',
  },
  {
    id: 'signature/word-behind',
    title: 'Refuses the right signature with a blank and an x behind it',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived('the right signature and " x"', (right) => `${right} x`, joined(RIGHT_SIGNATURE, "printf %s ' x'")),
    },
    expect: refused,
    why: 'A check that only looks whether the header contains the signature, or splits it at blanks, has more gaps than this one.',
    fix: 'Replace received.includes(expected), or the split, by one comparison of the whole value.',
  },
  {
    id: 'signature/characters-before',
    title: 'Refuses the right signature with AAAA before it',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'AAAA and the right signature',
        (right) => `AAAA${right}`,
        joined("printf %s 'AAAA'", RIGHT_SIGNATURE),
      ),
    },
    expect: refused,
    why: 'A comparison from the end of the header passes this; such code was written for a prefix that this sender does not use.',
    fix: 'Remove endsWith or the slice that takes the last 44 characters, and compare the value from its first character.',
  },
];
