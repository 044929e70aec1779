import { LIMITS } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import type { ObservationScenario, ProbeScenario, RunObservations, Suite } from '../scenario.ts';
import { validKinds } from './valid-kinds.ts';
import { validNetworks, validTexts } from './valid-networks.ts';
import { validOpen } from './valid-open.ts';
import { validOptional } from './valid-optional.ts';
import { validAmounts, validErrors } from './valid-values.ts';

const plainDelivery: ProbeScenario = {
  id: 'valid/plain',
  title: 'Answers a plain valid delivery with 200',
  defect: 'Does not answer a plain valid delivery with 200',
  level: 'must',
  requirements: [
    'delivery-post',
    'delivery-200',
    'delivery-content-type',
    'delivery-custom-headers',
    'delivery-no-redirect',
    'envelope-fields',
    'caas-buy',
  ],
  change: {},
  expect: accepted,
  mistake: 'plain-delivery-rejected',
};

/** The middle value. For an even number of values, the lower one. */
function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 100 ? 3 : 1)} s`;
}

const answersInTime: ObservationScenario = {
  id: 'valid/answers-in-time',
  title: 'Answers valid deliveries within five seconds',
  defect: 'Takes longer than five seconds for half of the valid deliveries',
  level: 'must',
  requirements: ['delivery-in-time'],
  observe: ({ answerTimesMs }: RunObservations) => {
    const middle = median(answerTimesMs);
    if (middle === undefined) {
      return {
        verdict: 'inconclusive',
        observed: 'no accepted delivery',
        reason: 'no plain valid delivery was accepted',
      };
    }
    const slowest = seconds(Math.max(...answerTimesMs));
    const observed = `median ${seconds(middle)}, slowest ${slowest}, of ${answerTimesMs.length}`;
    if (middle <= LIMITS.slowAnswerMs) return { verdict: 'pass', observed, reason: '' };
    const limit = seconds(LIMITS.slowAnswerMs);
    return {
      verdict: 'warn',
      observed,
      reason: `half of the answers took longer than ${limit}, which is close to the timeout of a sender`,
    };
  },
  mistake: 'intermittent-failures',
};

/** This many valid deliveries without an answer are a failure; fewer may be the network. */
const MAX_SILENT = 3;

const steady: ObservationScenario = {
  id: 'valid/steady',
  title: 'Accepts the same valid delivery every time',
  defect: 'Rejects some plain valid deliveries and accepts others',
  level: 'must',
  requirements: ['delivery-200'],
  observe: ({ failedControls, outages }: RunObservations) => {
    const [first] = failedControls;
    if (first === undefined) return { verdict: 'pass', observed: 'accepted every time', reason: '' };
    // While a delivery has stopped the receiver, controls fail. Another scenario reports that.
    if (outages.some(({ culprit }) => culprit !== null)) {
      return { verdict: 'pass', observed: 'accepted whenever the endpoint was up', reason: '' };
    }
    const times = failedControls.length === 1 ? '1 time' : `${failedControls.length} times`;
    const observed = `not accepted at the first attempt ${times}, for example: ${first.observed}`;
    // A control that failed twice is an outage or makes its scenario inconclusive.
    const passing = failedControls.filter(({ recovered }) => recovered);
    if (passing.length === 0)
      return { verdict: 'inconclusive', observed, reason: 'the second attempt was not accepted either' };
    const places = [...new Set(passing.map(({ scenario }) => scenario))];
    const seen = `${places.slice(0, 5).join(', ')}${places.length > 5 ? ` and ${places.length - 5} more` : ''}`;
    const silent = passing.filter(({ outcome }) => outcome === 'silence').length;
    if (silent >= MAX_SILENT) {
      const reason = `${silent} plain valid deliveries got no answer until the second attempt; seen in ${seen}`;
      return { verdict: 'fail', observed, outcome: 'silence', reason };
    }
    return {
      verdict: 'warn',
      observed,
      outcome: first.outcome,
      reason: `a second attempt was accepted, so the failure is intermittent; seen in ${seen}`,
    };
  },
  mistake: 'intermittent-failures',
};

/** Everything that the sender sends. Specification: Resources and their fields; Events; Errors. */
export const validSuite: Suite = {
  name: 'valid',
  title: 'Every valid notification is accepted',
  scenarios: [
    plainDelivery,
    ...validKinds,
    ...validOptional,
    ...validErrors,
    ...validNetworks,
    ...validOpen,
    ...validTexts,
    ...validAmounts,
    answersInTime,
    steady,
  ],
};
