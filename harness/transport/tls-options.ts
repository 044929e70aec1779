/** Client-side TLS of a partner. Specification: TLS. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { HookproofError, LIMITS } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';

/** Options for `tls.connect` and `https.Agent`. */
export interface TlsOptions {
  readonly secureContext: tls.SecureContext;
  readonly rejectUnauthorized: true;
  /**
   * Offers only HTTP/1.1. By default, Node sends no ALPN. With ALPN, an endpoint that supports only HTTP/2 says so in
   * the handshake.
   */
  readonly ALPNProtocols: string[];
}

type TlsMaterial = NonNullable<Partner['tls']>;

const NO_MATERIAL: TlsMaterial = {};
const OPTIONS = new WeakMap<TlsMaterial, TlsOptions>();

/**
 * Returns options for TLS 1.2 or higher, with the partner's client certificate if there is one, trusting the default
 * CAs and the extra one. Each context is created once and kept as long as the partner's `tls` object.
 *
 * @throws HookproofError PARTNER_TLS if the material cannot be used
 */
export function tlsOptionsFor({ tls: material = NO_MATERIAL }: Pick<Partner, 'tls'>): TlsOptions {
  const known = OPTIONS.get(material);
  if (known !== undefined) return known;
  // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED in the environment would otherwise disable verification.
  const options: TlsOptions = {
    secureContext: secureContextOf(material),
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  };
  OPTIONS.set(material, options);
  return options;
}

function secureContextOf(material: TlsMaterial): tls.SecureContext {
  checkTlsMaterial(material);
  const { clientCert, clientKey, passphrase, ca } = material;
  try {
    return createTrustingContext(ca, {
      minVersion: LIMITS.minimumTlsVersion,
      cert: clientCert,
      key: clientKey,
      passphrase,
    });
  } catch (cause) {
    // OpenSSL can read some material that it refuses to use, such as a key of 512 bits.
    throw new HookproofError('PARTNER_TLS', 'OpenSSL does not accept the client certificate or the extra CA.', {
      hint: 'Use certificates for RSA with 2048 bits or more, or ECDSA on P-256, signed with SHA-256.',
      cause,
    });
  }
}

/**
 * Creates a context that trusts the default CAs and, if given, an extra CA in PEM. The option `ca` would replace the
 * default CAs, and Node 20 takes over 20 ms to read a list of all; adding an extra CA takes less than one.
 */
export function createTrustingContext(ca: string | undefined, options: tls.SecureContextOptions): tls.SecureContext {
  const context = tls.createSecureContext(options);
  if (ca === undefined) return context;
  // Undocumented (nodejs/node#27079); it ignores text that is not a certificate. Node 20 then forgets the file named by
  // NODE_EXTRA_CA_CERTS (#32010).
  const { context: native } = context as unknown as { context: { addCACert(pem: string): void } };
  for (const pem of [...extraRoots(), ca]) native.addCACert(pem);
  return context;
}

/**
 * Checks what Node accepts silently: the key of another certificate, and an extra CA that is not a certificate. Without
 * this check, the handshake fails later with an unrelated message.
 *
 * @returns why a correct server would reject the client certificate, one sentence each
 * @throws HookproofError PARTNER_TLS, whose message contains nothing of the material
 */
export function checkTlsMaterial({ clientCert, clientKey, passphrase, ca }: TlsMaterial): string[] {
  const extra = ca === undefined ? undefined : certificateBlocks(ca).map(parseCertificate);
  if (extra !== undefined && (extra.length === 0 || extra.includes(null))) {
    throw unusable('The extra CA is not a certificate in PEM.', 'Give one or more CERTIFICATE blocks.');
  }
  if (clientCert === undefined && clientKey === undefined) return [];
  if (clientCert === undefined) throw unusable('There is a client key but no client certificate.', 'Give both.');
  if (clientKey === undefined) throw unusable('There is a client certificate but no client key.', 'Give both.');
  const [certificate] = certificateBlocks(clientCert).map(parseCertificate);
  if (!certificate) {
    throw unusable(
      'The client certificate is not a certificate in PEM.',
      'Give a CERTIFICATE block, then its intermediates.',
    );
  }
  if (!certificate.checkPrivateKey(readKey(clientKey, passphrase))) {
    throw unusable(
      'The client key does not belong to the client certificate.',
      'Give the key that the certificate was issued for, and the certificate of the client before its intermediates.',
    );
  }
  const expired = Date.parse(certificate.validTo) < Date.now();
  return expired ? [`The client certificate expired on ${certificate.validTo}. Renew it: servers reject it.`] : [];
}

function readKey(pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch {
    // OpenSSL's message may quote the key.
    throw /ENCRYPTED/.test(pem)
      ? unusable('The client key is encrypted and cannot be decrypted.', 'Give its passphrase.')
      : unusable('The client key is not a private key in PEM.', 'Give a PRIVATE KEY block.');
  }
}

function unusable(message: string, hint: string): HookproofError {
  return new HookproofError('PARTNER_TLS', message, { hint });
}

function certificateBlocks(pem: string): string[] {
  return Array.from(pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g), ([block]) => block);
}

function parseCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** Calls `tls.connect`, and applies {@link withLeafOnly} to the socket. */
export function connectTls(options: tls.ConnectionOptions): tls.TLSSocket {
  return withLeafOnly(tls.connect(options));
}

/**
 * Makes `getPeerCertificate` return only the leaf, even if issuers are requested: Node requests them for each new
 * connection to compare the name, which reads only the leaf, and collecting every certificate up to the root takes 0.38
 * ms instead of 0.04 ms.
 */
export function withLeafOnly(socket: tls.TLSSocket): tls.TLSSocket {
  const { getPeerCertificate } = socket;
  return Object.assign(socket, { getPeerCertificate: () => getPeerCertificate.call(socket, false) });
}

let defaultRoots: readonly string[] | undefined;
let rootsOfFile: readonly string[] | undefined;

/**
 * Returns the CAs that are trusted without `ca`, as PEM: Node's or the system's, depending on Node's configuration, and
 * those in the file named by NODE_EXTRA_CA_CERTS. Read once, as Node does. A damaged certificate in that file is
 * included: parsing them all takes 25 ms if the file is the system's store.
 */
export function trustedRoots(): readonly string[] {
  defaultRoots ??= readDefaultRoots();
  return defaultRoots;
}

function readDefaultRoots(): readonly string[] {
  // Available since Node 22.15, and exactly what Node uses.
  const list: unknown = Reflect.get(tls, 'getCACertificates');
  const all = typeof list === 'function' ? (list('default') as string[]) : [...tls.rootCertificates, ...extraRoots()];
  // The extra file is often the system's whole store, with different line breaks.
  return [...new Map(all.map((pem) => [pem.replace(/\s/g, ''), pem])).values()];
}

function extraRoots(): readonly string[] {
  rootsOfFile ??= readExtraRoots(process.env.NODE_EXTRA_CA_CERTS);
  return rootsOfFile;
}

function readExtraRoots(path: string | undefined): string[] {
  if (path === undefined) return [];
  try {
    return certificateBlocks(readFileSync(path, 'latin1'));
  } catch {
    // Node warns about an unreadable file and continues without it.
    return [];
  }
}
