import type { ObservationScenario, RunObservations, Suite } from '../scenario.ts';
import { deliveryAfter } from './delivery-after.ts';
import { deliveryDuplicates } from './delivery-duplicates.ts';
import { deliveryOrder } from './delivery-order.ts';
import { deliveryPoisoned } from './delivery-poisoned.ts';

/**
 * A refused or reset connection is what a process that has ended looks like, and one that hangs takes requests without an answer; no
 * connection at all may as well be the network. An answer comes from the endpoint itself, but for those that a gateway or a limit gives.
 */
const LOOKS_DEAD = /refused|reset|closed|hang ?up|exit|took the request|delivery got (?!429|502|503|504)/i;

const staysUp: ObservationScenario = {
  id: 'delivery/stays-up',
  title: 'Stays up during the whole run',
  level: 'must',
  requirements: ['delivery-malformed'],
  observe: ({ outages }: RunObservations) => {
    const [first] = outages;
    if (first === undefined) return { verdict: 'pass', observed: 'no outage', reason: '' };
    const observed =
      outages.length === 1 ? `1 outage: ${first.sign}` : `${outages.length} outages, the first: ${first.sign}`;
    const culprits = [...new Set(outages.flatMap(({ culprit }) => (culprit === null ? [] : [culprit])))];
    if (culprits.length > 0) {
      return { verdict: 'fail', observed, reason: `the endpoint stopped answering because of ${culprits.join(', ')}` };
    }
    const lost = outages.find(({ recovered, sign }) => !recovered && LOOKS_DEAD.test(sign));
    if (lost !== undefined) {
      const suspects = lost.inFlight.length === 0 ? 'nothing' : lost.inFlight.join(', ');
      return {
        verdict: 'fail',
        observed,
        reason: `the endpoint went down and stayed down (${lost.sign}); in flight were: ${suspects}`,
      };
    }
    return {
      verdict: 'inconclusive',
      observed,
      reason: 'the endpoint was away for a while, and no delivery was found to be the cause',
    };
  },
  why: 'A receiver that one delivery can switch off loses every notification until somebody restarts it.',
  fix: 'Repeat the delivery that is named alone, find the error that nobody catches, and let the framework answer for it.',
};

/** Deliveries in relation to one another: copies, order, flows. Specification: States and transitions; Events. */
export const deliverySuite: Suite = {
  name: 'delivery',
  title: 'Repeated, related and reordered deliveries are accepted',
  scenarios: [...deliveryDuplicates, ...deliveryOrder, ...deliveryPoisoned, ...deliveryAfter, staysUp],
};
