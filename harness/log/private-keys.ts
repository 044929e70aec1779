/** Finds private keys of any kind in a text. */
import type { Span } from '../../contract/decoded-texts.ts';

/** Matches a PEM block that contains a key. A block whose content was masked has no base64. */
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY-----.{0,200}?[A-Za-z0-9+/=]{40}[A-Za-z0-9+/=\s\\]*/gs;

/**
 * Matches the beginnings of private keys in DER, encoded as base64: PKCS #8 with RSA, an elliptic curve and Ed25519;
 * PKCS #1; and SEC 1. Apart from lengths, these beginnings are constant.
 */
const DER_KEY = new RegExp(
  `(?:${[
    'MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAASC',
    'MI[GH][A-Za-z0-9+/]AgEAM[BC][A-Z]GByqGSM49AgEG',
    'MC4CAQAwBQYDK2VwBCIEI',
    'MII[A-Za-z0-9+/]{3}IBAAKCA',
    'MHcCAQEEI',
  ].join('|')})[A-Za-z0-9+/]{30}[A-Za-z0-9+/=]*`,
  'g',
);

/** Matches the private part of a JSON Web Key. The other parts are near it. */
const JWK_PRIVATE = /(["'])d\1\s*(?:=>|:)\s*\1[A-Za-z0-9_-]{40,}\1/g;
const JWK_TYPE = /(["'])kty\1\s*(?:=>|:)\s*\1(?:EC|RSA|OKP)\1/;
/** Maximum distance between the private part and the key type. */
const JWK_REACH = 4096;

export function findPrivateKeys(text: string): Span[] {
  const spans: Span[] = [];
  for (const pattern of [...(text.includes('PRIVATE KEY') ? [PRIVATE_KEY] : []), DER_KEY, JWK_PRIVATE]) {
    for (const { 0: found, index: start } of text.matchAll(pattern)) {
      const end = start + found.length;
      const around = pattern === JWK_PRIVATE ? text.slice(Math.max(0, start - JWK_REACH), end + JWK_REACH) : null;
      if (around === null || JWK_TYPE.test(around)) spans.push({ start, end });
    }
  }
  return spans;
}
