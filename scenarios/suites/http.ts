import type { Suite } from '../scenario.ts';
import { httpFraming } from './http-framing.ts';
import { httpHeaders } from './http-headers.ts';
import { httpHostile } from './http-hostile.ts';
import { httpMethods } from './http-methods.ts';
import { httpUnusual } from './http-unusual.ts';

/** The delivery as an HTTP request: methods, headers, framing, many at once. Specification: Delivery endpoint. */
export const httpSuite: Suite = {
  name: 'http',
  title: 'Deliveries in other HTTP dress are the same deliveries',
  scenarios: [...httpHeaders, ...httpMethods, ...httpFraming, ...httpUnusual, ...httpHostile],
};
