/** The section of the client certificate: what is configured, and what the endpoint makes of it. Pure. */
import type { Attempt } from '../transport/index.ts';
import type { DoctorSection, FactsOf } from './doctor-document.ts';
import {
  type ClientView,
  clientCertificateFindings,
  isRefusedWith,
  isRefusedWithout,
} from './findings/client-certificate-findings.ts';
import { advice, type DoctorFinding } from './findings/finding.ts';
import type { ClientIdentity } from './local/client-identity.ts';
import { receptionOf } from './look/reception.ts';
import { looked } from './sections.ts';

export interface AskedFor {
  readonly requested: boolean | null;
  /** The names that the endpoint lists. */
  readonly authorities: readonly string[];
  /** The requests with the certificate and without one, as far as they were made. */
  readonly with: Attempt | null;
  readonly without: Attempt | null;
}

/** Where there is no endpoint to ask. */
export const NOT_ASKED: AskedFor = { requested: null, authorities: [], with: null, without: null };

export interface ClientSection {
  readonly section: DoctorSection;
  /** The handshake that is the sender's own fails over the certificate, or the lack of one. */
  readonly refused: boolean;
}

export function clientSection(
  client: ClientIdentity | null,
  from: { readonly certificateFrom: string | null; readonly keyFrom: string | null },
  asked: AskedFor,
): ClientSection {
  const { requested, authorities } = asked;
  const presented = client?.pem != null;
  const received = (attempt: Attempt | null) => attempt && receptionOf(attempt, requested === true);
  const view: ClientView = {
    configured: client !== null,
    presented,
    faulty: client?.findings.some(({ severity }) => severity === 'problem') === true,
    requested,
    authorityNamed: client === null || !presented ? null : isNamed(client, authorities),
    authorities,
    with: received(asked.with),
    without: received(asked.without),
  };
  const facts: FactsOf<'client-certificate'> = {
    certificateFrom: from.certificateFrom,
    keyFrom: from.keyFrom,
    certificates: client?.certificates ?? [],
    pair: client?.pair ?? null,
    requested: requested ?? (isRefusedWithout(view) ? true : null),
    authorityNamed: view.authorityNamed,
    with: view.with,
    without: view.without,
  };
  const findings = [
    ...clientCertificateFindings(view),
    ...(view.authorityNamed === false && !isRefusedWith(view) ? [notNamed(view)] : []),
    ...(client?.findings ?? []),
  ];
  return {
    section: looked('client-certificate', facts, findings),
    refused: presented ? isRefusedWith(view) : isRefusedWithout(view),
  };
}

/** A server that names no authorities takes any that it trusts. */
function isNamed({ certificates }: ClientIdentity, authorities: readonly string[]): boolean | null {
  if (authorities.length === 0 || certificates.length === 0) return null;
  const named = new Set(authorities.map(canonical));
  return certificates.some(({ subject, issuer }) => named.has(canonical(issuer)) || named.has(canonical(subject)));
}

/** The two readers of names differ in what they escape, and in how they join the parts of one element. */
function canonical(name: string): string {
  return name
    .replace(/\\/g, '')
    .replace(/\+(?=\w+=)/g, ', ')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

function notNamed({ authorities }: ClientView): DoctorFinding {
  return advice(
    'client-authority-not-named',
    `The authority of the client certificate is not among those that the endpoint names (${authorities.slice(0, 3).join('; ')}).`,
    'Some clients then present no certificate at all. Have the receiver name the authority (nginx ssl_client_certificate; Node ca).',
  );
}
