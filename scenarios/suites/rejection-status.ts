/** The status with which an endpoint rejects invalid credentials. Specification: Delivery endpoint (Response). */
import type { RequirementId } from '../requirements.ts';
import type { Feature, Observation, ObservationScenario, RunObservations } from '../scenario.ts';

const NAMES = { signature: 'an invalid or missing signature', 'api-key': 'an invalid or missing API key' } as const;
const MISSING_NAMES = { signature: 'no signature', 'api-key': 'no API key' } as const;

/**
 * The only check that reports an endpoint that rejects all forgeries, or those without a credential, with a status
 * other than 401. All other checks are then judged only by whether a delivery was accepted or rejected.
 */
export function statusOfRejections(
  credential: keyof typeof NAMES,
  requirement: RequirementId,
  feature: Feature,
): ObservationScenario {
  const name = NAMES[credential];
  return {
    id: `${credential}/status`,
    title: `Rejects ${name} with status 401`,
    defect: `Rejects ${name} with a status other than 401`,
    level: 'must',
    requirements: [requirement],
    needs: [feature],
    expected: '401',
    observe: ({ rejections = [] }) => observe(rejections, credential),
    mistake: 'wrong-refusal-status',
  };
}

function observe(all: NonNullable<RunObservations['rejections']>, credential: keyof typeof NAMES): Observation {
  const rejections = all.filter((one) => one.credential === credential);
  const total = rejections.reduce((sum, { deliveries }) => sum + deliveries, 0);
  const usual = rejections.filter(({ isUsual }) => isUsual);
  // If other forgeries get 401, only missing credentials get another status.
  const [wrong] = usual.filter(({ isMissing, status }) => !isMissing && status !== 401);
  const [first = usual[0]] = wrong === undefined ? usual.filter(({ status }) => status !== 401) : [wrong];
  if (first === undefined) {
    const reason = total === 0 ? 'no forged delivery was rejected' : 'the plain forgeries were not rejected';
    return { verdict: 'inconclusive', observed: total === 0 ? 'no rejection' : 'only other rejections', reason };
  }
  const observed = `${first.status}`;
  if (first.status === 401) return { verdict: 'pass', observed, reason: '' };
  const count = usual
    .filter(({ status }) => status === first.status)
    .reduce((sum, { deliveries }) => sum + deliveries, 0);
  const name = wrong === undefined ? MISSING_NAMES[credential] : NAMES[credential];
  const reason = `answered ${first.status} to ${count} of ${total} rejected deliveries with ${name}, expected 401`;
  return { verdict: 'fail', observed, outcome: wrong === undefined ? `missing-${observed}` : observed, reason };
}
