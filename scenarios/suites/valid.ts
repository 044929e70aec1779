import { LIMITS } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import type { ObservationScenario, ProbeScenario, RunObservations, Suite } from '../scenario.ts';
import { counted } from './effects-audits.ts';
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

/** Returns the median. For an even number of values, this is the lower of the two middle ones. */
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
    const observed = `median ${seconds(middle)}, slowest ${slowest}, of ${answerTimesMs.length} answers`;
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

/**
 * Minimum number of valid deliveries that were accepted only when they were repeated, for a failure. If there were
 * fewer, the network may be the cause.
 */
const MIN_REPEATED = 3;

/** Counts how often each text occurs, and sorts the texts by frequency. */
function frequenciesOf(texts: readonly string[]): (readonly [text: string, times: number])[] {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return [...times].toSorted(([, one], [, other]) => other - one);
}

const steady: ObservationScenario = {
  id: 'valid/steady',
  title: 'Accepts the same valid delivery every time',
  defect: 'Rejects a valid delivery, but accepts it when it is sent again',
  level: 'must',
  requirements: ['delivery-200'],
  expected: '200 every time',
  observe: ({ failedControls, outages }: RunObservations) => {
    if (failedControls.length === 0) return { verdict: 'pass', observed: 'accepted every time', reason: '' };
    // Controls fail while a delivery has stopped the receiver. Another scenario reports this.
    const isStopped = outages.some(({ culprit }) => culprit !== null);
    const failed = isStopped ? failedControls.filter(({ isProbe }) => isProbe) : failedControls;
    if (failed.length === 0) return { verdict: 'pass', observed: 'accepted whenever the endpoint was up', reason: '' };
    const describe = (some: typeof failed) =>
      frequenciesOf(some.map((one) => one.observed))
        .map(([answer, times]) => `${answer}, ${counted(times, 'time')}`)
        .join('; ');
    // A control that failed twice is reported as an outage, or makes its scenario inconclusive.
    const passing = failed.filter(({ recovered }) => recovered);
    if (passing.length === 0) {
      const reason = 'the second attempt was not accepted either';
      return { verdict: 'inconclusive', observed: describe(failed), reason };
    }
    const observed = describe(passing);
    const places = [...new Set(passing.map(({ scenario }) => scenario))];
    const repeats = places.slice(0, 5);
    const seen = `${repeats.join(', ')}${places.length > 5 ? ` and ${places.length - 5} more` : ''}`;
    const [[outcome] = []] = frequenciesOf(passing.flatMap((one) => one.outcome ?? []));
    const reason = `intermittent ${observed}: a second attempt was accepted; seen in ${seen}`;
    return { verdict: passing.length >= MIN_REPEATED ? 'fail' : 'warn', observed, outcome, reason, repeats };
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
