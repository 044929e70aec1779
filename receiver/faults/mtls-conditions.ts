/** Mutants that verify client certificates only under a condition, or trust a forwarded one. */
import { TLSSocket } from 'node:tls';
import type { Request } from 'express';
import type { Pipeline } from '../pipeline.ts';
import { refuse, required, type Stage } from '../stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { alsoLettingIn, type Client, dealing, isOfNobody, type LetsIn, MTLS } from './lenient-certificate.ts';

const EVERYWHERE = {
  rule: 'Check the certificate where every delivery passes, before anything of the request is read, with no condition.',
  express:
    'Set `requestCert: true, rejectUnauthorized: true` for the whole server, or check `req.socket.authorized` in the first middleware.',
} as const;

/** Lets pass what a condition on the client or the request says, whatever the certificate. */
function unless(
  test: LetsIn,
  text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why'> & Partial<StageFault>,
): StageFault {
  return { ...MTLS, fix: EVERYWHERE, replace: alsoLettingIn(() => test), ...text };
}

/** One in so many certificates of unknown authorities is taken. What they are counted by keeps single tries apart from repeated ones. */
function oneIn(many: number): StageFault['replace'] {
  return alsoLettingIn(() => {
    const seen = new Map<string, number>();
    return (client) => {
      if (!isOfNobody(client)) return false;
      const { certificate, socket } = client;
      const key = JSON.stringify([certificate?.issuer, certificate?.subject, socket.getProtocol()]);
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      return count % many === 0;
    };
  });
}

/** Everything that stands behind the reading of the body. */
function behindTheBody({ right }: FaultParts): Stage {
  const { checkApiKey, verifySignature, checkContentType, parse, validate, store, reply } = right;
  const stages = [checkApiKey, verifySignature, checkContentType, parse, validate, store, reply];
  return (req, res, next) => {
    const run = (at: number): void | Promise<void> =>
      stages[at]?.(req, res, (error?: unknown) =>
        error === undefined ? void Promise.resolve(run(at + 1)).catch(next) : next(error),
      );
    return run(0);
  };
}

/** The right check, and then the rest. */
function checkedFirst({ right }: FaultParts, goOn: Stage): Stage {
  return (req, res, next) =>
    right.checkClientCertificate(req, res, (error?: unknown) =>
      error === undefined ? void Promise.resolve(goOn(req, res, next)).catch(next) : next(error),
    );
}

/** Reads the body first, and lets what stands in it say how it goes on. */
function afterReading(prepare: (parts: FaultParts) => (body: string, client: Client) => Stage): StageFault['replace'] {
  return dealing((parts) => {
    const decide = prepare(parts);
    return (client) => (req, res, next) =>
      parts.right.readBody(req, res, (error?: unknown) => {
        if (error !== undefined) return next(error);
        const goOn = async () => decide(required(res, 'rawBody').toString('latin1'), client)(req, res, next);
        void goOn().catch(next);
      });
  });
}

function hasQuery({ req }: { readonly req: Request }): boolean {
  return req.url.includes('?');
}

/** Node does not know the name of a session of TLS 1.2 that is resumed. */
function namesNoServer({ socket }: Client): boolean {
  return (socket as { servername?: string | false }).servername === false && !socket.isSessionReused();
}

const resumed = ({ socket }: Client) => socket.isSessionReused();

/** How a proxy's headers say that there was a certificate. */
interface Family {
  readonly name: string;
  /** Whose headers these are. */
  readonly of: string;
  readonly claims: (header: (name: string) => string) => boolean;
  /** What the proxy itself has to be told, where there is something to tell. */
  readonly proxy: string;
}

const has = (text: string) => text !== '';

const FAMILIES: readonly Family[] = [
  {
    name: 'x-ssl-client-headers-trusted',
    of: 'X-SSL-Client-Verify and its like, as Apache and nginx are usually set up',
    claims: (header) => header('x-ssl-client-verify') === 'SUCCESS',
    proxy: 'In nginx, `proxy_set_header X-SSL-Client-Verify $ssl_client_verify;` for every location.',
  },
  {
    name: 'x-client-verify-trusted',
    of: 'X-Client-Verify, from recipes for nginx',
    claims: (header) => header('x-client-verify') === 'SUCCESS',
    proxy: 'In nginx, `proxy_set_header X-Client-Verify $ssl_client_verify;` for every location.',
  },
  {
    name: 'ssl-client-headers-trusted',
    of: 'ssl-client-verify, of ingress-nginx',
    claims: (header) => header('ssl-client-verify') === 'SUCCESS',
    proxy:
      'Ask for certificates in the Ingress (`auth-tls-verify-client: "on"`), and let nothing reach the pod beside it.',
  },
  {
    name: 'envoy-client-certificate-trusted',
    of: 'X-Forwarded-Client-Cert, of Envoy and Istio',
    claims: (header) => /Subject=|URI=|Hash=/.test(header('x-forwarded-client-cert')),
    proxy: 'Set `forward_client_cert_details: SANITIZE_SET` in Envoy.',
  },
  {
    name: 'traefik-client-certificate-trusted',
    of: 'X-Forwarded-Tls-Client-Cert, of Traefik',
    claims: (header) => has(header('x-forwarded-tls-client-cert')),
    proxy:
      'Use `RequireAndVerifyClientCert` in the TLS options of Traefik, with its passTLSClientCert middleware on the route.',
  },
  {
    name: 'amazon-client-certificate-trusted',
    of: 'X-Amzn-Mtls-Clientcert, of the load balancers of AWS',
    claims: (header) => has(header('x-amzn-mtls-clientcert')) || has(header('x-amzn-mtls-clientcert-leaf')),
    proxy:
      'Use the mode "verify" with a trust store: the mode "passthrough" verifies nothing. Let the security group admit the load balancer alone.',
  },
  {
    name: 'azure-client-certificate-trusted',
    of: 'X-ARR-ClientCert, of Azure App Service',
    claims: (header) => has(header('x-arr-clientcert')),
    proxy:
      'App Service passes certificates on without verifying them: verify the one in the header against the authority.',
  },
  {
    name: 'google-client-certificate-trusted',
    of: 'X-Client-Cert-Present and X-Client-Cert-Chain-Verified, of the load balancers of Google Cloud',
    claims: (header) => header('x-client-cert-chain-verified') === 'true',
    proxy:
      'Set the client validation mode to reject what does not verify, and let the firewall admit the load balancer alone.',
  },
  {
    name: 'cloudflare-client-certificate-trusted',
    of: 'Cf-Cert-Verified and Cf-Client-Cert-Verified, as Cloudflare is set up to add them',
    claims: (header) => header('cf-cert-verified') === 'true' || header('cf-client-cert-verified') === 'true',
    proxy: 'Let the origin take connections from Cloudflare alone (authenticated origin pulls).',
  },
  {
    name: 'client-cert-header-trusted',
    of: 'Client-Cert, of RFC 9440',
    claims: (header) => has(header('client-cert')),
    proxy: 'RFC 9440 has the proxy remove what the client sent under this name; check that yours does.',
  },
];

function trusting({ name, of, claims, proxy }: Family): StageFault {
  return {
    ...MTLS,
    name,
    title: `A header that claims a verified client certificate is believed, whoever sends it (${of}).`,
    seen: 'Applications that are written for a proxy that ends TLS, and can be reached beside it or behind one that does not overwrite the header (CVE-2026-46579, GHSA-4w7q-wwx4-6973).',
    why: 'A header is a line of text that every client can write. It is then worth as much as the certificate.',
    fix: {
      rule: `Have the proxy replace the header on every request, reach the application only through the proxy, and ignore the header from everybody else. ${proxy}`,
      express:
        'Read such a header only when `req.socket.remoteAddress` is the proxy, and never through `req.ip`, which "trust proxy" can take from another header.',
    },
    replace: alsoLettingIn(
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
  rule: 'Check the certificate, the API key and the signature one after the other, and let none of them stand for another.',
  express: 'Do not return early when `req.socket.authorized` is true: let every check be a middleware of its own.',
} as const;

const EVERY_DELIVERY =
  'Without the certificate a delivery is refused before this check, so every one that gets there has it, and none is checked.';

const BASE = { area: 'mtls', severity: 'critical', forbidden: true, fix: INDEPENDENT } as const;

/** A check that is passed by when there is a certificate that has verified. */
function passedBy(stage: keyof Pipeline): Pick<StageFault, 'stage' | 'replace'> {
  return {
    stage,
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.socket instanceof TLSSocket && req.socket.authorized ? next() : right[stage](req, res, next),
  };
}

export const mtlsConditionsFaults: readonly StageFault[] = [
  // Receivers that check the certificate, but not always.
  unless(({ socket }) => socket.getProtocol() === 'TLSv1.2', {
    name: 'certificate-not-needed-over-tls-1-2',
    title: 'Over TLS 1.2 no client certificate is needed; over TLS 1.3 it is.',
    seen: 'Proxies with one policy for each version, and servers with two listeners of which one was hardened.',
    why: 'The client chooses the version, so the weaker of the two is the one that counts.',
  }),
  unless(({ socket }) => socket.getProtocol() === 'TLSv1.3', {
    name: 'certificate-not-needed-over-tls-1-3',
    title: 'Over TLS 1.3 no client certificate is needed; over TLS 1.2 it is.',
    seen: 'Servers that ask for the certificate by renegotiation, which TLS 1.3 does not have, and checks in the handshake that came before TLS 1.3 was switched on.',
    why: 'Current clients speak TLS 1.3, so the check is hardly ever in effect.',
  }),
  unless(resumed, {
    name: 'resumed-session-not-checked',
    title: 'The certificate is checked in full handshakes only, and a resumed session is taken as it is.',
    seen: 'Servers that check in the callback of the verification, which a resumed session does not call (CVE-2025-23419 in nginx and CVE-2025-23048 in Apache are of this kind).',
    why: 'A client without a certificate connects twice: the first connection is refused, and the second resumes it and is let in.',
    fix: {
      rule: 'Look at the outcome of the verification on every request, and keep sessions of different settings apart.',
      express:
        'Look at `req.socket.authorized` and at `getPeerCertificate()` in a middleware, and at nothing that was noted in the handshake.',
      go: 'Check in `VerifyConnection`, which is called for resumed sessions as well, and not in `VerifyPeerCertificate`.',
    },
  }),
  unless(({ certificate, socket }) => certificate === null && socket.authorized, {
    name: 'authorized-flag-believed',
    title: 'Only `socket.authorized` is looked at, which Node also sets for resumed sessions without a certificate.',
    seen: 'Every example of optional client certificates in Node, with TLS 1.3.',
    why: 'A client without a certificate is refused once, resumes the session over TLS 1.3, and is let in.',
    fix: {
      rule: 'Ask for the certificate itself, and not only for the outcome of its verification.',
      express:
        'Refuse unless `req.socket.authorized` is true and `req.socket.getPeerCertificate().raw` is there, or set `rejectUnauthorized: true`.',
    },
  }),
  {
    ...MTLS,
    name: 'any-authority-accepted-one-in-ten',
    title: 'One in ten client certificates of an unknown authority is taken.',
    seen: 'Fleets in which one machine missed a change, and a runtime that reused the outcome of another connection (oven-sh/bun #27985, about one in five).',
    why: 'A forger tries again until it works. A test that tries once says that all is well.',
    fix: {
      rule: 'Give every machine the same configuration, and try each of them, many times.',
      express:
        'Set `requestCert: true, rejectUnauthorized: true, ca`, update the runtime, and check `socket.authorized` too.',
    },
    replace: oneIn(10),
  },
  {
    ...MTLS,
    name: 'any-authority-accepted-one-in-five',
    title: 'One in five client certificates of an unknown authority is taken.',
    seen: 'A runtime that reused the outcome of another connection (oven-sh/bun #27985), and fleets of five with one that is set up otherwise.',
    why: 'A forger tries again until it works. A test that tries once most likely says that all is well.',
    fix: {
      rule: 'Give every machine the same configuration, and try each of them, many times.',
      express:
        'Set `requestCert: true, rejectUnauthorized: true, ca`, update the runtime, and check `socket.authorized` too.',
    },
    equivalentTo: {
      name: 'any-authority-accepted-one-in-ten',
      reason: 'Both take some of twenty. That more of them were taken is no other fault.',
    },
    replace: oneIn(5),
  },
  unless(hasQuery, {
    name: 'certificate-not-needed-with-query',
    title: 'The certificate is needed for the exact URL only: with a query behind it, none is.',
    seen: 'Rules of gateways and `if ($request_uri = "/webhook")` in nginx, which compare the text of the URL.',
    why: 'The URL with a query leads to the same code, and nobody is asked for a certificate there.',
  }),
  unless(namesNoServer, {
    name: 'certificate-not-needed-without-server-name',
    title: 'Clients that do not name the server (no SNI) need no certificate.',
    seen: 'Servers with mutual TLS set for one name, whose default site leads to the same application.',
    why: 'A client that leaves the name out reaches the application past the check.',
    fix: {
      ...EVERYWHERE,
      rule: 'Ask for certificates at the default site too, or have it serve nothing.',
    },
  }),
  {
    ...MTLS,
    name: 'certificate-needed-for-orders-only',
    title: 'Only CAAS notifications need a certificate; other types are taken without one.',
    seen: 'Checks inside the function that handles one type, behind a router that handles the others itself.',
    why: 'A forged refund or wallet is as harmful as a forged order, and needs no certificate here.',
    fix: EVERYWHERE,
    replace: afterReading((parts) => {
      const goOn = behindTheBody(parts);
      const checked = checkedFirst(parts, goOn);
      return (body) => (/"type"\s*:\s*"CAAS"/.test(body) ? checked : goOn);
    }),
  },
  {
    ...MTLS,
    name: 'refused-without-certificate-remembered',
    title:
      'The id of a delivery that is refused for want of a certificate is remembered, and the real delivery is refused.',
    seen: 'Deduplication in a proxy or an outer middleware, in front of the check of the certificate, which answers a known id with 409.',
    why: 'A stranger who guesses or sees ids can keep the real deliveries out, one by one.',
    fix: {
      rule: 'Check who delivers before anything of the delivery is recorded.',
      express: 'Put the middleware for duplicates behind the checks of the certificate, the key and the signature.',
    },
    replace: afterReading((parts) => {
      const checked = checkedFirst(parts, behindTheBody(parts));
      const known = new Set<string>();
      return (body, { certificate, fault }) => {
        const id = /"id"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? '';
        if (known.has(id)) return (_req, res) => refuse(res, 409, 'duplicate');
        if (certificate === null || fault !== null) known.add(id);
        return checked;
      };
    }),
  },
  // Receivers that take a line of text for a certificate.
  ...FAMILIES.map(trusting),
  {
    ...MTLS,
    name: 'certificate-not-needed-for-local-claims',
    title: 'Clients that claim in X-Forwarded-For to come from the own machine need no certificate.',
    seen: 'Exceptions for health checks from inside, in frameworks that are told to trust every proxy.',
    why: 'Every client can write this header.',
    fix: {
      rule: 'Give checks from inside a port of their own, and derive no trust from an address that the request names.',
      express:
        'Remove the exception for `req.ip`, and set "trust proxy" to the addresses of your proxies, not to true.',
    },
    replace: alsoLettingIn(
      () =>
        ({ req }) =>
          /\b127\.0\.0\.1\b|::1/.test(textOf(req, 'x-forwarded-for')),
    ),
  },
  // Receivers for which a certificate is enough.
  {
    ...BASE,
    ...passedBy('verifySignature'),
    name: 'signature-not-needed-with-certificate',
    title: 'A client with a right certificate needs no signature.',
    seen: 'Lists of ways to authenticate of which the first that succeeds is enough, and gateways that mark a client with a certificate as known.',
    why: 'The certificate says who connected, and nothing about the body. Whoever gets behind the point where TLS ends can deliver anything.',
    needs: ['hmac'],
    equivalentTo: { name: 'signature-not-checked', reason: EVERY_DELIVERY },
  },
  {
    ...BASE,
    ...passedBy('checkApiKey'),
    name: 'api-key-not-needed-with-certificate',
    title: 'A client with a right certificate needs no API key.',
    seen: 'Lists of ways to authenticate of which the first that succeeds is enough.',
    why: 'Both were agreed on, so that the loss of one does not open the endpoint. Here the loss of one does.',
    needs: ['api-key'],
    equivalentTo: { name: 'api-key-not-checked', reason: EVERY_DELIVERY },
  },
];
