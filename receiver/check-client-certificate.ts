/**
 * Checks the client's certificate, either on the connection or as reported by a configured proxy. Specification: Mutual
 * TLS.
 */
import { type BlockList, isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';

/** Acceptance, or the reason to reject the delivery. Log the reason and `detail`, but never send them. */
export type ClientCertificateCheck =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: 'missing' | 'untrusted' | 'not-allowed' | 'malformed' | 'mismatch' | 'not-from-proxy';
      readonly detail?: string;
    };

/**
 * The connection to the client as `node:tls` reports it. A `TLSSocket` of a server that requests certificates has these
 * properties.
 */
export interface ClientConnection {
  readonly authorized: boolean;
  /**
   * The result of `socket.getPeerCertificate()`. It is an empty object when there is no certificate, although its type
   * says otherwise.
   */
  readonly certificate: Partial<Pick<PeerCertificate, 'raw' | 'subject' | 'subjectaltname'>>;
}

/** Maximum length of certificate names in a log line, in characters. */
const MAX_NAMES_LENGTH = 200;

/**
 * Checks the client of a connection. A connection without TLS (`connection` is undefined) never passes. With `allowed`,
 * the certificate must have a common name, host name or IP address in that list, spelt exactly as in the certificate.
 * Never throws.
 */
export function checkClientCertificate(input: {
  readonly connection: ClientConnection | undefined;
  readonly allowed?: readonly string[] | undefined;
}): ClientCertificateCheck {
  const { connection, allowed } = input;
  // `authorized` is not enough: Node also sets it for a resumed TLS 1.3 session without a certificate.
  if (connection?.certificate.raw === undefined) return { ok: false, reason: 'missing' };
  if (connection.authorized !== true) return { ok: false, reason: 'untrusted' };
  if (allowed === undefined) return { ok: true };
  const names = certificateNames(connection.certificate);
  if (names.some((name) => allowed.includes(name))) return { ok: true };
  return { ok: false, reason: 'not-allowed', detail: names.join(', ').slice(0, MAX_NAMES_LENGTH) };
}

/**
 * Checks what a proxy in front of the receiver reports about the client. The header counts only on a TCP connection
 * from a configured proxy, because any other client could send it too. A repeated header (an array) is rejected,
 * because one of the lines may come from the client. Never throws.
 */
export function checkForwardedCertificate(input: {
  /** Remote address of the TCP connection. */
  readonly peer: string | undefined;
  readonly proxies: BlockList;
  readonly header: string | readonly string[] | undefined;
  /** Header value that the proxy sends after it has verified a certificate. */
  readonly value: string;
}): ClientCertificateCheck {
  const { peer = '', proxies, header, value } = input;
  const family = isIP(peer);
  // The list treats ::ffff:192.0.2.1, as a server that listens on :: sees the address, as 192.0.2.1. It ignores zones
  // (fe80::1%eth0), so addresses with a zone are rejected here.
  if (family === 0 || peer.includes('%') || !proxies.check(peer, family === 4 ? 'ipv4' : 'ipv6')) {
    return { ok: false, reason: 'not-from-proxy', detail: peer };
  }
  if (header === undefined || header === '') return { ok: false, reason: 'missing' };
  if (typeof header !== 'string') return { ok: false, reason: 'malformed' };
  return header === value ? { ok: true } : { ok: false, reason: 'mismatch' };
}

/**
 * Returns the common names of a certificate, and the host names and IP addresses of its subject alternative name,
 * without the types of the names.
 */
function certificateNames({ subject, subjectaltname }: ClientConnection['certificate']): string[] {
  // An array when the subject has several common names, although the type of `CN` does not say so.
  const commonNames: string | string[] | undefined = subject?.CN;
  return [...(commonNames === undefined ? [] : [commonNames].flat()), ...alternativeNames(subjectaltname ?? '')];
}

/**
 * Types of names that are compared. Other types (URI, email, directory name, ...) are not, because a CA may verify them
 * by other rules.
 */
const COMPARED: readonly (string | undefined)[] = ['DNS', 'IP Address'];

/**
 * Parses text such as `DNS:a.example, URI:"..."`. Node quotes ambiguous names as JSON, so one name cannot pose as
 * several.
 */
function alternativeNames(text: string): string[] {
  const names: string[] = [];
  for (const [, form, quoted, plain] of text.matchAll(/(?:^|, )([^:",]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))(?=, |$)/g)) {
    if (!COMPARED.includes(form)) continue;
    names.push(quoted === undefined ? (plain ?? '') : String(JSON.parse(quoted)));
  }
  return names;
}

/**
 * Descriptions of node:tls error codes, which are those of OpenSSL: first faults of the client's certificate, then of
 * the handshake.
 */
const TLS_ERRORS: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'no client certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'client certificate from an unknown CA',
  UNABLE_TO_GET_ISSUER_CERT: 'client certificate from an unknown CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'client certificate from an unknown CA',
  SELF_SIGNED_CERT_IN_CHAIN: 'client certificate from an unknown CA',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed client certificate',
  CERT_HAS_EXPIRED: 'client certificate has expired',
  CERT_NOT_YET_VALID: 'client certificate is not valid yet',
  INVALID_PURPOSE: 'client certificate is not issued for client authentication',
  CERT_SIGNATURE_FAILURE: 'client certificate is forged',
  PATH_LENGTH_EXCEEDED: 'client certificate chain is longer than its CA allows',
  UNSPECIFIED: 'client certificate is weak, or its issuer is not a CA',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'handshake timed out',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'client does not offer TLS 1.2 or later',
  ERR_SSL_NO_SHARED_CIPHER: 'no cipher suite in common',
  ERR_SSL_NO_APPLICATION_PROTOCOL: 'client does not offer http/1.1',
  ERR_SSL_HTTP_REQUEST: 'plain HTTP on the HTTPS port',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not TLS',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'client does not trust our certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'client does not trust our certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: 'client does not trust our certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'client reports that our certificate has expired',
  ECONNRESET: 'connection closed before the handshake was complete',
};

/**
 * Describes a node:tls error code for the log, or returns an unlisted code unchanged. `socket.authorizationError` is
 * such a code, although its type says Error.
 */
export function describeTlsError(code: unknown): string {
  return TLS_ERRORS[String(code)] ?? String(code);
}
