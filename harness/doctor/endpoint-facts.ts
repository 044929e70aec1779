/** Derives the facts in the document from what the probes observed. Pure. */

import type { X509Certificate } from 'node:crypto';
import { type CertificateFacts, certificateFacts } from '../../certs/index.ts';
import { headerValues, TLS_VERSIONS } from '../../contract/index.ts';
import { controlOffer, type HelloOutcome, matchHello, type TlsInspection } from '../probe/index.ts';
import type { Attempt, Timings, TransportError } from '../transport/index.ts';
import type { FactsOf, TimingFacts, TransportFacts } from './doctor-document.ts';
import { PROBE_METHOD } from './probe-endpoint.ts';

export function transportFacts(error: TransportError | null): TransportFacts | null {
  if (error === null) return null;
  const { kind, phase, code, message, alert = null } = error;
  return { kind, phase, code, message, alert };
}

export function timingFacts({ connectMs, tlsMs, firstByteMs, totalMs }: Timings): TimingFacts {
  return { connectMs, tlsMs, firstByteMs, totalMs };
}

export function httpFacts({ answer, error, timings }: Attempt, verified: boolean): FactsOf<'http'> {
  const header = (name: string) => {
    const [value] = answer === null ? [] : headerValues(answer.headers, name);
    return value ?? null;
  };
  return {
    method: PROBE_METHOD,
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

/** The Date header is truncated to whole seconds, so on average it is half a second behind. */
const HALF_SECOND = 500;
/** The last time that a Date of JavaScript can represent. */
const LAST_TIME = 8.64e15;

/**
 * Computes the difference between the clocks from the Date header of an answer (RFC 9110, 6.6.1). Null without an
 * answer or a readable Date header.
 */
export function clockFacts({ answer, timings, startedAt }: Attempt): FactsOf<'clock'> | null {
  const [date] = answer === null ? [] : headerValues(answer.headers, 'Date');
  const written = date === undefined ? Number.NaN : Date.parse(date);
  if (answer === null || timings.firstByteMs === null || Number.isNaN(written)) return null;
  // A cache states the age of its answer in seconds.
  const [age = '0'] = headerValues(answer.headers, 'Age');
  const ageMs = /^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0;
  const sent = timings.tlsMs ?? timings.connectMs ?? 0;
  const roundTrip = Math.max(0, timings.firstByteMs - sent);
  const here = Date.parse(startedAt) + sent + roundTrip / 2;
  const there = written + ageMs + HALF_SECOND;
  if (Math.abs(there) > LAST_TIME) return null;
  return {
    aheadMs: Math.round(here - there),
    uncertaintyMs: Math.round(roundTrip / 2 + HALF_SECOND),
    endpointTime: new Date(there).toISOString(),
    localTime: new Date(here).toISOString(),
  };
}

type Hello = FactsOf<'tls'>['hellos'][number];

export function tlsFacts({ hellos, served, analysis, privateCa }: TlsInspection): FactsOf<'tls'> {
  const { oracle } = served;
  return {
    hellos: TLS_VERSIONS.map((version): Hello => {
      const outcome = hellos[version];
      const granted = matchHello(outcome, controlOffer(version)) === 'granted';
      return { version, outcome: granted ? 'granted' : helloOutcomeOf(outcome), detail: detailOf(outcome) };
    }),
    negotiated: served.negotiated,
    trusted: oracle === null ? null : oracle.code === null,
    trustCode: oracle?.code ?? null,
    privateCa,
    chain: analysis && {
      ...analysis,
      certificates: analysis.certificates.map(shownFacts),
      path: [...analysis.path],
      faults: [...analysis.faults],
    },
    clientCertificateRequested: served.clientCertificateRequested,
    requestedCas: [...served.authorities],
    error: transportFacts(served.error),
  };
}

/**
 * Classifies the answer to a hello whose offer was not accepted. Such an answer can be a ServerHello for another
 * version, or one that is followed by an alert.
 */
function helloOutcomeOf(outcome: HelloOutcome): Hello['outcome'] {
  return outcome.kind === 'server-hello' ? 'declined' : outcome.kind;
}

function detailOf(outcome: HelloOutcome): string | null {
  switch (outcome.kind) {
    case 'server-hello':
      return outcome.alertAfter ?? (outcome.version === 'TLSv1.3' ? null : outcome.version);
    case 'alert':
      return outcome.alert;
    case 'not-tls':
      return Buffer.from(outcome.received).toString('latin1');
    case 'connect-error':
      return outcome.error.message;
    default:
      return null;
  }
}

type ShownCertificate = FactsOf<'extra-cas'>['certificates'][number];

/** Maximum number of names to show; legitimate certificates have fewer. */
const MAX_HOSTS = 100;

/** Copies facts for the document, and shortens long lists. */
function shownFacts<Facts extends CertificateFacts>(facts: Facts): Facts & ShownCertificate {
  const { hosts, usages } = facts;
  return { ...facts, hosts: hosts.slice(0, MAX_HOSTS), usages: usages === null ? null : [...usages] };
}

/** Returns the certificates that our own parser can read; OpenSSL tolerates more. */
export function shownCertificates(certificates: readonly X509Certificate[]): ShownCertificate[] {
  return certificates.flatMap(({ raw }) => {
    try {
      return [shownFacts(certificateFacts(raw))];
    } catch {
      return [];
    }
  });
}
