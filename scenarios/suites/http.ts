import { notServed } from '../expectations.ts';
import { withoutBody } from '../forgery.ts';
import type { Change, Expectation, FollowUp, Suite } from '../scenario.ts';
import { family } from './family.ts';
import { httpFraming, httpUnusual } from './http-framing.ts';
import { httpHeaders } from './http-headers.ts';
import { httpHostile, httpTargets } from './http-hostile.ts';

/** OPTIONS asks what the endpoint supports, so any answer except an error passes. */
const optionsServedOrNot: Expectation = {
  text: 'any 4xx or 501, or 200 or 204 with the allowed methods',
  authentic: true,
  pass: ['4xx', 501, 200, 204],
};

function by(method: string): Change {
  return { address: { label: `the method ${method}`, make: (head) => ({ ...head, method }) } };
}

/** Adds a comparison: a page that answers every request with this method does not count as an acceptance. */
function unlessPage(method: string): { readonly followUps: readonly FollowUp[] } {
  return { followUps: [withoutBody(by(method))] };
}

/** Methods other than POST, with the body and the credentials of a valid delivery. Specification: Delivery endpoint. */
const httpMethods = family(
  {
    suite: 'http',
    verb: 'Rejects',
    level: 'should',
    requirements: ['delivery-other-methods'],
    expect: notServed,
    mistake: 'method-not-restricted',
  },
  {
    'method-get': ['a notification sent by GET', by('GET'), unlessPage('GET')],
    'get-empty': [
      'a GET request without a body',
      { serialise: () => Buffer.alloc(0), ...by('GET') },
      { note: 'If every request gets 200, a wrong URL looks like a working endpoint.' },
    ],
    'method-head': [
      'a notification sent by HEAD',
      by('HEAD'),
      {
        ...unlessPage('HEAD'),
        // Some servers send a body after the headers of the answer to this request.
        expect: { ...notServed, note: ['unreadable'] },
      },
    ],
    'method-put': ['a notification sent by PUT', by('PUT'), unlessPage('PUT')],
    'method-patch': ['a notification sent by PATCH', by('PATCH'), unlessPage('PATCH')],
    'method-delete': [
      'a notification sent by DELETE',
      by('DELETE'),
      {
        ...unlessPage('DELETE'),
        note: 'Many servers do not read the body of a DELETE, so they verify an empty body.',
      },
    ],
    'method-options': [
      'an OPTIONS request',
      by('OPTIONS'),
      { title: 'Handles an OPTIONS request', expect: optionsServedOrNot },
    ],
    'method-unknown': [
      'an unknown method',
      by('FROBNICATE'),
      { note: 'A lookup of the handler by this method returns undefined.' },
    ],
  },
);

/** The delivery as an HTTP request: methods, headers, framing, concurrency. Specification: Delivery endpoint. */
export const httpSuite: Suite = {
  name: 'http',
  title: 'Other forms of HTTP requests are handled correctly',
  scenarios: [...httpHeaders, ...httpMethods, ...httpFraming, ...httpUnusual, ...httpHostile, httpTargets],
};
