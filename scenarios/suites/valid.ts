import { LIMITS } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import type { ObservationScenario, ProbeScenario, RunObservations, Suite } from '../scenario.ts';
import { validKinds } from './valid-kinds.ts';
import { validOpen } from './valid-open.ts';
import { validOptional } from './valid-optional.ts';
import { validAmounts, validErrors } from './valid-values.ts';

const plainDelivery: ProbeScenario = {
  id: 'valid/plain',
  title: 'Answers a plain valid delivery with exactly 200',
  level: 'must',
  requirements: [
    'delivery-post',
    'delivery-200',
    'delivery-content-type',
    'delivery-no-redirect',
    'envelope-fields',
    'caas-buy',
  ],
  change: {},
  expect: accepted,
  why: 'Any other answer, a 202 or a redirect included, tells the sender that the notification was not accepted.',
  fix: 'Answer 200 yourself, at exactly the registered path, as soon as the notification is stored.',
};

/** The middle value; of an even number the lower one. */
function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 100 ? 3 : 1)} s`;
}

const answersInTime: ObservationScenario = {
  id: 'valid/answers-in-time',
  title: 'Answers plain valid deliveries quickly',
  level: 'must',
  requirements: ['delivery-in-time'],
  observe: ({ answerTimesMs }: RunObservations) => {
    const middle = median(answerTimesMs);
    if (middle === undefined) {
      return {
        verdict: 'inconclusive',
        observed: 'no accepted delivery',
        reason: 'no plain valid delivery was accepted, so there is no time to judge',
      };
    }
    const observed = `median ${seconds(middle)}, slowest ${seconds(Math.max(...answerTimesMs))}, of ${answerTimesMs.length}`;
    if (middle <= LIMITS.slowAnswerMs) return { verdict: 'pass', observed, reason: '' };
    const limit = seconds(LIMITS.slowAnswerMs);
    return {
      verdict: 'warn',
      observed,
      reason: `half of the answers took longer than ${limit}: close to the time limit of a sender`,
    };
  },
  why: 'A sender gives up on a slow answer and counts the delivery as failed, although the work was done.',
  fix: 'Store the notification, answer 200, and do the work afterwards in a queue or a background task.',
};

const steady: ObservationScenario = {
  id: 'valid/steady',
  title: 'Accepts the plain valid delivery every time',
  level: 'must',
  requirements: ['delivery-200'],
  observe: ({ failedControls, outages }: RunObservations) => {
    const [first] = failedControls;
    if (first === undefined) return { verdict: 'pass', observed: 'accepted every time', reason: '' };
    // A receiver that a delivery switches off refuses whatever comes before it is back. That is no chance, and has its own scenario.
    if (outages.some(({ culprit }) => culprit !== null)) {
      return { verdict: 'pass', observed: 'accepted whenever the endpoint was up', reason: '' };
    }
    const observed = `not accepted at first ${failedControls.length} times, for example: ${first.observed}`;
    // What was refused twice is an outage or a refused control, and is judged there.
    const passing = failedControls.filter(({ again }) => again);
    if (passing.length === 0)
      return { verdict: 'inconclusive', observed, reason: 'the second try was refused as well' };
    const places = [...new Set(passing.map(({ scenario }) => scenario))];
    const more = places.length > 5 ? ` and ${places.length - 5} more` : '';
    return {
      verdict: 'warn',
      observed,
      reason: `a second try was accepted, so it comes and goes; seen at ${places.slice(0, 5).join(', ')}${more}`,
    };
  },
  why: 'A receiver that refuses one right delivery in a hundred loses one order in a hundred, and nobody can reproduce it.',
  fix: 'Look at the log for the times of these refusals: pools that run out, one bad instance of several, restarts.',
};

/** What the sender sends on good days. Specification: Resources and their fields; Events; Errors. */
export const validSuite: Suite = {
  name: 'valid',
  title: 'Every valid notification is accepted',
  scenarios: [
    plainDelivery,
    ...validKinds,
    ...validOptional,
    ...validErrors,
    ...validOpen,
    ...validAmounts,
    answersInTime,
    steady,
  ],
};
