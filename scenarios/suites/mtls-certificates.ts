import { type OfferedTlsVersion, TLS_VERSIONS, tlsVersionName } from '../../contract/index.ts';
import { presenting } from '../changes/transmitting.ts';
import { accepted, certificateRefused } from '../expectations.ts';
import type {
  ClientCertificate,
  ClientFixture,
  ConnectChange,
  Delivery,
  Expectation,
  FlowScenario,
  ProbeScenario,
} from '../scenario.ts';

const VERIFY_FIX =
  'Verify the client certificate where TLS ends, only against the CA that issues it: Node `requestCert: true, ' +
  'rejectUnauthorized: true, ca`; nginx `ssl_verify_client on` with `ssl_client_certificate`.';

/** Some servers accept an invalid certificate only now and then, so one rejection proves little. */
const TIMES = 20;
const CONCURRENT = 5;

const base = { level: 'must', requirements: ['mtls-verified'] } as const;

function slugOf(version: OfferedTlsVersion): string {
  return version === 'TLSv1.2' ? 'tls-1-2' : 'tls-1-3';
}

/** The same probe many times, in small groups. */
function repeatedly(certificate: ClientCertificate, version: OfferedTlsVersion): FlowScenario['flow'] {
  return () =>
    Array.from({ length: TIMES / CONCURRENT }, (_, group) =>
      Array.from(
        { length: CONCURRENT },
        (_, at): Delivery => ({
          label: `attempt ${group * CONCURRENT + at + 1} of ${TIMES}`,
          change: { connect: presenting(certificate, version) },
          expect: certificateRefused,
        }),
      ),
    );
}

/** Certificates that the harness can make without the partner's CA. */
function withoutFixture(version: OfferedTlsVersion): (ProbeScenario | FlowScenario)[] {
  const name = tlsVersionName(version);
  const slug = slugOf(version);
  return [
    {
      ...base,
      id: `mtls/${slug}-right-certificate`,
      title: `Accepts a valid client certificate over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: { label: `${name} only`, version, likeControl: true } },
      expect: accepted,
      why: 'Deliveries fail as soon as the sender or a proxy uses this version, and rejections over it prove nothing.',
      fix:
        'Trust the CA of the client certificate, including its intermediates, in every listener, or turn the ' +
        'version off.',
    },
    {
      ...base,
      id: `mtls/${slug}-no-certificate`,
      title: `Rejects a delivery without a client certificate over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('none', version) },
      expect: certificateRefused,
      why:
        'Optional client certificates let every client in. `rejectUnauthorized: false` without checking ' +
        '`socket.authorized`, and nginx `optional` without a check, are the usual causes.',
      fix: VERIFY_FIX,
    },
    {
      ...base,
      id: `mtls/${slug}-self-signed`,
      title: `Rejects a self-signed client certificate over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('self-signed', version) },
      expect: certificateRefused,
      why: 'Anyone can make such a certificate, with any name in it.',
      fix: VERIFY_FIX,
    },
    {
      ...base,
      id: `mtls/${slug}-unknown-authority`,
      title: `Rejects a client certificate of an unknown CA over ${name} (${TIMES} attempts)`,
      needs: ['https', 'mtls'],
      version,
      flow: repeatedly('unknown-authority', version),
      why:
        'A server that accepts any CA accepts every client. One runtime did so for one connection in five, which ' +
        'a single attempt does not show.',
      fix: `${VERIFY_FIX} In nginx \`optional_no_ca\` does not verify.`,
    },
    {
      ...base,
      id: `mtls/${slug}-same-names`,
      title: `Rejects a client certificate of a forged CA with the expected names over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('same-names', version) },
      expect: certificateRefused,
      why:
        'Subject and issuer are text that anyone can write into a certificate. A check that only compares them ' +
        'accepts a forgery.',
      fix: `${VERIFY_FIX} Compare the subject only after the signature was verified.`,
    },
    {
      ...base,
      id: `mtls/${slug}-issued-by-client`,
      title: `Rejects a client certificate that was signed by a client certificate over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('issued-by-client', version) },
      expect: certificateRefused,
      why:
        'A client certificate is not a CA. If it could sign others, each client could make certificates with any ' +
        'name.',
      fix: `${VERIFY_FIX} A custom chain check must require CA:TRUE and keyCertSign of each issuer.`,
    },
    {
      ...base,
      id: `mtls/${slug}-refused-not-recorded`,
      title: `Accepts a notification over ${name} that was rejected before without a certificate`,
      needs: ['https', 'mtls'],
      version,
      flow: (kit) => {
        const notification = kit.notification();
        const compose = () => notification;
        return [
          [
            {
              label: 'without a certificate',
              change: { compose, connect: presenting('none', version) },
              expect: certificateRefused,
            },
          ],
          [
            {
              label: 'with the valid one',
              change: { compose, connect: { label: `${name} only`, version } },
              expect: accepted,
            },
          ],
        ];
      },
      why: 'A receiver that stores the id before it checks the certificate lets an attacker block ids.',
      fix: 'Check the certificate first, and store nothing of a rejected delivery.',
    },
  ];
}

const FIXTURES: Readonly<Record<ClientFixture, { title: string; why: string; level: ProbeScenario['level'] }>> = {
  expired: {
    level: 'must',
    title: 'Rejects an expired client certificate',
    why: 'The expiry date limits the damage of a lost key. Verification callbacks that return true ignore it.',
  },
  'not-yet-valid': {
    level: 'must',
    title: 'Rejects a client certificate that is not valid yet',
    why: 'Either the dates are ignored, or the clock of the server is wrong, and then expiry does not work either.',
  },
  'wrong-purpose': {
    level: 'should',
    title: 'Rejects a certificate of the CA that is not valid for clients',
    why: 'If the CA also issues server certificates, each of those servers could deliver.',
  },
  revoked: {
    level: 'should',
    title: 'Rejects a revoked client certificate',
    why: 'If the revocation list is not checked, a stolen key works until the certificate expires.',
  },
  'other-subject': {
    level: 'should',
    title: 'Rejects a client certificate that the CA issued to another client',
    why: 'If the CA issues certificates to several clients, each of them could deliver as the sender.',
  },
};

const FIXTURE_FIX: Readonly<Record<ClientFixture, string>> = {
  expired: 'Leave the verification to the TLS library, and do not override its result for dates.',
  'not-yet-valid': 'Leave the verification to the TLS library, and keep the clock of the server synchronised.',
  'wrong-purpose': 'Require the extended key usage clientAuth. TLS libraries do so by default.',
  revoked:
    'Load the revocation list of the CA (nginx `ssl_crl`, Node `crl`) and renew it, or use short-lived certificates.',
  'other-subject':
    'Compare the subject with the agreed one after the verification, or use a CA that issues only to this client.',
};

/** Certificates that only the partner's CA can issue. */
function withFixture(fixture: ClientFixture, version: OfferedTlsVersion): ProbeScenario {
  const { title, why, level } = FIXTURES[fixture];
  return {
    ...base,
    level,
    id: `mtls/${slugOf(version)}-${fixture}`,
    title: `${title} over ${tlsVersionName(version)}`,
    needs: ['https', 'mtls', `fixture-${fixture}`],
    change: { connect: presenting(fixture, version) },
    expect: certificateRefused,
    why,
    fix: FIXTURE_FIX[fixture],
  };
}

/** Valid and invalid client certificates, for each TLS version. Specification: TLS (mutual TLS). */
export const mtlsCertificates: readonly (ProbeScenario | FlowScenario)[] = TLS_VERSIONS.flatMap((version) => [
  ...withoutFixture(version),
  ...(Object.keys(FIXTURES) as ClientFixture[]).map((fixture) => withFixture(fixture, version)),
]);

/** A session carries the certificate that it started with. Accepting it and asking again are both correct. */
const recorded: Expectation = {
  text: 'recorded: whether the session is resumed without a certificate',
  authentic: true,
  pass: [200, 'alert', 'closed', 400, 401, 403, 495, 496],
  note: ['2xx', '3xx', '4xx', '5xx'],
  unclear: ['none', 503],
};

function resuming(
  version: OfferedTlsVersion,
  resumeFrom: NonNullable<ConnectChange['resumeFrom']>,
  words: string,
): ConnectChange {
  const label = `a session that started with ${words}, resumed without a certificate`;
  return { label, version, clientCertificate: 'none', resumeFrom };
}

function resumed(version: OfferedTlsVersion, from: ClientCertificate, words: string): ProbeScenario {
  return {
    id: `mtls/${slugOf(version)}-resumed-${from}`,
    title: `Rejects a resumed session over ${tlsVersionName(version)} that started with ${words}`,
    level: 'must',
    requirements: ['mtls-verified'],
    needs: ['https', 'mtls'],
    change: { connect: resuming(version, from, words) },
    expect: certificateRefused,
    why:
      'A resumed session skips the exchange of certificates. A server that checks only full handshakes accepts ' +
      'clients that it rejected before.',
    fix:
      'Check the result of the verification on every request (`$ssl_client_verify`, a non-empty ' +
      '`getPeerCertificate()`: `socket.authorized` is true for resumed TLS 1.3 sessions). Keep sessions of ' +
      'different settings apart (`sessionIdContext`).',
  };
}

/** What a client with a session cache does on every connection except the first one. */
function resumedWithCertificate(version: OfferedTlsVersion): ProbeScenario {
  return {
    id: `mtls/${slugOf(version)}-resumed-with-certificate`,
    title: `Accepts a resumed session over ${tlsVersionName(version)} that started with a valid certificate`,
    level: 'must',
    requirements: ['mtls-verified'],
    needs: ['https', 'mtls'],
    change: {
      connect: {
        label: 'a session that started with the valid client certificate, resumed by the same client',
        version,
        resumeFrom: 'own',
      },
    },
    expect: accepted,
    why:
      'Clients resume sessions without exchanging certificates. A receiver that looks for one accepts the first ' +
      'delivery only.',
    fix:
      'Read the certificate from the session (Node `getPeerCertificate()`, nginx `$ssl_client_verify`), or issue ' +
      'no sessions.',
  };
}

/** Sessions that are resumed. Specification: TLS (mutual TLS). */
export const mtlsResumption: readonly ProbeScenario[] = TLS_VERSIONS.flatMap((version) => [
  resumedWithCertificate(version),
  resumed(version, 'none', 'no certificate'),
  resumed(version, 'unknown-authority', 'a certificate of an unknown CA'),
  {
    id: `mtls/${slugOf(version)}-resumed-right`,
    title: `Records whether a session over ${tlsVersionName(version)} is resumed without its certificate`,
    level: 'info',
    requirements: ['mtls-verified'],
    needs: ['https', 'mtls'],
    change: { connect: resuming(version, 'own', 'the valid certificate') },
    expect: recorded,
    why: 'This is allowed: the session carries what was verified. A revoked certificate works until the session ends.',
    fix: 'No change needed. For immediate revocation, shorten the lifetime of sessions or turn off tickets.',
  },
]);
