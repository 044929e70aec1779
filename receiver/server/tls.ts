/** Checks certificates and keys before use, because node:tls silently accepts combinations that cannot work. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { HookproofError, LIMITS } from '../../contract/index.ts';
import { describeTlsError } from '../check-client-certificate.ts';
import type { ReceiverLogger } from '../logger.ts';

/** Certificates and keys for HTTPS, as PEM. Specification: TLS; Mutual TLS. */
export interface ServerTls {
  /** The server's certificate, followed by the intermediates. `key` is its private key. */
  readonly cert: string;
  readonly key: string;
  /** Passphrase of `key`, if it is encrypted. */
  readonly passphrase?: string;
  /** CAs that issue client certificates. Required with `clientCertificate`. */
  readonly ca?: string;
  /**
   * Enables mutual TLS. `required` rejects clients without a certificate from `ca` during the handshake. `optional`
   * completes the handshake, answers 401 to such clients and logs the reason. Default: no client certificate is
   * requested.
   */
  readonly clientCertificate?: 'required' | 'optional';
}

/** Cipher suites with forward secrecy: recorded traffic cannot be decrypted with a stolen RSA key. */
const FORWARD_SECRECY = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE+AESGCM', 'ECDHE+CHACHA20'],
].join(':');

/**
 * Checks the certificates and keys, and returns them as options of node:tls. Throws {@link HookproofError}
 * `RECEIVER_TLS`, which contains no part of the key.
 */
export function secureContextOptions(tls: ServerTls): SecureContextOptions {
  checkAuthorities(tls);
  checkPair(tls);
  return {
    cert: tls.cert,
    key: tls.key,
    minVersion: LIMITS.minimumTlsVersion,
    ciphers: FORWARD_SECRECY,
    // Renegotiation would allow a client to change its certificate after the check.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(tls.passphrase === undefined ? {} : { passphrase: tls.passphrase }),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  };
}

/**
 * Makes OpenSSL load the certificates and keys, which fails for weak keys. Throws {@link HookproofError}
 * `RECEIVER_TLS`.
 */
export function verifySecureContext(options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch (cause) {
    throw unusable(
      'The certificate and key for HTTPS cannot be used.',
      'See the cause for the reason that OpenSSL gives.',
      cause,
    );
  }
}

function checkAuthorities({ ca, clientCertificate }: ServerTls): void {
  if (clientCertificate === undefined) {
    if (ca === undefined) return;
    // A CA is only used to check client certificates.
    throw unusable(
      '`tls.ca` is set, but `tls.clientCertificate` is not.',
      "Set `tls.clientCertificate` to 'required' or 'optional', or leave out `tls.ca`.",
    );
  }
  if (clientCertificate !== 'required' && clientCertificate !== 'optional') {
    throw unusable(
      "`tls.clientCertificate` is neither 'required' nor 'optional'.",
      'Use one of the two, or leave it out.',
    );
  }
  if (ca === undefined) {
    // Without a list of CAs, Node would trust client certificates from every public CA.
    throw unusable(
      '`tls.clientCertificate` is set, but `tls.ca` is not.',
      'Set `tls.ca` to the certificate of the CA that issues the client certificates.',
    );
  }
  try {
    // Node treats an empty text as "not given", and ignores everything that is not a certificate.
    const blocks = ca.split(/(?=-----BEGIN )/).filter((block) => block.startsWith('-----BEGIN '));
    for (const block of blocks.length === 0 ? [ca] : blocks) new X509Certificate(block);
  } catch (cause) {
    throw unusable('`tls.ca` is not a certificate.', 'Give one or more certificates as PEM text, concatenated.', cause);
  }
}

function checkPair({ cert, key, passphrase }: ServerTls): void {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch (cause) {
    throw unusable('The certificate for HTTPS cannot be read.', givePem('CERTIFICATE'), cause);
  }
  let belongs: boolean;
  try {
    belongs = certificate.checkPrivateKey(createPrivateKey(passphrase === undefined ? key : { key, passphrase }));
  } catch (cause) {
    const isEncrypted = /ENCRYPTED/.test(key);
    const hint = isEncrypted ? 'The key is encrypted: give the correct passphrase.' : givePem('PRIVATE KEY');
    throw unusable('The private key for HTTPS cannot be read.', hint, cause);
  }
  if (belongs) return;
  // Node detects a mismatch of keys of the same type, but not an RSA key with an elliptic-curve certificate. Then every
  // handshake would fail.
  throw unusable(
    'The private key for HTTPS does not belong to the certificate.',
    "Put the server's own certificate first, followed by the intermediates.",
  );
}

function givePem(label: string): string {
  return `Give PEM text that starts with BEGIN ${label}.`;
}

function unusable(message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_TLS', message, { hint, cause });
}

/**
 * Logs the reason and the client's address for every failed handshake. Not logged as an error, because anyone who
 * reaches the port can cause one.
 */
export function logFailedHandshakes(server: Server, logger: ReceiverLogger): void {
  // Node keeps the address of a closed connection only if it was read before.
  server.on('connection', (socket: Socket) => void socket.remoteAddress);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // An untrusted certificate is not a handshake error: Node just closes the connection.
    const code = String(socket.authorizationError ?? error.code);
    const fields = { event: 'tls-refused', code, reason: describeTlsError(code), remoteAddress: addressOf(socket) };
    logger.info(fields, 'TLS handshake rejected');
  });
}

/**
 * Returns the address from the TCP socket under the TLS socket, which keeps it longer. That socket has no public
 * property; where Node does not have it, no address is logged.
 */
function addressOf(socket: TLSSocket): string | undefined {
  return socket.remoteAddress ?? (socket as { _parent?: Socket })._parent?.remoteAddress;
}
