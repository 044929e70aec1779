/** The facts about TLS, from what the inspection saw. */
import { TLS_VERSIONS } from '../../../contract/index.ts';
import { controlOffer, type HelloOutcome, matchHello, type TlsInspection } from '../../probe/index.ts';
import type { FactsOf } from '../doctor-document.ts';
import { shownFacts } from '../local/shown-certificates.ts';
import { transportFacts } from './transport-facts.ts';

type Hello = FactsOf<'tls'>['hellos'][number];

export function tlsFacts({ hellos, served, analysis, privateAuthority }: TlsInspection): FactsOf<'tls'> {
  const { oracle } = served;
  return {
    hellos: TLS_VERSIONS.map((version): Hello => {
      const outcome = hellos[version];
      const granted = matchHello(outcome, controlOffer(version)) === 'granted';
      return { version, outcome: granted ? 'granted' : outcomeOf(outcome), detail: detailOf(outcome) };
    }),
    negotiated: served.negotiated,
    trusted: oracle === null ? null : oracle.code === null,
    trustCode: oracle?.code ?? null,
    privateAuthority,
    chain: analysis && {
      ...analysis,
      certificates: analysis.certificates.map(shownFacts),
      path: [...analysis.path],
      faults: [...analysis.faults],
    },
    clientCertificateRequested: served.clientCertificateRequested,
    authorities: [...served.authorities],
    error: transportFacts(served.error),
  };
}

/** A ServerHello that is no grant is one for another version, or was given up. */
function outcomeOf(outcome: HelloOutcome): Hello['outcome'] {
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
