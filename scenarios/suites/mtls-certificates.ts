import { type OfferedTlsVersion, TLS_VERSIONS, tlsVersionName } from '../../contract/index.ts';
import type { MistakeId } from '../../contract/mistakes/index.ts';
import { presenting } from '../changes/transmitting.ts';
import { accepted, certificateRefused } from '../expectations.ts';
import type { ClientCertificate, ClientFixture, Delivery, Expectation, FlowScenario, Scenario } from '../scenario.ts';
import { family, type Own, type Row } from './family.ts';

const shared = { suite: 'mtls', level: 'must', requirements: ['mtls-verified'], needs: ['https', 'mtls'] } as const;
const accepts = { ...shared, verb: 'Accepts' } as const;
const rejects = { ...shared, verb: 'Rejects' } as const;

/** Some servers occasionally accept an invalid certificate, so a single rejection is weak evidence. */
const TIMES = 20;
const CONCURRENT = 5;

function slugOf(version: OfferedTlsVersion): string {
  return version === 'TLSv1.2' ? 'tls-1-2' : 'tls-1-3';
}

/** Sends the same probe many times, in small concurrent groups. */
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

/** Sends a notification without a certificate, and then the same notification with the valid one. */
function firstWithout(version: OfferedTlsVersion): FlowScenario['flow'] {
  return (kit) => {
    const notification = kit.notification();
    const compose = () => notification;
    const none = { compose, connect: presenting('none', version) };
    const valid = { compose, connect: { label: `${tlsVersionName(version)} only`, version } };
    return [
      [{ label: 'without a certificate', change: none, expect: certificateRefused }],
      [{ label: 'with the valid one', change: valid, expect: accepted }],
    ];
  };
}

/** Valid and invalid client certificates over one TLS version. */
function certificatesOver(version: OfferedTlsVersion): Scenario[] {
  const name = tlsVersionName(version);
  const slug = slugOf(version);
  const presents = (certificate: ClientCertificate, what: string, mistake: MistakeId, own: Own = {}): Row => [
    `${what} over ${name}`,
    { connect: presenting(certificate, version) },
    mistake,
    { expect: certificateRefused, ...own },
  ];
  // Only the partner's CA can issue these certificates.
  const issued = (fixture: ClientFixture, what: string, mistake: MistakeId, own: Own = {}): Row =>
    presents(fixture, what, mistake, { needs: [...shared.needs, `fixture-${fixture}`], ...own });
  return [
    ...family(accepts, {
      [`${slug}-right-certificate`]: [
        `a valid client certificate over ${name}`,
        { connect: { label: `${name} only`, version, likeControl: true } },
        'valid-certificate-rejected',
        { expect: accepted },
      ],
    }),
    ...family(rejects, {
      [`${slug}-no-certificate`]: presents(
        'none',
        'a delivery without a client certificate',
        'client-without-certificate-accepted',
      ),
      [`${slug}-self-signed`]: presents(
        'self-signed',
        'a self-signed client certificate',
        'client-certificate-not-verified',
      ),
      [`${slug}-unknown-authority`]: [
        `a client certificate from an unknown CA over ${name} (${TIMES} attempts)`,
        { version, flow: repeatedly('unknown-authority', version) },
        'client-certificate-not-verified',
        { note: 'One runtime accepted one connection in five, which a single attempt may not show.' },
      ],
      [`${slug}-same-names`]: presents(
        'same-names',
        'a client certificate from a forged CA with the expected names',
        'hand-written-certificate-check',
      ),
      [`${slug}-issued-by-client`]: presents(
        'issued-by-client',
        'a client certificate that was signed by a client certificate',
        'hand-written-certificate-check',
        { note: 'A client certificate is not a CA.' },
      ),
    }),
    ...family(accepts, {
      [`${slug}-refused-not-recorded`]: [
        `a notification over ${name} that was previously rejected without a certificate`,
        { version, flow: firstWithout(version) },
        'recorded-before-certificate-check',
      ],
    }),
    ...family(rejects, {
      [`${slug}-expired`]: issued('expired', 'an expired client certificate', 'verification-error-tolerated'),
      [`${slug}-not-yet-valid`]: issued(
        'not-yet-valid',
        'a client certificate that is not valid yet',
        'verification-error-tolerated',
      ),
      [`${slug}-wrong-purpose`]: issued(
        'wrong-purpose',
        'a certificate from the CA that is not valid for clients',
        'verification-error-tolerated',
        {
          level: 'should',
          note: 'If the CA also issues server certificates, each of those servers could deliver.',
        },
      ),
      [`${slug}-revoked`]: issued('revoked', 'a revoked client certificate', 'client-certificate-revocation-ignored', {
        level: 'should',
      }),
      [`${slug}-other-subject`]: issued(
        'other-subject',
        'a client certificate that the CA issued to another client',
        'client-name-not-compared',
        {
          level: 'should',
        },
      ),
    }),
  ];
}

/** Valid and invalid client certificates, for each TLS version. Specification: TLS (mutual TLS). */
export const mtlsCertificates: readonly Scenario[] = TLS_VERSIONS.flatMap(certificatesOver);

/**
 * A session remembers the certificate with which it started. An endpoint may rely on this certificate, or request it
 * again.
 */
const recorded: Expectation = {
  text: 'recorded: whether the session is resumed without a certificate',
  authentic: true,
  pass: [200, 'alert', 'closed', 400, 401, 403, 495, 496],
  note: ['2xx', '3xx', '4xx', '5xx'],
  unclear: ['none', 503],
};

/** Checks of sessions that are resumed over one TLS version. */
function resumptionOver(version: OfferedTlsVersion): Scenario[] {
  const slug = slugOf(version);
  const session = `session over ${tlsVersionName(version)}`;
  const connect = { version, clientCertificate: 'none' } as const;
  return [
    // A client with a session cache resumes a session on every connection except the first one.
    ...family(
      { ...accepts, expect: accepted },
      {
        [`${slug}-resumed-with-certificate`]: [
          `a resumed ${session} that started with a valid certificate`,
          (label) => ({ connect: { label, version, resumeFrom: 'own' } }),
          'valid-certificate-rejected',
          { note: 'Clients resume sessions without exchanging certificates.' },
        ],
      },
    ),
    ...family(
      { ...rejects, expect: certificateRefused, mistake: 'resumed-session-unverified' },
      {
        [`${slug}-resumed-none`]: [
          `a resumed ${session} that started with no certificate`,
          (label) => ({ connect: { ...connect, label: `${label}, without a certificate`, resumeFrom: 'none' } }),
        ],
        [`${slug}-resumed-unknown-authority`]: [
          `a resumed ${session} that started with a certificate from an unknown CA`,
          (label) => ({
            connect: { ...connect, label: `${label}, without a certificate`, resumeFrom: 'unknown-authority' },
          }),
        ],
      },
    ),
    ...family(
      { ...shared, verb: 'Records whether', level: 'info', expect: recorded },
      {
        [`${slug}-resumed-right`]: [
          `a ${session} is resumed without its certificate`,
          {
            connect: {
              ...connect,
              label: 'a session that started with the valid certificate, resumed without a certificate',
              resumeFrom: 'own',
            },
          },
          'client-certificate-revocation-ignored',
          { note: 'This is allowed: the session carries what was verified.' },
        ],
      },
    ),
  ];
}

/** Checks of resumed sessions, for each TLS version. Specification: TLS (mutual TLS). */
export const mtlsResumption: readonly Scenario[] = TLS_VERSIONS.flatMap(resumptionOver);
