/**
 * Helpers for mutants of the client certificate check. The handshake accepts every client, and the correct check runs
 * afterwards, but also accepts some other clients.
 */
import { X509Certificate } from 'node:crypto';
import { type PeerCertificate, TLSSocket, type TlsOptions } from 'node:tls';
import type { Request } from 'express';
import { checkClientCertificate } from '../receiver/check-client-certificate.ts';
import type { Stage } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { goOn } from './lenient-verifier.ts';

/** The client of a connection, as a certificate check receives it. */
export interface Client {
  readonly req: Request;
  readonly socket: TLSSocket;
  /** The certificate that the client presented. Null if it presented none. */
  readonly certificate: PeerCertificate | null;
  /**
   * Node's code for the verification error. Null if the certificate is valid. Without a certificate, the value has no
   * meaning.
   */
  readonly fault: string | null;
  /** True if the certificate has the agreed name, whatever its issuer. */
  readonly named: boolean;
}

/** Decides whether a mutant accepts a client. */
type AcceptsClient = (client: Client) => boolean;

/** Requests a certificate and accepts every client. */
const ACCEPTS_EVERYONE: TlsOptions = { requestCert: true, rejectUnauthorized: false };

/** Fields that all mutants of the client certificate check share. */
export const MTLS = {
  area: 'mtls',
  stage: 'requireClientCertificate',
  options: ACCEPTS_EVERYONE,
} as const;

/**
 * Returns the client of a request. Null if the connection does not use TLS, or if the receiver does not check the
 * certificates of connections.
 */
function clientOf(req: Request, { config }: FaultParts): Client | null {
  const { socket } = req;
  const option = config.clientCertificate;
  if (!(socket instanceof TLSSocket) || option?.from !== 'connection') return null;
  // Node returns an empty object without a certificate, and null after the connection has ended.
  const shown = socket.getPeerCertificate() ?? {};
  const certificate = shown.raw === undefined ? null : shown;
  const check = checkClientCertificate({
    connection: { authorized: true, certificate: shown },
    allowed: option.allowed,
  });
  const fault = socket.authorized ? null : String(socket.authorizationError);
  return { req, socket, certificate, fault, named: check.ok };
}

/** Runs the correct check, except for clients for which `instead` returns a stage. */
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

/**
 * Runs the correct check, but also accepts other clients. `test` is created once per receiver, so it can keep state.
 */
export function alsoAcceptClients(test: (parts: FaultParts) => AcceptsClient): StageFault['replace'] {
  return handleClients((parts) => {
    const letsIn = test(parts);
    return (client) => (letsIn(client) ? goOn : null);
  });
}

/** Runs the correct check, but also accepts clients that pass a stateless test. */
export function alsoAcceptIf(test: AcceptsClient): StageFault['replace'] {
  return alsoAcceptClients(() => test);
}

/** Node's error codes for a chain without a trusted root. */
const UNTRUSTED_ISSUER: ReadonlySet<string | null> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Returns true if the only fault of a certificate is that no trusted CA issued it. */
export const hasUntrustedIssuer: AcceptsClient = ({ certificate, fault }) =>
  certificate !== null && UNTRUSTED_ISSUER.has(fault);

/** Returns the CA whose certificates the receiver accepts. */
export function trustedCaOf({ tls }: FaultParts): X509Certificate | null {
  return tls?.ca === undefined ? null : new X509Certificate(tls.ca);
}
