/**
 * The preflight: the first delivery of a run. Unless it is accepted, no other delivery allows a conclusion, so no check
 * is sent.
 */

import {
  configuredCredentials,
  explainCertificates,
  explainClientCertificate,
  explainPreflight,
  type Finding,
  hasEnded,
  type PreflightAttempts,
  TLS_ON_PORT,
} from '../diagnose/index.ts';
import { describeAttempt, isAccepted, PREFLIGHT_SCENARIO } from '../judge/index.ts';
import { controlOffer, helloEndpoint, matchHello, probeHello, type TlsInspection } from '../probe/index.ts';
import { endpointOf } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import { examineRefusal, examineSilence, type Opening, withFinding } from './examine-refusal.ts';
import type { Stop } from './facts.ts';
import type { Lane, LanePool } from './lane.ts';
import type { SendingPlan } from './plan.ts';
import { pauseFor, recordFailedControl, type SentDelivery, sendControl } from './send.ts';
import type { Trial } from './trial.ts';

/** Factor for the time limit of the second delivery. It is enough to distinguish a late answer from a missing one. */
const SECOND_TIMEOUT_FACTOR = 2;
const SECOND_BODY_CAP_BYTES = 4 * 1024 * 1024;
/** Pauses before further deliveries if connections are closed. A process that is ending still accepts connections. */
const ENDING_PAUSES_MS = [50, 200, 750];

export interface Preflight extends PreflightAttempts {
  readonly delivery: SentDelivery;
  readonly passed: boolean;
}

/**
 * Returns whether a signature contains both characters that receivers often decode incorrectly. A receiver that decodes
 * the header like a form, or with another Base64 alphabet, rejects about half of all signatures. It rejects every
 * signature of this kind, so the preflight finds the fault and no control fails at random.
 */
const hasEveryBase64Character = (signature: string) => signature.includes('+') && signature.includes('/');

/**
 * Sends the plain valid delivery. If it is not accepted, sends a second one, with more time if the first got no answer.
 */
export async function runPreflight(context: RunContext, lane: Lane): Promise<Preflight> {
  const delivery = await sendControl(context, lane, 'the first delivery', { suits: hasEveryBase64Character });
  const first = delivery.attempt;
  if (isAccepted(first) && first.answer?.truncated !== true) return { first, second: null, delivery, passed: true };
  const isSilent = first.error?.kind === 'timeout';
  const sendAgain = () =>
    sendControl(context, lane, 'the first delivery, second try', {
      fresh: true,
      suits: hasEveryBase64Character,
      timeoutMs: context.limits.timeoutMs * (isSilent ? SECOND_TIMEOUT_FACTOR : 1),
      bodyCapBytes: SECOND_BODY_CAP_BYTES,
    });
  let again = await sendAgain();
  for (const pauseMs of ENDING_PAUSES_MS) {
    if (first.error?.kind !== 'reset' || again.attempt.error?.kind !== 'reset') break;
    await pauseFor(context, pauseMs);
    again = await sendAgain();
  }
  const second = again.attempt;
  const isLate = isSilent && second.timings.totalMs >= context.limits.timeoutMs;
  // A long answer is unusual, but it ends. An endless answer has not ended after the second delivery either.
  const passed = isAccepted(second) && second.answer?.truncated !== true && !isLate;
  if (passed && !isAccepted(first)) recordFailedControl(context, PREFLIGHT_SCENARIO, { control: again, failed: first });
  return { first, second, delivery: passed ? again : delivery, passed };
}

/** Determines why the preflight failed, or what the endpoint accepts instead. */
export async function diagnosePreflight(
  context: RunContext,
  lanes: LanePool,
  preflight: Preflight,
  inspection: TlsInspection | null,
): Promise<Opening> {
  const { partner } = context;
  const { answer, error } = preflight.first;
  if (hasEnded(preflight)) return withFinding(explainPreflight(preflight));
  if (inspection !== null) {
    const presented = partner.tls?.clientCert !== undefined;
    const requested = inspection.served.clientCertificateRequested;
    const found = explainClientCertificate(preflight.first, { presented, requested });
    if (found !== null) return withFinding(found);
  }
  // nginx, Apache and Go answer plain HTTP on a TLS port with 400.
  const mayBeTls = error?.kind === 'reset' || error?.kind === 'invalid-http' || answer?.status === 400;
  if (mayBeTls && !endpointOf(partner.url).secure && (await speaksTls(context))) return withFinding(TLS_ON_PORT);
  // A 405 concerns the path, and a 429 the rate of deliveries.
  if (answer !== null && answer.status >= 300 && answer.status !== 405 && answer.status !== 429) {
    return examineRefusal(context, lanes, preflight);
  }
  if (error?.kind === 'tls-untrusted' && inspection?.analysis != null) {
    const found = explainCertificates(inspection.analysis);
    if (found !== null) return withFinding(found);
  }
  if (error?.kind === 'timeout') return examineSilence(context, lanes.at(0), preflight);
  return withFinding(explainPreflight(preflight, configuredCredentials(partner)));
}

async function speaksTls({ partner, limits, signal }: RunContext): Promise<boolean> {
  const offer = controlOffer('TLSv1.2');
  const outcome = await probeHello(helloEndpoint(partner), offer, { timeoutMs: limits.timeoutMs, signal });
  return outcome.kind === 'alert' || matchHello(outcome, offer) === 'granted';
}

/** Returns why the run sends nothing after a failed preflight. */
export function stopAfterPreflight({ first, second, passed }: Preflight, finding: Finding | null): Stop {
  if (passed && finding !== null) return { code: 'preflight-failed', reason: finding.title };
  const got = isAccepted(first) && second !== null ? describeAttempt(second) : describeAttempt(first);
  const why = finding === null ? '' : `: ${finding.title.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())}`;
  // Without an answer, the finding already contains the transport error.
  const seen = first.answer === null && finding !== null ? '' : ` (${got})`;
  return {
    code: 'preflight-failed',
    reason: `the plain valid delivery was not accepted${seen}${why}`,
  };
}

const ENDLESS_ANSWER = {
  kind: 'timeout',
  phase: 'answer',
  code: 'HOOKPROOF_ENDLESS_ANSWER',
  message: 'the body of the answer does not end',
} as const;

/** Returns the preflight as a trial of its scenario. */
export function trialOfPreflight(planned: SendingPlan, { first, second, delivery, passed }: Preflight): Trial {
  const isEndless = !passed && isAccepted(first) && second !== null;
  const attempt = isEndless ? { ...first, answer: null, error: ENDLESS_ANSWER } : passed ? delivery.attempt : first;
  return trialOf(planned, { ...delivery, label: 'the first delivery' }, attempt);
}

/**
 * Returns one of the first deliveries as a trial of its scenario. There are no controls, so the judge gets accepted
 * ones.
 */
export function trialOf(planned: SendingPlan, sent: SentDelivery, attempt = sent.attempt): Trial {
  const expect = 'expect' in planned.scenario ? planned.scenario.expect : { text: '200', authentic: true, pass: [200] };
  const accepted = {
    ...attempt,
    error: null,
    answer: { status: 200, reasonPhrase: 'OK', headers: [], body: new Uint8Array(), truncated: false },
  };
  return {
    planned,
    deliveries: [{ ...sent, role: 'probe' }],
    before: accepted,
    probes: [{ ...sent, attempt, expect }],
    after: accepted,
    killed: null,
    uniform: null,
    cutShort: false,
    startMs: 0,
    endMs: attempt.timings.totalMs,
    outage: null,
  };
}
