/** OPTIONS may be answered for what it is: a question about the endpoint. */
import { notServed } from '../expectations.ts';
import type { AddressChange, Expectation, ProbeScenario, Suite } from '../scenario.ts';
import { httpFraming, httpUnusual } from './http-framing.ts';
import { httpHeaders } from './http-headers.ts';
import { httpHostile } from './http-hostile.ts';

const askedOrNotServed: Expectation = {
  text: 'any 4xx or 501, or 200 or 204 with what is allowed',
  authentic: true,
  pass: ['4xx', 501, 200, 204],
};

function by(method: string): AddressChange {
  return { label: `the method ${method}`, make: (head) => ({ ...head, method }) };
}

const base = { level: 'should', requirements: ['delivery-other-methods'], expect: notServed } as const;

/** Methods other than POST, with the body and the credentials of a right delivery. Specification: Delivery endpoint. */
const httpMethods: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'http/method-get',
    title: 'Does not accept a notification by GET',
    change: { address: by('GET') },
    why: 'Caches and browsers repeat GET at will. A route for every method lets them reach the handler.',
    fix: 'Register the handler for POST only, and answer 405 to the rest.',
  },
  {
    ...base,
    id: 'http/get-empty',
    title: 'Does not answer a GET without a body as an accepted notification (no body, other method)',
    change: { serialise: () => Buffer.alloc(0), address: by('GET') },
    why: 'A page that answers 200 to everything makes a wrong URL look like a working endpoint. An error page with 500 alarms every monitor.',
    fix: 'Answer 404 or 405 to GET at this path; put a health check at another one.',
  },
  {
    ...base,
    id: 'http/method-head',
    title: 'Does not accept a notification by HEAD',
    change: { address: by('HEAD') },
    why: 'Frameworks answer HEAD by the handler for GET; with a handler for all methods a link checker delivers notifications.',
    fix: 'Check that no catch-all route stands before or behind the one for POST.',
  },
  {
    ...base,
    id: 'http/method-put',
    title: 'Does not accept a notification by PUT',
    change: { address: by('PUT') },
    why: 'The contract is POST. A receiver that takes PUT too has a second way in that nobody tests or watches.',
    fix: 'Answer 405 with Allow: POST.',
  },
  {
    ...base,
    id: 'http/method-patch',
    title: 'Does not accept a notification by PATCH',
    change: { address: by('PATCH') },
    why: 'Rules of firewalls and rate limits are often written for POST alone, and PATCH passes them by.',
    fix: 'Limit the route to POST in the framework and in the proxy.',
  },
  {
    ...base,
    id: 'http/method-delete',
    title: 'Does not accept a notification by DELETE',
    change: { address: by('DELETE') },
    why: 'Many servers do not read the body of a DELETE; what they then verify and handle is empty.',
    fix: 'Answer 405, before the body is looked at.',
  },
  {
    ...base,
    id: 'http/method-options',
    title: 'Does not fail on OPTIONS',
    change: { address: by('OPTIONS') },
    expect: askedOrNotServed,
    why: 'Scanners and browsers ask with OPTIONS first. A handler that runs for it and throws fills the log with errors.',
    fix: 'Let the framework answer OPTIONS, or answer 405; no delivery comes that way.',
  },
  {
    ...base,
    id: 'http/method-unknown',
    title: 'Refuses a method that does not exist',
    change: { address: by('FROBNICATE') },
    why: 'A table of handlers that is indexed by the method gives undefined for it.',
    fix: 'Answer 405 or 501 to methods that you do not know; most servers do it by themselves.',
  },
];

/** The delivery as an HTTP request: methods, headers, framing, many at once. Specification: Delivery endpoint. */
export const httpSuite: Suite = {
  name: 'http',
  title: 'Deliveries in other HTTP dress are the same deliveries',
  scenarios: [...httpHeaders, ...httpMethods, ...httpFraming, ...httpUnusual, ...httpHostile],
};
