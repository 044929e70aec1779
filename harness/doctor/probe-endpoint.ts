/**
 * Probes the endpoint: DNS, connections, TLS, HTTP, and one delivery on request. Independent probes run concurrently,
 * so that a silent host costs only one time limit.
 */

import http from 'node:http';
import https from 'node:https';
import type { Partner } from '../partner.ts';
import { controlOffer, helloEndpoint, inspectTls, matchHello, probeHello, type TlsInspection } from '../probe/index.ts';
import { deliver } from '../sender/index.ts';
import {
  type AddressPolicy,
  type Attempt,
  endpointOf,
  exchange,
  isAllowed,
  type Pin,
  type Prepared,
  pinTo,
  tlsOptionsFor,
} from '../transport/index.ts';
import { version } from '../version.ts';
import { connectAddresses, type Limits, resolveHost } from './connect.ts';
import type { FactsOf } from './doctor-document.ts';

export interface EndpointProbe {
  readonly url: string;
  /** All TLS material, including the client certificate if it can be presented. */
  readonly tls: NonNullable<Partner['tls']>;
  /** The client certificate and its key only. */
  readonly identity: NonNullable<Partner['tls']> | null;
  /** What to deliver, and for which partner; null to deliver nothing. */
  readonly delivery: { readonly partner: Partner; readonly prepared: Prepared } | null;
  /** Which addresses may be connected to. */
  readonly addresses: AddressPolicy;
}

/** The results of the probes. An aborted probe proves nothing about the endpoint, and is null. */
export interface EndpointFacts {
  readonly dns: FactsOf<'dns'> | null;
  /** Null if no address of the name is allowed, or after an interruption. */
  readonly connection: FactsOf<'connection'> | null;
  /** Null without a connection, or after an interruption. */
  readonly answers: Answers | null;
}

export interface Answers {
  /** The TLS inspection; null for plain HTTP. */
  readonly inspection: TlsInspection | null;
  /** Whether the port of an http URL speaks TLS. */
  readonly speaksTls: boolean;
  /** The request with the client certificate; null if none is presented. */
  readonly withCertificate: Attempt | null;
  readonly withoutCertificate: Attempt;
  readonly delivered: Attempt | null;
}

/** Probes the endpoint. Never rejects because of the endpoint. `onStage` is called with a description of each stage. */
export async function probeEndpoint(
  probe: EndpointProbe,
  limits: Limits,
  onStage: (stage: string) => void,
): Promise<EndpointFacts> {
  const { hostname, port } = endpointOf(probe.url);
  const { signal } = limits;
  onStage(`resolving ${hostname}`);
  const dns = await resolveHost(hostname, limits);
  if (signal.aborted) return { dns: null, connection: null, answers: null };
  // Addresses that are not allowed are not connected to; the DNS findings state why.
  const allowed = dns.addresses.filter(({ address }) => isAllowed(address, hostname, probe.addresses));
  if (allowed.length === 0) return { dns, connection: null, answers: null };
  onStage(`connecting to port ${port}`);
  const connection = await connectAddresses(port, allowed, limits);
  if (signal.aborted) return { dns, connection: null, answers: null };
  const reached = connection.addresses.find(({ outcome }) => outcome === 'connected');
  if (reached === undefined) return { dns, connection, answers: null };
  onStage(probe.delivery === null ? 'probing TLS and HTTP' : 'probing TLS and HTTP, and delivering');
  const answers = await probeAnswers(probe, pinTo(hostname, reached), limits);
  return { dns, connection, answers: signal.aborted ? null : answers };
}

async function probeAnswers(
  { url, tls, identity, delivery }: EndpointProbe,
  lookup: Pin['lookup'],
  limits: Limits,
): Promise<Answers> {
  const { secure } = endpointOf(url);
  // The contexts are slow to create and cached per object, so they are created before any time limit starts.
  if (secure) for (const options of [{ tls }, identity === null ? {} : { tls: identity }, {}]) tlsOptionsFor(options);
  const target = { url, lookup };
  const plain = probeHttp(target, undefined, limits);
  const [inspection, speaksTls, withCertificate, withoutCertificate, delivered] = await Promise.all([
    secure ? inspectTls({ ...target, tls }, { ...limits, now: new Date() }) : null,
    secure ? false : answersTls(target, plain, limits),
    secure && identity !== null ? probeHttp(target, identity, limits) : null,
    plain,
    delivery === null
      ? null
      : deliver(delivery.prepared, {
          ...limits,
          lookup,
          ...(delivery.partner.tls === undefined ? {} : { tls: delivery.partner.tls }),
        }),
  ]);
  return { inspection, speaksTls, withCertificate, withoutCertificate, delivered };
}

type Target = Pick<Partner, 'url' | 'lookup'>;

/**
 * Returns whether the port answers a TLS hello. An HTTP server may ignore the hello, so the wait ends once the plain
 * request is answered.
 */
async function answersTls(target: Target, plain: Promise<Attempt>, { timeoutMs, signal }: Limits): Promise<boolean> {
  const offer = controlOffer('TLSv1.2');
  const enough = new AbortController();
  const limits = { timeoutMs, signal: AbortSignal.any([signal, enough.signal]) };
  const hello = probeHello({ ...helloEndpoint(target), serverName: null }, offer, limits);
  const { answer } = await plain;
  // Some TLS servers answer plain HTTP with a plain 400.
  if (answer !== null && answer.status !== 400) enough.abort();
  const outcome = await hello;
  return outcome.kind === 'alert' || matchHello(outcome, offer) === 'granted';
}

/** OPTIONS asks which methods a path supports, and changes nothing (RFC 9110, 9.3.7). */
export const PROBE_METHOD = 'OPTIONS';
const MAX_BODY_BYTES = 4096;

/**
 * Sends one request on a separate connection, to see whether HTTP is answered, the endpoint's clock, and how client
 * certificates are treated. It contains no secret, key or custom header, so an endpoint with an untrusted certificate
 * can be probed, too.
 *
 * @throws HookproofError PARTNER_TLS if OpenSSL does not accept the material
 */
async function probeHttp(
  { url, lookup }: Target,
  tls: Partner['tls'],
  { timeoutMs, signal }: Limits,
): Promise<Attempt> {
  const pinned = lookup === undefined ? {} : { lookup };
  const { secure, host, target } = endpointOf(url);
  const agent = secure
    ? new https.Agent({
        secureContext: tlsOptionsFor(tls === undefined ? {} : { tls }).secureContext,
        rejectUnauthorized: false,
        maxCachedSessions: 0,
        ...pinned,
      })
    : new http.Agent(pinned);
  const prepared: Prepared = {
    url,
    method: PROBE_METHOD,
    target,
    headers: [
      ['Host', host],
      ['User-Agent', `hookproof/${version} (doctor)`],
      ['Accept', '*/*'],
    ],
    body: new Uint8Array(),
  };
  try {
    return await exchange(prepared, { agent, timeoutMs, signal, bodyCapBytes: MAX_BODY_BYTES });
  } finally {
    agent.destroy();
  }
}
