import { keyInstead, withoutHeader, wrongKey } from '../changes/addressing.ts';
import { derived, literal, randomSignature, unsigned } from '../changes/signing.ts';
import type { Change, Delivery, Expectation, Kit, Leak, Observation, RunObservations, Suite } from '../scenario.ts';
import { family } from './family.ts';
import { event, inSequence } from './flows.ts';
import { leaksElsewhere, leaksOfOperators } from './leaks-elsewhere.ts';
import { leakProbes, otherSecret } from './leaks-probes.ts';

/** Permits any status, because other suites judge statuses. Here, all answers must have the same one. */
const sameRefusal: Expectation = {
  text: 'the same answer to every kind of invalid credential',
  authentic: false,
  pass: ['2xx', '3xx', '4xx', '5xx'],
  unclear: ['unreadable'],
};

function refusal(label: string, change: Change): Delivery {
  return { label, change, expect: sameRefusal };
}

const missingSignature = refusal('no signature', { sign: unsigned });
const forgedSignature = refusal(otherSecret.label, { sign: otherSecret });
const missingKey = refusal('no API key', { address: withoutHeader('api-key', 'no API key header') });
const otherKey = refusal('an invalid API key', { address: wrongKey });
const emptyKey = refusal('an empty API key', { address: keyInstead('an empty API key', () => '') });
const shortSignature = refusal('truncated', {
  sign: derived('the first 20 characters of the valid signature', (valid) => valid.slice(0, 20)),
});
const shortKey = refusal('truncated', {
  address: keyInstead('the first half of the key', (key) => key.slice(0, Math.floor(key.length / 2))),
});
const notBase64 = refusal('not Base64', { sign: literal('%%% no base64 %%%') });

/** Creates a forged delivery with a random signature. */
const forgery = (label: string, notification: ReturnType<Kit['notification']>, kit: Kit): Delivery =>
  refusal(label, {
    compose: () => notification,
    sign: literal(randomSignature(kit), 'a random signature'),
  });

/** Sends a valid delivery and then forgeries: one with the id of the valid delivery, between two with new ids. */
function withKnownId(kit: Kit) {
  const known = kit.notification();
  const unknown = () => forgery('forged, with a new id', kit.notification(), kit);
  return inSequence(
    event('a valid delivery', known),
    unknown(),
    forgery('forged, with the id of the valid delivery', known, kit),
    unknown(),
  );
}

/**
 * Checks whether rejections are distinguishable. If only the texts for two kinds of invalid credentials differ, this is
 * recorded. Deliveries are sent one at a time, so load has no influence. The first delivery is repeated at the end, to
 * show what differs between any two requests.
 */
const uniformRefusals = family(
  {
    suite: 'leaks',
    verb: 'Rejects',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac'],
    mistake: 'distinct-refusals',
  },
  {
    'uniform-refusals': [
      'all kinds of invalid signatures with the same status',
      {
        uniform: 'status',
        flow: () => inSequence(missingSignature, forgedSignature, shortSignature, notBase64, missingSignature),
      },
      { defect: 'Gives different statuses to different kinds of invalid signatures' },
    ],
    'uniform-key-refusals': [
      'all kinds of invalid API keys with the same status',
      { uniform: 'status', flow: () => inSequence(missingKey, otherKey, emptyKey, shortKey, missingKey) },
      { defect: 'Gives different statuses to different kinds of invalid API keys', needs: ['api-key'] },
    ],
    'uniform-across-checks': [
      'an invalid signature and an invalid API key with the same status',
      {
        uniform: 'status',
        flow: () => inSequence(forgedSignature, missingSignature, otherKey, missingKey, forgedSignature),
      },
      {
        defect: 'Gives different statuses to an invalid signature and an invalid API key',
        needs: ['hmac', 'api-key'],
        note: 'An attacker who sees that the key is valid can concentrate on the signature.',
      },
    ],
    'known-id': [
      'a forged delivery with the same answer whether its id is known or not',
      { uniform: 'answer', flow: withKnownId },
      'known-id-revealed',
      { defect: 'Reveals, in the answer to a forged delivery, whether an id is known' },
    ],
  },
);

const MAX_NAMED = 5;

/** Searches all answers of the run for these leaks, and names the first scenarios in whose answers one was found. */
function searched(leaks: readonly Leak[], verdict: 'fail' | 'warn', finding: string) {
  return (run: RunObservations): Observation => {
    const found = run.leaks.filter(({ leak }) => leaks.includes(leak));
    if (found.length === 0) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    const kinds = [...new Set(found.map(({ leak }) => leak))];
    const scenarios = [...new Set(found.map(({ scenario }) => scenario))];
    const more = scenarios.length > MAX_NAMED ? ` and ${scenarios.length - MAX_NAMED} more` : '';
    const repeats = scenarios.slice(0, MAX_NAMED);
    const observed = `${kinds.join(', ')} in the answers to ${repeats.join(', ')}${more}`;
    return { verdict, observed, outcome: kinds.toSorted().join(', '), reason: `${finding}: ${observed}`, repeats };
  };
}

/** What no answer in the whole run may contain. */
const inAnyAnswer = family(
  { suite: 'leaks', verb: 'Does not reveal', level: 'should', requirements: ['no-hints'] },
  {
    nowhere: [
      'a secret, a key or an expected signature in any answer of the run',
      {
        observe: searched(
          ['signature', 'secret', 'api-key', 'credential-part'],
          'fail',
          'an answer contains credentials',
        ),
      },
      'expected-signature-in-answer',
      {
        level: 'must',
        requirements: ['no-leak'],
        note: 'This check searches every answer of the run, for the secret and the API key as well.',
      },
    ],
    'no-stack-traces': [
      'a stack trace or a debug page in any answer of the run',
      { observe: searched(['stack-trace', 'debug-page'], 'warn', 'an answer shows internals') },
      'debug-output-in-answer',
    ],
    'no-inner-messages': [
      'a database or exception message in any answer of the run',
      { observe: searched(['database-message', 'error-message'], 'warn', 'an answer contains internal messages') },
      'error-message-in-answer',
    ],
  },
);

/** What answers reveal. Specification: HMAC signature (secrets). Ruling: no answer helps an attacker. */
export const leaksSuite: Suite = {
  name: 'leaks',
  title: 'Answers reveal nothing',
  scenarios: [...leakProbes, leaksElsewhere, leaksOfOperators, ...uniformRefusals, ...inAnyAnswer],
};
