import { fixedText, plain, withField } from '../changes/bodies.ts';
import { accepted, malformedBefore, refused } from '../expectations.ts';
import type { Change, Expectation, FlowScenario, ObservationScenario, RunObservations, Suite } from '../scenario.ts';
import { deliveryDuplicates, deliveryPoisoned } from './delivery-duplicates.ts';
import { deliveryOrder } from './delivery-order.ts';
import { family } from './family.ts';
import { composed, inSequence, otherSecret } from './flows.ts';
import { cashStep } from './valid-kinds.ts';

/** Sends a delivery, and immediately afterwards a valid one on the same connection. */
function before(label: string, change: Change, expect: Expectation): Pick<FlowScenario, 'alone' | 'flow'> {
  const flow = () => inSequence({ label, change, expect }, composed('a valid delivery after it', plain));
  return { alone: true, flow };
}

/**
 * Labels of deliveries on one kept connection. A server that handles one request per connection fails at the second.
 */
const KEPT = ['delivery 1', 'delivery 2', 'delivery 3'];

/** Checks whether a delivery leaves state on its connection. Specification: Delivery endpoint. */
const deliveryAfter = family(
  {
    suite: 'delivery',
    verb: 'Accepts',
    level: 'must',
    requirements: ['delivery-framing'],
    mistake: 'state-shared-by-requests',
  },
  {
    'after-broken': [
      'a valid delivery after broken JSON on the same connection',
      before('a broken body', { serialise: fixedText('{"id":"broken') }, malformedBefore),
      { requirements: ['delivery-malformed'] },
    ],
    'after-invalid': [
      'a valid delivery after invalid fields on the same connection',
      before(
        'a notification whose data is null',
        { compose: (kit) => withField(kit.notification(), 'data', null) },
        malformedBefore,
      ),
      { requirements: ['delivery-malformed'] },
    ],
    'after-long': [
      'a short delivery after a long one on the same connection',
      before(
        'a delivery of 9 kB',
        { compose: cashStep('BUY', 'COMPLETED', 'A long report of the kiosk. '.repeat(320)) },
        accepted,
      ),
    ],
    'after-forged': [
      'a valid delivery after a forged one on the same connection',
      before('a forged delivery', { sign: otherSecret }, refused),
      { needs: ['hmac'] },
    ],
  },
);

const keptConnection: FlowScenario = {
  id: 'delivery/kept-connection',
  title: 'Answers every delivery on a keep-alive connection, or announces that it closes the connection',
  defect: 'Closes keep-alive connections without an answer to the next delivery',
  level: 'must',
  requirements: ['delivery-framing'],
  alone: true,
  kept: true,
  flow: () => KEPT.map((delivery) => [composed(`${delivery} on the keep-alive connection`, plain)]),
  mistake: 'keep-alive-dropped',
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
    const recent = outages.flatMap((outage) => outage.recent ?? []);
    const one = recent.length === 1 ? 'the delivery' : `one of the ${recent.length} deliveries`;
    const late = recent.length === 0 ? '' : `; or because of work for ${one} answered in the second before`;
    if (culprits.length > 0) {
      return {
        verdict: 'fail',
        observed,
        outcome,
        reason: `the endpoint stopped answering because of ${culprits.join(', ')}${late}`,
        repeats: [...culprits, ...recent],
      };
    }
    const lost = outages.find(({ recovered, looksDead }) => recovered === false && looksDead);
    if (lost !== undefined) {
      // The endpoint is reachable, but answers with this status.
      if (/^\d{3}$/.test(lost.outcome ?? '')) {
        const reason = `${lost.sign}, which is longer than a rate limit lasts; earlier deliveries were accepted`;
        return { verdict: 'fail', observed, outcome: lost.outcome, reason };
      }
      const suspects = lost.inFlight.length === 0 ? 'nothing' : lost.inFlight.join(', ');
      return {
        verdict: 'fail',
        observed,
        outcome,
        reason: `the endpoint went down and stayed down (${lost.sign}); deliveries in flight: ${suspects}${late}`,
        repeats: [...lost.inFlight, ...recent],
      };
    }
    return {
      verdict: 'inconclusive',
      observed,
      reason: 'the endpoint was unavailable for a while, and no delivery was found to be the cause',
    };
  },
  mistake: 'uncaught-error',
  note: 'If one delivery is named, repeat it alone to find the error; otherwise run again with a concurrency of 1.',
};

/** Related deliveries: duplicates, order, flows. Specification: States and transitions; Events. */
export const deliverySuite: Suite = {
  name: 'delivery',
  title: 'Repeated, related and reordered deliveries are accepted',
  scenarios: [...deliveryDuplicates, ...deliveryOrder, ...deliveryPoisoned, ...deliveryAfter, keptConnection, staysUp],
};
