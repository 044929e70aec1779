import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyIdOf, makeKeyPair, readPrivateKey, readPublicKey } from '../../../harness/certify/index.ts';
import { pem as pemOf } from '../../certs/material.ts';

const block = (label: string) => new RegExp(`^-----BEGIN ${label}-----\\n[\\s\\S]+\\n-----END ${label}-----\\n$`);
/**
 * Every encoding of a point whose order divides 8, with either sign. Under such a key, anyone can create one signature
 * that is valid for many messages.
 */
const SMALL_ORDER = [
  ...['01', 'ec', 'ed', 'ee'].map((first) =>
    first === '01' ? `01${'00'.repeat(31)}` : `${first}${'ff'.repeat(30)}7f`,
  ),
  '00'.repeat(32),
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
].flatMap((hex) => {
  const bytes = Buffer.from(hex, 'hex');
  bytes[31] = bytes[31]! | 0x80;
  return [hex, bytes.toString('hex')];
});
const spki = (hex: string) => pemOf('PUBLIC KEY', Buffer.from(`302a300506032b6570032100${hex}`, 'hex'));

const refused = (what: string) => expect.objectContaining({ code: 'CERTIFY_KEY', kind: 'usage', message: what });

describe('a key pair', () => {
  const { privatePem, publicPem, keyId } = makeKeyPair();

  it('is Ed25519, in PKCS#8 and SPKI as PEM, with one id', () => {
    expect(privatePem).toMatch(block('PRIVATE KEY'));
    expect(publicPem).toMatch(block('PUBLIC KEY'));
    const [privateKey, publicKey] = [readPrivateKey(privatePem, 'key'), readPublicKey(publicPem, 'key')];
    expect([keyIdOf(privateKey), keyIdOf(publicKey), privateKey.asymmetricKeyType]).toEqual([keyId, keyId, 'ed25519']);
    expect(keyId).toMatch(/^[0-9a-f]{64}$/);
    expect(makeKeyPair().keyId).not.toBe(keyId);
  });

  it('can have an encrypted private key', () => {
    const locked = makeKeyPair('correct horse');
    expect(locked.privatePem).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    expect(keyIdOf(readPrivateKey(locked.privatePem, 'key', 'correct horse'))).toBe(locked.keyId);
    expect(() => readPrivateKey(locked.privatePem, 'key')).toThrow(
      refused('key is encrypted, but no passphrase is configured'),
    );
    expect(() => readPrivateKey(locked.privatePem, 'key', 'battery')).toThrow(
      refused('key cannot be decrypted with this passphrase'),
    );
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const pem = (key: typeof rsa.privateKey, type: 'pkcs8' | 'spki' | 'pkcs1') =>
    key.export({ type: type as 'pkcs1', format: 'pem' }).toString();

  it.each<[string, string, string]>([
    ['a public key', publicPem, 'key is a public key'],
    ['a key of another kind', pem(rsa.privateKey, 'pkcs8'), 'key is a key of type rsa, expected Ed25519'],
    [
      'another shape',
      pem(rsa.privateKey, 'pkcs1'),
      'key is not a private key in PKCS#8 or SPKI: it contains RSA PRIVATE KEY',
    ],
    ['two keys', privatePem + privatePem, 'key must contain exactly one PEM block'],
    ['text', 'hello', 'key must contain exactly one PEM block'],
    ['invalid DER', pemOf('PRIVATE KEY', Buffer.from('AAAA', 'base64')), 'key cannot be read'],
  ])('readPrivateKey rejects %s', (_, text, what) => {
    expect(() => readPrivateKey(text, 'key')).toThrow(refused(what));
  });

  it.each<[string, string, string]>([
    ['the private key, which Node would accept', privatePem, 'key is a private key'],
    ['a key of another kind', pem(rsa.publicKey, 'spki'), 'key is a key of type rsa, expected Ed25519'],
    [
      'another shape',
      pem(rsa.publicKey, 'pkcs1'),
      'key is not a public key in PKCS#8 or SPKI: it contains RSA PUBLIC KEY',
    ],
    ['text', '', 'key must contain exactly one PEM block'],
    ['invalid DER', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n', 'key cannot be read'],
  ])('readPublicKey rejects %s', (_, text, what) => {
    expect(() => readPublicKey(text, 'key')).toThrow(refused(what));
    expect(() => createPublicKey(privatePem)).not.toThrow();
  });

  it('never appears in a message', () => {
    const secret = privatePem.split('\n')[1]!;
    for (const read of [readPublicKey, readPrivateKey]) {
      try {
        read(privatePem.replace('END', 'BEGIN'), 'key');
      } catch (error) {
        expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain(secret);
      }
    }
  });
});

describe('a public key of small order', () => {
  it('would accept a signature that anyone can make', () => {
    const identity = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
    const key = createPublicKey(spki(identity.toString('hex')));
    expect(verify(null, Buffer.from('any certificate'), key, Buffer.concat([identity, Buffer.alloc(32)]))).toBe(true);
  });

  it.each(SMALL_ORDER)('is rejected: %s', (hex) => {
    expect(() => readPublicKey(spki(hex), 'key')).toThrow(
      refused('key is not a usable Ed25519 key: anyone can make signatures that it accepts'),
    );
  });

  it('is not what a key pair has', () => {
    for (let count = 0; count < 20; count++) readPublicKey(makeKeyPair().publicPem, 'key');
  });
});
