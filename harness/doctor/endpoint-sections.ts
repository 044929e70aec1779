/** From what was gathered about the endpoint to its sections. Pure. */
import { headerValues } from '../../contract/index.ts';
import type { Attempt } from '../transport/index.ts';
import type { Cleaner } from './clean.ts';
import { clientSection, NOT_ASKED } from './client-section.ts';
import type { DoctorSection, FactsOf } from './doctor-document.ts';
import { clockFindings } from './findings/clock-findings.ts';
import { connectionFindings } from './findings/connection-findings.ts';
import { deliveryFindings } from './findings/delivery-findings.ts';
import { dnsFindings } from './findings/dns-findings.ts';
import { httpFindings } from './findings/http-findings.ts';
import { plainHttpFindings, tlsFindings } from './findings/tls-findings.ts';
import type { ClientIdentity } from './local/client-identity.ts';
import { clockFacts } from './look/clock.ts';
import type { Answers, Gathered } from './look/gather.ts';
import { LOOK_METHOD } from './look/look-http.ts';
import { tlsFacts } from './look/tls-facts.ts';
import { timingFacts, transportFacts } from './look/transport-facts.ts';
import { looked, skipped } from './sections.ts';

export interface EndpointView {
  readonly gathered: Gathered;
  readonly secure: boolean;
  readonly client: ClientIdentity | null;
  readonly hasMaterial: boolean;
  readonly certificateFrom: string | null;
  readonly keyFrom: string | null;
  /** A proxy is named in the environment. */
  readonly proxied: boolean;
  readonly delivery: DeliveryView;
  readonly interrupted: boolean;
  /** Takes secrets out of facts, before findings are made of them. */
  readonly cleaner: Cleaner;
}

/** What became of `--deliver`: why there was none, or what was sent. */
export type DeliveryView =
  | { readonly skipped: string }
  | { readonly id: string; readonly type: string; readonly credentials: boolean };

/** Much more than a server has to say of itself. */
const MOST_HEADER = 120;
const MOST_BODY = 300;

export function endpointSections(view: EndpointView): DoctorSection[] {
  const { gathered, secure, proxied, interrupted, cleaner } = view;
  const { connection, answers } = gathered;
  const dns = cleaner.facts(gathered.dns);
  const first = [
    dns === null ? skipped('dns', 'interrupted') : looked('dns', dns, dnsFindings(dns, secure)),
    connection === null
      ? skipped(
          'connection',
          interrupted
            ? 'interrupted'
            : (dns?.addresses.length ?? 0) > 0
              ? 'no address may be connected to'
              : 'there is no address',
        )
      : looked('connection', connection, connectionFindings(connection, proxied)),
  ];
  return [...first, ...(answers === null ? unreached(view) : answered(view, answers))];
}

function unreached({ secure, interrupted, delivery, ...view }: EndpointView): DoctorSection[] {
  const reason = interrupted ? 'interrupted' : 'there is no connection';
  return [
    skipped('tls', secure ? reason : 'the URL is plain HTTP'),
    ...(view.client === null ? [] : [clientSection(view.client, view, NOT_ASKED).section]),
    skipped('http', reason),
    skipped('clock', reason),
    skipped('delivery', 'skipped' in delivery ? delivery.skipped : reason),
  ];
}

function answered(view: EndpointView, answers: Answers): DoctorSection[] {
  const { inspection, speaksTls, withCertificate, withoutCertificate, delivered } = answers;
  const { cleaner } = view;
  const tls = inspection === null ? null : cleaner.facts(tlsFacts(inspection));
  const client = clientSection(view.client, view, {
    requested: tls?.clientCertificateRequested ?? null,
    authorities: tls?.authorities ?? [],
    with: withCertificate,
    without: tls === null ? null : withoutCertificate,
  });
  const main = withCertificate ?? withoutCertificate;
  const http = cutHeaders(cleaner.facts(httpFacts(main, tls === null || tls.trusted === true)));
  const inHandshake = tls !== null && (main.error?.phase === 'tls' || main.error?.kind === 'tls');
  return [
    tls === null
      ? skipped('tls', 'the URL is plain HTTP', plainHttpFindings(speaksTls, isLocal(view), view.hasMaterial))
      : looked('tls', tls, tlsFindings(tls, client.refused)),
    ...(view.client === null && tls === null ? [] : [client.section]),
    looked('http', http, httpFindings(http, client.refused || inHandshake || speaksTls)),
    clockSection([main, withoutCertificate, delivered]),
    deliverySection(view, delivered, tls?.chain ?? null),
  ];
}

function isLocal({ gathered }: EndpointView): boolean {
  return gathered.dns?.addresses.every(({ scope }) => scope === 'loopback') === true;
}

function httpFacts({ answer, error, timings }: Attempt, verified: boolean): FactsOf<'http'> {
  const header = (name: string) => {
    const [value] = answer === null ? [] : headerValues(answer.headers, name);
    return value ?? null;
  };
  return {
    method: LOOK_METHOD,
    answer: answer && {
      status: answer.status,
      server: header('Server'),
      allow: header('Allow'),
      location: header('Location'),
    },
    error: transportFacts(error),
    timings: timingFacts(timings),
    verified,
  };
}

/** After redaction: a secret that the cut falls into would no longer be recognised. */
function cutHeaders({ answer, ...http }: FactsOf<'http'>): FactsOf<'http'> {
  const short = (value: string | null) => (value === null ? null : cut(value, MOST_HEADER));
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
  if (clock !== undefined) return looked('clock', clock, clockFindings(clock));
  const answered = attempts.some((attempt) => attempt?.answer != null);
  return skipped('clock', answered ? 'the answer has no Date header' : 'there is no answer with a Date header');
}

function deliverySection(
  { delivery: sent, cleaner }: EndpointView,
  attempt: Attempt | null,
  chain: Parameters<typeof deliveryFindings>[2],
): DoctorSection {
  if ('skipped' in sent) return skipped('delivery', sent.skipped);
  if (attempt === null) return skipped('delivery', 'there is no connection');
  const { answer, error, timings } = attempt;
  const facts = cleaner.facts({
    id: sent.id,
    type: sent.type,
    status: answer?.status ?? null,
    body: answer === null ? '' : Buffer.from(answer.body).toString('utf8'),
    error: transportFacts(error),
    timings: timingFacts(timings),
  });
  const shown = { ...facts, body: cut(facts.body, MOST_BODY) };
  return looked('delivery', shown, deliveryFindings(attempt, sent.credentials, chain));
}
