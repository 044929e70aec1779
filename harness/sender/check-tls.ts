/** Whether the TLS material of a partner can be used. Specification: TLS. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { HookproofError } from '../../contract/index.ts';
import type { Partner } from './partner.ts';

/**
 * Node takes a key of another certificate, and an authority that is no certificate, without a word; the handshake would
 * fail later and say something else. So both are looked at here.
 *
 * @throws HookproofError PARTNER_TLS
 */
export function checkTls({ tls }: Partner): void {
  if (tls === undefined) return;
  const { clientCert, clientKey, passphrase, ca } = tls;
  if (ca !== undefined) readCertificate(ca, 'extra authority');
  if (clientCert === undefined && clientKey === undefined) return;
  if (clientCert === undefined) throw refusal('There is a client key and no client certificate.', 'Give both.');
  if (clientKey === undefined) throw refusal('There is a client certificate and no client key.', 'Give both.');
  const key = readKey(clientKey, passphrase);
  if (!readCertificate(clientCert, 'client certificate').checkPrivateKey(key)) {
    throw refusal(
      'The client key does not belong to the client certificate.',
      'Give the two that were made together; in a bundle the certificate of the client comes first.',
    );
  }
}

function readCertificate(pem: string, what: string): X509Certificate {
  try {
    if (pem.includes('-----BEGIN')) return new X509Certificate(pem);
  } catch {
    // What the parser says ("no start line") helps nobody.
  }
  throw refusal(`The ${what} is no certificate in PEM form.`, 'It has to begin with -----BEGIN CERTIFICATE-----.');
}

function readKey(pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: 'pem', ...(passphrase !== undefined && { passphrase }) });
  } catch {
    // The parser has one error for nearly everything that can be wrong.
  }
  throw refusal(
    'The client key cannot be read.',
    /ENCRYPTED/.test(pem)
      ? 'It is encrypted: give its passphrase, and check it.'
      : 'It has to be a private key in PEM form, such as -----BEGIN PRIVATE KEY-----.',
  );
}

function refusal(message: string, hint: string): HookproofError {
  return new HookproofError('PARTNER_TLS', message, { hint });
}
