import { addHeaders, setHeader, withoutHeader, wrongKey } from '../changes/addressing.ts';
import { fixedText, having, plain } from '../changes/bodies.ts';
import { literal, signedWith, unsigned } from '../changes/signing.ts';
import type { AddressChange, AnswerMatch, Expectation, Leak, Scenario, SignChange } from '../scenario.ts';
import { family } from './family.ts';

/** Permits any status, because other suites judge statuses. Here, only the content of the answer counts. */
const ANY_ANSWER: readonly AnswerMatch[] = ['2xx', '3xx', '4xx', '5xx', 'closed'];

function without(text: string, authentic: boolean, absent: readonly Leak[]): Expectation {
  return { text, authentic, pass: ANY_ANSWER, unclear: ['unreadable'], absent };
}

const CREDENTIALS: readonly Leak[] = ['signature', 'secret', 'api-key', 'credential-part'];
const INSIDES: readonly Leak[] = ['stack-trace', 'parser-detail', 'error-message', 'database-message', 'debug-page'];
const noCredentials = without('an answer without any credential', false, CREDENTIALS);
const noInsides = (authentic: boolean) =>
  without('an answer without any credential, stack trace or internal message', authentic, [...CREDENTIALS, ...INSIDES]);

export const otherSecret: SignChange = signedWith('signed with a different secret', (kit) => kit.nonce(40));
const unsupportedMethod: AddressChange = { label: 'PUT', make: (head) => ({ ...head, method: 'PUT' }) };

const leaks = { suite: 'leaks', verb: 'Does not reveal' } as const;
const ofCredentials = { ...leaks, level: 'must', requirements: ['no-leak'], expect: noCredentials } as const;

/** Deliveries that provoke an error message from different parts of a receiver. */
export const leakProbes: readonly Scenario[] = [
  ...family(
    { ...ofCredentials, needs: ['hmac'], mistake: 'expected-signature-in-answer' },
    {
      'wrong-signature': ['the expected signature after an invalid one', { sign: otherSecret }],
      'missing-signature': [
        'a credential after a missing signature',
        { sign: unsigned },
        { note: 'Answers that explain how to sign may use the real secret or signature as the example.' },
      ],
      'wrong-key': [
        'the API key after an invalid one',
        { address: wrongKey },
        'stored-key-in-answer',
        { needs: ['api-key'] },
      ],
      'missing-key': [
        'a credential after a missing API key',
        { address: withoutHeader('api-key', 'no API key header') },
        'settings-page-public',
        {
          needs: ['api-key'],
          note: 'An exception for an absent header is often shown with all variables, including the stored key.',
        },
      ],
      'debug-switch': [
        'the expected signature to a request with a debug switch',
        { sign: otherSecret, address: addHeaders('X-Debug: 1', () => [['X-Debug', '1']]) },
        'debug-switch-in-request',
      ],
    },
  ),
  ...family(
    {
      ...leaks,
      level: 'should',
      requirements: ['no-hints'],
      expect: noInsides(true),
      mistake: 'debug-output-in-answer',
    },
    {
      'accepted-delivery': [
        'credentials or internals when it accepts a delivery',
        {},
        'request-headers-in-answer',
        { note: 'Answer 200 with an empty body or a fixed text.' },
      ],
      'signature-not-base64': [
        'internals when a signature is not Base64',
        { sign: literal('%%% no base64 %%%') },
        'error-message-in-answer',
        {
          needs: ['hmac'],
          expect: noInsides(false),
          note: 'The message shows the language and the library that compares signatures.',
        },
      ],
      'malformed-json': [
        'internals when a signed body is not JSON',
        { serialise: fixedText('{"id": "cut off') },
        'error-message-in-answer',
      ],
      'wrong-types': [
        'internals when fields of a signed body have other types',
        { compose: having(plain, 'data', ['not', 'an', 'object']) },
        { note: 'Reading a field of a value that is not an object throws.' },
      ],
      'unsigned-malformed': [
        'internals when an unsigned body is not JSON',
        { serialise: fixedText('{"id": 1,,}'), sign: unsigned },
        'error-message-in-answer',
        {
          needs: ['hmac'],
          expect: noInsides(false),
          note: 'The message also shows that bodies are parsed before they are verified.',
        },
      ],
      'unsupported-method': ['internals when the method is PUT', { address: unsupportedMethod }],
      'oversize-body': [
        'internals when the body is 2 MB long',
        { compose: having(plain, 'data.padding', () => 'x'.repeat(2_000_000)) },
        { note: 'The body parser rejects the body before your own error handling.' },
      ],
      'unknown-content-type': [
        'internals when the Content-Type is unknown',
        { address: setHeader('Content-Type', 'application/x-hookproof-unknown') },
        { note: 'Without a parser for the type, the body is undefined, and the first access to it throws.' },
      ],
    },
  ),
];
