/** Certificates and keys for HTTPS and mutual TLS, checked before they are used: node:tls takes much that cannot work, and says nothing. */
import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { HookproofError, LIMITS } from '../contract/index.ts';

/** PEM material for HTTPS. Specification: TLS; Mutual TLS. */
export interface ServerTls {
  /** The server's certificate, with intermediates after it, and its key. */
  readonly cert: string;
  readonly key: string;
  /** Of an encrypted key. */
  readonly passphrase?: string;
  /** The authorities that issue client certificates. Goes together with `clientCertificate`. */
  readonly ca?: string;
  /**
   * Mutual TLS: `required` refuses clients without a certificate of `ca` in the handshake, `optional` lets every client in and answers 401 to
   * those (and then says why in the log). By default no client is asked.
   */
  readonly clientCertificate?: 'required' | 'optional';
}

/**
 * Checks the material and gives it as node:tls takes it. Throws {@link HookproofError} `RECEIVER_TLS`, which holds nothing of the key. `ciphers` is
 * for mutants: what counts as too weak to be used depends on it.
 */
export function secureContextOptions(tls: ServerTls, ciphers?: string): SecureContextOptions {
  checkAuthorities(tls);
  checkPair(tls);
  const options: SecureContextOptions = {
    cert: tls.cert,
    key: tls.key,
    minVersion: LIMITS.minimumTlsVersion,
    // A client that renegotiates could change its certificate after it was checked.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(tls.passphrase === undefined ? {} : { passphrase: tls.passphrase }),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(ciphers === undefined ? {} : { ciphers }),
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw unusable('The certificate and key for HTTPS cannot be used.', 'OpenSSL says why in the cause.', cause);
  }
  return options;
}

function checkAuthorities({ ca, clientCertificate }: ServerTls): void {
  if (clientCertificate === undefined) {
    if (ca === undefined) return;
    // Whoever gives an authority means to ask for certificates.
    throw unusable(
      'tls.ca is given, but tls.clientCertificate does not say whether clients need a certificate.',
      "Say clientCertificate: 'required' or 'optional', or leave ca out.",
    );
  }
  if (clientCertificate !== 'required' && clientCertificate !== 'optional') {
    throw unusable(
      "tls.clientCertificate is neither 'required' nor 'optional'.",
      'Say one of the two, or leave it out.',
    );
  }
  if (ca === undefined) {
    // Without our own list, Node would trust a client certificate of any public authority.
    throw unusable(
      'Client certificates are asked for, but tls.ca does not say whose.',
      'Give the certificate of the authority that issues them as tls.ca.',
    );
  }
  try {
    // Node takes an empty text for "not given", and skips what is no certificate.
    const blocks = ca.split(/(?=-----BEGIN )/).filter((block) => block.startsWith('-----BEGIN '));
    for (const block of blocks.length === 0 ? [ca] : blocks) new X509Certificate(block);
  } catch (cause) {
    throw unusable(
      'tls.ca is no certificate.',
      'Give one certificate or several, one after the other, as PEM text.',
      cause,
    );
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
    const hint = /ENCRYPTED/.test(key) ? 'The key is encrypted: give the right passphrase.' : givePem('PRIVATE KEY');
    throw unusable('The private key for HTTPS cannot be read.', hint, cause);
  }
  if (belongs) return;
  // Node refuses two of the same kind, but not an RSA key beside an elliptic certificate: then every handshake fails.
  throw unusable(
    'The private key for HTTPS does not belong to the certificate.',
    "The server's own certificate comes first, the intermediates after it.",
  );
}

function givePem(label: string): string {
  return `Give PEM text, from BEGIN ${label} on.`;
}

function unusable(message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_TLS', message, { hint, cause });
}
