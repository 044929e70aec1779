import { derived } from '../changes/signing.ts';
import { joined, RIGHT_SIGNATURE } from '../changes/signing-shell.ts';
import { refused } from '../expectations.ts';
import type { Scenario } from '../scenario.ts';

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
