/** The status itself is judged elsewhere; here it only has to be the same each time. */
import { withoutHeader } from '../changes/addressing.ts';
import { keyInstead, wrongKey } from '../changes/keying.ts';
import { derived, literal, signedWith, unsigned } from '../changes/signing.ts';
import type {
  Change,
  Delivery,
  Expectation,
  Leak,
  ObservationScenario,
  RunObservations,
  Scenario,
  Suite,
} from '../scenario.ts';
import { leakProbes } from './leaks-probes.ts';

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
const uniformRefusals: readonly Scenario[] = [
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

const MOST_NAMED = 5;

/** The scenarios in whose answers something was found, in the order of the run, and no more of them than one can read. */
function placesOf(run: RunObservations, leaks: readonly Leak[]): string | null {
  const found = run.leaks.filter(({ leak }) => leaks.includes(leak));
  if (found.length === 0) return null;
  const kinds = [...new Set(found.map(({ leak }) => leak))].join(', ');
  const scenarios = [...new Set(found.map(({ scenario }) => scenario))];
  const more = scenarios.length > MOST_NAMED ? ` and ${scenarios.length - MOST_NAMED} more` : '';
  return `${kinds} in the answers to ${scenarios.slice(0, MOST_NAMED).join(', ')}${more}`;
}

const nowhere: ObservationScenario = {
  id: 'leaks/nowhere',
  title: 'Shows no secret, no key and no expected signature in any answer of the whole run',
  level: 'must',
  requirements: ['no-leak'],
  observe: (run) => {
    const places = placesOf(run, ['signature', 'secret', 'api-key']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'fail', observed: places, reason: `credentials stand in answers: ${places}` };
  },
  why: 'One answer with the expected signature lets anyone have any body signed: send it, read the answer, send it again.',
  fix: 'Answer with a fixed short text. Search the error handling for messages built from the header, the secret or the HMAC.',
};

const noStackTraces: ObservationScenario = {
  id: 'leaks/no-stack-traces',
  title: 'Shows no stack trace and no debug page in any answer of the whole run',
  level: 'should',
  requirements: ['no-hints'],
  observe: (run) => {
    const places = placesOf(run, ['stack-trace', 'debug-page']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'warn', observed: places, reason: `the code inside shows in answers: ${places}` };
  },
  why: 'File names, versions and line numbers tell an attacker which known weaknesses are worth a try.',
  fix: 'Switch the framework to production mode, and add an error handler that answers with a status and nothing else.',
};

const noInnerMessages: ObservationScenario = {
  id: 'leaks/no-inner-messages',
  title: 'Shows no message of a database or of an exception in any answer of the whole run',
  level: 'should',
  requirements: ['no-hints'],
  observe: (run) => {
    const places = placesOf(run, ['database-message', 'error-message']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'warn', observed: places, reason: `messages from inside show in answers: ${places}` };
  },
  why: 'Such messages name tables, columns and fields, and lead whoever tries injections from one try to the next.',
  fix: 'Catch errors where they arise, log their messages, and send texts of your own.',
};

/** What answers give away. Specification: HMAC signature (secrets stay secret); ruling: no answer helps a forger. */
export const leaksSuite: Suite = {
  name: 'leaks',
  title: 'Answers give nothing away',
  scenarios: [...leakProbes, ...uniformRefusals, nowhere, noStackTraces, noInnerMessages],
};
