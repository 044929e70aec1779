/** Which answers are right to odd bodies and odd requests: the rulings on what is malformed, oversized or not HTTP, in finer grades. */
import type { Expectation } from './scenario.ts';

/**
 * A right delivery whose odd part can only stand in a field that the specification does not name. A receiver with a strict schema
 * refuses the field with 400 or 422, and that is another finding: it only warns here. A 401 shows a signature over other bytes.
 */
export const acceptedUnlessStrict: Expectation = {
  text: '200 (400 or 422 warns: a strict schema)',
  authentic: true,
  pass: [200],
  warn: [400, 422],
};

/** One of many at the same time. A receiver that sheds load with 503 has stored nothing and says so: the sender has to try again. */
export const acceptedUnlessBusy: Expectation = {
  text: '200 (503 warns: too busy)',
  authentic: true,
  pass: [200],
  warn: [503],
};

/** One of many at the same time, without right credentials. */
export const refusedUnlessBusy: Expectation = {
  text: '401 (503 warns: too busy)',
  authentic: false,
  pass: [401],
  warn: [503],
};

/** Rightly signed, and its content may be refused for what it is; a 401 shows a signature over other bytes. */
export const takenOrRejected: Expectation = {
  text: '200, or 400 or 422; never 401, and the receiver stays up',
  authentic: true,
  malformed: true,
  pass: [200],
  note: [400, 422],
};

/** Rightly signed, and odd as a whole: it may be accepted or refused. 401 warns, because the credentials are right. */
export const answeredAsSigned: Expectation = {
  text: '200, or a 4xx other than 401, and the receiver stays up',
  authentic: true,
  malformed: true,
  pass: [200, '4xx'],
  warn: [401],
};

/** Odd, hostile or oversized in a way that leaves the answer free: only a crash is wrong. */
export const survived: Expectation = {
  text: '200 or any 4xx, and the receiver stays up',
  authentic: true,
  malformed: true,
  pass: [200, '4xx'],
};

/** Large and without right credentials: refused for either reason. A closed connection leaves the sender guessing. */
export const refusedLarge: Expectation = {
  text: '401 or 413, and the receiver stays up',
  authentic: false,
  malformed: true,
  pass: [401, 413],
  warn: ['4xx', 'closed'],
};

/** A request that is no delivery, in well-formed HTTP: refused by whatever status says so. */
export const notServed: Expectation = {
  text: 'any 4xx or 501, such as 405',
  authentic: true,
  pass: ['4xx', 501],
};

/** Well-formed HTTP in an unusual form: it may be served or refused, by whatever status says so. An exception is wrong. */
export const servedOrRefused: Expectation = {
  text: '200, any 4xx, 501 or 505',
  authentic: true,
  pass: [200, '4xx', 501, 505],
};

/**
 * Larger than the limit that the common body parser for Node has by itself. The specification names no size, so a clean refusal by a limit is
 * no fault, and is recorded.
 */
export const acceptedOrOverLimit: Expectation = {
  ...acceptedUnlessStrict,
  text: '200; 413 by a limit is recorded (400 or 422 warns: a strict schema)',
  note: [413],
};

/**
 * A request that is not well-formed HTTP, in a way that HTTP tells servers to refuse because others in the path may read it in another way:
 * refused, or the connection closed. Everything else only warns, because it is decided below the handler, in servers that a partner has
 * not written. What counts is that the deliveries after it are answered.
 */
export const rejectedHttp: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection (anything else warns)',
  authentic: true,
  pass: ['4xx', 501, 505, 'closed'],
  warn: ['2xx', '5xx', 'none'],
};

/**
 * A request that is not well-formed HTTP in a way that does no harm where it is read leniently: HTTP allows it, or most servers that come with
 * a language do it (http.server of Python, PHP, WEBrick, HttpServer of Java, net/http of Go). That it was accepted is recorded.
 */
export const rejectedOrRead: Expectation = {
  text: 'any 4xx, 501, 505 or a closed connection; 200 is recorded (anything else warns)',
  authentic: true,
  pass: ['4xx', 501, 505, 'closed'],
  note: [200],
  warn: ['2xx', '5xx', 'none'],
};

/** A delivery that stops half-way: there is no answer to judge, only the deliveries after it. */
export const outlived: Expectation = {
  text: 'nothing; the next delivery gets 200',
  authentic: true,
  malformed: true,
  pass: ['none'],
};
