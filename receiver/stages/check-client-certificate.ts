import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  type ClientCertificateCheck,
  checkForwardedCertificate,
  checkClientCertificate as checkOnConnection,
} from '../check-client-certificate.ts';
import type { ClientCertificateConfig } from '../client-certificate-option.ts';
import { tlsFaultInWords } from '../tls-refusals.ts';
import { requestHeader } from './request-header.ts';
import { refuseUnauthorized, type Stage } from './stage.ts';

/**
 * Stage 2: requires the client's certificate, before the body is read. Specification: Mutual TLS. Where the handshake lets everyone
 * in (`clientCertificate: 'optional'`) this is the only check; where the handshake refuses already, it is a second one.
 */
export function checkClientCertificate(config: ClientCertificateConfig): Stage {
  const check = config.from === 'proxy' ? byProxy(config) : byConnection(config);
  return (req, res, next) => {
    const result = check(req);
    if (result.ok) return next();
    const detail = result.detail === undefined ? '' : ` (${result.detail})`;
    refuseUnauthorized(res, `client-certificate-${result.reason}${detail}`);
  };
}

type Check = (req: IncomingMessage) => ClientCertificateCheck;

function byConnection(config: { readonly allowed: readonly string[] | undefined }): Check {
  // A connection keeps its certificate (renegotiation is off), and reading it takes longer than everything else here.
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
  // Not getPeerX509Certificate: in Node 20 the other one gives nothing any more after it. null when the connection has ended.
  const certificate = socket.getPeerCertificate() ?? {};
  const result = checkOnConnection({ connection: { authorized: socket.authorized, certificate }, allowed });
  if (result.ok || result.reason !== 'untrusted') return result;
  return { ...result, detail: tlsFaultInWords(socket.authorizationError) };
}

function byProxy(config: Extract<ClientCertificateConfig, { from: 'proxy' }>): Check {
  return (req) =>
    checkForwardedCertificate({
      proxies: config.proxies,
      value: config.value,
      header: requestHeader(req, config.header),
      // Of the socket, and not `req.ip`, which Express can be told to take from a header.
      peer: req.socket.remoteAddress,
    });
}
