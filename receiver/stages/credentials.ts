/**
 * The three stages that check the credentials of a delivery. Each rejects with the same 401. The checks themselves are
 * pure functions in separate files.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Budget } from '../budget.ts';
import { checkApiKey } from '../check-api-key.ts';
import {
  type ClientCertificateCheck,
  checkClientCertificate,
  checkForwardedCertificate,
  describeTlsError,
} from '../check-client-certificate.ts';
import type { ClientCertificateConfig, ReceiverConfig } from '../options.ts';
import { signatureFault, verifySignature } from '../verify-signature.ts';
import { discardBody, type HeadCheck } from './request.ts';
import { schemeHeadFault } from './scheme.ts';
import { refuseUnauthorized, requestHeader, required, type Stage } from './stage.ts';

/**
 * Stage 2: requires the client's certificate before the body is read. Specification: Mutual TLS. With
 * `clientCertificate: 'optional'`, every handshake succeeds and this is the only check; with `'required'`, it repeats
 * the check of the handshake.
 */
export function requireClientCertificate(config: ClientCertificateConfig, budget: Budget): Stage {
  const check = config.from === 'proxy' ? checkByProxy(config) : checkByConnection(config);
  return (req, res, next) => {
    const result = check(req);
    if (result.ok) return next();
    discardBody(req, budget);
    refuseUnauthorized(res, `client-certificate-${result.reason}`, result.detail);
  };
}

/**
 * Checks the credentials as far as the headers show them: the API key, and the form of the signature. Only the bodies
 * of requests that pass are kept in memory. Requests that fail are answered after the body has arrived, with the same
 * 401 that the next two stages send.
 */
export function checkHead({ apiKey, signing }: Pick<ReceiverConfig, 'apiKey' | 'signing'>): HeadCheck {
  return (req, { locals }) => {
    if (apiKey !== undefined) {
      const result = checkApiKey({ header: requestHeader(req, apiKey.header), keys: apiKey.keys });
      if (!result.ok) return `api-key-${result.reason}`;
      locals.keyIndex = result.keyIndex;
    }
    if (signing === undefined) return undefined;
    if (signing.scheme !== undefined) return schemeHeadFault(req, signing.scheme);
    const fault = signatureFault(requestHeader(req, signing.header));
    return fault === undefined ? undefined : `signature-${fault}`;
  };
}

/**
 * Stage 4: requires the API key. Specification: API key header. The key is read only from its header, because a query
 * parameter would appear in access logs. `header` is in lower case.
 */
export function requireApiKey(config: { readonly keys: readonly string[]; readonly header: string }): Stage {
  return (req, res, next) => {
    // `checkHead` has already verified the key.
    if (res.locals.keyIndex !== undefined) return next();
    const result = checkApiKey({ header: requestHeader(req, config.header), keys: config.keys });
    if (!result.ok) return refuseUnauthorized(res, `api-key-${result.reason}`);
    res.locals.keyIndex = result.keyIndex;
    next();
  };
}

/**
 * Stage 5: requires the signature over the raw bytes, before anything parses them. Specification: HMAC signature.
 * `header` is in lower case.
 */
export function requireSignature(config: { readonly secrets: readonly string[]; readonly header: string }): Stage {
  return (req, res, next) => {
    const rawBody = required(res, 'rawBody');
    const result = verifySignature({ rawBody, header: requestHeader(req, config.header), secrets: config.secrets });
    if (!result.ok) return refuseUnauthorized(res, `signature-${result.reason}`);
    res.locals.secretIndex = result.secretIndex;
    next();
  };
}

type Check = (req: IncomingMessage) => ClientCertificateCheck;

function checkByConnection(config: { readonly allowed: readonly string[] | undefined }): Check {
  // Results are cached per connection, because reading the certificate is slow. It cannot change: renegotiation is off.
  const known = new WeakMap<Socket, ClientCertificateCheck>();
  return ({ socket }) => {
    const before = known.get(socket);
    if (before !== undefined) return before;
    const result = checkSocket(socket, config.allowed);
    known.set(socket, result);
    return result;
  };
}

function checkSocket(socket: Socket, allowed: readonly string[] | undefined): ClientCertificateCheck {
  if (!(socket instanceof TLSSocket)) return { ok: false, reason: 'missing', detail: 'no TLS connection' };
  // getPeerX509Certificate is not used: on Node 20, getPeerCertificate returns nothing after it. The result is null
  // when the connection has ended.
  const certificate = socket.getPeerCertificate() ?? {};
  const result = checkClientCertificate({ connection: { authorized: socket.authorized, certificate }, allowed });
  if (result.ok || result.reason !== 'untrusted') return result;
  return { ...result, detail: describeTlsError(socket.authorizationError) };
}

function checkByProxy(config: Extract<ClientCertificateConfig, { from: 'proxy' }>): Check {
  return (req) =>
    checkForwardedCertificate({
      proxies: config.proxies,
      value: config.value,
      header: requestHeader(req, config.header),
      // The address comes from the socket. Express may take `req.ip` from a header.
      peer: req.socket.remoteAddress,
    });
}
