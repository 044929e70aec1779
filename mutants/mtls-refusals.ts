/** Mutants that reject clients without a valid certificate incorrectly, and mutants that reject valid clients. */
import { refuse, type Stage } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { type Client, handleClients, MTLS } from './lenient-certificate.ts';

/** Answers clients without a certificate differently, and rejects the others correctly. */
function missing(stage: (parts: FaultParts) => Stage): StageFault['replace'] {
  return handleClients((parts) => {
    const answer = stage(parts);
    return ({ certificate }) => (certificate === null ? answer : null);
  });
}

const wrong = ({ certificate, fault, named }: Client) => certificate === null || fault !== null || !named;

const forbid: Stage = (_req, res) => refuse(res, 403, 'forbidden');

export const mtlsRefusalsFaults: readonly StageFault[] = family<StageFault>(
  { ...MTLS, mistake: 'unverified-certificate-read' },
  {
    'certificate-missing-is-500': [
      'Answers 500 to a missing client certificate',
      missing(() => (_req, res) => refuse(res, 500, 'internal')),
      { forbidden: false },
    ],
    'certificate-missing-ends-the-process': [
      'Ends the process on a connection without a client certificate',
      missing((parts) => () => parts.crash(100)),
    ],
    'certificate-self-signed-ends-the-process': [
      'Ends the process on a self-signed client certificate',
      handleClients((parts) => (client) => {
        return client.fault === 'DEPTH_ZERO_SELF_SIGNED_CERT' ? () => parts.crash(100) : null;
      }),
    ],
    'certificate-missing-is-redirected': [
      'Redirects a client without a certificate to a page',
      missing(() => (_req, res) => refuse(res, 302, 'moved', { headers: { Location: '/login' } })),
      'misleading-certificate-refusal',
      { forbidden: false },
    ],
    'certificate-missing-is-404': [
      'Answers 404 to a client without a certificate',
      missing(() => (_req, res) => refuse(res, 404, 'not-found')),
      'misleading-certificate-refusal',
      { forbidden: false },
    ],
    'certificate-refused-with-200': [
      'Answers 200 to a delivery with an invalid or missing certificate and discards it',
      handleClients(() => (client) => (wrong(client) ? (_req, res) => refuse(res, 200, 'certificate') : null)),
      'misleading-certificate-refusal',
    ],
    'right-certificate-refused': [
      'Rejects the valid client certificate',
      handleClients(() => () => forbid),
      'valid-certificate-rejected',
    ],
    'right-certificate-refused-over-tls-1-2': [
      'Rejects the valid client certificate over TLS 1.2',
      handleClients(() => (client) => (client.socket.getProtocol() === 'TLSv1.2' ? forbid : null)),
      'valid-certificate-rejected',
      { note: 'The signature algorithms of TLS 1.2 do not include the type of the client key.' },
    ],
    'resumed-session-refused': [
      'Rejects a client that resumes its session, although it started with the valid certificate',
      handleClients(() => (client) => (client.socket.isSessionReused() ? forbid : null)),
      'valid-certificate-rejected',
      { note: 'Deliveries on later connections fail until the session expires, which looks random.' },
    ],
  },
);
