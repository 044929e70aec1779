/** Why a certificate is not trusted: the codes of Node, each with a sentence. Specification: TLS. */
import { alertNameOf, isAboutClientCertificate } from './alerts.ts';

/** Sentences by code. A code of this table means `tls-untrusted`. */
export const CERTIFICATE_FAULTS: ReadonlyMap<string, string> = new Map([
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'The certificate of the endpoint is self-signed, so no authority that is trusted here vouches for it.',
  ],
  [
    'SELF_SIGNED_CERT_IN_CHAIN',
    'The certificate of the endpoint leads to an authority that is not trusted here: the root in its chain is an unknown one.',
  ],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'The certificate of the endpoint cannot be traced to a trusted authority: an intermediate certificate is missing from what the endpoint sends, or its authority is not trusted here.',
  ],
  [
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'The certificate chain of the endpoint ends at an authority that is not trusted here.',
  ],
  ['UNABLE_TO_GET_ISSUER_CERT', 'The certificate chain of the endpoint lacks the certificate of an issuer.'],
  ['CERT_HAS_EXPIRED', 'The certificate of the endpoint, or an intermediate one that it sends, has expired.'],
  ['CERT_NOT_YET_VALID', 'The certificate of the endpoint is not valid yet (or a clock is wrong).'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate of the endpoint is for another name than the one in the URL.'],
  ['HOSTNAME_MISMATCH', 'The certificate of the endpoint is for another name than the one in the URL.'],
  ['CERT_REVOKED', 'The certificate of the endpoint has been revoked.'],
  ['CERT_SIGNATURE_FAILURE', 'A signature in the certificate chain of the endpoint is wrong.'],
  ['CERT_CHAIN_TOO_LONG', 'The certificate chain of the endpoint is too long.'],
  ['CERT_UNTRUSTED', 'The authority of the certificate is not trusted for this purpose.'],
  ['CERT_REJECTED', 'The authority of the certificate is marked as rejected for this purpose.'],
  ['INVALID_CA', 'A certificate in the chain of the endpoint signs others and is not an authority.'],
  ['INVALID_PURPOSE', 'The certificate of the endpoint is not meant for a server (extended key usage).'],
  ['PATH_LENGTH_EXCEEDED', 'The certificate chain of the endpoint is longer than one of its authorities allows.'],
  [
    'UNSPECIFIED',
    'The certificate chain of the endpoint is not acceptable: usual causes are a signature with SHA-1, or an issuer that is not an authority.',
  ],
]);

/** The sentence for any other failure of a handshake. `message` is OpenSSL's, which holds the alert or the reason. */
export function handshakeSentence(code: string, message: string): string {
  const alert = alertName(code, message);
  if (alert !== undefined) {
    if (isAboutClientCertificate(alert)) {
      return `The endpoint refused the client certificate, or the lack of one, with the TLS alert ${alert}.`;
    }
    if (alert === 'handshake_failure') {
      return 'The endpoint ended the TLS handshake with the alert handshake_failure: it may require a client certificate, or have no cipher in common.';
    }
    return `The endpoint ended the TLS handshake with the alert ${alert}.`;
  }
  if (
    /wrong.version.number|WRONG_VERSION_NUMBER|packet length too long|PACKET_LENGTH_TOO_LONG/.test(`${code} ${message}`)
  ) {
    return 'The endpoint does not speak TLS on this port.';
  }
  if (/UNSUPPORTED_PROTOCOL|unsupported protocol/.test(`${code} ${message}`)) {
    return 'The endpoint speaks only a TLS version below 1.2.';
  }
  return `The TLS handshake with the endpoint failed (${code}).`;
}

/** The name of the alert that an error of OpenSSL reports as sent by the other side, or undefined. */
export function alertName(code: string, message: string): string | undefined {
  const number = /SSL alert number (\d+)/.exec(message)?.[1];
  if (number !== undefined) return alertNameOf(Number(number));
  return /_ALERT_([A-Z_]+)$/.exec(code)?.[1]?.toLowerCase();
}
