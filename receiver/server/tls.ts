/** Checks certificates and keys before use, because node:tls silently accepts combinations that cannot work. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { HookproofError, LIMITS } from '../../contract/index.ts';
import { describeTlsError } from '../check-client-certificate.ts';
import type { ReceiverLogger } from '../logger.ts';

/** PEM material for HTTPS. Specification: TLS; Mutual TLS. */
export interface ServerTls {
  /** The server's certificate, followed by its intermediates, and its key. */
  readonly cert: string;
  readonly key: string;
  /** Passphrase of an encrypted key. */
  readonly passphrase?: string;
  /** CAs that issue client certificates. Required with `clientCertificate`. */
  readonly ca?: string;
  /**
   * Enables mutual TLS. `required` rejects clients without a certificate from `ca` in the handshake. `optional`
   * completes every handshake, answers 401 to those clients and logs the reason. Default: no client certificate is
   * requested.
   */
  readonly clientCertificate?: 'required' | 'optional';
}

/** Node's cipher suites without those for which a stolen RSA key decrypts recorded traffic. */
const FORWARD_SECRECY = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE+AESGCM', 'ECDHE+CHACHA20'],
].join(':');

/**
 * Checks the material and returns it in the form that node:tls takes. Throws {@link HookproofError} `RECEIVER_TLS`,
 * which contains no part of the key.
 */
export function secureContextOptions(tls: ServerTls): SecureContextOptions {
  checkAuthorities(tls);
  checkPair(tls);
  return {
    cert: tls.cert,
    key: tls.key,
    minVersion: LIMITS.minimumTlsVersion,
    ciphers: FORWARD_SECRECY,
    // A client that renegotiates could change its certificate after the check.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(tls.passphrase === undefined ? {} : { passphrase: tls.passphrase }),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  };
}

/** Makes OpenSSL load the material, which fails for weak keys. Throws {@link HookproofError} `RECEIVER_TLS`. */
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
    // A CA is only useful for checking client certificates.
    throw unusable(
      'tls.ca is set, but tls.clientCertificate is not.',
      "Set tls.clientCertificate to 'required' or 'optional', or leave out tls.ca.",
    );
  }
  if (clientCertificate !== 'required' && clientCertificate !== 'optional') {
    throw unusable(
      "tls.clientCertificate is neither 'required' nor 'optional'.",
      'Use one of the two, or leave it out.',
    );
  }
  if (ca === undefined) {
    // Without our own list, Node would trust client certificates from every public CA.
    throw unusable(
      'tls.clientCertificate is set, but tls.ca is not.',
      'Set tls.ca to the certificate of the CA that issues the client certificates.',
    );
  }
  try {
    // Node treats an empty text as "not given", and skips everything that is not a certificate.
    const blocks = ca.split(/(?=-----BEGIN )/).filter((block) => block.startsWith('-----BEGIN '));
    for (const block of blocks.length === 0 ? [ca] : blocks) new X509Certificate(block);
  } catch (cause) {
    throw unusable('tls.ca is not a certificate.', 'Give one or more certificates as PEM text, concatenated.', cause);
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
  // Node rejects a mismatch of the same key type, but not an RSA key with an elliptic-curve certificate. Every
  // handshake would then fail.
  throw unusable(
    'The private key for HTTPS does not belong to the certificate.',
    "The server's own certificate comes first, followed by its intermediates.",
  );
}

function givePem(label: string): string {
  return `Give PEM text that starts with BEGIN ${label}.`;
}

function unusable(message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_TLS', message, { hint, cause });
}

/**
 * Logs the reason and the address of every handshake that fails. They are not logged as errors, because anyone who
 * reaches the port can cause them.
 */
export function logFailedHandshakes(server: Server, logger: ReceiverLogger): void {
  // Node knows the address after a connection has ended only if it was read before.
  server.on('connection', (socket: Socket) => void socket.remoteAddress);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // A certificate that does not verify is not a handshake error: Node just ends the connection.
    const code = String(socket.authorizationError ?? error.code);
    const fields = { event: 'tls-refused', code, reason: describeTlsError(code), remoteAddress: addressOf(socket) };
    logger.info(fields, 'TLS handshake refused');
  });
}

/**
 * Returns the address from the TCP socket under the TLS socket, which keeps it longer. That socket has no public name;
 * without it no address is logged.
 */
function addressOf(socket: TLSSocket): string | undefined {
  return socket.remoteAddress ?? (socket as { _parent?: Socket })._parent?.remoteAddress;
}
