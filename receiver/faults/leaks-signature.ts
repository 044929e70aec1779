import type { StageFault } from './fault.ts';
import { refusingSignature } from './leaking-answer.ts';

const base = {
  area: 'leaks',
  severity: 'critical',
  forbidden: true,
  needs: ['hmac'],
  stage: 'verifySignature',
} as const;

const ONE_WORD: StageFault['fix'] = {
  rule: 'Answer every failed check with 401 and one fixed text. What was expected belongs nowhere, not even into the log.',
  express: "Send `res.status(401).json({ error: 'unauthorized' })` and nothing that was computed.",
  fastify: 'Set an error handler that never copies properties of an error into the reply.',
  spring: 'Throw an exception without the values, and keep `server.error.include-message=never`.',
  go: 'Write `http.Error(w, "unauthorized", http.StatusUnauthorized)` and not `err.Error()`.',
};

const SIGNED_FOR_ANYONE =
  'Anybody can have any body signed: send it, read the right signature in the answer, send it again. The check is worth nothing.';

/** Answers in which the right signature of the body stands. */
export const shownSignatures: readonly StageFault[] = [
  {
    ...base,
    name: 'shows-expected-signature',
    title: 'A wrong signature is answered with the one that was expected.',
    seen: 'Messages of the kind "expected X, got Y", written while the integration was built and never removed.',
    why: SIGNED_FOR_ANYONE,
    fix: ONE_WORD,
    replace: refusingSignature(({ reason, presented, expected }) =>
      reason === 'missing'
        ? null
        : { body: { error: 'Invalid signature', expected: expected.toString('base64'), got: presented } },
    ),
  },
  {
    ...base,
    name: 'explains-signing-with-right-signature',
    title: 'A missing signature is answered with an explanation that holds the right one, in hexadecimal.',
    seen: 'Friendly 401 pages and development servers that show a ready command for the request that failed.',
    why: SIGNED_FOR_ANYONE,
    fix: { ...ONE_WORD, rule: 'Explain signing in the documentation, with a made-up secret, and answer a bare 401.' },
    replace: refusingSignature(({ reason, expected }) =>
      reason === 'missing'
        ? { body: `<p>Missing signature. Try <code>sha256=${expected.toString('hex')}</code></p>` }
        : null,
    ),
  },
  {
    ...base,
    name: 'expected-signature-in-header',
    title: 'A header of every refusal holds the signature that the body should have had.',
    seen: 'Gateways and middleware with a debug header such as X-Computed-Signature, which no page shows and nobody notices.',
    why: SIGNED_FOR_ANYONE,
    fix: { ...ONE_WORD, rule: 'Remove debug headers, in the application and in whatever stands before it.' },
    replace: refusingSignature(({ expected }) => ({
      body: { error: 'unauthorized' },
      headers: { 'X-Computed-Signature': expected.toString('base64url') },
    })),
  },
  {
    ...base,
    name: 'expected-signature-in-debug-mode',
    title: 'Whoever sends X-Debug is told the signature that was expected.',
    seen: 'A switch for the support team that is bound to a header of the request and not to the environment.',
    why: 'Names such as X-Debug are the first that an attacker tries, and with it anybody can have any body signed.',
    fix: {
      ...ONE_WORD,
      rule: 'Bind debug output to the configuration of the process, and never send it in an answer.',
    },
    replace: refusingSignature(({ req, expected }) =>
      req.headers['x-debug'] === undefined
        ? null
        : // As json_encode of PHP writes it.
          { body: JSON.stringify({ expected: expected.toString('base64') }).replaceAll('/', '\\/') },
    ),
  },
  {
    ...base,
    name: 'expected-signature-as-bytes',
    title: 'A signature of a wrong form is answered with an error object that holds the expected bytes as numbers.',
    seen: 'assert.deepStrictEqual on two buffers, whose error has the properties actual and expected, and handlers that send errors as JSON.',
    why: 'A list of numbers does not look like a signature, so it survives reviews; turned back into Base64 it is one.',
    fix: ONE_WORD,
    replace: refusingSignature(({ reason, presented, expected }) =>
      reason === 'malformed' ? { body: { code: 'ERR_ASSERTION', actual: String(presented), expected } } : null,
    ),
  },
  {
    ...base,
    name: 'expected-signature-in-status-line',
    title: 'The expected signature stands behind the status code, in the first line of the answer.',
    seen: 'Frameworks whose exceptions carry a reason phrase (HttpStatusCodeResult, sendError), fed with a message for developers.',
    why: `${SIGNED_FOR_ANYONE} Most tools do not show the phrase, so nobody sees it.`,
    fix: {
      ...ONE_WORD,
      dotnet: 'Return `Unauthorized()`, and no `StatusCodeResult` with a description.',
    },
    replace: refusingSignature(({ reason, expected }) =>
      reason === 'missing'
        ? null
        : { body: { error: 'unauthorized' }, phrase: `Signature is not ${expected.toString('base64')}` },
    ),
    equivalentTo: {
      name: 'shows-expected-signature',
      reason: 'The same refusals hold the same value: where it stands in an answer is no part of a verdict.',
    },
  },
];
