import { addHeaders, setHeader, withoutHeader, wrongKey } from '../changes/addressing.ts';
import { fixedText, having, plain } from '../changes/bodies.ts';
import { literal, signedWith, unsigned } from '../changes/signing.ts';
import type { AddressChange, AnswerMatch, Expectation, Leak, Scenario } from '../scenario.ts';

/** Other suites judge the status. Here, only the content of the answer counts. */
const ANY_ANSWER: readonly AnswerMatch[] = ['2xx', '3xx', '4xx', '5xx', 'closed'];

function without(text: string, authentic: boolean, absent: readonly Leak[]): Expectation {
  return { text, authentic, pass: ANY_ANSWER, absent };
}

const CREDENTIALS: readonly Leak[] = ['signature', 'secret', 'api-key', 'credential-part'];
const INSIDES: readonly Leak[] = ['stack-trace', 'parser-detail', 'error-message', 'database-message', 'debug-page'];
const noCredentials = without('an answer without any credential', false, CREDENTIALS);
const noInsides = (authentic: boolean) =>
  without('an answer without any credential, stack trace or message from inside', authentic, [
    ...CREDENTIALS,
    ...INSIDES,
  ]);

const unsupportedMethod: AddressChange = { label: 'PUT', make: (head) => ({ ...head, method: 'PUT' }) };

/** Deliveries that provoke an error message from different parts of a receiver. */
export const leakProbes: readonly Scenario[] = [
  {
    id: 'leaks/wrong-signature',
    title: 'Does not reveal the expected signature after an invalid one',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['hmac'],
    change: { sign: signedWith('signed with a different secret', (kit) => kit.nonce(40)) },
    expect: noCredentials,
    why: 'A message such as "expected X, got Y" gives an attacker the valid signature for any body.',
    fix: 'Remove the computed value from the message and from the error object.',
  },
  {
    id: 'leaks/missing-signature',
    title: 'Does not reveal a credential after a missing signature',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['hmac'],
    change: { sign: unsigned },
    expect: noCredentials,
    why: 'An answer that explains how to sign, with the real secret or signature as an example, reveals it.',
    fix: 'Answer 401 without details, and keep explanations in the documentation, with made-up values.',
  },
  {
    id: 'leaks/wrong-key',
    title: 'Does not reveal the API key after an invalid one',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['api-key'],
    change: { address: wrongKey },
    expect: noCredentials,
    why: 'If the answer contains the stored key, the first guess is enough.',
    fix: 'Answer "unauthorized" only, and remove debug output of the configuration from the error page.',
  },
  {
    id: 'leaks/missing-key',
    title: 'Does not reveal a credential after a missing API key',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['api-key'],
    change: { address: withoutHeader('api-key', 'no API key header') },
    expect: noCredentials,
    why: 'An exception for an absent header is often shown with all variables, including the stored key.',
    fix: 'Handle the absent header without an exception, and turn off error pages that print variables.',
  },
  {
    id: 'leaks/debug-switch',
    title: 'Does not reveal the expected signature to a request with a debug switch',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['hmac'],
    change: {
      sign: signedWith('signed with a different secret', (kit) => kit.nonce(40)),
      address: addHeaders('X-Debug: 1', () => [['X-Debug', '1']]),
    },
    expect: noCredentials,
    why: 'A switch for support also helps an attacker, and its name is easy to guess.',
    fix: 'Remove the switch, or make it part of the configuration instead of the request.',
  },
  {
    id: 'leaks/accepted-delivery',
    title: 'Does not reveal credentials or internals when it accepts a delivery',
    level: 'should',
    requirements: ['no-hints'],
    change: {},
    expect: noInsides(true),
    why: 'Senders log answers. An answer that repeats the request contains the API key.',
    fix: 'Answer 200 with an empty body or a fixed text, and remove debug output from the handler.',
  },
  {
    id: 'leaks/signature-not-base64',
    title: 'Does not reveal internals when a signature is not Base64',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac'],
    change: { sign: literal('%%% no base64 %%%') },
    expect: noInsides(false),
    why: 'The message of a decoder shows the language and the library that compares signatures.',
    fix: 'Catch the error of the decoder and treat it as an invalid signature, with the same answer.',
  },
  {
    id: 'leaks/malformed-json',
    title: 'Does not reveal internals when a signed body is not JSON',
    level: 'should',
    requirements: ['no-hints'],
    change: { serialise: fixedText('{"id": "cut off') },
    expect: noInsides(true),
    why: 'The message of a parser names the parser and quotes the body, which may contain customer data.',
    fix: 'Answer 400 with a fixed text, and log the message of the parser instead of sending it.',
  },
  {
    id: 'leaks/wrong-types',
    title: 'Does not reveal internals when fields of a signed body have other types',
    level: 'should',
    requirements: ['no-hints'],
    change: { compose: having(plain, 'data', ['not', 'an', 'object']) },
    expect: noInsides(true),
    why:
      'Reading a field of a value that is not an object throws, and the stack trace shows the structure of the ' +
      'code.',
    fix: 'Validate the body before you use it, and catch exceptions of the handler.',
  },
  {
    id: 'leaks/unsigned-malformed',
    title: 'Does not reveal internals when an unsigned body is not JSON',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac'],
    change: { serialise: fixedText('{"id": 1,,}'), sign: unsigned },
    expect: noInsides(false),
    why: 'A parser message shows that bodies are parsed before they are verified.',
    fix: 'Verify the raw body first, and run the body parser after that.',
  },
  {
    id: 'leaks/unsupported-method',
    title: 'Does not reveal internals when the method is PUT',
    level: 'should',
    requirements: ['no-hints'],
    change: { address: unsupportedMethod },
    expect: noInsides(true),
    why: 'Default error pages of frameworks name the product and, in development mode, print the stack.',
    fix: 'Add a handler for other methods that answers 405 without a page.',
  },
  {
    id: 'leaks/oversize-body',
    title: 'Does not reveal internals when the body has 2 MB',
    level: 'should',
    requirements: ['no-hints'],
    change: { compose: having(plain, 'data.padding', () => 'x'.repeat(2_000_000)) },
    expect: noInsides(true),
    why: 'The body parser rejects the body before your own error handling, and the default page answers.',
    fix: 'Register an error handler after the body parser, and answer 413 with a fixed text.',
  },
  {
    id: 'leaks/unknown-content-type',
    title: 'Does not reveal internals when the Content-Type is unknown',
    level: 'should',
    requirements: ['no-hints'],
    change: { address: setHeader('Content-Type', 'application/x-hookproof-unknown') },
    expect: noInsides(true),
    why: 'Without a parser for the type, the body is undefined, and the first access to it throws.',
    fix: 'Reject other content types with 415, or read the raw bytes for every type.',
  },
];
