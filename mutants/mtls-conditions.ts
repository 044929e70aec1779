/** Mutants that verify client certificates only under certain conditions, or trust a forwarded certificate. */
import { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import type { Pipeline } from '../receiver/create-receiver.ts';
import { refuse, required, type Stage } from '../receiver/stages/stage.ts';
import { family, type Row } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';
import {
  alsoAcceptClients,
  alsoAcceptIf,
  type Client,
  handleClients,
  hasUntrustedIssuer,
  MTLS,
  trustedCaOf,
} from './lenient-certificate.ts';

/** Accepts one in `many` certificates of an unknown CA, counted for each issuer, subject and TLS version. */
function oneIn(many: number): StageFault['replace'] {
  return alsoAcceptClients(() => {
    const seen = new Map<string, number>();
    return (client) => {
      if (!hasUntrustedIssuer(client)) return false;
      const { certificate, socket } = client;
      const key = JSON.stringify([certificate?.issuer, certificate?.subject, socket.getProtocol()]);
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      return count % many === 0;
    };
  });
}

/** Runs all stages after reading the body. */
function stagesAfterBody({ correct }: FaultParts): Stage {
  const { requireApiKey, requireSignature, checkContentType, parse, validate, store, reply } = correct;
  const stages = [requireApiKey, requireSignature, checkContentType, parse, validate, store, reply];
  return (req, res, next) => {
    const run = (at: number): void | Promise<void> =>
      stages[at]?.(req, res, (error?: unknown) =>
        error === undefined ? void Promise.resolve(run(at + 1)).catch(next) : next(error),
      );
    return run(0);
  };
}

/** Runs the correct check, then `goOn`. */
function checkFirst({ correct }: FaultParts, goOn: Stage): Stage {
  return (req, res, next) =>
    correct.requireClientCertificate(req, res, (error?: unknown) =>
      error === undefined ? void Promise.resolve(goOn(req, res, next)).catch(next) : next(error),
    );
}

/** Reads the body first, and then decides from its content how to continue. */
function afterReadingBody(
  prepare: (parts: FaultParts) => (body: string, client: Client) => Stage,
): StageFault['replace'] {
  return handleClients((parts) => {
    const decide = prepare(parts);
    return (client) => (req, res, next) =>
      parts.correct.readBody(req, res, (error?: unknown) => {
        if (error !== undefined) return next(error);
        const goOn = async () => decide(required(res, 'rawBody').toString('latin1'), client)(req, res, next);
        void goOn().catch(next);
      });
  });
}

/** Returns true if the client sent no server name. Node does not know the server name of a resumed TLS 1.2 session. */
function namesNoServer({ socket }: Client): boolean {
  return (socket as { servername?: string | false }).servername === false && !socket.isSessionReused();
}

function namesAnotherServer({ req, socket }: Client): boolean {
  const { servername } = socket as { servername?: string | false };
  return typeof servername === 'string' && servername !== '' && servername !== req.hostname;
}

/** Returns the value of a header, or the empty string. */
type HeaderReader = (name: string) => string;

/** Makes a row about proxy headers that claim a client certificate. `of` names the product that sets these headers. */
function trusts(of: string, claims: (header: HeaderReader) => boolean, note?: string): Row<StageFault> {
  return [
    `Trusts a header that claims a verified client certificate, from any sender (${of})`,
    alsoAcceptIf(({ req }) => claims((header) => req.get(header) ?? '')),
    note === undefined ? {} : { note },
  ];
}

/** Makes a row about a forwarded certificate. The receiver decodes it and verifies it against its CA. */
function verifies(name: string, how: string, decode: (value: string) => string | Buffer): Row<StageFault> {
  return [
    `Verifies the certificate in ${name} (${how}), which any client can send`,
    alsoAcceptClients((parts) => {
      const ca = trustedCaOf(parts);
      return ({ req }) => {
        try {
          const certificate = new X509Certificate(decode(req.get(name) ?? ''));
          return ca !== null && certificate.verify(ca.publicKey);
        } catch {
          return false;
        }
      };
    }),
  ];
}

const FIRST_HEADER = 'x-ssl-client-headers-trusted';
const IN_ONE_CHECK = { name: FIRST_HEADER, reason: 'One check has the headers of all products, in every form.' };

const EVERY_DELIVERY =
  'Without the certificate a delivery is rejected before this check, so every delivery that reaches it has one, and ' +
  'none is checked.';

/** Skips a check if the client has a verified certificate. */
function skipWhenCertified(stage: keyof Pipeline): Pick<StageFault, 'stage' | 'replace'> {
  return {
    stage,
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.socket instanceof TLSSocket && req.socket.authorized ? next() : correct[stage](req, res, next),
  };
}

export const mtlsConditionsFaults: readonly StageFault[] = [
  ...family<StageFault>(MTLS, {
    // Mutants that check the certificate, but not always.
    'certificate-not-needed-over-tls-1-2': [
      'Requires no client certificate over TLS 1.2',
      alsoAcceptIf(({ socket }) => socket.getProtocol() === 'TLSv1.2'),
      'certificate-check-conditional',
    ],
    'certificate-not-needed-over-tls-1-3': [
      'Requires no client certificate over TLS 1.3',
      alsoAcceptIf(({ socket }) => socket.getProtocol() === 'TLSv1.3'),
      'certificate-check-conditional',
      { note: 'A request by renegotiation never happens in TLS 1.3, which current clients use.' },
    ],
    'resumed-session-not-checked': [
      'Checks the certificate only in full handshakes, not in resumed sessions',
      alsoAcceptIf(({ socket }) => socket.isSessionReused()),
      'resumed-session-unverified',
    ],
    'authorized-flag-believed': [
      'Checks only `socket.authorized`, which Node also sets for resumed sessions without a certificate',
      alsoAcceptIf(({ certificate, socket }) => certificate === null && socket.authorized),
      'resumed-session-unverified',
    ],
    'any-authority-accepted-one-in-ten': [
      'Accepts one in ten client certificates from an unknown CA',
      oneIn(10),
      'client-certificate-not-verified',
      { note: 'One machine of a cluster missed a change. An attacker retries; a single test passes.' },
    ],
    'any-authority-accepted-one-in-five': [
      'Accepts one in five client certificates from an unknown CA',
      oneIn(5),
      'client-certificate-not-verified',
      {
        note: 'A runtime reused the result of another connection (oven-sh/bun #27985): update it.',
        equivalentTo: {
          name: 'any-authority-accepted-one-in-ten',
          reason: 'Both accept some of twenty attempts; a higher rate is not a different fault.',
        },
      },
    ],
    'certificate-not-needed-with-query': [
      'Requires the certificate only for the exact URL, not with a query',
      alsoAcceptIf(({ req }) => req.url.includes('?')),
      'certificate-check-conditional',
      { note: 'nginx `if ($request_uri = "/webhook")` compares the text of the URL.' },
    ],
    'certificate-not-needed-without-server-name': [
      'Requires no certificate from clients that do not send the server name (SNI)',
      alsoAcceptIf(namesNoServer),
      'certificate-check-conditional',
    ],
    'certificate-not-needed-for-other-names': [
      'Requires no certificate from clients that send another server name (SNI) than that of the endpoint',
      alsoAcceptIf(namesAnotherServer),
      'certificate-check-conditional',
    ],
    'certificate-needed-for-orders-only': [
      'Requires a certificate only for CAAS notifications',
      afterReadingBody((parts) => {
        const goOn = stagesAfterBody(parts);
        const checked = checkFirst(parts, goOn);
        return (body) => (/"type"\s*:\s*"CAAS"/.test(body) ? checked : goOn);
      }),
      'certificate-check-conditional',
    ],
    'refused-without-certificate-remembered': [
      'Records the id of a delivery that is rejected without a certificate, and then rejects the real delivery',
      afterReadingBody((parts) => {
        const checked = checkFirst(parts, stagesAfterBody(parts));
        const known = new Set<string>();
        return (body, { certificate, fault }) => {
          const id = /"id"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? '';
          if (known.has(id)) return (_req, res) => refuse(res, 409, 'duplicate');
          if (certificate === null || fault !== null) known.add(id);
          return checked;
        };
      }),
      'recorded-before-certificate-check',
    ],
    'certificate-not-needed-for-local-claims': [
      'Requires no certificate from clients that claim a local address in X-Forwarded-For',
      alsoAcceptIf(({ req }) => /\b127\.0\.0\.1\b|::1/.test(req.get('x-forwarded-for') ?? '')),
      'certificate-check-conditional',
    ],
  }),
  // Mutants that accept a header instead of a certificate.
  ...family<StageFault>(
    { ...MTLS, mistake: 'certificate-header-unprotected' },
    {
      'x-ssl-client-headers-trusted': trusts(
        'X-SSL-Client-Verify and similar names, as usually configured in Apache and nginx',
        (header) => header('x-ssl-client-verify') === 'SUCCESS',
      ),
      'x-client-verify-trusted': trusts(
        'X-Client-Verify, from nginx recipes',
        (header) => header('x-client-verify') === 'SUCCESS',
      ),
      'ssl-client-headers-trusted': trusts(
        'ssl-client-verify of ingress-nginx',
        (header) => header('ssl-client-verify') === 'SUCCESS',
        'Set `auth-tls-verify-client: "on"` in the Ingress, and block all other access to the pod.',
      ),
      'envoy-client-certificate-trusted': trusts(
        'X-Forwarded-Client-Cert from Envoy and Istio',
        (header) => /Subject=|URI=|Hash=/.test(header('x-forwarded-client-cert')),
        'Set `forward_client_cert_details: SANITIZE_SET` in Envoy.',
      ),
      'traefik-client-certificate-trusted': trusts(
        'X-Forwarded-Tls-Client-Cert of Traefik',
        (header) => header('x-forwarded-tls-client-cert') !== '',
        'Use `RequireAndVerifyClientCert` in Traefik, with its passTLSClientCert middleware on the route.',
      ),
      'amazon-client-certificate-trusted': trusts(
        'X-Amzn-Mtls-Clientcert from AWS load balancers',
        (header) => header('x-amzn-mtls-clientcert') !== '' || header('x-amzn-mtls-clientcert-leaf') !== '',
        'Use mode "verify" with a trust store, and allow only the load balancer in the security group.',
      ),
      'azure-client-certificate-trusted': trusts(
        'X-ARR-ClientCert from Azure App Service',
        (header) => header('x-arr-clientcert') !== '',
        'App Service does not verify certificates: verify the one in the header against the CA.',
      ),
      'google-client-certificate-trusted': trusts(
        'X-Client-Cert-Present and X-Client-Cert-Chain-Verified from Google Cloud load balancers',
        (header) => header('x-client-cert-chain-verified') === 'true',
        'Let the client validation mode reject invalid certificates, and allow only the load balancer.',
      ),
      'cloudflare-client-certificate-trusted': trusts(
        'Cf-Cert-Verified and Cf-Client-Cert-Verified, as Cloudflare can be configured to add them',
        (header) => header('cf-cert-verified') === 'true' || header('cf-client-cert-verified') === 'true',
        'Allow connections to the origin only from Cloudflare (authenticated origin pulls).',
      ),
      'client-cert-header-trusted': trusts(
        'Client-Cert, of RFC 9440',
        (header) => header('client-cert') !== '',
        'RFC 9440 requires the proxy to remove this header from client requests.',
      ),
      'haproxy-client-headers-trusted': trusts(
        'X-SSL and X-SSL-Client-Verify: 0 of HAProxy and OpenShift',
        (header) => header('x-ssl') === '1' && header('x-ssl-client-verify') === '0',
        'Delete the headers of the client first: `http-request del-header X-SSL -m beg`.',
      ),
      'xfcc-der-verified': verifies(
        'X-Forwarded-Client-Cert',
        'the base64 of its DER, as Cloud Foundry writes it',
        (value) => Buffer.from(value, 'base64'),
      ),
      'spaced-pem-verified': verifies('X-SSL-Cert', 'PEM with spaces instead of line ends', (value) =>
        value.replace(/ (?!CERTIFICATE)/g, '\n'),
      ),
      'tabbed-pem-verified': verifies('SSL-Client-Cert', 'PEM with tabs instead of line ends', (value) =>
        value.replaceAll('\t', '\n'),
      ),
      'encoded-pem-verified': verifies('X-Client-Cert', 'the base64 of its PEM', (value) => {
        const pem = Buffer.from(value, 'base64').toString();
        return pem.startsWith('-----BEGIN') ? pem : '';
      }),
      'enclosed-der-verified': verifies('X-Client-Cert-Leaf', 'base64 between colons', (value) =>
        Buffer.from(/^:(.*):$/.exec(value)?.[1] ?? '', 'base64'),
      ),
    },
  ).map((fault) => ({ ...fault, ...(fault.name !== FIRST_HEADER && { equivalentTo: IN_ONE_CHECK }) })),
  // Mutants for which a client certificate is enough.
  ...family<StageFault>(
    { area: 'mtls', mistake: 'certificate-replaces-credentials' },
    {
      'signature-not-needed-with-certificate': [
        'Requires no signature from a client with a valid certificate',
        skipWhenCertified('requireSignature'),
        { needs: ['hmac'], equivalentTo: { name: 'signature-not-checked', reason: EVERY_DELIVERY } },
      ],
      'api-key-not-needed-with-certificate': [
        'Requires no API key from a client with a valid certificate',
        skipWhenCertified('requireApiKey'),
        { needs: ['api-key'], equivalentTo: { name: 'api-key-not-checked', reason: EVERY_DELIVERY } },
      ],
    },
  ),
];
