/**
 * The rulings as data: which answers are right. Specification: Delivery endpoint (Response); Authentication.
 */
import type { Expectation } from './scenario.ts';

/** A right delivery: exactly 200. Any other 2xx is a failure, because the sender promises nothing about it. */
export const accepted: Expectation = { text: '200', authentic: true, pass: [200] };

/** Wrong or missing credentials: exactly 401. */
export const refused: Expectation = { text: '401', authentic: false, pass: [401] };

/**
 * Invalid or missing credentials on a request in a form that the sender never uses (another content type, encoding or size):
 * the receiver may reject it for its form first.
 */
export const refusedInAnotherShape: Expectation = {
  text: 'any 4xx, 501 or 505',
  authentic: false,
  pass: ['4xx', 501, 505],
};

/** A malformed payload with right credentials: handled without a crash. Accepting it passes with a note. */
export const handled: Expectation = {
  text: 'any 4xx, and the receiver stays up',
  authentic: true,
  malformed: true,
  pass: ['4xx'],
  note: ['2xx'],
};

/** A malformed payload without right credentials: 401; another 4xx shows that it was parsed before it was checked. */
export const refusedMalformed: Expectation = {
  text: '401, and the receiver stays up',
  authentic: false,
  malformed: true,
  pass: [401],
  warn: ['4xx'],
};

/** A right delivery that is larger or odder than any real one: 200, or a clean refusal by a limit. */
export const acceptedOrLimited: Expectation = {
  text: '200, or 413 by a limit',
  authentic: true,
  malformed: true,
  pass: [200, 413],
  // Not 401: the credentials are right, and a part of the body was left out of the check.
  note: [400, 403, 422],
};

/** One credential twice, one right and one wrong: nothing says which counts, so it is recorded which one the receiver took. */
export const refusedOrChosen: Expectation = {
  text: '401 or 400; 200 is recorded',
  authentic: false,
  pass: [401, 400],
  note: [200],
};

/** A wrong credential that a server or proxy in front of the receiver may refuse for its size or its characters. */
export const refusedOddHeader: Expectation = {
  text: '401, or 400 or 431 from the server in front',
  authentic: false,
  pass: [401],
  note: [400, 431],
};
