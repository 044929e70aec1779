import { fixedText } from '../changes/bytes.ts';
import { plain, withField } from '../changes/composing.ts';
import { signedWith } from '../changes/signing.ts';
import { accepted, handled, refused } from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, FlowScenario, ObservationScenario, RunObservations, Suite } from '../scenario.ts';
import { deliveryDuplicates, deliveryPoisoned } from './delivery-duplicates.ts';
import { deliveryOrder } from './delivery-order.ts';

const valid: Delivery = {
  label: 'a valid delivery after it',
  change: { compose: plain },
  expect: accepted,
};

/** A delivery, and then a valid one on the same connection, with nothing in between. */
const before = (label: string, change: Delivery['change'], expect: Delivery['expect']): FlowScenario['flow'] => {
  return () => [[{ label, change, expect }], [valid]];
};

const base = { level: 'must', requirements: ['delivery-framing'] } as const;

/** What a delivery leaves behind on its connection. Specification: Delivery endpoint. */
const deliveryAfter: readonly FlowScenario[] = [
  {
    ...base,
    id: 'delivery/after-broken',
    title: 'Accepts a right delivery after a broken one on the same connection',
    requirements: ['delivery-malformed'],
    flow: before('a broken body', { serialise: fixedText('{"id":"broken') }, handled),
    why: 'A parser that keeps its state with the connection reads the next body as the rest of the broken one.',
    fix: 'Make a new parser for every request.',
  },
  {
    ...base,
    id: 'delivery/after-invalid',
    title: 'Accepts a right delivery after one with invalid fields on the same connection',
    requirements: ['delivery-malformed'],
    flow: before(
      'a notification whose data is null',
      { compose: (kit) => withField(kit.notification(), 'data', null) },
      handled,
    ),
    why: 'Validators that keep the errors of their last run report them for the next delivery as well.',
    fix: 'Take the errors from the result of the call, and keep no validator with state between requests.',
  },
  {
    ...base,
    id: 'delivery/after-long',
    title: 'Accepts a short delivery after a long one on the same connection',
    flow: before(
      'a delivery of 9 kB',
      { compose: (kit) => tracking(kit, 'BUY', 'COMPLETED', 'A long report of the kiosk. '.repeat(320)) },
      accepted,
    ),
    why: 'A buffer that is used again and not cut to the length of the new body still ends with the old one.',
    fix: 'Hash and parse exactly the bytes of this request: the first n of the buffer, and not all of it.',
  },
  {
    ...base,
    id: 'delivery/after-forged',
    title: 'Accepts a right delivery after a forged one on the same connection',
    needs: ['hmac'],
    flow: before(
      'a forged delivery',
      { sign: signedWith('signed with another secret', (kit) => kit.bytes(32)) },
      refused,
    ),
    why: 'A proxy sends the deliveries of everybody over the same few connections: a refusal that sticks to one refuses the next sender.',
    fix: 'Judge every delivery by itself; keep no verdict with the connection.',
  },
];

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
