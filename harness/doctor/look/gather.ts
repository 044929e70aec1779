/** Gathers everything about the endpoint. What does not depend on each other goes side by side, so a silent host costs one time limit. */
import type { Notification } from '../../../contract/index.ts';
import type { Partner } from '../../partner.ts';
import {
  controlOffer,
  helloEndpoint,
  inspectTls,
  matchHello,
  probeHello,
  type TlsInspection,
} from '../../probe/index.ts';
import { deliver, prepare } from '../../sender/index.ts';
import {
  type Attempt,
  endpointOf,
  isAllowed,
  LOCAL_TOO,
  type Pin,
  pinTo,
  tlsOptionsFor,
} from '../../transport/index.ts';
import type { FactsOf } from '../doctor-document.ts';
import { connectAddresses } from './connect-addresses.ts';
import type { Limits } from './limits.ts';
import { type LookedAt, lookHttp } from './look-http.ts';
import { resolveHost } from './resolve-host.ts';

export interface Visit {
  readonly url: string;
  /** All the material, with the client certificate when one can be presented. */
  readonly tls: NonNullable<Partner['tls']>;
  /** That certificate with its key alone. */
  readonly identity: NonNullable<Partner['tls']> | null;
  /** What to deliver, and for whom; null to deliver nothing. */
  readonly delivery: { readonly partner: Partner; readonly notification: Notification } | null;
}

/** What was broken off says nothing about the endpoint, and is null. */
export interface Gathered {
  readonly dns: FactsOf<'dns'> | null;
  /** Also null when the name does not resolve. */
  readonly connection: FactsOf<'connection'> | null;
  /** Also null when no connection came about. */
  readonly answers: Answers | null;
}

export interface Answers {
  /** null for plain HTTP. */
  readonly inspection: TlsInspection | null;
  /** Whether the port of an http URL speaks TLS. */
  readonly speaksTls: boolean;
  /** The request with the client certificate; null when none is presented. */
  readonly withCertificate: Attempt | null;
  readonly withoutCertificate: Attempt;
  readonly delivered: Attempt | null;
}

/** Never rejects because of the endpoint. `onStage` is told what comes next. */
export async function gather(visit: Visit, limits: Limits, onStage: (stage: string) => void): Promise<Gathered> {
  const { hostname, port } = endpointOf(visit.url);
  const { signal } = limits;
  onStage(`looking up ${hostname}`);
  const dns = await resolveHost(hostname, limits);
  if (signal.aborted) return { dns: null, connection: null, answers: null };
  if (dns.addresses.length === 0) return { dns, connection: null, answers: null };
  // Where no endpoint can be, nothing is connected to; the findings on DNS say why.
  const allowed = dns.addresses.filter(({ address }) => isAllowed(address, hostname, LOCAL_TOO));
  if (allowed.length === 0) return { dns, connection: null, answers: null };
  onStage(`connecting to port ${port}`);
  const connection = await connectAddresses(port, { ...dns, addresses: allowed }, limits);
  if (signal.aborted) return { dns, connection: null, answers: null };
  const reached = connection.addresses.find(({ outcome }) => outcome === 'connected');
  if (reached === undefined) return { dns, connection, answers: null };
  onStage(visit.delivery === null ? 'asking for TLS and HTTP' : 'asking for TLS and HTTP, and delivering');
  const answers = await gatherAnswers(visit, pinTo(hostname, reached), limits);
  return { dns, connection, answers: signal.aborted ? null : answers };
}

async function gatherAnswers(
  { url, tls, identity, delivery }: Visit,
  lookup: Pin['lookup'],
  limits: Limits,
): Promise<Answers> {
  const { secure } = endpointOf(url);
  // Made once for each object, and slow to make: not while time limits run.
  if (secure) for (const made of [{ tls }, identity === null ? {} : { tls: identity }, {}]) tlsOptionsFor(made);
  const at = { url, lookup };
  const plain = lookHttp(at, undefined, limits);
  const [inspection, speaksTls, withCertificate, withoutCertificate, delivered] = await Promise.all([
    secure ? inspectTls({ ...at, tls }, { ...limits, now: new Date() }) : null,
    secure ? false : answersTls(at, plain, limits),
    secure && identity !== null ? lookHttp(at, identity, limits) : null,
    plain,
    delivery === null
      ? null
      : deliver(prepare(delivery.notification, delivery.partner), {
          ...limits,
          lookup,
          ...(delivery.partner.tls === undefined ? {} : { tls: delivery.partner.tls }),
        }),
  ]);
  return { inspection, speaksTls, withCertificate, withoutCertificate, delivered };
}

/** Nobody has to answer a hello where HTTP is spoken: it is not waited for once HTTP has answered. */
async function answersTls(at: LookedAt, plain: Promise<Attempt>, { timeoutMs, signal }: Limits): Promise<boolean> {
  const offer = controlOffer('TLSv1.2');
  const enough = new AbortController();
  const limits = { timeoutMs, signal: AbortSignal.any([signal, enough.signal]) };
  const hello = probeHello({ ...helloEndpoint(at), serverName: null }, offer, limits);
  const { answer } = await plain;
  // Some TLS servers answer plain HTTP with a plain 400.
  if (answer !== null && answer.status !== 400) enough.abort();
  const outcome = await hello;
  return outcome.kind === 'alert' || matchHello(outcome, offer) === 'granted';
}
