import { fixedText, plain, withField } from '../changes/bodies.ts';
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

/** A delivery and then a valid one on the same connection, with nothing in between. */
const before = (label: string, change: Delivery['change'], expect: Delivery['expect']): FlowScenario['flow'] => {
  return () => [[{ label, change, expect }], [valid]];
};

const base = { level: 'must', requirements: ['delivery-framing'], alone: true } as const;

/** State that a delivery leaves on its connection. Specification: Delivery endpoint. */
const deliveryAfter: readonly FlowScenario[] = [
  {
    ...base,
    id: 'delivery/after-broken',
    title: 'Accepts a valid delivery after broken JSON on the same connection',
    requirements: ['delivery-malformed'],
    flow: before('a broken body', { serialise: fixedText('{"id":"broken') }, handled),
    why: 'A parser with per-connection state reads the next body as the rest of the broken one.',
    fix: 'Create a new parser for every request.',
  },
  {
    ...base,
    id: 'delivery/after-invalid',
    title: 'Accepts a valid delivery after invalid fields on the same connection',
    requirements: ['delivery-malformed'],
    flow: before(
      'a notification whose data is null',
      { compose: (kit) => withField(kit.notification(), 'data', null) },
      handled,
    ),
    why: 'Validators that keep the errors of their last run report them for the next delivery.',
    fix: 'Take the errors from the result of the call, and keep no validator state between requests.',
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
    why: 'A reused buffer that is not cut to the new length still ends with the old body.',
    fix: 'Hash and parse exactly the bytes of this request, not the whole buffer.',
  },
  {
    ...base,
    id: 'delivery/after-forged',
    title: 'Accepts a valid delivery after a forged one on the same connection',
    needs: ['hmac'],
    flow: before(
      'a forged delivery',
      { sign: signedWith('signed with a different secret', (kit) => kit.bytes(32)) },
      refused,
    ),
    why:
      'A proxy shares connections between senders, so a rejection that sticks to the connection affects other ' +
      'senders.',
    fix: 'Verify every delivery independently, and store no result with the connection.',
  },
];

/** Deliveries on one kept connection. A server that handles one request per connection fails at the second. */
const KEPT = 3;

const keptConnection: FlowScenario = {
  ...base,
  id: 'delivery/kept-connection',
  title: 'Answers every delivery on a keep-alive connection, or announces that it closes the connection',
  defect: 'Closes keep-alive connections without an answer to the next delivery',
  kept: true,
  flow: () =>
    Array.from({ length: KEPT }, (_, at) => [
      { label: `delivery ${at + 1} on the keep-alive connection`, change: { compose: plain }, expect: accepted },
    ]),
  why: 'The sender reuses connections, and cannot know whether a notification without an answer was processed.',
  fix: 'Serve every request on a connection, or send `Connection: close` with the last answer.',
};

const staysUp: ObservationScenario = {
  id: 'delivery/stays-up',
  title: 'Stays available during the whole run',
  defect: 'Becomes unavailable during the run',
  level: 'must',
  requirements: ['delivery-malformed'],
  observe: ({ outages }: RunObservations) => {
    const [first] = outages;
    if (first === undefined) return { verdict: 'pass', observed: 'no outage', reason: '' };
    const observed =
      outages.length === 1 ? `1 outage: ${first.sign}` : `${outages.length} outages, the first: ${first.sign}`;
    const { outcome } = first;
    const culprits = [...new Set(outages.flatMap(({ culprit }) => (culprit === null ? [] : [culprit])))];
    if (culprits.length > 0) {
      return {
        verdict: 'fail',
        observed,
        outcome,
        reason: `the endpoint stopped answering because of ${culprits.join(', ')}`,
      };
    }
    const lost = outages.find(({ recovered, looksDead }) => recovered === false && looksDead);
    if (lost !== undefined) {
      // The endpoint is up, and answers with this status.
      if (/^\d{3}$/.test(lost.outcome ?? '')) {
        const reason = `${lost.sign}, which is longer than a rate limit lasts; earlier ones were accepted`;
        return { verdict: 'fail', observed, outcome: lost.outcome, reason };
      }
      const suspects = lost.inFlight.length === 0 ? 'nothing' : lost.inFlight.join(', ');
      return {
        verdict: 'fail',
        observed,
        outcome,
        reason: `the endpoint went down and stayed down (${lost.sign}); in flight were: ${suspects}`,
      };
    }
    return {
      verdict: 'inconclusive',
      observed,
      reason: 'the endpoint was away for a while, and no delivery was found to be the cause',
    };
  },
  why: 'A receiver that one delivery can stop loses every notification until it is restarted.',
  fix: 'Repeat the named delivery alone, find the uncaught error, and let the framework answer it.',
};

/** Related deliveries: copies, order, flows. Specification: States and transitions; Events. */
export const deliverySuite: Suite = {
  name: 'delivery',
  title: 'Repeated, related and reordered deliveries are accepted',
  scenarios: [...deliveryDuplicates, ...deliveryOrder, ...deliveryPoisoned, ...deliveryAfter, keptConnection, staysUp],
};
