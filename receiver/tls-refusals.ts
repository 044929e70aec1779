/** Handshakes that fail, logged in words. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ReceiverLogger } from './logger.ts';

/** By the codes of node:tls, which are those of OpenSSL: what is wrong with the client's certificate, then with the handshake itself. */
const FAULTS: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'no client certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'client certificate of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'client certificate of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'client certificate of an unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'client certificate of an unknown authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed client certificate',
  CERT_HAS_EXPIRED: 'client certificate has expired',
  CERT_NOT_YET_VALID: 'client certificate is not valid yet',
  INVALID_PURPOSE: 'client certificate is not meant for clients',
  CERT_SIGNATURE_FAILURE: 'client certificate is forged',
  PATH_LENGTH_EXCEEDED: 'client certificate chain is longer than its authority allows',
  UNSPECIFIED: 'client certificate is weak, or its issuer is no authority',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'handshake not finished in time',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'client offers no version from TLS 1.2 on',
  ERR_SSL_NO_SHARED_CIPHER: 'no cipher suite in common',
  ERR_SSL_NO_APPLICATION_PROTOCOL: 'client does not offer http/1.1',
  ERR_SSL_HTTP_REQUEST: 'plain HTTP on the HTTPS port',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not TLS',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'client does not trust our certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'client does not trust our certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: 'client does not trust our certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'client says that our certificate has expired',
  ECONNRESET: 'connection closed before the end of the handshake',
};

/** A code of node:tls in words; the code itself when there are none. Node gives `authorizationError` as a text, not as the error of its type. */
export function tlsFaultInWords(code: unknown): string {
  return FAULTS[String(code)] ?? String(code);
}

/** Logs every handshake that fails: why, and from where. Never a reason to stop: whoever can reach the port can cause it. */
export function logTlsRefusals(server: Server, logger: ReceiverLogger): void {
  // Node can tell an address after the end of a connection only if it was asked before.
  server.on('connection', (socket: Socket) => void socket.remoteAddress);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // A certificate that does not verify is not an error of the handshake: Node just ends the connection.
    const code = String(socket.authorizationError ?? error.code);
    const fields = { event: 'tls-refused', code, reason: tlsFaultInWords(code), remoteAddress: addressOf(socket) };
    logger.info(fields, 'TLS handshake refused');
  });
}

/** The TCP socket under the TLS socket still knows the address when the TLS socket does not. It has no public name; without it no address is logged. */
function addressOf(socket: TLSSocket): string | undefined {
  return socket.remoteAddress ?? (socket as { _parent?: Socket })._parent?.remoteAddress;
}
