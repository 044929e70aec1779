import { type OfferedTlsVersion, TLS_VERSIONS, tlsVersionName } from '../../contract/index.ts';
import { presenting } from '../changes/connecting.ts';
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
  'Verify the client certificate where TLS ends, against the authority that issues it and no other: Node `requestCert: true, rejectUnauthorized: true, ca`; nginx `ssl_verify_client on` with `ssl_client_certificate`.';

/** Some servers let a false certificate through only now and then: one refusal proves little. */
const TIMES = 20;
/** So many of them at the same time. */
const SIDE_BY_SIDE = 5;

const base = { level: 'must', requirements: ['mtls-verified'] } as const;

function slugOf(version: OfferedTlsVersion): string {
  return version === 'TLSv1.2' ? 'tls-1-2' : 'tls-1-3';
}

/** The same probe many times, in small groups. */
function repeatedly(certificate: ClientCertificate, version: OfferedTlsVersion): FlowScenario['flow'] {
  return () =>
    Array.from({ length: TIMES / SIDE_BY_SIDE }, (_, group) =>
      Array.from(
        { length: SIDE_BY_SIDE },
        (_, at): Delivery => ({
          label: `try ${group * SIDE_BY_SIDE + at + 1} of ${TIMES}`,
          change: { connect: presenting(certificate, version) },
          expect: certificateRefused,
        }),
      ),
    );
}

/** What does not take the partner's authority to make. */
function alwaysThere(version: OfferedTlsVersion): (ProbeScenario | FlowScenario)[] {
  const name = tlsVersionName(version);
  const slug = slugOf(version);
  return [
    {
      ...base,
      id: `mtls/${slug}-right-certificate`,
      title: `Accepts the right client certificate over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: { label: `${name} alone`, version, likeControl: true } },
      expect: accepted,
      why: 'Deliveries fail as soon as the sender, or something in between, speaks this version; and without it no refusal over this version means anything.',
      fix: 'Trust the authority that issued the client certificate, its intermediates included, in every listener, and take every current kind of key; or switch the version off.',
    },
    {
      ...base,
      id: `mtls/${slug}-no-certificate`,
      title: `Refuses a delivery without a client certificate over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('none', version) },
      expect: certificateRefused,
      why: 'Mutual TLS that only asks lets everybody in who does not answer. `rejectUnauthorized: false` without a look at `socket.authorized`, and nginx `optional` without a check, are the usual causes.',
      fix: VERIFY_FIX,
    },
    {
      ...base,
      id: `mtls/${slug}-self-signed`,
      title: `Refuses a self-signed client certificate over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('self-signed', version) },
      expect: certificateRefused,
      why: 'Anybody makes such a certificate in a second, with any name in it.',
      fix: VERIFY_FIX,
    },
    {
      ...base,
      id: `mtls/${slug}-unknown-authority`,
      title: `Refuses a client certificate of an unknown authority over ${name}, ${TIMES} times out of ${TIMES}`,
      needs: ['https', 'mtls'],
      version,
      flow: repeatedly('unknown-authority', version),
      why: 'A server that takes any authority takes everybody. One runtime did so for one connection in five, which a single try does not show.',
      fix: `${VERIFY_FIX} In nginx \`optional_no_ca\` does not verify.`,
    },
    {
      ...base,
      id: `mtls/${slug}-same-names`,
      title: `Refuses a client certificate of a false authority with the right names over ${name}`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('same-names', version) },
      expect: certificateRefused,
      why: 'Subject and issuer are words that anybody can write into a certificate. A check that only compares them trusts the forger.',
      fix: `${VERIFY_FIX} Compare the subject only after the signature was verified.`,
    },
    {
      ...base,
      id: `mtls/${slug}-issued-by-client`,
      title: `Refuses a client certificate over ${name} that was signed by another client certificate`,
      needs: ['https', 'mtls'],
      change: { connect: presenting('issued-by-client', version) },
      expect: certificateRefused,
      why: 'A client certificate is no authority. Where every certificate may sign others, each client of the authority can make certificates with any name.',
      fix: `${VERIFY_FIX} A chain that is followed by hand has to ask each issuer for CA:TRUE and keyCertSign.`,
    },
    {
      ...base,
      id: `mtls/${slug}-refused-not-recorded`,
      title: `Accepts a notification over ${name} that was refused before for want of a certificate`,
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
              label: 'with the right one',
              change: { compose, connect: { label: `${name} alone`, version } },
              expect: accepted,
            },
          ],
        ];
      },
      why: 'A receiver that notes the id before it checks who delivers lets a stranger use up ids, and answers the real delivery from memory.',
      fix: 'Check the certificate first, and record nothing of a delivery that is refused.',
    },
  ];
}

const FIXTURES: Readonly<Record<ClientFixture, { title: string; why: string; level: ProbeScenario['level'] }>> = {
  expired: {
    level: 'must',
    title: 'Refuses an expired client certificate',
    why: 'Expiry is what limits the harm of a key that was lost. Verify callbacks that return true take it all the same.',
  },
  'not-yet-valid': {
    level: 'must',
    title: 'Refuses a client certificate that is not valid yet',
    why: 'The dates are not looked at, or the clock of the server is wrong; then expiry does not work either.',
  },
  'wrong-purpose': {
    level: 'should',
    title: 'Refuses a certificate of the right authority that is not meant for clients',
    why: 'An authority that issues for servers too would let each of them deliver.',
  },
  revoked: {
    level: 'should',
    title: 'Refuses a client certificate that was revoked',
    why: 'Without a look at the revocation list a stolen key works until it expires.',
  },
  'other-subject': {
    level: 'should',
    title: 'Refuses a client certificate that the right authority issued to somebody else',
    why: 'Where an authority issues to several clients, each of them could deliver in the name of the service.',
  },
};

const FIXTURE_FIX: Readonly<Record<ClientFixture, string>> = {
  expired: 'Leave the verification to the TLS library, and do not overrule what it says about dates.',
  'not-yet-valid': 'Leave the verification to the TLS library, and keep the clock of the server right.',
  'wrong-purpose': 'Ask for the extended key usage clientAuth; TLS libraries do so unless told otherwise.',
  revoked:
    'Load the list of the authority (nginx `ssl_crl`, Node `crl`) and renew it, or use certificates that live for days.',
  'other-subject':
    'Compare the subject with the one agreed on, after the certificate was verified; or use an authority that issues to this client alone.',
};

/** What only the partner's authority can make. */
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

/** Client certificates, right and wrong, once for each TLS version. Specification: TLS (mutual TLS). */
export const mtlsCertificates: readonly (ProbeScenario | FlowScenario)[] = TLS_VERSIONS.flatMap((version) => [
  ...alwaysThere(version),
  ...(Object.keys(FIXTURES) as ClientFixture[]).map((fixture) => withFixture(fixture, version)),
]);

/** A session stands for the certificate it was made with, so taking it is right, and so is asking again. */
const recorded: Expectation = {
  text: 'recorded: whether a session of the right certificate is resumed without it',
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
  const label = `a session that began with ${words}, resumed without a certificate`;
  return { label, version, clientCertificate: 'none', resumeFrom };
}

function resumed(version: OfferedTlsVersion, from: ClientCertificate, words: string): ProbeScenario {
  return {
    id: `mtls/${slugOf(version)}-resumed-${from}`,
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
    id: `mtls/${slugOf(version)}-resumed-with-certificate`,
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
    id: `mtls/${slugOf(version)}-resumed-right`,
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
