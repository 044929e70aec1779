import { withoutHeader } from '../changes/addressing.ts';
import { keyInstead, wrongKey } from '../changes/keying.ts';
import { derived, literal, signedWith, unsigned } from '../changes/signing.ts';
import type { Change, Delivery, Expectation, Scenario } from '../scenario.ts';

/** The status itself is judged elsewhere; here it only has to be the same each time. */
const sameRefusal: Expectation = {
  text: 'the same answer to each of them',
  authentic: false,
  pass: ['2xx', '3xx', '4xx', '5xx'],
};

function refusal(label: string, change: Change): Delivery {
  return { label, change, expect: sameRefusal };
}

const missingSignature = refusal('no signature', { sign: unsigned });
const forgedSignature = refusal('signed with another secret', {
  sign: signedWith('signed with a random secret', (kit) => kit.nonce(40)),
});
const missingKey = refusal('no API key', { address: withoutHeader('api-key', 'no API key header') });
const otherKey = refusal('a wrong API key', { address: wrongKey });

/**
 * Whether one kind of refusal can be told from another. Each delivery goes alone, so that no load makes them differ, and the first once more
 * at the end: it shows what differs from request to request.
 */
export const uniformRefusals: readonly Scenario[] = [
  {
    id: 'leaks/uniform-refusals',
    title: 'Refuses every kind of wrong signature with the same answer',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac'],
    flow: () => [
      [missingSignature],
      [forgedSignature],
      [
        refusal('cut short', {
          sign: derived('the first 20 characters of the right signature', (right) => right.slice(0, 20)),
        }),
      ],
      [refusal('no Base64', { sign: literal('%%% no base64 %%%') })],
      [missingSignature],
    ],
    uniform: true,
    why: 'Answers such as "bad length", "bad encoding" and "no match" lead a forger step by step to the right form.',
    fix: 'Let every failed check end in one function that answers 401 with one text; write the reason to the log.',
  },
  {
    id: 'leaks/uniform-key-refusals',
    title: 'Refuses every kind of wrong API key with the same answer',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['api-key'],
    flow: () => [
      [missingKey],
      [otherKey],
      [refusal('an empty API key', { address: keyInstead('an empty API key', () => '') })],
      [
        refusal('cut short', {
          address: keyInstead('the first half of the key', (key) => key.slice(0, Math.floor(key.length / 2))),
        }),
      ],
      [missingKey],
    ],
    uniform: true,
    why: 'A different answer to a key that exists, or that begins rightly, turns guessing into searching.',
    fix: 'Give "missing", "unknown" and "revoked" the same status and text.',
  },
  {
    id: 'leaks/uniform-across-checks',
    title: 'Refuses a wrong signature and a wrong API key with the same answer',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac', 'api-key'],
    flow: () => [[forgedSignature], [missingSignature], [otherKey], [missingKey], [forgedSignature]],
    uniform: true,
    why: 'Whoever can see that the key was right has one credential confirmed and can work on the other.',
    fix: 'Do not name the check that failed; answer both through the same code.',
  },
];
