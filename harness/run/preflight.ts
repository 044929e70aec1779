/** The first delivery. Without an accepted one nothing else that is delivered can prove anything, so nothing else is sent. */
import {
  explainCertificates,
  explainClientCertificate,
  explainGate,
  explainRefusal,
  type Finding,
  type Gate,
} from '../diagnose/index.ts';
import { describeAttempt, isAccepted } from '../judge/index.ts';
import type { TlsInspection } from '../probe/index.ts';
import type { RunContext } from './context.ts';
import { createKit } from './kit.ts';
import type { Lane } from './lanes.ts';
import { type Shipment, shipControl, shipProbe } from './send.ts';
import type { SendingPlan, Trial } from './trial.ts';

/** How much more patience the second delivery has: enough to tell "too late" from "never". */
const SECOND_LOOK = { timeout: 2, bodyCapBytes: 4 * 1024 * 1024 };

/** The scenario whose failure is what the report has to say about an endpoint that accepts nothing. */
export const GATE_SCENARIO = 'valid/plain';

interface OpenedGate extends Gate {
  readonly shipment: Shipment;
  readonly open: boolean;
}

export async function openGate(context: RunContext, lane: Lane): Promise<OpenedGate> {
  const shipment = await shipControl(context, lane, 'the first delivery');
  const first = shipment.attempt;
  if (isAccepted(first) && first.answer?.truncated !== true) return { first, second: null, shipment, open: true };
  const timeoutMs = context.limits.timeoutMs * (first.error?.kind === 'timeout' ? SECOND_LOOK.timeout : 1);
  const again = await shipControl(context, lane, 'the first delivery again', {
    fresh: true,
    timeoutMs,
    bodyCapBytes: SECOND_LOOK.bodyCapBytes,
  });
  const second = again.attempt;
  // A long answer is odd but ends; an endless one is still going on after the second look.
  const open = isAccepted(second) && second.answer?.truncated !== true && first.error?.kind !== 'timeout';
  if (open && !isAccepted(first))
    context.seen.failedControls.push({ scenario: GATE_SCENARIO, observed: describeAttempt(first), again: true });
  return { first, second, shipment: open ? again : shipment, open };
}

/** Why nothing else is judged, in a sentence. */
export function gateReason({ first, second }: Gate, finding: Finding | null): string {
  const got = first.answer?.status === 200 && second !== null ? describeAttempt(second) : describeAttempt(first);
  const why = finding === null ? '' : `: ${finding.title.replace(/^[A-Z](?![A-Z])/, (first) => first.toLowerCase())}`;
  return `the plain valid delivery was not accepted (${got.replace(/\.$/, '')})${why}`;
}

/** The diagnosis of a gate that stayed shut; wrong encodings are tried when the credentials were refused. */
export async function diagnoseGate(
  context: RunContext,
  lane: Lane,
  gate: Gate,
  inspection: TlsInspection | null,
): Promise<Finding | null> {
  if (inspection !== null) {
    const presented = context.partner.tls?.clientCert !== undefined;
    const requested = inspection.served.clientCertificateRequested;
    const found = explainClientCertificate(gate.first, { presented, requested });
    if (found !== null) return found;
  }
  const status = gate.first.answer?.status;
  if (status === 401 || status === 403 || status === 400) {
    const kit = createKit(context.partner, context.seed, 'diagnosis', context.now, context.onSignature);
    const send = async (change: Parameters<typeof shipProbe>[2]['change']) => {
      const authentic = change.sign === undefined;
      const expect = { text: 'any', authentic, pass: [] };
      return (await shipProbe(context, lane, { label: 'diagnosis', change, expect }, kit)).attempt;
    };
    const found = await explainRefusal(context.partner, send, () => context.signal.aborted);
    if (found !== null) return found;
  }
  if (gate.first.error?.kind === 'tls-untrusted' && inspection?.analysis != null) {
    const found = explainCertificates(inspection.analysis);
    if (found !== null) return found;
  }
  return explainGate(gate, context.partner.signing !== undefined || context.partner.apiKey !== undefined);
}

const ENDLESS_ANSWER = {
  kind: 'timeout',
  phase: 'answer',
  code: 'HOOKPROOF_ENDLESS_ANSWER',
  message: 'the body of the answer does not end',
} as const;

/** The trial of the scenario that stands for the gate itself. */
export function gateTrial(planned: SendingPlan, gate: OpenedGate): Trial {
  const { shipment } = gate;
  const endless = gate.first.answer?.status === 200 && gate.second !== null;
  const attempt = endless ? { ...gate.first, answer: null, error: ENDLESS_ANSWER } : gate.first;
  const expect = 'expect' in planned.scenario ? planned.scenario.expect : { text: '200', authentic: true, pass: [200] };
  const accepted = {
    ...gate.first,
    error: null,
    answer: { status: 200, reasonPhrase: 'OK', headers: [], body: new Uint8Array(), truncated: false },
  };
  const probe = { label: 'the first delivery', expect, attempt, leaks: shipment.leaks, probeFault: shipment.fault };
  return {
    planned,
    shipments: [{ ...shipment, role: 'probe' }],
    // Nothing can stand before the first delivery: it is its own control, so the judge is handed accepted ones.
    evidence: { before: accepted, probes: [probe], after: accepted, killed: null, uniform: false },
    startMs: 0,
    endMs: gate.first.timings.totalMs,
    outage: null,
  };
}
