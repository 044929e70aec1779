import { type OfferedTlsVersion, TLS_VERSIONS, tlsVersionName } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import type { ClientCertificate, ConnectChange, Expectation, ProbeScenario } from '../scenario.ts';
import { certificateRefused } from '../tls-expectations.ts';

/** A session stands for the certificate it was made with, so taking it is right, and so is asking again. */
const recorded: Expectation = {
  text: 'recorded: whether a session of the right certificate is resumed without it',
  authentic: true,
  pass: [200, 'alert', 'closed', 400, 401, 403, 495, 496],
  note: ['2xx', '3xx', '4xx', '5xx'],
  unclear: ['none', 503],
};

function slugOf(version: OfferedTlsVersion, rest: string): string {
  return `mtls/${version === 'TLSv1.2' ? 'tls-1-2' : 'tls-1-3'}-${rest}`;
}

function resuming(
  version: OfferedTlsVersion,
  resumeFrom: NonNullable<ConnectChange['resumeFrom']>,
  words: string,
): ConnectChange {
  const label = `a session that began with ${words}, resumed without a certificate`;
  return { label, version, clientCertificate: 'none', resumeFrom };
}

function resumed(version: OfferedTlsVersion, from: ClientCertificate, words: string): ProbeScenario {
  return {
    id: slugOf(version, `resumed-${from}`),
    title: `Refuses a session over ${tlsVersionName(version)} that began with ${words} and is resumed`,
    level: 'must',
    requirements: ['mtls-verified'],
    needs: ['https', 'mtls'],
    change: { connect: resuming(version, from, words) },
    expect: certificateRefused,
    why: 'A resumed session skips the exchange of certificates. A server that looks at the certificate only in full handshakes then lets in whoever was refused before.',
    fix: 'Look at the outcome of the verification on every request (`$ssl_client_verify`), and for the certificate itself: Node says `socket.authorized` of every session of TLS 1.3 that is resumed and had none, so `getPeerCertificate()` must not be empty. Keep sessions of different settings apart (`sessionIdContext`, one session cache for each server).',
  };
}

/** What a client with a session cache does on every connection but the first. */
function resumedRightly(version: OfferedTlsVersion): ProbeScenario {
  return {
    id: slugOf(version, 'resumed-with-certificate'),
    title: `Accepts a session of the right certificate over ${tlsVersionName(version)} that is resumed by its owner`,
    level: 'must',
    requirements: ['mtls-verified'],
    needs: ['https', 'mtls'],
    change: {
      connect: {
        label: 'a session that began with the right client certificate, resumed by the same client',
        version,
        resumeFrom: 'own',
      },
    },
    expect: accepted,
    why: 'Clients keep sessions and resume them on their next connections, where no certificate is exchanged. A receiver that looks for one there accepts the first delivery and refuses those that follow.',
    fix: 'Take the certificate from the session, which keeps it (Node `getPeerCertificate()`, nginx `$ssl_client_verify`), or hand out no sessions.',
  };
}

/** Sessions that are resumed. Specification: TLS (mutual TLS). */
export const mtlsResumption: readonly ProbeScenario[] = TLS_VERSIONS.flatMap((version) => [
  resumedRightly(version),
  resumed(version, 'none', 'no certificate'),
  resumed(version, 'unknown-authority', 'a certificate of an unknown authority'),
  {
    id: slugOf(version, 'resumed-right'),
    title: `Records whether a session of the right certificate over ${tlsVersionName(version)} is resumed without it`,
    level: 'info',
    requirements: ['mtls-verified'],
    needs: ['https', 'mtls'],
    change: { connect: resuming(version, 'own', 'the right certificate') },
    expect: recorded,
    why: 'The session carries what was verified when it began, so this is allowed. It also means that a certificate which is revoked works until the session ends.',
    fix: 'Nothing to mend. To have revocation work at once, keep the life of sessions short or switch tickets off.',
  },
]);
