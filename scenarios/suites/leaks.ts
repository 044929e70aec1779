/** Other suites judge the status. Here, it only has to be the same each time. */
import { keyInstead, withoutHeader, wrongKey } from '../changes/addressing.ts';
import { derived, literal, signedWith, unsigned } from '../changes/signing.ts';
import { accepted } from '../expectations.ts';
import type {
  Change,
  Delivery,
  Expectation,
  FlowScenario,
  Kit,
  Leak,
  ObservationScenario,
  RunObservations,
  Scenario,
  Suite,
} from '../scenario.ts';
import { leaksElsewhere, leaksOfOperators } from './leaks-elsewhere.ts';
import { leakProbes } from './leaks-probes.ts';

const sameRefusal: Expectation = {
  text: 'the same answer to every kind of invalid credential',
  authentic: false,
  pass: ['2xx', '3xx', '4xx', '5xx'],
};

function refusal(label: string, change: Change): Delivery {
  return { label, change, expect: sameRefusal };
}

const missingSignature = refusal('no signature', { sign: unsigned });
const forgedSignature = refusal('signed with a different secret', {
  sign: signedWith('signed with a different secret', (kit) => kit.nonce(40)),
});
const missingKey = refusal('no API key', { address: withoutHeader('api-key', 'no API key header') });
const otherKey = refusal('an invalid API key', { address: wrongKey });

/**
 * Whether different rejections can be distinguished. Deliveries are sent one at a time, so that load makes no
 * difference. The first one is repeated at the end, to show what differs from request to request.
 */
const uniformRefusals: readonly Scenario[] = [
  {
    id: 'leaks/uniform-refusals',
    title: 'Rejects all kinds of invalid signatures with the same answer',
    defect: 'Gives different answers to different kinds of invalid signatures',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac'],
    flow: () => [
      [missingSignature],
      [forgedSignature],
      [
        refusal('truncated', {
          sign: derived('the first 20 characters of the valid signature', (valid) => valid.slice(0, 20)),
        }),
      ],
      [refusal('not Base64', { sign: literal('%%% no base64 %%%') })],
      [missingSignature],
    ],
    uniform: true,
    why: 'Answers such as "bad length", "bad encoding" and "no match" help an attacker find the expected format.',
    fix: 'Answer every failed verification with 401 and the same body, and write the reason to the log.',
  },
  {
    id: 'leaks/uniform-key-refusals',
    title: 'Rejects all kinds of invalid API keys with the same answer',
    defect: 'Gives different answers to different kinds of invalid API keys',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['api-key'],
    flow: () => [
      [missingKey],
      [otherKey],
      [refusal('an empty API key', { address: keyInstead('an empty API key', () => '') })],
      [
        refusal('truncated', {
          address: keyInstead('the first half of the key', (key) => key.slice(0, Math.floor(key.length / 2))),
        }),
      ],
      [missingKey],
    ],
    uniform: true,
    why: 'If a partly correct key gets another answer, an attacker can search for the key step by step.',
    fix: 'Answer "missing", "unknown" and "revoked" with the same status and text.',
  },
  {
    id: 'leaks/uniform-across-checks',
    title: 'Rejects an invalid signature and an invalid API key with the same answer',
    defect: 'Gives different answers to an invalid signature and an invalid API key',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac', 'api-key'],
    flow: () => [[forgedSignature], [missingSignature], [otherKey], [missingKey], [forgedSignature]],
    uniform: true,
    why: 'An attacker who can see that the key is valid can concentrate on the signature.',
    fix: 'Do not name the check that failed, and answer both with the same code.',
  },
];

/** A forged delivery with a random signature. */
const forgery = (label: string, event: ReturnType<Kit['notification']>, kit: Kit): Delivery =>
  refusal(label, {
    compose: () => event,
    sign: literal(kit.bytes(32).toString('base64'), 'a random signature'),
  });

const knownId: FlowScenario = {
  id: 'leaks/known-id',
  title: 'Rejects a forged delivery with the same answer whether its id is known or not',
  defect: 'Reveals whether an id is known in the answer to a forged delivery',
  level: 'should',
  requirements: ['no-hints'],
  needs: ['hmac'],
  flow: (kit) => {
    const event = kit.notification();
    const unknown = (label: string) => forgery(label, kit.notification(), kit);
    return [
      [{ label: 'a valid delivery', change: { compose: () => event }, expect: accepted }],
      [unknown('forged, with a new id')],
      [forgery('forged, with the id of the valid delivery', event, kit)],
      [unknown('forged, with a new id')],
    ];
  },
  uniform: true,
  why: 'An answer that depends on the id shows an attacker without credentials which notifications exist.',
  fix: 'Verify first, look up the id after that, and reject every forgery with the same answer.',
};

const MAX_NAMED = 5;

/** The first scenarios whose answers contained one of these, or null. */
function placesOf(run: RunObservations, leaks: readonly Leak[]): { observed: string; outcome: string } | null {
  const found = run.leaks.filter(({ leak }) => leaks.includes(leak));
  if (found.length === 0) return null;
  const kinds = [...new Set(found.map(({ leak }) => leak))];
  const scenarios = [...new Set(found.map(({ scenario }) => scenario))];
  const more = scenarios.length > MAX_NAMED ? ` and ${scenarios.length - MAX_NAMED} more` : '';
  const observed = `${kinds.join(', ')} in the answers to ${scenarios.slice(0, MAX_NAMED).join(', ')}${more}`;
  return { observed, outcome: kinds.toSorted().join(', ') };
}

const nowhere: ObservationScenario = {
  id: 'leaks/nowhere',
  title: 'Does not reveal a secret, a key or an expected signature in any answer of the run',
  level: 'must',
  requirements: ['no-leak'],
  observe: (run) => {
    const places = placesOf(run, ['signature', 'secret', 'api-key', 'credential-part']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'fail', ...places, reason: `an answer contains credentials: ${places.observed}` };
  },
  why: 'If an answer contains the expected signature, an attacker can read it and send the same body again.',
  fix: 'Answer with a fixed text. Search the error handling for messages with the header, the secret or the HMAC.',
};

const noStackTraces: ObservationScenario = {
  id: 'leaks/no-stack-traces',
  title: 'Does not reveal a stack trace or a debug page in any answer of the run',
  level: 'should',
  requirements: ['no-hints'],
  observe: (run) => {
    const places = placesOf(run, ['stack-trace', 'debug-page']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'warn', ...places, reason: `an answer shows internals: ${places.observed}` };
  },
  why: 'File names, versions and line numbers show an attacker which known vulnerabilities to try.',
  fix: 'Switch the framework to production mode, and add an error handler that answers with the status only.',
};

const noInnerMessages: ObservationScenario = {
  id: 'leaks/no-inner-messages',
  title: 'Does not reveal a database or exception message in any answer of the run',
  level: 'should',
  requirements: ['no-hints'],
  observe: (run) => {
    const places = placesOf(run, ['database-message', 'error-message']);
    if (places === null) return { verdict: 'pass', observed: 'none in any answer', reason: '' };
    return { verdict: 'warn', ...places, reason: `an answer contains internal messages: ${places.observed}` };
  },
  why: 'Such messages name tables, columns and fields, which helps an attacker with injections.',
  fix: 'Catch errors where they occur, log their messages, and answer with a fixed text.',
};

/** What answers reveal. Specification: HMAC signature (secrets). Ruling: no answer helps an attacker. */
export const leaksSuite: Suite = {
  name: 'leaks',
  title: 'Answers reveal nothing',
  scenarios: [
    ...leakProbes,
    leaksElsewhere,
    leaksOfOperators,
    ...uniformRefusals,
    knownId,
    nowhere,
    noStackTraces,
    noInnerMessages,
  ],
};
