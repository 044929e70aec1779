/**
 * The rulings as data: which answers each kind of delivery may get. Specification: Delivery endpoint (Response);
 * Authentication; TLS.
 */
import type { HelloExpectation } from './handshake.ts';
import type { Expectation } from './scenario.ts';

// Valid deliveries

/**
 * Outcomes by which the sender loses a delivery, whatever its content. The sender follows no redirect, and does not
 * wait longer than its time limit.
 */
const LOST = ['3xx', 'none'] as const;

/** A valid delivery: exactly 200. Another 2xx fails, because the specification gives it no meaning. */
export const accepted: Expectation = { text: '200', authentic: true, pass: [200], fail: LOST };

/** A valid delivery in a form that the sender does not use: another framing, content type or HTTP version. */
export const acceptedInAnotherShape: Expectation = { text: '200', authentic: true, pass: [200] };

/**
 * A valid delivery whose unusual part is in a field that the specification does not name. A strict schema rejects the
 * field with 400 or 422, which is a different finding and only warns here. A 401 fails, because it means that the
 * signature was computed over other bytes.
 */
export const acceptedUnlessStrict: Expectation = {
  text: '200 (400 or 422 from strict schema validation is a warning)',
  authentic: true,
  pass: [200],
  warn: [400, 422],
  fail: LOST,
};

/**
 * A valid delivery that is larger than the specification shows. Expected: 200, or a clear rejection, which is recorded.
 * A 401 warns, because the credentials are valid.
 */
export const acceptedOrRejected: Expectation = {
  text: '200 (a 4xx other than 401 is recorded)',
  authentic: true,
  pass: [200],
  note: ['4xx'],
  warn: [401],
};

/**
 * One of many concurrent deliveries. The specification states no rate, so a rejection because of load only warns. A 401
 * fails, because valid credentials do not become invalid under load.
 */
export const acceptedUnlessBusy: Expectation = {
  text: '200 (a rejection because of the load or a closed connection: warning)',
  authentic: true,
  pass: [200],
  warn: [400, 403, 404, 405, 408, 409, 413, 421, 423, 425, 429, '5xx', 'closed', 'none'],
};

/**
 * A valid delivery with a time far from now. The specification does not limit the time, so a rejection only warns. An
 * internal error is a failure.
 */
export const acceptedUnlessOld: Expectation = {
  text: '200 (a 4xx because of the time: warning)',
  authentic: true,
  pass: [200],
  warn: ['4xx'],
  fail: LOST,
};

/**
 * A valid delivery after invalid ones. All of them come from one address, so a defence against an attacker also locks
 * out the sender. A rejection therefore only warns.
 */
export const acceptedUnlessLockedOut: Expectation = {
  text: '200 (a rejection after failed attempts: warning)',
  authentic: true,
  pass: [200],
  warn: ['4xx', 503, 'closed', 'none'],
};

/** A valid delivery that is larger than the specification shows. Expected: 200, or a clear rejection. */
export const acceptedOrLimited: Expectation = {
  text: '200, or 413 from a size limit',
  authentic: true,
  pass: [200, 413],
  // A 401 fails: because the credentials are valid, a 401 means that a part of the body was not verified.
  note: [400, 403, 422],
};

// Invalid credentials

/** Invalid or missing credentials: exactly 401. */
export const refused: Expectation = { text: '401', authentic: false, pass: [401] };

/**
 * Invalid or missing credentials on a notification that the sender never sends: one of an unknown type, with invented
 * members, or with hardly any content. A 4xx other than 401 shows that the body was read before it was verified.
 */
export const refusedAsInvented: Expectation = {
  text: '401 (another 4xx: warning)',
  authentic: false,
  pass: [401],
  warn: ['4xx'],
};

/**
 * Invalid or missing credentials on a request in a form that the sender never uses (another content type, encoding or
 * size). The receiver may reject the form first. A 5xx loses no delivery, so it only warns. A closed connection looks
 * like a process that has ended.
 */
export const refusedInAnotherShape: Expectation = {
  text: 'any 4xx, 501 or 505 (another 5xx: warning)',
  authentic: false,
  pass: ['4xx', 501, 505],
  warn: ['3xx', '5xx', 'none'],
};

/**
 * Invalid or missing credentials on a large body. A server may close the connection, so the sender does not learn the
 * reason.
 */
export const refusedLarge: Expectation = { ...refusedInAnotherShape, warn: ['3xx', '5xx', 'closed', 'none'] };

/** Invalid or missing credentials on a body that is so large that a slow network may need the whole time limit. */
export const refusedHuge: Expectation = { ...refusedLarge, note: ['none'] };

/**
 * Invalid or missing credentials in a framing that a server need not support: chunks, HTTP/1.0, Expect. Some servers
 * close the connection, or wait for a body that never arrives.
 */
export const refusedInAnotherFraming: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection (another 5xx: warning)',
  authentic: false,
  pass: ['4xx', 501, 505, 'closed'],
  warn: ['3xx', '5xx', 'none'],
};

/** Invalid or missing credentials on a request with another method. Servers may also answer it with a redirect. */
export const refusedByMethod: Expectation = {
  text: 'any 3xx or 4xx, 501, 505 or a closed connection (another 5xx: warning)',
  authentic: false,
  pass: ['3xx', '4xx', 501, 505, 'closed'],
  warn: ['5xx', 'none'],
};

/**
 * Invalid or missing credentials at a URL other than the registered one. An acceptance fails unless the endpoint serves
 * the same page to every request.
 */
export const refusedElsewhere: Expectation = {
  text: 'any 3xx or 4xx, 501, 505 or a closed connection (another 5xx: recorded)',
  authentic: false,
  pass: ['3xx', '4xx', 501, 505, 'closed'],
  note: ['5xx', 'none'],
};

/**
 * The valid signature of an empty input, on a request in a form whose body is not read. An attacker has no such
 * signature, so an acceptance only warns.
 */
export const refusedAsUnread: Expectation = {
  ...refusedInAnotherShape,
  text: 'any 4xx, 501 or 505 (anything else: warning)',
  warn: ['2xx', '3xx', '5xx', 'none'],
  fail: ['closed'],
};

/** One of several invalid signatures in a row. A limit on failed attempts may answer with another status. */
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
 * A credential that is sent twice, once valid and once invalid. The specification does not say which of them counts, so
 * an acceptance is only recorded.
 */
export const refusedOrChosen: Expectation = {
  text: '401 or 400 (200: recorded)',
  authentic: false,
  pass: [401, 400],
  note: [200],
};

/** Two invalid credentials in one request, which no sender sends. A 5xx loses no delivery, so it only warns. */
export const refusedWithTwoInvalid: Expectation = {
  text: '401 or 400 (5xx: warning)',
  authentic: false,
  pass: [401, 400],
  warn: ['5xx'],
};

/**
 * An invalid credential that a server or proxy in front of the receiver may reject because of its size or its
 * characters.
 */
export const refusedUnusualHeader: Expectation = {
  text: '401 (400 or 431 from a server in front is recorded, not a failure)',
  authentic: false,
  pass: [401],
  note: [400, 431],
};

/** A malformed payload without valid credentials. A 4xx other than 401 means that it was parsed before verification. */
export const refusedMalformed: Expectation = {
  text: '401 (another 4xx: warning)',
  authentic: false,
  malformed: true,
  pass: [401],
  warn: ['4xx'],
};

// Malformed and unusual payloads with valid credentials

/** A malformed payload, which must get a clear answer. An acceptance passes with a note. */
export const handled: Expectation = {
  text: 'any 4xx',
  authentic: true,
  malformed: true,
  pass: ['4xx'],
  note: ['2xx'],
};

/** A malformed payload that precedes the delivery that a check tests. Another check judges its status. */
export const malformedBefore: Expectation = { ...handled, note: ['2xx', '3xx', '5xx'] };

/**
 * Unusual content, which may be rejected. A 401 fails, because it means that the signature was computed over other
 * bytes.
 */
export const contentAcceptedOrRejected: Expectation = {
  text: '200, 400 or 422',
  authentic: true,
  malformed: true,
  pass: [200],
  note: [400, 422],
};

/** An unusual document, which may be accepted or rejected. A 401 warns, because the credentials are valid. */
export const documentAcceptedOrRejected: Expectation = {
  text: '200 or a 4xx other than 401',
  authentic: true,
  malformed: true,
  pass: [200, '4xx'],
  warn: [401],
};

/**
 * A signed delivery in a form that the sender does not use. A closed connection fails, because it looks like a process
 * that has ended.
 */
export const acceptedOrRejectedInAnotherShape: Expectation = { ...documentAcceptedOrRejected, fail: ['closed'] };

/** An unusual, hostile or oversized payload, to which any clear answer is acceptable. */
export const anyClearAnswer: Expectation = {
  text: '200 or any 4xx',
  authentic: true,
  malformed: true,
  pass: [200, '4xx'],
};

/** A payload that is nested more deeply than recursive parsers can read. Only a receiver that stops answering fails. */
export const anyAnswer: Expectation = {
  ...anyClearAnswer,
  text: '200 or any 4xx (5xx: warning)',
  warn: ['3xx', '5xx', 'none'],
};

/** A delivery that ends early and gets no answer. Only the deliveries after it are judged. */
export const noAnswerExpected: Expectation = {
  text: 'no answer; the next delivery gets 200',
  authentic: true,
  malformed: true,
  pass: ['none'],
};

// Other forms of HTTP

/** A well-formed request that is not a delivery. Any suitable rejection passes. */
export const notServed: Expectation = {
  text: 'any 4xx (such as 405), a redirect or 501',
  authentic: true,
  pass: ['3xx', '4xx', 501],
};

/**
 * Well-formed HTTP in an unusual form, which may be served, or rejected with a suitable status. An internal error is a
 * failure.
 */
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
 * Malformed HTTP that servers must reject, because another server on the path may read it differently. Every other
 * answer only warns, because it comes from a server that the partner did not write. The deliveries that follow must be
 * answered.
 */
export const rejectedHttp: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection (anything else: warning)',
  authentic: true,
  pass: ['4xx', 501, 505, 'closed'],
  warn: ['2xx', '5xx', 'none'],
};

/**
 * Malformed HTTP that is harmless if it is read leniently. Either HTTP allows this, or the usual servers of a language
 * do it (Python's http.server, PHP, WEBrick, Java's HttpServer, Go's net/http). An acceptance is recorded.
 */
export const rejectedOrRead: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection (200: recorded; anything else: warning)',
  authentic: true,
  pass: ['4xx', 501, 505, 'closed'],
  note: [200],
  warn: ['2xx', '5xx', 'none'],
};

// TLS

/** An offer that the endpoint must reject, preferably with an alert. */
export const offerRefused: HelloExpectation = {
  text: 'a TLS alert or a closed connection',
  pass: ['alert', 'closed'],
};

/** An offer with a special part that the endpoint must not use. The handshake may continue without this part. */
export const offerDeclined: HelloExpectation = {
  text: 'a handshake without it, or none',
  pass: ['declined', 'alert', 'closed'],
};

/** An offer that every correct endpoint accepts. */
export const offerAccepted: HelloExpectation = {
  text: 'a handshake',
  pass: ['granted'],
};

/** An offer to which the endpoint must respond with a request for a client certificate. */
export const clientCertificateRequested: HelloExpectation = {
  text: 'a request for a client certificate',
  pass: ['granted'],
};

/**
 * An offer that shows the list of accepted CAs, which must not contain a public CA. The list may be empty or absent.
 */
export const onlyPrivateCasListed: HelloExpectation = {
  text: 'a list without public CAs',
  pass: ['granted', 'alert', 'closed'],
};

/** An offer whose result is only recorded. */
export const offerRecorded: HelloExpectation = {
  text: 'recorded: whether the handshake begins',
  pass: ['granted'],
  note: ['declined', 'alert', 'closed'],
};

/**
 * Valid credentials over a connection whose client certificate is missing or invalid. Servers reject the certificate
 * during or after the handshake or with an HTTP status, and some just close the connection. A missing answer allows no
 * conclusion; a status with another meaning warns.
 */
export const certificateRefused: Expectation = {
  text: 'a TLS alert, a closed connection, 400, 401 or 403',
  authentic: true,
  pass: ['alert', 'closed', 400, 401, 403, 495, 496],
  warn: ['3xx', '4xx', '5xx'],
  unclear: ['none', 503],
};

/** No client certificate, and another server name. Another site may answer, with its own certificate. */
export const certificateRefusedByName: Expectation = {
  ...certificateRefused,
  text: 'a TLS alert, a closed connection, any 3xx or 4xx',
  pass: ['alert', 'closed', 'untrusted', '3xx', '4xx'],
  warn: ['5xx'],
};
