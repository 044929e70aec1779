/**
 * Shared by the mutants of the client certificate check. Their handshake accepts everyone, so that their own check
 * decides: the correct one, which also accepts other clients.
 */
import { X509Certificate } from 'node:crypto';
import { type PeerCertificate, TLSSocket, type TlsOptions } from 'node:tls';
import type { Request } from 'express';
import { checkClientCertificate } from '../receiver/check-client-certificate.ts';
import type { Stage } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { goOn } from './lenient-verifier.ts';

/** The client of a connection, as a certificate check sees it. */
export interface Client {
  readonly req: Request;
  readonly socket: TLSSocket;
  /** Null if there is none. */
  readonly certificate: PeerCertificate | null;
  /** Node's code for the verification error; null if the certificate is valid, meaningless without one. */
  readonly fault: string | null;
  /** Whether the certificate has the agreed name; the issuer does not matter. */
  readonly named: boolean;
}

/** Whether a mutant accepts a client. */
type AcceptsClient = (client: Client) => boolean;

/** Requests a certificate and accepts everyone. */
const ACCEPTS_EVERYONE: TlsOptions = { requestCert: true, rejectUnauthorized: false };

/** Common to the mutants of the client certificate check. */
export const MTLS = {
  area: 'mtls',
  stage: 'requireClientCertificate',
  options: ACCEPTS_EVERYONE,
} as const;

/** Null if the connection is not TLS, or the receiver does not check certificates of connections. */
function clientOf(req: Request, { config }: FaultParts): Client | null {
  const { socket } = req;
  const option = config.clientCertificate;
  if (!(socket instanceof TLSSocket) || option?.from !== 'connection') return null;
  // An empty object without a certificate, and null after the connection has ended.
  const shown = socket.getPeerCertificate() ?? {};
  const certificate = shown.raw === undefined ? null : shown;
  const check = checkClientCertificate({
    connection: { authorized: true, certificate: shown },
    allowed: option.allowed,
  });
  const fault = socket.authorized ? null : String(socket.authorizationError);
  return { req, socket, certificate, fault, named: check.ok };
}

/** The correct check, except for clients for which `instead` returns a stage. */
export function handleClients(instead: (parts: FaultParts) => (client: Client) => Stage | null): StageFault['replace'] {
  return (parts) => {
    const choose = instead(parts);
    return (req, res, next) => {
      const client = clientOf(req, parts);
      const stage = client === null ? null : choose(client);
      return (stage ?? parts.correct.requireClientCertificate)(req, res, next);
    };
  };
}

/** The correct check, which also accepts other clients. `test` is made once per receiver, so it can keep state. */
export function alsoAcceptClients(test: (parts: FaultParts) => AcceptsClient): StageFault['replace'] {
  return handleClients((parts) => {
    const letsIn = test(parts);
    return (client) => (letsIn(client) ? goOn : null);
  });
}

/** The correct check, which also accepts the clients that pass a test without state. */
export function alsoAcceptIf(test: AcceptsClient): StageFault['replace'] {
  return alsoAcceptClients(() => test);
}

/** Node's codes for a chain without a trusted root. */
const UNTRUSTED_ISSUER: ReadonlySet<string | null> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Whether the only fault of a certificate is that no trusted CA has issued it. */
export const hasUntrustedIssuer: AcceptsClient = ({ certificate, fault }) =>
  certificate !== null && UNTRUSTED_ISSUER.has(fault);

/** The CA whose certificates the receiver accepts. */
export function trustedCaOf({ tls }: FaultParts): X509Certificate | null {
  return tls?.ca === undefined ? null : new X509Certificate(tls.ca);
}
