/** Looks at what an endpoint serves over TLS, once for everything that needs to know. Specification: TLS. */
import { analyseChain, type ChainAnalysis, certificateBlocks } from '../../certs/index.ts';
import { type OfferedTlsVersion, TLS_VERSIONS } from '../../contract/index.ts';
import { type Partner, trustedRoots } from '../sender/index.ts';
import { controlOffer } from './control-offer.ts';
import { type HelloEndpoint, helloEndpoint } from './hello/hello-endpoint.ts';
import { type HelloOutcome, matchHello } from './hello/hello-outcome.ts';
import { probeHello } from './hello/probe-hello.ts';
import { fetchServedChain, type ServedChain } from './served-chain.ts';

export interface TlsInspection {
  readonly endpoint: HelloEndpoint;
  /** What became of the hello of a right sender, by version. */
  readonly hellos: Readonly<Record<OfferedTlsVersion, HelloOutcome>>;
  /** The versions in which the endpoint begins a handshake with a right sender. */
  readonly versions: readonly OfferedTlsVersion[];
  readonly served: ServedChain;
  /** Null when no certificate could be had; `served.error` says why. */
  readonly analysis: ChainAnalysis | null;
  /** Whether the chain ends at an authority that was given beside the system's. */
  readonly privateAuthority: boolean;
}

export interface InspectOptions {
  /** Milliseconds for each connection. */
  readonly timeoutMs: number;
  readonly now: Date;
  readonly signal?: AbortSignal;
}

/** Opens a few connections to the endpoint of the partner and sends no delivery. Never rejects because of the endpoint. */
export async function inspectTls(partner: Partner, { timeoutMs, now, signal }: InspectOptions): Promise<TlsInspection> {
  const endpoint = helloEndpoint(partner);
  const limits = { timeoutMs, ...(signal && { signal }) };
  const [tls12, tls13, served] = await Promise.all([
    probeHello(endpoint, controlOffer('TLSv1.2'), limits),
    probeHello(endpoint, controlOffer('TLSv1.3'), limits),
    fetchServedChain(partner, limits),
  ]);
  const hellos = { 'TLSv1.2': tls12, 'TLSv1.3': tls13 };
  const extra = certificateBlocks(partner.tls?.ca ?? '').map(({ text }) => text);
  const analyse = (trusted: readonly string[], oracle: string | null | undefined) =>
    analyseChain({
      sent: served.sent,
      exact: served.exact,
      host: endpoint.host,
      trusted,
      now,
      oracle,
    });
  const hasChain = served.sent.length > 0;
  return {
    endpoint,
    hellos,
    versions: TLS_VERSIONS.filter((version) => matchHello(hellos[version], controlOffer(version)) === 'granted'),
    served,
    analysis: hasChain ? analyse([...trustedRoots(), ...extra], served.oracle?.code) : null,
    privateAuthority: hasChain && extra.length > 0 && analyse(extra, undefined).anchor !== null,
  };
}
