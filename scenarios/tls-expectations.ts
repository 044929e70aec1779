/** Right reactions to a TLS connection that is not a right sender's. Specification: TLS; rulings of the verdict table for mutual TLS. */
import type { HelloExpectation } from './handshake.ts';
import type { Expectation } from './scenario.ts';

/** An offer that must not be taken. An alert is the clean way to say so. */
export const offerRefused: HelloExpectation = {
  text: 'a TLS alert, or a closed connection',
  pass: ['alert', 'closed'],
};

/** What is special about the offer must not be taken; the rest of it may be. */
export const offerDeclined: HelloExpectation = {
  text: 'a handshake without it, or none',
  pass: ['declined', 'alert', 'closed'],
};

/** An offer that every right endpoint takes. */
export const offerMet: HelloExpectation = {
  text: 'a handshake',
  pass: ['granted'],
};

/** The client certificate has to be asked for. */
export const clientAsked: HelloExpectation = {
  text: 'a request for a client certificate',
  pass: ['granted'],
};

/** Whoever asks and names no authority, or does not ask at all, names no public one either. */
export const privateAuthoritiesNamed: HelloExpectation = {
  text: 'a list without public authorities',
  pass: ['granted', 'alert', 'closed'],
};

/** Recorded, whatever comes. */
export const offerTaken: HelloExpectation = {
  text: 'recorded: whether the handshake begins',
  pass: ['granted'],
  note: ['declined', 'alert', 'closed'],
};

/**
 * A delivery with right credentials over a connection whose client certificate is missing or wrong. Servers refuse in the handshake,
 * after it, or by HTTP; some close without a word. Silence proves nothing, and a status that means something else is a warning.
 */
export const certificateRefused: Expectation = {
  text: 'a TLS alert, a closed connection, or 400, 401 or 403',
  authentic: true,
  pass: ['alert', 'closed', 400, 401, 403, 495, 496],
  warn: ['3xx', '4xx', '5xx'],
  unclear: ['none', 503],
};
