import { addHeaders, setHeader, withoutHeader } from '../changes/addressing.ts';
import { fixedText } from '../changes/bytes.ts';
import { having, plain } from '../changes/composing.ts';
import { wrongKey } from '../changes/keying.ts';
import { literal, signedWith, unsigned } from '../changes/signing.ts';
import type { AddressChange, AnswerMatch, Expectation, Leak, Scenario } from '../scenario.ts';

/** Which status is right is judged by other suites: here only what stands in the answer counts. */
const ANY_ANSWER: readonly AnswerMatch[] = ['2xx', '3xx', '4xx', '5xx', 'closed'];

function without(text: string, authentic: boolean, absent: readonly Leak[]): Expectation {
  return { text, authentic, pass: ANY_ANSWER, absent };
}

const CREDENTIALS: readonly Leak[] = ['signature', 'secret', 'api-key'];
const INSIDES: readonly Leak[] = ['stack-trace', 'parser-detail', 'error-message', 'database-message', 'debug-page'];
const noCredentials = without('an answer without any credential', false, CREDENTIALS);
const noInsides = (authentic: boolean) =>
  without('an answer without any credential, stack trace or message from inside', authentic, [
    ...CREDENTIALS,
    ...INSIDES,
  ]);

const unsupportedMethod: AddressChange = { label: 'PUT', make: (head) => ({ ...head, method: 'PUT' }) };

/** Deliveries that provoke an error message, each from another part of a receiver. */
export const leakProbes: readonly Scenario[] = [
  {
    id: 'leaks/wrong-signature',
    title: 'Does not show the expected signature to somebody who sends a wrong one',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['hmac'],
    change: { sign: signedWith('signed with a random secret', (kit) => kit.nonce(40)) },
    expect: noCredentials,
    why: 'A message such as "expected X, got Y" hands the right signature for the body to whoever asks.',
    fix: 'Remove the computed value from the message, and from the error object that is turned into the answer.',
  },
  {
    id: 'leaks/missing-signature',
    title: 'Does not show any credential to somebody who sends no signature',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['hmac'],
    change: { sign: unsigned },
    expect: noCredentials,
    why: 'A helpful answer that explains how to sign, with the real secret or a real signature in its example, is an invitation.',
    fix: 'Answer a bare 401; keep explanations in the documentation, with made-up values.',
  },
  {
    id: 'leaks/wrong-key',
    title: 'Does not show the right API key to somebody who sends a wrong one',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['api-key'],
    change: { address: wrongKey },
    expect: noCredentials,
    why: 'With the stored key in the answer, the first guess is the last one needed.',
    fix: 'Say "unauthorized" and nothing else; look for debug output of the configuration in the error page.',
  },
  {
    id: 'leaks/missing-key',
    title: 'Does not show any credential to somebody who sends no API key',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['api-key'],
    change: { address: withoutHeader('api-key', 'no API key header') },
    expect: noCredentials,
    why: 'An exception for a header that is not there is often shown with all variables around it, the stored key among them.',
    fix: 'Handle the absent header without an exception, and switch error pages that print variables off.',
  },
  {
    id: 'leaks/debug-switch',
    title: 'Does not show the expected signature to somebody who asks for debugging (wrongly signed)',
    level: 'must',
    requirements: ['no-leak'],
    needs: ['hmac'],
    change: {
      sign: signedWith('signed with a random secret', (kit) => kit.nonce(40)),
      address: addHeaders('X-Debug: 1', () => [['X-Debug', '1']]),
    },
    expect: noCredentials,
    why: 'A switch that was made for support helps whoever finds it, and such names are the first that are tried.',
    fix: 'Remove the switch, or bind it to the configuration of the process and not to a request.',
  },
  {
    id: 'leaks/accepted-delivery',
    title: 'Shows no credential and nothing of its inside when it accepts a delivery',
    level: 'should',
    requirements: ['no-hints'],
    change: {},
    expect: noInsides(true),
    why: 'Senders keep answers in their logs. An answer that repeats the request takes the API key along.',
    fix: 'Answer 200 with an empty body or a word of your own; take debug output out of the handler.',
  },
  {
    id: 'leaks/signature-not-base64',
    title: 'Shows nothing of its inside when a signature is no Base64',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac'],
    change: { sign: literal('%%% no base64 %%%') },
    expect: noInsides(false),
    why: 'The message of a decoder tells in which language and with which library signatures are compared.',
    fix: 'Catch the error of the decoder and treat it as a wrong signature, with the same answer.',
  },
  {
    id: 'leaks/malformed-json',
    title: 'Shows nothing of its inside when a signed body is no JSON',
    level: 'should',
    requirements: ['no-hints'],
    change: { serialise: fixedText('{"id": "cut off') },
    expect: noInsides(true),
    why: 'The text of a parser error names the parser and quotes the body, which may hold data of customers.',
    fix: 'Answer 400 with a text of your own; log the message of the parser in place of sending it.',
  },
  {
    id: 'leaks/wrong-types',
    title: 'Shows nothing of its inside when fields of a signed body have wrong types',
    level: 'should',
    requirements: ['no-hints'],
    change: { compose: having(plain, 'data', ['not', 'an', 'object']) },
    expect: noInsides(true),
    why: 'Reading a field of something that is no object throws deep in the code, and the trace shows how that is laid out.',
    fix: 'Validate the shape of the body before you use it, and catch what a handler throws.',
  },
  {
    id: 'leaks/unsigned-malformed',
    title: 'Shows nothing of its inside when an unsigned body is no JSON',
    level: 'should',
    requirements: ['no-hints'],
    needs: ['hmac'],
    change: { serialise: fixedText('{"id": 1,,}'), sign: unsigned },
    expect: noInsides(false),
    why: 'A parser message to a stranger proves that bodies are parsed before anybody has shown a credential.',
    fix: 'Verify the raw body first and parse it after that; put the body parser behind the verification.',
  },
  {
    id: 'leaks/unsupported-method',
    title: 'Shows nothing of its inside when the method is PUT',
    level: 'should',
    requirements: ['no-hints'],
    change: { address: unsupportedMethod },
    expect: noInsides(true),
    why: 'Default error pages of frameworks name the product and, in development mode, print the stack.',
    fix: 'Add a handler for other methods that answers 405 without a page.',
  },
  {
    id: 'leaks/oversize-body',
    title: 'Shows nothing of its inside when the body has 2 MB',
    level: 'should',
    requirements: ['no-hints'],
    change: { compose: having(plain, 'data.padding', () => 'x'.repeat(2_000_000)) },
    expect: noInsides(true),
    why: 'The limit of the body parser throws before your own error handling is reached, and the default page answers.',
    fix: 'Register an error handler behind the body parser and answer 413 there, in a few words.',
  },
  {
    id: 'leaks/unknown-content-type',
    title: 'Shows nothing of its inside when the content type is unknown',
    level: 'should',
    requirements: ['no-hints'],
    change: { address: setHeader('Content-Type', 'application/x-hookproof-unknown') },
    expect: noInsides(true),
    why: 'Without a parser for the type the body is undefined, and the first access to it throws where everyone can read it.',
    fix: 'Refuse other content types with 415, or read the raw bytes whatever the type is.',
  },
];
