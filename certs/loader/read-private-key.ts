/** Reads a private key: PKCS#8, PKCS#1 or SEC1, PEM or DER, encrypted or not. */
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
import { tellingKind, unreadable, wrongKind, wrongLines } from './wrong-form.ts';

export interface PrivateKey {
  readonly key: KeyObject;
  /** PKCS#8, not encrypted. */
  readonly pem: string;
}

/** A key that was found and not yet opened. */
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

/** What TLS still has a use for. */
const TLS_KEYS: ReadonlySet<KeyFacts['kind']> = new Set(['rsa', 'ec', 'ed25519', 'ed448'] as const);

/** The one private key of a file. An empty passphrase is the same as none. */
export function readPrivateKey(
  bytes: Uint8Array,
  { source, passphrase }: { source: MaterialSource; passphrase?: string | undefined },
): MaterialReading<PrivateKey> {
  const found = findKey(sniff(bytes), source);
  if ('code' in found) return failed(found);
  const given = passphrase === undefined || passphrase === '' ? undefined : passphrase;
  if (found.encrypted && given === undefined) return failed(isEncrypted(source));
  try {
    const key = createPrivateKey({
      ...found.input,
      ...(found.encrypted && given !== undefined && { passphrase: given }),
    });
    if (!TLS_KEYS.has(keyFactsOf(key).kind)) return failed(wrongType(key, source));
    const pem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
    const advice = !found.encrypted && given !== undefined ? [passphraseNotNeeded(source)] : [];
    return { value: { key, pem }, problems: [], advice };
  } catch (error) {
    return failed(whyNotOpened(found, error, source));
  }
}

/** The private keys in PEM text, encrypted ones included, for redaction: whoever reads a file must not repeat them. */
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
      if (block === undefined) return wrongKind('key', tellingKind(sniffed.blocks), source, 'pem');
      if (keys.length > 1) return several(keys.length, source);
      const { text, der, label } = block;
      const encrypted = block.encrypted || labelKind(label) === 'encrypted-pkcs8';
      return { input: { key: text }, encrypted, der, label };
    }
  }
}

function whyNotOpened({ encrypted, der, label }: Found, error: unknown, source: MaterialSource): MaterialProblem {
  if (!encrypted) return unreadable('key', der, source, label);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_OSSL_EVP_UNSUPPORTED') return oldCipher(source);
  const element = der === undefined ? undefined : peekElement(der);
  // The content of the old kind is encrypted as a whole, so its outline says nothing.
  const isPkcs8 = label === undefined || label === 'ENCRYPTED PRIVATE KEY';
  const isCut = isPkcs8 && (element?.length === undefined || element.present < element.length);
  return der === undefined || isCut ? unreadable('key', der, source, label) : wrongPassphrase(source);
}

function problem(code: MaterialProblemCode, source: MaterialSource, what: string, hint: string): MaterialProblem {
  return { code, about: 'key', what: `${sourceName(source)} ${what}`, hint };
}

function isEncrypted(source: MaterialSource): MaterialProblem {
  const hint = `Give its passphrase, or decrypt a copy: openssl pkey -in ${shellName(source)} -out key.pem.`;
  return problem('KEY_ENCRYPTED', source, 'is encrypted, and there is no passphrase', hint);
}

function wrongPassphrase(source: MaterialSource): MaterialProblem {
  const hint = 'Check the passphrase, and that nothing stands before or after it.';
  return problem('KEY_WRONG_PASSPHRASE', source, 'does not open with the passphrase', hint);
}

function oldCipher(source: MaterialSource): MaterialProblem {
  const hint = `Encrypt a copy anew: openssl pkcs8 -provider legacy -provider default -in ${shellName(source)} -topk8 -v2 aes-256-cbc -out key.pem.`;
  return problem('KEY_CIPHER', source, 'is encrypted in an old way that OpenSSL 3 no longer opens', hint);
}

function several(count: number, source: MaterialSource): MaterialProblem {
  const hint = 'Keep the key of the certificate in a file of its own.';
  return problem('KEY_SEVERAL', source, `holds ${count} private keys, and one is wanted`, hint);
}

function wrongType(key: KeyObject, source: MaterialSource): MaterialProblem {
  const what = `holds a private key (${keyInWords(key)}) that TLS has no use for`;
  return problem(
    'KEY_TYPE',
    source,
    what,
    'Use a key and a certificate of RSA with 2048 bits or more, or ECDSA on P-256.',
  );
}

function passphraseNotNeeded(source: MaterialSource) {
  return {
    code: 'KEY_NOT_ENCRYPTED',
    about: 'key',
    what: `${sourceName(source)} is not encrypted, and a passphrase is given`,
    hint: 'Leave the passphrase out, or check that this is the right key.',
  } as const;
}

function failed(found: MaterialProblem): MaterialReading<never> {
  return { value: undefined, problems: [found], advice: [] };
}
