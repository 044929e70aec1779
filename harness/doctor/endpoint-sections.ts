/** Builds the endpoint's sections from the probe results. Pure. */
import type { Attempt } from '../transport/index.ts';
import type { Cleaner } from './clean.ts';
import { clientSection, NOT_PROBED } from './client-certificate.ts';
import type { ClientIdentity } from './configuration.ts';
import type { DoctorSection, FactsOf } from './doctor-document.ts';
import { clockFacts, httpFacts, timingFacts, tlsFacts, transportFacts } from './endpoint-facts.ts';
import { deliveryFindings, httpFindings } from './http-findings.ts';
import { clockFindings, connectionFindings, dnsFindings } from './network-findings.ts';
import type { Answers, EndpointFacts } from './probe-endpoint.ts';
import { examined, skipped } from './sections.ts';
import { plainHttpFindings, tlsFindings } from './tls-findings.ts';

export interface EndpointView {
  readonly endpoint: EndpointFacts;
  readonly secure: boolean;
  readonly client: ClientIdentity | null;
  readonly hasMaterial: boolean;
  readonly certificateFrom: string | null;
  readonly keyFrom: string | null;
  /** Whether the environment names a proxy. */
  readonly proxied: boolean;
  readonly delivery: DeliveryView;
  readonly interrupted: boolean;
  /** Removes secrets from facts before findings are made from them. */
  readonly cleaner: Cleaner;
}

/** The result of `--deliver`: why nothing was sent, or what was sent. */
export type DeliveryView =
  | { readonly skipped: string }
  | { readonly id: string; readonly type: string; readonly credentials: boolean };

export function endpointSections(view: EndpointView): DoctorSection[] {
  const { endpoint, secure, proxied, cleaner } = view;
  const { connection, answers } = endpoint;
  const dns = cleaner.facts('dns', endpoint.dns);
  return [
    dns === null ? skipped('dns', 'interrupted') : examined('dns', dns, dnsFindings(dns, secure)),
    connection === null
      ? skipped('connection', whyNoConnection(view))
      : examined('connection', connection, connectionFindings(connection, proxied)),
    ...(answers === null ? unreached(view) : answered(view, answers)),
  ];
}

function whyNoConnection({ endpoint, interrupted }: EndpointView): string {
  if (interrupted) return 'interrupted';
  return (endpoint.dns?.addresses.length ?? 0) > 0 ? 'connections to these addresses are not allowed' : 'no address';
}

const NO_CONNECTION = 'no connection';
const PLAIN_HTTP = 'the URL is plain HTTP';

function unreached({ secure, interrupted, delivery, ...view }: EndpointView): DoctorSection[] {
  const reason = interrupted ? 'interrupted' : NO_CONNECTION;
  return [
    skipped('tls', secure ? reason : PLAIN_HTTP),
    ...(view.client === null ? [] : [clientSection(view.client, view, NOT_PROBED).section]),
    skipped('http', reason),
    skipped('clock', reason),
    skipped('delivery', 'skipped' in delivery ? delivery.skipped : reason),
  ];
}

function answered(view: EndpointView, answers: Answers): DoctorSection[] {
  const { inspection, speaksTls, withCertificate, withoutCertificate, delivered } = answers;
  const { cleaner, client, hasMaterial, endpoint } = view;
  const tls = inspection === null ? null : cleaner.facts('tls', tlsFacts(inspection));
  const { section, refused } = clientSection(client, view, {
    requested: tls?.clientCertificateRequested ?? null,
    cas: tls?.requestedCas ?? [],
    with: withCertificate,
    without: tls === null ? null : withoutCertificate,
  });
  const main = withCertificate ?? withoutCertificate;
  const http = shortHeaders(cleaner.facts('http', httpFacts(main, tls === null || tls.trusted === true)));
  const inHandshake = tls !== null && (main.error?.phase === 'tls' || main.error?.kind === 'tls');
  const isLocal = endpoint.dns?.addresses.every(({ scope }) => scope === 'loopback') === true;
  return [
    tls === null
      ? skipped('tls', PLAIN_HTTP, plainHttpFindings(speaksTls, isLocal, hasMaterial))
      : examined('tls', tls, tlsFindings(tls, refused)),
    ...(client === null && tls === null ? [] : [section]),
    examined('http', http, httpFindings(http, refused || inHandshake || speaksTls)),
    clockSection([main, withoutCertificate, delivered]),
    deliverySection(view, delivered, tls?.chain ?? null),
  ];
}

/** Maximum length of the shown headers, in characters. */
const MAX_HEADER = 120;
const MAX_BODY = 300;

/** Shortens headers after redaction, because a secret cut in two would not be recognised. */
function shortHeaders({ answer, ...http }: FactsOf<'http'>): FactsOf<'http'> {
  const short = (value: string | null) => (value === null ? null : cut(value, MAX_HEADER));
  return {
    ...http,
    answer: answer && {
      ...answer,
      server: short(answer.server),
      allow: short(answer.allow),
      location: short(answer.location),
    },
  };
}

function cut(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters - 1)}…` : text;
}

function clockSection(attempts: readonly (Attempt | null)[]): DoctorSection {
  const [clock] = attempts.flatMap((attempt) => (attempt && clockFacts(attempt)) ?? []);
  if (clock !== undefined) return examined('clock', clock, clockFindings(clock));
  const hasAnswer = attempts.some((attempt) => attempt?.answer != null);
  return skipped('clock', hasAnswer ? 'the answer has no Date header' : 'no answer with a Date header');
}

function deliverySection(
  { delivery, cleaner }: EndpointView,
  attempt: Attempt | null,
  chain: Parameters<typeof deliveryFindings>[2],
): DoctorSection {
  if ('skipped' in delivery) return skipped('delivery', delivery.skipped);
  if (attempt === null) return skipped('delivery', NO_CONNECTION);
  const { answer, error, timings } = attempt;
  const facts = cleaner.facts('delivery', {
    id: delivery.id,
    type: delivery.type,
    status: answer?.status ?? null,
    body: answer === null ? '' : Buffer.from(answer.body).toString('utf8'),
    error: transportFacts(error),
    timings: timingFacts(timings),
  });
  const shown = { ...facts, body: cut(facts.body, MAX_BODY) };
  return examined('delivery', shown, deliveryFindings(attempt, delivery.credentials, chain));
}
