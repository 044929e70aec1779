/** Reads a private key in PKCS#8, PKCS#1 or SEC1, as PEM or DER, encrypted or not. */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { peekElement } from '../der.ts';
import { type KeyFacts, keyFactsOf, keyInWords } from '../facts/key-facts.ts';
import {
  isPrivateKey,
  labelKind,
  type MaterialProblem,
  type MaterialProblemCode,
  type MaterialReading,
  type MaterialSource,
  shellName,
  sourceName,
} from './finding.ts';
import { type DerKind, type Sniffed, sniff } from './sniff.ts';
import { mainKind, unreadable, wrongKind, wrongLines } from './wrong-form.ts';

export interface PrivateKey {
  readonly key: KeyObject;
  /** The key as PEM: unencrypted PKCS#8. */
  readonly pem: string;
}

/** A key that was found, but is not decrypted or parsed yet. */
interface Found {
  readonly input: { readonly key: string } | { readonly key: Buffer; readonly format: 'der'; readonly type: DerType };
  readonly encrypted: boolean;
  readonly der: Buffer | undefined;
  readonly label: string | undefined;
}

type DerType = 'pkcs8' | 'pkcs1' | 'sec1';
const DER_TYPES: Partial<Record<DerKind, DerType>> = {
  pkcs8: 'pkcs8',
  'encrypted-pkcs8': 'pkcs8',
  pkcs1: 'pkcs1',
  sec1: 'sec1',
};

/** Key types that TLS supports. */
const TLS_KEYS: ReadonlySet<KeyFacts['kind']> = new Set(['rsa', 'ec', 'ed25519', 'ed448'] as const);

/** Reads the only private key in a file. An empty passphrase counts as no passphrase. */
export function readPrivateKey(
  bytes: Uint8Array,
  { source, passphrase }: { source: MaterialSource; passphrase?: string | undefined },
): MaterialReading<PrivateKey> {
  const found = findKey(sniff(bytes), source);
  if ('code' in found) return failed(found);
  const given = passphrase === undefined || passphrase === '' ? undefined : passphrase;
  if (found.encrypted && given === undefined) {
    const hint = `Give its passphrase, or decrypt a copy: openssl pkey -in ${shellName(source)} -out key.pem.`;
    return failed(problem('KEY_ENCRYPTED', source, 'is encrypted, but no passphrase is configured', hint));
  }
  try {
    const key = createPrivateKey({
      ...found.input,
      ...(found.encrypted && given !== undefined && { passphrase: given }),
    });
    if (!TLS_KEYS.has(keyFactsOf(key).kind)) {
      const what = `contains a private key (${keyInWords(key)}) that TLS does not support`;
      const hint = 'Use a key and a certificate with RSA of 2048 bits or more, or ECDSA on P-256.';
      return failed(problem('KEY_TYPE', source, what, hint));
    }
    const pem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
    const advice = !found.encrypted && given !== undefined ? [passphraseNotNeeded(source)] : [];
    return { value: { key, pem }, problems: [], advice };
  } catch (error) {
    return failed(keyProblem(found, error, source));
  }
}

/** Returns all private keys in PEM text, including encrypted ones. Redaction masks these texts. */
export function privateKeyTexts(bytes: Uint8Array): string[] {
  const sniffed = sniff(bytes);
  if (sniffed.form !== 'pem') return [];
  return sniffed.blocks.filter(({ label }) => label.endsWith('PRIVATE KEY')).map(({ text }) => text);
}

function findKey(sniffed: Sniffed, source: MaterialSource): Found | MaterialProblem {
  switch (sniffed.form) {
    case 'broken-pem':
      return wrongLines('key', sniffed.fault, source);
    case 'other':
      return wrongKind('key', sniffed.kind, source, 'other');
    case 'der': {
      const { bytes, kind } = sniffed;
      if (kind === 'unknown') return unreadable('key', bytes, source);
      const type = DER_TYPES[kind];
      if (type === undefined) return wrongKind('key', kind, source, 'der');
      const key = bytes.subarray(0, peekElement(bytes)?.length);
      const input = { key, format: 'der', type } as const;
      return { input, encrypted: kind === 'encrypted-pkcs8', der: bytes, label: undefined };
    }
    case 'pem': {
      const keys = sniffed.blocks.filter(({ label }) => isPrivateKey(labelKind(label)));
      const [block] = keys;
      if (block === undefined) return wrongKind('key', mainKind(sniffed.blocks), source, 'pem');
      if (keys.length > 1) {
        const hint = 'Put the key of the certificate into its own file.';
        return problem('KEY_SEVERAL', source, `contains ${keys.length} private keys, expected one`, hint);
      }
      const { text, der, label } = block;
      const encrypted = block.encrypted || labelKind(label) === 'encrypted-pkcs8';
      return { input: { key: text }, encrypted, der, label };
    }
  }
}

function keyProblem({ encrypted, der, label }: Found, error: unknown, source: MaterialSource): MaterialProblem {
  if (!encrypted) return unreadable('key', der, source, label);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_OSSL_EVP_UNSUPPORTED') return oldCipher(source);
  const element = der === undefined ? undefined : peekElement(der);
  // A legacy key is encrypted completely, so its structure is not visible. PKCS#8 shows how it is encrypted.
  const isPkcs8 = label === undefined || label === 'ENCRYPTED PRIVATE KEY';
  const isCut = isPkcs8 && (element?.length === undefined || element.present < element.length);
  if (der === undefined || isCut) return unreadable('key', der, source, label);
  const hint = 'Check the passphrase, including whitespace around it.';
  return problem('KEY_WRONG_PASSPHRASE', source, 'cannot be decrypted with the passphrase', hint);
}

function problem(code: MaterialProblemCode, source: MaterialSource, what: string, hint: string): MaterialProblem {
  return { code, about: 'key', what: `${sourceName(source)} ${what}`, hint };
}

function oldCipher(source: MaterialSource): MaterialProblem {
  const hint =
    `Re-encrypt a copy: openssl pkcs8 -provider legacy -provider default -in ${shellName(source)} -topk8 -v2 ` +
    'aes-256-cbc -out key.pem.';
  return problem('KEY_CIPHER', source, 'is encrypted with an old cipher that OpenSSL 3 does not support', hint);
}

function passphraseNotNeeded(source: MaterialSource) {
  return {
    code: 'KEY_NOT_ENCRYPTED',
    about: 'key',
    what: `${sourceName(source)} is not encrypted, but a passphrase is configured`,
    hint: 'Remove the passphrase, or check that this is the correct key.',
  } as const;
}

function failed(found: MaterialProblem): MaterialReading<never> {
  return { value: undefined, problems: [found], advice: [] };
}
