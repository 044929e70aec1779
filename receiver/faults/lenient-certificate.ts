/**
 * What the mutants of the check of client certificates are made of. Their handshake lets everyone in, so that their own check decides: the
 * right one, beside which something else passes.
 */
import { X509Certificate } from 'node:crypto';
import { type PeerCertificate, TLSSocket, type TlsOptions } from 'node:tls';
import type { Request } from 'express';
import { checkClientCertificate } from '../check-client-certificate.ts';
import type { Stage } from '../stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

/** The client of a connection, as a check of its certificate sees it. */
export interface Client {
  readonly req: Request;
  readonly socket: TLSSocket;
  /** Null when there is none. */
  readonly certificate: PeerCertificate | null;
  /** Node's code for what is wrong with the certificate; null when it verifies. Says nothing where there is none. */
  readonly fault: string | null;
  /** Whether the names of the certificate are those that may deliver, whoever issued it. */
  readonly named: boolean;
}

/** What a mutant says of a client. */
export type LetsIn = (client: Client) => boolean;

/** To ask for a certificate and to let everyone in. */
const LETS_EVERYONE_IN: TlsOptions = { requestCert: true, rejectUnauthorized: false };

/** What the mutants of the check of client certificates have in common. */
export const MTLS = {
  area: 'mtls',
  stage: 'checkClientCertificate',
  options: LETS_EVERYONE_IN,
  severity: 'critical',
  forbidden: true,
} as const;

/** Null when the connection is not TLS, or the receiver does not check certificates of connections. */
function clientOf(req: Request, { config }: FaultParts): Client | null {
  const { socket } = req;
  const option = config.clientCertificate;
  if (!(socket instanceof TLSSocket) || option?.from !== 'connection') return null;
  // An empty object when there is none, and null when the connection has ended.
  const shown = socket.getPeerCertificate() ?? {};
  const certificate = shown.raw === undefined ? null : shown;
  const check = checkClientCertificate({
    connection: { authorized: true, certificate: shown },
    allowed: option.allowed,
  });
  const fault = socket.authorized ? null : String(socket.authorizationError);
  return { req, socket, certificate, fault, named: check.ok };
}

/** The right check, except that `instead` takes the clients for which it gives a stage. */
export function dealing(instead: (parts: FaultParts) => (client: Client) => Stage | null): StageFault['replace'] {
  return (parts) => {
    const choose = instead(parts);
    return (req, res, next) => {
      const client = clientOf(req, parts);
      const stage = client === null ? null : choose(client);
      return (stage ?? parts.right.checkClientCertificate)(req, res, next);
    };
  };
}

const goOn: Stage = (_req, _res, next) => next();

/** The right check, beside which other clients pass. `test` is made once for each receiver, so it can keep what it has seen. */
export function alsoLettingIn(test: (parts: FaultParts) => LetsIn): StageFault['replace'] {
  return dealing((parts) => {
    const letsIn = test(parts);
    return (client) => (letsIn(client) ? goOn : null);
  });
}

/** Node's codes for a chain that ends at nobody who is trusted. */
const OF_NOBODY: ReadonlySet<string | null> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Whether all that is wrong with a certificate is that nobody who is trusted has issued it. */
export const isOfNobody: LetsIn = ({ certificate, fault }) => certificate !== null && OF_NOBODY.has(fault);

/** The authority whose certificates the receiver takes. */
export function authorityOf({ tls }: FaultParts): X509Certificate | null {
  return tls?.ca === undefined ? null : new X509Certificate(tls.ca);
}
