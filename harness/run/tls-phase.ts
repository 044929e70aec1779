/** The part of a run that looks at TLS itself: what the endpoint serves, and the handshakes that it takes. */
import { type TlsVersion, tlsVersionName } from '../../contract/index.ts';
import type { ChainScenario } from '../../scenarios/index.ts';
import { judgeChain } from '../judge/index.ts';
import type { PlannedScenario } from '../plan/plan.ts';
import type { ResultDocument, ScenarioResult } from '../result/result-document.ts';
import { inspectTls, type TlsInspection } from '../tls/index.ts';
import type { RunContext } from './context.ts';
import { type HandshakePlan, HELLO_TIMEOUT_MS, isHandshake, runHandshakes } from './handshakes.ts';
import { type ClientFixtures, createIdentities } from './identities.ts';
import { resultOfChain } from './results.ts';
import { isSending, versionOf } from './trial.ts';

interface ChainPlan extends PlannedScenario {
  readonly scenario: ChainScenario;
}

export type TlsPlan = HandshakePlan | ChainPlan;

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
