/** The TLS checks of a run: certificates and handshakes. They are judged even if the endpoint accepts no delivery. */

import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type TlsVersion, tlsVersionName } from '../../contract/index.ts';
import type { ChainScenario, HandshakeScenario } from '../../scenarios/index.ts';
import { type HandshakeEvidence, isAnswered, judgeChain, judgeHandshake } from '../judge/index.ts';
import {
  type ClientFixtures,
  controlOffer,
  createIdentities,
  type HelloOutcome,
  type Identities,
  inspectTls,
  matchHello,
  probeHello,
  type TlsInspection,
} from '../probe/index.ts';
import type { ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { isOver, type RunContext } from './context.ts';
import { isSending, type PlannedScenario, versionOf } from './plan.ts';
import { resultOfChain, resultOfHandshake } from './results.ts';

type HandshakePlan = PlannedScenario<HandshakeScenario>;
type ChainPlan = PlannedScenario<ChainScenario>;

export function isHandshake(planned: PlannedScenario): planned is HandshakePlan {
  return 'hello' in planned.scenario;
}

export function isTlsCheck(planned: PlannedScenario): planned is HandshakePlan | ChainPlan {
  return isHandshake(planned) || 'chain' in planned.scenario;
}

/**
 * Maximum wait for the answer to a ClientHello, in milliseconds. The answer takes one round trip and little work.
 */
const HELLO_TIMEOUT_MS = 3000;

const helloTimeoutMs = ({ limits }: RunContext) => Math.min(limits.timeoutMs, HELLO_TIMEOUT_MS);

/** What the checks need to know about TLS at the endpoint. */
export interface TlsPreparation {
  readonly inspection: TlsInspection;
  /** The client certificates that scenarios present instead of the partner's. */
  readonly identities: Identities;
  readonly otherServerNames: readonly string[];
}

/**
 * Inspects an HTTPS endpoint and prepares the client certificates of the scenarios. Null for plain HTTP, or if no check
 * applies.
 */
export async function inspectWhenNeeded(
  context: RunContext,
  applicable: readonly PlannedScenario[],
  fixtures: ClientFixtures,
): Promise<TlsPreparation | null> {
  const { partner, now, signal } = context;
  if (applicable.length === 0 || !partner.url.startsWith('https:')) return null;
  const inspection = await inspectTls(partner, { timeoutMs: helloTimeoutMs(context), now, signal });
  const identities = createIdentities(partner, fixtures, inspection.privateCa);
  return { inspection, identities, otherServerNames: otherNamesOf(inspection) };
}

/** Maximum number of other host names to try. Certificates of shared servers have hundreds of names. */
const MAX_OTHER_NAMES = 5;

/**
 * Returns other host names that the server may answer for: an invented sibling of the host, and the DNS names of its
 * certificate. Wildcards are replaced by an invented name.
 */
function otherNamesOf({ analysis, endpoint: { host } }: TlsInspection): string[] {
  const hosts = analysis?.certificates.find(({ role }) => role === 'leaf')?.hosts ?? [];
  const parent = host.slice(host.indexOf('.') + 1);
  const siblings = isIP(host) === 0 && host.includes('.') && parent.includes('.') ? [`*.${parent}`] : [];
  const names = [...siblings, ...hosts].filter((name) => isIP(name) === 0);
  const others = names.map((name) => name.toLowerCase().replace('*', 'hookproof-test'));
  return [...new Set(others)].filter((name) => name !== host.toLowerCase()).slice(0, MAX_OTHER_NAMES);
}

/** Judges the certificates and the handshakes. */
export async function runTlsChecks(
  context: RunContext,
  planned: readonly (HandshakePlan | ChainPlan)[],
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

/** Maximum number of concurrent handshakes. A handshake costs the endpoint little, and each has its own controls. */
const MAX_CONCURRENT_HANDSHAKES = 4;

/** Judges each handshake. The control after a handshake is the control before the next one. */
async function runHandshakes(
  context: RunContext,
  plans: readonly HandshakePlan[],
  { endpoint, hellos, versions }: TlsInspection,
  report: (result: ScenarioResult) => void,
): Promise<void> {
  const version = versions[0] ?? 'TLSv1.2';
  const limits = { timeoutMs: helloTimeoutMs(context), signal: context.signal };
  const control = () => probeHello(endpoint, controlOffer(version), limits);
  const queue = [...plans];

  async function work(): Promise<void> {
    let before: HelloOutcome = hellos[version];
    for (let planned = queue.shift(); planned !== undefined; planned = queue.shift()) {
      if (isOver(context)) return;
      const started = performance.now();
      const { hello, expect, level } = planned.scenario;
      const isUnclear = (outcome: HelloOutcome) => {
        const match = matchHello(outcome, hello);
        return match === 'closed' || match === 'none' || match === null;
      };
      const evidence: HandshakeEvidence = isAnswered(before)
        ? await probeBetween(before, () => probeHello(endpoint, hello, limits), control, isUnclear)
        : { before, probe: before, after: before };
      if (context.signal.aborted) return;
      before = evidence.after;
      const judgement = judgeHandshake(level, hello, expect, evidence);
      report(resultOfHandshake(context, planned, judgement, performance.now() - started));
    }
  }
  const width = Math.min(MAX_CONCURRENT_HANDSHAKES, context.limits.concurrency, plans.length);
  await Promise.all(Array.from({ length: width }, work));
}

/**
 * Sends the probe. If its outcome may be due to chance (a close, a reset, no answer), sends it a second time, and the
 * second outcome counts.
 */
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

/** Returns why a scenario does not apply if the endpoint does not support its TLS version, or null. */
export function unsupportedVersion(planned: PlannedScenario, { versions }: TlsInspection): string | null {
  const version = requiredVersion(planned);
  if (version === undefined || versions.some((spoken) => spoken === version) || versions.length === 0) return null;
  return `the endpoint does not support ${tlsVersionName(version)}`;
}

function requiredVersion(planned: PlannedScenario): TlsVersion | undefined {
  if (isHandshake(planned)) {
    return planned.scenario.onlyWhereSpoken === true ? planned.scenario.hello.version : undefined;
  }
  return isSending(planned) ? versionOf(planned.scenario) : undefined;
}

/** Describes the TLS connection for the result document. */
export function describeTls({ served, analysis, versions }: TlsInspection): ResultDocument['target']['tls'] {
  return {
    protocol: served.negotiated?.version ?? null,
    cipher: served.negotiated?.cipher ?? null,
    versions: [...versions],
    trustedBy: analysis?.anchor ?? null,
    clientCertificateRequested: served.clientCertificateRequested,
    requestedCas: [...served.authorities],
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
