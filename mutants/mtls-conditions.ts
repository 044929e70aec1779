/** Mutants that verify client certificates only under a condition, or trust a forwarded one. */
import { TLSSocket } from 'node:tls';
import type { Request } from 'express';
import type { Pipeline } from '../receiver/create-receiver.ts';
import { refuse, required, type Stage } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';
import {
  type AcceptsClient,
  alsoAcceptClients,
  type Client,
  handleClients,
  hasUntrustedIssuer,
  MTLS,
} from './lenient-certificate.ts';

const EVERYWHERE = {
  rule: 'Check the certificate unconditionally, before anything of the request is read, where every delivery passes.',
  express:
    'Set `requestCert: true, rejectUnauthorized: true` for the whole server, or check `req.socket.authorized` ' +
    'in the first middleware.',
} as const;

/** Accepts clients and requests under a condition, whatever the certificate. */
function unless(
  test: AcceptsClient,
  text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why'> & Partial<StageFault>,
): StageFault {
  return { ...MTLS, fix: EVERYWHERE, replace: alsoAcceptClients(() => test), ...text };
}

/** Accepts one in `many` certificates of unknown CAs. The counter key separates single attempts from repeated ones. */
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

/** All stages after reading the body. */
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

/** The correct check, then the rest. */
function checkFirst({ correct }: FaultParts, goOn: Stage): Stage {
  return (req, res, next) =>
    correct.requireClientCertificate(req, res, (error?: unknown) =>
      error === undefined ? void Promise.resolve(goOn(req, res, next)).catch(next) : next(error),
    );
}

/** Reads the body first and lets its content decide how to continue. */
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

function hasQuery({ req }: { readonly req: Request }): boolean {
  return req.url.includes('?');
}

/** Node does not know the server name of a resumed TLS 1.2 session. */
function namesNoServer({ socket }: Client): boolean {
  return (socket as { servername?: string | false }).servername === false && !socket.isSessionReused();
}

const resumed = ({ socket }: Client) => socket.isSessionReused();

/** The headers of a proxy that claim a client certificate. */
interface Family {
  readonly name: string;
  /** Whose headers these are. */
  readonly of: string;
  readonly claims: (header: (name: string) => string) => boolean;
  /** How to configure the proxy. */
  readonly proxy: string;
}

const has = (text: string) => text !== '';

const FAMILIES: readonly Family[] = [
  {
    name: 'x-ssl-client-headers-trusted',
    of: 'X-SSL-Client-Verify and similar names, as usually configured in Apache and nginx',
    claims: (header) => header('x-ssl-client-verify') === 'SUCCESS',
    proxy: 'In nginx, `proxy_set_header X-SSL-Client-Verify $ssl_client_verify;` for every location.',
  },
  {
    name: 'x-client-verify-trusted',
    of: 'X-Client-Verify, from nginx recipes',
    claims: (header) => header('x-client-verify') === 'SUCCESS',
    proxy: 'In nginx, `proxy_set_header X-Client-Verify $ssl_client_verify;` for every location.',
  },
  {
    name: 'ssl-client-headers-trusted',
    of: 'ssl-client-verify of ingress-nginx',
    claims: (header) => header('ssl-client-verify') === 'SUCCESS',
    proxy:
      'Request certificates in the Ingress (`auth-tls-verify-client: "on"`), and block all other access to the pod.',
  },
  {
    name: 'envoy-client-certificate-trusted',
    of: 'X-Forwarded-Client-Cert of Envoy and Istio',
    claims: (header) => /Subject=|URI=|Hash=/.test(header('x-forwarded-client-cert')),
    proxy: 'Set `forward_client_cert_details: SANITIZE_SET` in Envoy.',
  },
  {
    name: 'traefik-client-certificate-trusted',
    of: 'X-Forwarded-Tls-Client-Cert of Traefik',
    claims: (header) => has(header('x-forwarded-tls-client-cert')),
    proxy:
      'Use `RequireAndVerifyClientCert` in the TLS options of Traefik, with its passTLSClientCert middleware on ' +
      'the route.',
  },
  {
    name: 'amazon-client-certificate-trusted',
    of: 'X-Amzn-Mtls-Clientcert of the AWS load balancers',
    claims: (header) => has(header('x-amzn-mtls-clientcert')) || has(header('x-amzn-mtls-clientcert-leaf')),
    proxy:
      'Use the mode "verify" with a trust store: the mode "passthrough" verifies nothing. Allow only the load ' +
      'balancer in the security group.',
  },
  {
    name: 'azure-client-certificate-trusted',
    of: 'X-ARR-ClientCert of Azure App Service',
    claims: (header) => has(header('x-arr-clientcert')),
    proxy: 'App Service forwards certificates without verifying them: verify the one in the header against the CA.',
  },
  {
    name: 'google-client-certificate-trusted',
    of: 'X-Client-Cert-Present and X-Client-Cert-Chain-Verified of the Google Cloud load balancers',
    claims: (header) => header('x-client-cert-chain-verified') === 'true',
    proxy:
      'Set the client validation mode to reject invalid certificates, and allow only the load balancer in the ' +
      'firewall.',
  },
  {
    name: 'cloudflare-client-certificate-trusted',
    of: 'Cf-Cert-Verified and Cf-Client-Cert-Verified, as Cloudflare can be configured to add them',
    claims: (header) => header('cf-cert-verified') === 'true' || header('cf-client-cert-verified') === 'true',
    proxy: 'Allow connections to the origin only from Cloudflare (authenticated origin pulls).',
  },
  {
    name: 'client-cert-header-trusted',
    of: 'Client-Cert, of RFC 9440',
    claims: (header) => has(header('client-cert')),
    proxy: 'RFC 9440 requires the proxy to remove this header from client requests; check that yours does.',
  },
];

function trusting({ name, of, claims, proxy }: Family): StageFault {
  return {
    ...MTLS,
    name,
    title: `Trusts a header that claims a verified client certificate, from any sender (${of})`,
    seen:
      'Applications behind a TLS proxy that can also be reached directly, or whose proxy does not overwrite the ' +
      'header (CVE-2026-46579, GHSA-4w7q-wwx4-6973).',
    why: 'Any client can set a header, so it replaces the certificate.',
    fix: {
      rule:
        'Let the proxy overwrite the header on every request, make the application reachable only through the ' +
        `proxy, and ignore the header from all others. ${proxy}`,
      express:
        'Read such a header only if `req.socket.remoteAddress` is the proxy, and never decide by `req.ip`, which ' +
        '"trust proxy" can take from another header.',
    },
    replace: alsoAcceptClients(
      () =>
        ({ req }) =>
          claims((header) => textOf(req, header)),
    ),
  };
}

function textOf(req: Request, header: string): string {
  return req.get(header) ?? '';
}

const INDEPENDENT = {
  rule:
    'Check the certificate, the API key and the signature one after the other, and let none of them replace ' +
    'another.',
  express: 'Do not return early if `req.socket.authorized` is true: use separate middleware for every check.',
} as const;

const EVERY_DELIVERY =
  'Without the certificate a delivery is rejected before this check, so every delivery that reaches it has one, and ' +
  'none is checked.';

const BASE = { area: 'mtls', severity: 'critical', forbidden: true, fix: INDEPENDENT } as const;

/** Skips a check if there is a verified certificate. */
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
  // Receivers that check the certificate, but not always.
  unless(({ socket }) => socket.getProtocol() === 'TLSv1.2', {
    name: 'certificate-not-needed-over-tls-1-2',
    title: 'Requires no client certificate over TLS 1.2',
    seen: 'Proxies with one policy per version, and servers with two listeners of which one was hardened.',
    why: 'The client chooses the version, so the weaker policy decides.',
  }),
  unless(({ socket }) => socket.getProtocol() === 'TLSv1.3', {
    name: 'certificate-not-needed-over-tls-1-3',
    title: 'Requires no client certificate over TLS 1.3',
    seen:
      'Servers that request the certificate by renegotiation, which TLS 1.3 does not have, and handshake checks ' +
      'from before TLS 1.3 was enabled.',
    why: 'Current clients use TLS 1.3, so the check hardly ever runs.',
  }),
  unless(resumed, {
    name: 'resumed-session-not-checked',
    title: 'Checks the certificate only in full handshakes, not in resumed sessions',
    seen:
      'Servers that check in the verification callback, which does not run for a resumed session (such as ' +
      'CVE-2025-23419 in nginx and CVE-2025-23048 in Apache).',
    why:
      'A client without a certificate connects twice: the first connection is rejected, and the second resumes it ' +
      'and is accepted.',
    fix: {
      rule: 'Check the verification result on every request, and keep sessions of different settings separate.',
      express:
        'Check `req.socket.authorized` and `getPeerCertificate()` in middleware, and store nothing in the handshake.',
      go: 'Check in `VerifyConnection`, which also runs for resumed sessions, instead of `VerifyPeerCertificate`.',
    },
  }),
  unless(({ certificate, socket }) => certificate === null && socket.authorized, {
    name: 'authorized-flag-believed',
    title: 'Checks only `socket.authorized`, which Node also sets for resumed sessions without a certificate',
    seen: 'Every Node example of optional client certificates, with TLS 1.3.',
    why: 'A client without a certificate is rejected once, resumes the session over TLS 1.3, and is accepted.',
    fix: {
      rule: 'Check the certificate itself, in addition to the verification result.',
      express:
        'Reject unless `req.socket.authorized` is true and `req.socket.getPeerCertificate().raw` is present, or set ' +
        '`rejectUnauthorized: true`.',
    },
  }),
  {
    ...MTLS,
    name: 'any-authority-accepted-one-in-ten',
    title: 'Accepts one in ten client certificates of an unknown CA',
    seen:
      'Clusters in which one machine missed a change, and a runtime that reused the result of another connection ' +
      '(oven-sh/bun #27985, about one in five).',
    why: 'An attacker retries until it works. A single test passes.',
    fix: {
      rule: 'Use the same configuration on every machine, and test each of them many times.',
      express:
        'Set `requestCert: true, rejectUnauthorized: true, ca`, update the runtime, and also check ' +
        '`socket.authorized`.',
    },
    replace: oneIn(10),
  },
  {
    ...MTLS,
    name: 'any-authority-accepted-one-in-five',
    title: 'Accepts one in five client certificates of an unknown CA',
    seen:
      'A runtime that reused the result of another connection (oven-sh/bun #27985), and clusters of five with one ' +
      'faulty machine.',
    why: 'An attacker retries until it works. A single test most likely passes.',
    fix: {
      rule: 'Use the same configuration on every machine, and test each of them many times.',
      express:
        'Set `requestCert: true, rejectUnauthorized: true, ca`, update the runtime, and also check ' +
        '`socket.authorized`.',
    },
    equivalentTo: {
      name: 'any-authority-accepted-one-in-ten',
      reason: 'Both accept some of twenty; a higher rate is not another fault.',
    },
    replace: oneIn(5),
  },
  unless(hasQuery, {
    name: 'certificate-not-needed-with-query',
    title: 'Requires the certificate only for the exact URL, not with a query',
    seen: 'Gateway rules and `if ($request_uri = "/webhook")` in nginx, which compare the text of the URL.',
    why: 'The URL with a query reaches the same code without a certificate.',
  }),
  unless(namesNoServer, {
    name: 'certificate-not-needed-without-server-name',
    title: 'Requires no certificate from clients that do not send the server name (SNI)',
    seen: 'Servers with mutual TLS for one name, whose default site reaches the same application.',
    why: 'A client that omits the name bypasses the check.',
    fix: {
      ...EVERYWHERE,
      rule: 'Request certificates at the default site too, or let it serve nothing.',
    },
  }),
  {
    ...MTLS,
    name: 'certificate-needed-for-orders-only',
    title: 'Requires a certificate only for CAAS notifications',
    seen: 'A check inside the handler of one type, while a router handles the others.',
    why: 'A forged refund or wallet is as harmful as a forged order, and needs no certificate here.',
    fix: EVERYWHERE,
    replace: afterReadingBody((parts) => {
      const goOn = stagesAfterBody(parts);
      const checked = checkFirst(parts, goOn);
      return (body) => (/"type"\s*:\s*"CAAS"/.test(body) ? checked : goOn);
    }),
  },
  {
    ...MTLS,
    name: 'refused-without-certificate-remembered',
    title: 'Records the id of a delivery that is rejected without a certificate, and then rejects the real delivery',
    seen:
      'Deduplication in a proxy or in outer middleware, before the certificate check, which answers 409 to a ' +
      'known id.',
    why: 'An attacker who guesses or sees ids can block the real deliveries one by one.',
    fix: {
      rule: 'Authenticate the client before you record anything of the delivery.',
      express: 'Put the deduplication middleware after the checks of certificate, key and signature.',
    },
    replace: afterReadingBody((parts) => {
      const checked = checkFirst(parts, stagesAfterBody(parts));
      const known = new Set<string>();
      return (body, { certificate, fault }) => {
        const id = /"id"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? '';
        if (known.has(id)) return (_req, res) => refuse(res, 409, 'duplicate');
        if (certificate === null || fault !== null) known.add(id);
        return checked;
      };
    }),
  },
  // Receivers that accept a header instead of a certificate.
  ...FAMILIES.map(trusting),
  {
    ...MTLS,
    name: 'certificate-not-needed-for-local-claims',
    title: 'Requires no certificate from clients that claim a local address in X-Forwarded-For',
    seen: 'Exceptions for internal health checks in frameworks that are configured to trust every proxy.',
    why: 'Every client can set this header.',
    fix: {
      rule: 'Use a separate port for internal checks, and never trust an address that the request itself names.',
      express:
        'Remove the exception for `req.ip`, and set "trust proxy" to the addresses of your proxies instead of true.',
    },
    replace: alsoAcceptClients(
      () =>
        ({ req }) =>
          /\b127\.0\.0\.1\b|::1/.test(textOf(req, 'x-forwarded-for')),
    ),
  },
  // Receivers for which a certificate is enough.
  {
    ...BASE,
    ...skipWhenCertified('requireSignature'),
    name: 'signature-not-needed-with-certificate',
    title: 'Requires no signature from a client with a valid certificate',
    seen:
      'Lists of authenticators of which the first success is enough, and gateways that mark a client with a ' +
      'certificate as known.',
    why:
      'The certificate identifies the connection but not the body. Anyone behind the TLS termination can deliver ' +
      'anything.',
    needs: ['hmac'],
    equivalentTo: { name: 'signature-not-checked', reason: EVERY_DELIVERY },
  },
  {
    ...BASE,
    ...skipWhenCertified('requireApiKey'),
    name: 'api-key-not-needed-with-certificate',
    title: 'Requires no API key from a client with a valid certificate',
    seen: 'Lists of authenticators of which the first success is enough.',
    why: 'Both were agreed so that the loss of one does not open the endpoint. Here it does.',
    needs: ['api-key'],
    equivalentTo: { name: 'api-key-not-checked', reason: EVERY_DELIVERY },
  },
];
