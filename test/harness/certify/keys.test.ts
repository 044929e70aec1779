import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyIdOf, makeKeyPair, readPrivateKey, readPublicKey } from '../../../harness/certify/index.ts';
import { pem as pemOf } from '../../certs/material.ts';

const block = (label: string) => new RegExp(`^-----BEGIN ${label}-----\\n[\\s\\S]+\\n-----END ${label}-----\\n$`);
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
      refused('key is encrypted, and no passphrase is configured'),
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
