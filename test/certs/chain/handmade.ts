/** Creates certificates that the factory cannot create, byte by byte, and signs them with node:crypto. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

type Bytes = Uint8Array;

function der(tag: number, ...parts: readonly Bytes[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 0x80
      ? [length]
      : length < 0x100
        ? [0x81, length]
        : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff];
  if (length >= 0x100 && length < 0x10000) head.splice(0, 4, 0x82, length >> 8, length & 0xff);
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Buffer.from(bytes));
}

export const sequence = (...parts: readonly Bytes[]) => der(0x30, ...parts);
const integer = (value: number) => der(0x02, Buffer.from([value]));
const text = (value: string, tag = 0x0c) => der(tag, Buffer.from(value, tag === 0x0c ? 'utf8' : 'latin1'));

const TYPES: Readonly<Record<string, string>> = { CN: '2.5.4.3', O: '2.5.4.10', C: '2.5.4.6' };

/** Encodes a name. `tag` is the type of its strings: 0x0c for UTF8String, 0x13 for PrintableString. */
export function name(attributes: Readonly<Record<string, string>>, tag = 0x0c): Buffer {
  const parts = Object.entries(attributes).map(([type, value]) =>
    der(0x31, sequence(oid(TYPES[type] ?? type), text(value, tag))),
  );
  return sequence(...parts);
}

const flag = (value: boolean) => der(0x01, Buffer.from([value ? 0xff : 0]));

export function extension(id: string, value: Bytes, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [flag(true)] : []), der(0x04, value));
}

export const EXTENSION = {
  authority: (pathLength?: number) =>
    extension('2.5.29.19', sequence(flag(true), ...(pathLength === undefined ? [] : [integer(pathLength)])), true),
  notAuthority: () => extension('2.5.29.19', sequence(), true),
  /** Bits are numbered as in X.509: 0 is digitalSignature, 5 is keyCertSign. */
  keyUsage: (...bits: number[]) =>
    extension('2.5.29.15', der(0x03, Buffer.from([0, bits.reduce((sum, bit) => sum | (0x80 >> bit), 0)])), true),
  usages: (...ids: string[]) => extension('2.5.29.37', sequence(...ids.map(oid))),
  hosts: (...hosts: string[]) => extension('2.5.29.17', sequence(...hosts.map((host) => der(0x82, Buffer.from(host))))),
  email: (address: string) => extension('2.5.29.17', sequence(der(0x81, Buffer.from(address)))),
  mustStaple: () => extension('1.3.6.1.5.5.7.1.24', sequence(integer(5))),
  /** Accepts any identifier, even one that no CA has. */
  authorityKey: (id: Bytes) => extension('2.5.29.35', sequence(der(0x80, id))),
  subjectKey: (id: Bytes) => extension('2.5.29.14', der(0x04, id)),
  permittedNames: (domain: string) =>
    extension('2.5.29.30', sequence(der(0xa0, sequence(der(0x82, Buffer.from(domain))))), true),
} as const;

const SHA256 = '2.16.840.1.101.3.4.2.1';
const NULL = der(0x05);
const hashId = sequence(oid(SHA256));

/** Signature algorithms, and how certificates identify them. */
export const SIGNATURES = {
  'ecdsa-sha256': { id: sequence(oid('1.2.840.10045.4.3.2')), hash: 'sha256' },
  'rsa-sha256': { id: sequence(oid('1.2.840.113549.1.1.11'), NULL), hash: 'sha256' },
  'rsa-md5': { id: sequence(oid('1.2.840.113549.1.1.4'), NULL), hash: 'md5' },
  'dsa-sha256': { id: sequence(oid('2.16.840.1.101.3.4.3.2')), hash: 'sha256' },
  ed448: { id: sequence(oid('1.3.101.113')), hash: null },
  'rsa-pss-sha256': {
    id: sequence(
      oid('1.2.840.113549.1.1.10'),
      sequence(der(0xa0, hashId), der(0xa1, sequence(oid('1.2.840.113549.1.1.8'), hashId)), der(0xa2, integer(32))),
    ),
    hash: 'sha256',
    options: { padding: 6, saltLength: 32 },
  },
  'rsa-pss-sha1': {
    id: sequence(oid('1.2.840.113549.1.1.10'), sequence()),
    hash: 'sha1',
    options: { padding: 6, saltLength: 20 },
  },
  '1.2.3.4': { id: sequence(oid('1.2.3.4')), hash: 'sha256' },
} as const;

export interface Handmade {
  readonly subject: Bytes;
  readonly issuer?: Bytes;
  /** The key of the certificate's subject. */
  readonly key: KeyObject | string;
  /** The key that signs. Default: `key`. */
  readonly signer?: KeyObject | string;
  readonly signature?: keyof typeof SIGNATURES;
  /** Null creates a certificate of version 1. */
  readonly extensions?: readonly Bytes[] | null;
  readonly validity?: Bytes;
}

export function pem(bytes: Bytes): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const keyOf = (key: KeyObject | string) => (typeof key === 'string' ? createPrivateKey(key) : key);

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`));
}

export const validity = (from: Date, to: Date) => sequence(time(from), time(to));

/** Creates a certificate, in the form in which chains contain it: `der`, `cert` and `key`. */
export function handmade(options: Handmade): { der: Uint8Array; cert: string; key: string } {
  const { subject, issuer = subject, extensions = [], signature = 'ecdsa-sha256' } = options;
  const key = keyOf(options.key);
  const { id, hash, ...rest } = SIGNATURES[signature];
  const now = Date.now();
  const body = sequence(
    ...(extensions === null ? [] : [der(0xa0, integer(2))]),
    integer(1 + Math.floor(Math.random() * 126)),
    id,
    issuer,
    options.validity ?? validity(new Date(now - 86_400_000), new Date(now + 300 * 86_400_000)),
    subject,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    ...(extensions === null || extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  const signer = { key: keyOf(options.signer ?? key), ...('options' in rest ? rest.options : {}) };
  const whole = sequence(body, id, der(0x03, Buffer.from([0]), sign(hash, body, signer)));
  return { der: whole, cert: pem(whole), key: key.export({ type: 'pkcs8', format: 'pem' }) as string };
}
