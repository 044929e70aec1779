/**
 * The rulings as data: which answers each kind of delivery may get.
 * Specification: Delivery endpoint (Response); Authentication; TLS.
 */
import type { HelloExpectation } from './handshake.ts';
import type { Expectation } from './scenario.ts';

// Valid deliveries

/** A valid delivery: exactly 200. Another 2xx fails, because the specification gives it no meaning. */
export const accepted: Expectation = { text: '200', authentic: true, pass: [200] };

/**
 * A valid delivery whose unusual part is in a field that the specification does not name. A strict schema rejects the
 * field with 400 or 422, which is another finding and only warns here. A 401 fails: the signature was computed over
 * other bytes.
 */
export const acceptedUnlessStrict: Expectation = {
  text: '200 (400 or 422 from strict schema validation is a warning)',
  authentic: true,
  pass: [200],
  warn: [400, 422],
};

/**
 * A valid delivery that is larger than the specification shows: 200, or a clear rejection, which is recorded. A 401
 * warns, because the credentials are valid.
 */
export const acceptedOrRejected: Expectation = {
  text: '200 (a 4xx other than 401 is recorded)',
  authentic: true,
  pass: [200],
  note: ['4xx'],
  warn: [401],
};

/**
 * One of many concurrent deliveries. The specification states no rate, so a rejection because of the load only warns. A
 * 401 fails: no load makes valid credentials invalid.
 */
export const acceptedUnlessBusy: Expectation = {
  text: '200 (a rejection for the load or a closed connection: warning)',
  authentic: true,
  pass: [200],
  warn: [400, 403, 404, 405, 408, 409, 413, 421, 423, 425, 429, '5xx', 'closed', 'none'],
};

/**
 * A valid delivery whose time is far from now. The specification names no such rule, so a rejection is only a warning;
 * an internal error fails.
 */
export const acceptedUnlessOld: Expectation = {
  text: '200 (a 4xx for the time: warning)',
  authentic: true,
  pass: [200],
  warn: ['4xx'],
};

/** A valid delivery that may overtake an earlier one of its transaction. An internal error fails. */
export const acceptedUnlessOutOfOrder: Expectation = {
  text: '200 (a 4xx for a status out of order: warning)',
  authentic: true,
  pass: [200],
  warn: ['4xx'],
};

/**
 * A valid delivery after invalid ones. All come from one address, so a defence against an attacker also locks out the
 * sender, and a rejection is only a warning.
 */
export const acceptedUnlessLockedOut: Expectation = {
  text: '200 (a rejection after failed attempts: warning)',
  authentic: true,
  pass: [200],
  warn: ['4xx', 503, 'closed', 'none'],
};

/** A valid delivery that is larger or less usual than a real one: 200, or a clear rejection. */
export const acceptedOrLimited: Expectation = {
  text: '200, or 413 from a size limit',
  authentic: true,
  malformed: true,
  pass: [200, 413],
  // Not 401: the credentials are valid, so a 401 means that part of the body was not verified.
  note: [400, 403, 422],
};

// Invalid credentials

/** Invalid or missing credentials: exactly 401. */
export const refused: Expectation = { text: '401', authentic: false, pass: [401] };

/**
 * Invalid or missing credentials on a request in a form that the sender never uses (another content type, encoding or
 * size): the receiver may reject the form first.
 */
export const refusedInAnotherShape: Expectation = {
  text: 'any 4xx, 501 or 505',
  authentic: false,
  pass: ['4xx', 501, 505],
};

/**
 * The same in a framing that a server need not support: chunks, HTTP/1.0, Expect. Some servers close the connection,
 * or wait for a body that never arrives.
 */
export const refusedInAnotherFraming: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection',
  authentic: false,
  pass: ['4xx', 501, 505, 'closed'],
  warn: ['none'],
};

/**
 * The same at a URL other than the registered one, or with another method. An acceptance fails unless the endpoint
 * serves the same page to every request.
 */
export const refusedElsewhere: Expectation = {
  text: 'any 3xx or 4xx, 501, 505 or a closed connection',
  authentic: false,
  pass: ['3xx', '4xx', 501, 505, 'closed'],
};

/** The same with a method that only scanners and browsers send: a 5xx loses no delivery, and only warns. */
export const refusedByRareMethod: Expectation = {
  ...refusedElsewhere,
  text: 'any 3xx or 4xx, 501, 505 or a closed connection (another 5xx: warning)',
  warn: ['5xx'],
};

/** One of several invalid signatures in a row. A limit on failed attempts may answer in its own way. */
export const refusedInARow: Expectation = {
  text: '401 (403, 423 or 429 from a limit on failed attempts: recorded)',
  authentic: false,
  pass: [401, 429],
  note: [403, 423],
};

/** A valid delivery with an id that the receiver does not know. A 401 fails, because the credentials are valid. */
export const acceptedOrUnknown: Expectation = {
  text: '200 (404, 409 or 422 for the unknown id is recorded)',
  authentic: true,
  pass: [200],
  note: [404, 409, 422],
  warn: [400, 403],
};

/** One of many concurrent deliveries with invalid credentials. */
export const refusedUnlessBusy: Expectation = {
  text: '401 (another rejection or a closed connection under load: warning)',
  authentic: false,
  pass: [401],
  warn: ['4xx', '5xx', 'closed', 'none'],
};

/**
 * The same credential twice, once valid and once invalid. Nothing says which one counts, so an acceptance is only
 * recorded.
 */
export const refusedOrChosen: Expectation = {
  text: '401 or 400 (200: recorded)',
  authentic: false,
  pass: [401, 400],
  note: [200],
};

/** Two invalid credentials in one request, which no sender sends: a 5xx loses no delivery, and only warns. */
export const refusedTwice: Expectation = {
  text: '401 or 400 (5xx: warning)',
  authentic: false,
  pass: [401, 400],
  warn: ['5xx'],
};

/** An invalid credential that a server or proxy in front of the receiver may reject for its size or its characters. */
export const refusedOddHeader: Expectation = {
  text: '401 (400 or 431 from a server in front is recorded, not a failure)',
  authentic: false,
  pass: [401],
  note: [400, 431],
};

/**
 * Large and without valid credentials: rejected for either reason. After a closed connection the sender cannot know
 * why.
 */
export const refusedLarge: Expectation = {
  text: '401 or 413, without a crash',
  authentic: false,
  malformed: true,
  pass: [401, 413],
  warn: ['4xx', 'closed'],
};

/** So large that a slow network may need all the time for it. */
export const refusedHuge: Expectation = { ...refusedLarge, note: ['none'] };

/**
 * A malformed payload without valid credentials: 401. Another 4xx shows that the body was parsed before it was
 * verified.
 */
export const refusedMalformed: Expectation = {
  text: '401, without a crash',
  authentic: false,
  malformed: true,
  pass: [401],
  warn: ['4xx'],
};

// Malformed and unusual payloads with valid credentials

/** A malformed payload: handled without a crash. An acceptance passes with a note. */
export const handled: Expectation = {
  text: 'any 4xx, without a crash',
  authentic: true,
  malformed: true,
  pass: ['4xx'],
  note: ['2xx'],
};

/** The content may be rejected for what it is. A 401 fails: the signature was computed over other bytes. */
export const takenOrRejected: Expectation = {
  text: '200, 400 or 422, without a crash',
  authentic: true,
  malformed: true,
  pass: [200],
  note: [400, 422],
};

/** Unusual as a whole: accepted or rejected. A 401 warns, because the credentials are valid. */
export const answeredAsSigned: Expectation = {
  text: '200 or a 4xx other than 401, without a crash',
  authentic: true,
  malformed: true,
  pass: [200, '4xx'],
  warn: [401],
};

/** Unusual, hostile or oversized, so that any answer will do: only a crash fails. */
export const survived: Expectation = {
  text: '200 or any 4xx, without a crash',
  authentic: true,
  malformed: true,
  pass: [200, '4xx'],
};

/** A delivery that ends early has no answer: only the deliveries after it are judged. */
export const outlived: Expectation = {
  text: 'no answer; the next delivery gets 200',
  authentic: true,
  malformed: true,
  pass: ['none'],
};

// Other forms of HTTP

/** A well-formed request that is not a delivery: rejected with any suitable status. */
export const notServed: Expectation = {
  text: 'any 4xx (such as 405), a redirect or 501',
  authentic: true,
  pass: ['3xx', '4xx', 501],
};

/** Well-formed HTTP in an unusual form: served, or rejected with any suitable status. An internal error fails. */
export const servedOrRefused: Expectation = {
  text: '200, any 4xx, 501 or 505',
  authentic: true,
  pass: [200, '4xx', 501, 505],
};

/** A signed delivery to a URL other than the registered one, which may be served or not. */
export const servedOrElsewhere: Expectation = {
  ...servedOrRefused,
  text: '200, any 3xx or 4xx, 501 or 505',
  pass: [...servedOrRefused.pass, '3xx'],
};

/**
 * Malformed HTTP that servers have to reject, because another server on the path may read it differently. Every other
 * answer only warns: the decision is made in a server that the partner did not write. The deliveries that follow must
 * be answered.
 */
export const rejectedHttp: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection (anything else: warning)',
  authentic: true,
  pass: ['4xx', 501, 505, 'closed'],
  warn: ['2xx', '5xx', 'none'],
};

/**
 * Malformed HTTP that is harmless when it is read leniently: HTTP allows it, or the usual servers of a language do
 * (http.server of Python, PHP, WEBrick, HttpServer of Java, net/http of Go). An acceptance is recorded.
 */
export const rejectedOrRead: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection (200: recorded; anything else: warning)',
  authentic: true,
  pass: ['4xx', 501, 505, 'closed'],
  note: [200],
  warn: ['2xx', '5xx', 'none'],
};

// TLS

/** An offer that the endpoint must reject. An alert is the clean way. */
export const offerRefused: HelloExpectation = {
  text: 'a TLS alert or a closed connection',
  pass: ['alert', 'closed'],
};

/** The special part of the offer must not be used; the handshake may go on without it. */
export const offerDeclined: HelloExpectation = {
  text: 'a handshake without it, or none',
  pass: ['declined', 'alert', 'closed'],
};

/** An offer that every correct endpoint accepts. */
export const offerMet: HelloExpectation = {
  text: 'a handshake',
  pass: ['granted'],
};

/** The endpoint must request a client certificate. */
export const clientAsked: HelloExpectation = {
  text: 'a request for a client certificate',
  pass: ['granted'],
};

/** The list of accepted CAs contains no public CA. It may be empty, or there may be no request at all. */
export const privateCasNamed: HelloExpectation = {
  text: 'a list without public CAs',
  pass: ['granted', 'alert', 'closed'],
};

/** Recorded, whatever the endpoint does. */
export const offerTaken: HelloExpectation = {
  text: 'recorded: whether the handshake begins',
  pass: ['granted'],
  note: ['declined', 'alert', 'closed'],
};

/**
 * Valid credentials over a connection whose client certificate is missing or invalid. Servers reject it in the
 * handshake, after it or by HTTP, and some just close the connection. No answer leads to no conclusion; a status with
 * another meaning warns.
 */
export const certificateRefused: Expectation = {
  text: 'a TLS alert, a closed connection, 400, 401 or 403',
  authentic: true,
  pass: ['alert', 'closed', 400, 401, 403, 495, 496],
  warn: ['3xx', '4xx', '5xx'],
  unclear: ['none', 503],
};
