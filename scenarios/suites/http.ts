/** OPTIONS asks about the endpoint, so every answer except an error is fine. */

import { notServed } from '../expectations.ts';
import { withoutBody } from '../forgery.ts';
import type { AddressChange, Expectation, ProbeScenario, Suite } from '../scenario.ts';
import { httpFraming, httpUnusual } from './http-framing.ts';
import { httpHeaders } from './http-headers.ts';
import { httpHostile, httpTargets } from './http-hostile.ts';

const askedOrNotServed: Expectation = {
  text: 'any 4xx or 501, or 200 or 204 with what is allowed',
  authentic: true,
  pass: ['4xx', 501, 200, 204],
};

function by(method: string): AddressChange {
  return { label: `the method ${method}`, make: (head) => ({ ...head, method }) };
}

/** A page that answers every request with the method does not count as an acceptance. */
function withMethod(method: string): Pick<ProbeScenario, 'change' | 'ifAccepted'> {
  const change = { address: by(method) };
  return { change, ifAccepted: [withoutBody(change)] };
}

const base = { level: 'should', requirements: ['delivery-other-methods'], expect: notServed } as const;

/** Methods other than POST, with the body and the credentials of a valid delivery. Specification: Delivery endpoint. */
const httpMethods: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'http/method-get',
    title: 'Rejects a notification sent by GET',
    ...withMethod('GET'),
    why: 'Caches and browsers repeat GET requests, and a route for every method lets them reach the handler.',
    fix: 'Register the handler for POST only, and answer 405 to other methods.',
  },
  {
    ...base,
    id: 'http/get-empty',
    title: 'Rejects a GET request without a body',
    change: { serialise: () => Buffer.alloc(0), address: by('GET') },
    why: 'If every request gets 200, a wrong URL looks like a working endpoint.',
    fix: 'Answer 404 or 405 to GET on this path, and use another path for health checks.',
  },
  {
    ...base,
    id: 'http/method-head',
    title: 'Rejects a notification sent by HEAD',
    ...withMethod('HEAD'),
    why:
      'Frameworks answer HEAD with the GET handler. With a handler for all methods, a link checker delivers ' +
      'notifications.',
    fix: 'Make sure that there is no catch-all route next to the one for POST.',
  },
  {
    ...base,
    id: 'http/method-put',
    title: 'Rejects a notification sent by PUT',
    ...withMethod('PUT'),
    why: 'The specification requires POST. A second method is an entry point that is not tested or monitored.',
    fix: 'Answer 405 with Allow: POST.',
  },
  {
    ...base,
    id: 'http/method-patch',
    title: 'Rejects a notification sent by PATCH',
    ...withMethod('PATCH'),
    why: 'Firewall rules and rate limits often cover POST only.',
    fix: 'Limit the route to POST in the framework and in the proxy.',
  },
  {
    ...base,
    id: 'http/method-delete',
    title: 'Rejects a notification sent by DELETE',
    ...withMethod('DELETE'),
    why: 'Many servers do not read the body of a DELETE, so they verify an empty body.',
    fix: 'Answer 405 before the body is read.',
  },
  {
    ...base,
    id: 'http/method-options',
    title: 'Handles an OPTIONS request',
    change: { address: by('OPTIONS') },
    expect: askedOrNotServed,
    why: 'Scanners and browsers send OPTIONS first. A handler that fails on it fills the log with errors.',
    fix: 'Let the framework answer OPTIONS, or answer 405.',
  },
  {
    ...base,
    id: 'http/method-unknown',
    title: 'Rejects an unknown method',
    change: { address: by('FROBNICATE') },
    why: 'A lookup of the handler by method returns undefined.',
    fix: 'Answer 405 or 501 to unknown methods. Most servers do so by default.',
  },
];

/** The delivery as an HTTP request: methods, headers, framing, concurrency. Specification: Delivery endpoint. */
export const httpSuite: Suite = {
  name: 'http',
  title: 'Other forms of HTTP requests are handled correctly',
  scenarios: [...httpHeaders, ...httpMethods, ...httpFraming, ...httpUnusual, ...httpHostile, httpTargets],
};
