import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyIdOf, makeKeyPair, readPrivateKey, readPublicKey } from '../../../harness/certify/index.ts';
import { pem as pemOf } from '../../certs/material.ts';

const block = (label: string) => new RegExp(`^-----BEGIN ${label}-----\\n[\\s\\S]+\\n-----END ${label}-----\\n$`);
const refused = (what: string) => expect.objectContaining({ code: 'CERTIFY_KEY', kind: 'usage', message: what });

describe('a pair of keys', () => {
  const { privatePem, publicPem, keyId } = makeKeyPair();

  it('is PKCS#8 and SPKI in PEM, for Ed25519, under one id', () => {
    expect(privatePem).toMatch(block('PRIVATE KEY'));
    expect(publicPem).toMatch(block('PUBLIC KEY'));
    const [privateKey, publicKey] = [readPrivateKey(privatePem, 'key'), readPublicKey(publicPem, 'key')];
    expect([keyIdOf(privateKey), keyIdOf(publicKey), privateKey.asymmetricKeyType]).toEqual([keyId, keyId, 'ed25519']);
    expect(keyId).toMatch(/^[0-9a-f]{64}$/);
    expect(makeKeyPair().keyId).not.toBe(keyId);
  });

  it('can be locked', () => {
    const locked = makeKeyPair('correct horse');
    expect(locked.privatePem).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    expect(keyIdOf(readPrivateKey(locked.privatePem, 'key', 'correct horse'))).toBe(locked.keyId);
    expect(() => readPrivateKey(locked.privatePem, 'key')).toThrow(
      refused('key is encrypted, and no passphrase is given'),
    );
    expect(() => readPrivateKey(locked.privatePem, 'key', 'battery')).toThrow(
      refused('key cannot be opened with this passphrase'),
    );
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const pem = (key: typeof rsa.privateKey, type: 'pkcs8' | 'spki' | 'pkcs1') =>
    key.export({ type: type as 'pkcs1', format: 'pem' }).toString();

  it.each<[string, string, string]>([
    ['a public key', publicPem, 'key is a public key'],
    ['a key of another kind', pem(rsa.privateKey, 'pkcs8'), 'key is a key for rsa and not for Ed25519'],
    ['another shape', pem(rsa.privateKey, 'pkcs1'), 'key is no private key in PKCS#8 or SPKI, but rsa private key'],
    ['two keys', privatePem + privatePem, 'key does not hold one PEM block and nothing else'],
    ['text', 'hello', 'key does not hold one PEM block and nothing else'],
    ['what is no DER', pemOf('PRIVATE KEY', Buffer.from('AAAA', 'base64')), 'key cannot be read'],
  ])('is not signed with %s', (_, text, what) => {
    expect(() => readPrivateKey(text, 'key')).toThrow(refused(what));
  });

  it.each<[string, string, string]>([
    ['the private key, which Node would take', privatePem, 'key is a private key'],
    ['a key of another kind', pem(rsa.publicKey, 'spki'), 'key is a key for rsa and not for Ed25519'],
    ['another shape', pem(rsa.publicKey, 'pkcs1'), 'key is no public key in PKCS#8 or SPKI, but rsa public key'],
    ['text', '', 'key does not hold one PEM block and nothing else'],
    ['what is no DER', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n', 'key cannot be read'],
  ])('is not verified with %s', (_, text, what) => {
    expect(() => readPublicKey(text, 'key')).toThrow(refused(what));
    expect(() => createPublicKey(privatePem)).not.toThrow();
  });

  it('never stands in a message', () => {
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
