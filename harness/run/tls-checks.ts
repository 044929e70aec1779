/** The part of a run that looks at TLS itself: what the endpoint serves, and the handshakes that it takes. */

import { performance } from 'node:perf_hooks';
import { type TlsVersion, tlsVersionName } from '../../contract/index.ts';
import type { ChainScenario, HandshakeScenario } from '../../scenarios/index.ts';
import { type HandshakeEvidence, isAnswered, judgeChain, judgeHandshake } from '../judge/index.ts';
import {
  type ClientFixtures,
  controlOffer,
  createIdentities,
  type HelloOutcome,
  inspectTls,
  matchHello,
  probeHello,
  type TlsInspection,
} from '../probe/index.ts';
import type { ResultDocument, ScenarioResult } from '../report/result-document.ts';
import type { RunContext } from './context.ts';
import type { PlannedScenario } from './plan.ts';
import { resultOfChain, resultOfHandshake } from './results.ts';
import { isSending, versionOf } from './trial.ts';

interface ChainPlan extends PlannedScenario {
  readonly scenario: ChainScenario;
}

type TlsPlan = HandshakePlan | ChainPlan;

export function isOfTls(planned: PlannedScenario): planned is TlsPlan {
  return isHandshake(planned) || 'chain' in planned.scenario;
}

/** Inspects an HTTPS endpoint, and readies what the run presents to it as client certificates. Null for plain HTTP. */
export async function inspectWhenNeeded(
  context: RunContext,
  applicable: readonly PlannedScenario[],
  fixtures: ClientFixtures,
): Promise<TlsInspection | null> {
  const { partner, limits, now, signal } = context;
  if (applicable.length === 0 || !partner.url.startsWith('https:')) return null;
  const timeoutMs = Math.min(limits.timeoutMs, HELLO_TIMEOUT_MS);
  const inspection = await inspectTls(partner, { timeoutMs, now, signal });
  context.identities = createIdentities(partner, fixtures, inspection.privateAuthority);
  return inspection;
}

/** Judges the certificates and the handshakes. */
export async function judgeTls(
  context: RunContext,
  planned: readonly TlsPlan[],
  inspection: TlsInspection,
  report: (result: ScenarioResult) => void,
): Promise<void> {
  const problem = inspection.served.error?.message ?? 'the endpoint sent none';
  for (const plan of planned) {
    if (isHandshake(plan)) continue;
    const { level, chain } = plan.scenario;
    report(resultOfChain(context, plan, judgeChain(level, chain, inspection.analysis, problem)));
  }
  await runHandshakes(context, planned.filter(isHandshake), inspection, report);
}

/** Names the version that a scenario is about and that the endpoint does not speak, or null. */
export function unspokenVersion(planned: PlannedScenario, { versions }: TlsInspection): string | null {
  const version = versionNeeded(planned);
  if (version === undefined || versions.some((spoken) => spoken === version) || versions.length === 0) return null;
  return `the endpoint does not speak ${tlsVersionName(version)}`;
}

function versionNeeded(planned: PlannedScenario): TlsVersion | undefined {
  if (isHandshake(planned))
    return planned.scenario.onlyWhereSpoken === true ? planned.scenario.hello.version : undefined;
  return isSending(planned) ? versionOf(planned.scenario) : undefined;
}

/** What the result document says of the connection. */
export function describeTls({ served, analysis, versions }: TlsInspection): ResultDocument['target']['tls'] {
  return {
    protocol: served.negotiated?.version ?? null,
    cipher: served.negotiated?.cipher ?? null,
    versions: [...versions],
    trustedBy: analysis?.anchor ?? null,
    clientCertificateRequested: served.clientCertificateRequested,
    clientAuthorities: [...served.authorities],
    chain: (analysis?.certificates ?? []).map(
      ({ role, subject, issuer, notBefore, notAfter, key, signature, fingerprint }) => ({
        role,
        subject,
        issuer,
        notBefore,
        notAfter,
        key: [key.kind, key.curve ?? key.bits].filter((part) => part !== null).join(' '),
        signature,
        fingerprint,
      }),
    ),
  };
}

/** Runs the scenarios of the TLS handshake. They need no delivery, so they are judged even where none is accepted. */

interface HandshakePlan extends PlannedScenario {
  readonly scenario: HandshakeScenario;
}

export function isHandshake(planned: PlannedScenario): planned is HandshakePlan {
  return 'hello' in planned.scenario;
}

/** Handshakes at the same time. They cost the endpoint little, and each has its own control before and after it. */
const SIDE_BY_SIDE = 4;

/** The longest wait for an answer to a hello, in milliseconds: it needs one round trip and no work. */
const HELLO_TIMEOUT_MS = 3000;

/** Judges each; the control after one is the control before the next. Reports as they come. */
async function runHandshakes(
  context: RunContext,
  plans: readonly HandshakePlan[],
  { endpoint, hellos, versions }: TlsInspection,
  report: (result: ScenarioResult) => void,
): Promise<void> {
  const version = versions[0] ?? 'TLSv1.2';
  const limits = { timeoutMs: Math.min(context.limits.timeoutMs, HELLO_TIMEOUT_MS), signal: context.signal };
  const control = () => probeHello(endpoint, controlOffer(version), limits);
  const queue = [...plans];

  async function work(): Promise<void> {
    let before: HelloOutcome = hellos[version];
    for (let planned = queue.shift(); planned !== undefined; planned = queue.shift()) {
      if (context.signal.aborted || context.stopped !== null) return;
      const started = performance.now();
      const { hello, expect, level } = planned.scenario;
      const evidence: HandshakeEvidence | null = !isAnswered(before)
        ? { before, probe: before, after: before }
        : await probeBetween(
            before,
            () => probeHello(endpoint, hello, limits),
            control,
            (outcome) => {
              const match = matchHello(outcome, hello);
              return match === 'closed' || match === 'none' || match === null;
            },
          );
      if (context.signal.aborted) return;
      before = evidence.after;
      const judgement = judgeHandshake(level, hello, expect, evidence);
      report(resultOfHandshake(context, planned, judgement, performance.now() - started));
    }
  }
  await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, context.limits.concurrency, plans.length) }, work));
}

/** The probe once, and once more when its outcome could be chance: a close, a reset, silence. The second one counts. */
async function probeBetween(
  before: HelloOutcome,
  probe: () => Promise<HelloOutcome>,
  control: () => Promise<HelloOutcome>,
  isUnclear: (outcome: HelloOutcome) => boolean,
): Promise<HandshakeEvidence> {
  const first = await probe();
  const after = await control();
  if (!isUnclear(first)) return { before, probe: first, after };
  const second = await probe();
  return { before: after, probe: second, after: await control() };
}
