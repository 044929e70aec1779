/** What a run makes once for a target, however many deliveries it sends: TLS contexts, which cost milliseconds each, and certificates. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import tls, { type SecureContextOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { clientMaterial, serverFixture } from '../../../certs/index.ts';
import { type Partner, run } from '../../../harness/index.ts';
import { createSender } from '../../../harness/sender/index.ts';
import { startReceiver } from '../../../receiver/index.ts';

const real = { createSecureContext: tls.createSecureContext, generateKeyPairSync: crypto.generateKeyPairSync };

afterEach(() => {
  Object.assign(tls, { createSecureContext: real.createSecureContext });
  Object.assign(crypto, { generateKeyPairSync: real.generateKeyPairSync });
  syncBuiltinESMExports();
});

/** Counts from now on, also what Node itself makes for a connection without a context. */
function counting() {
  const contexts: SecureContextOptions[] = [];
  const counts = { contexts, keyPairs: 0 };
  const createSecureContext: typeof tls.createSecureContext = (options = {}) => {
    contexts.push(options);
    return real.createSecureContext(options);
  };
  const generateKeyPairSync = (...args: unknown[]) => {
    counts.keyPairs += 1;
    return Reflect.apply(real.generateKeyPairSync, crypto, args);
  };
  Object.assign(tls, { createSecureContext });
  Object.assign(crypto, { generateKeyPairSync });
  syncBuiltinESMExports();
  return counts;
}

const SECRET = 'a secret for this test alone';

async function receiver() {
  const [{ cert, key, ca }, right] = await Promise.all([serverFixture('p256'), clientMaterial('right')]);
  const started = await startReceiver({
    signing: { secrets: [SECRET] },
    tls: { cert, key, ca: right.authority, clientCertificate: 'required' },
  });
  const partner: Partner = {
    url: `https://localhost:${started.port}/hooks`,
    signing: { secret: SECRET },
    tls: { ca, clientCert: right.cert, clientKey: right.key },
  };
  return { ...started, partner };
}

/** What a context is for: whose certificate it presents, and over which versions. */
const purposeOf = ({ cert, minVersion, maxVersion, ca }: SecureContextOptions) =>
  JSON.stringify([cert, minVersion, maxVersion, Array.isArray(ca) ? ca.length : ca]);

describe('a run over mutual TLS', () => {
  it('makes each context once, and each certificate once', async () => {
    const { partner, close } = await receiver();
    try {
      const expired = await clientMaterial('expired');
      const counts = counting();
      const document = await run({ partner, clientFixtures: { expired } });
      expect(document.summary.verdict).toBe('pass');
      expect(document.requests).toBeGreaterThan(500);
      const purposes = counts.contexts.map(purposeOf);
      expect(purposes.toSorted()).toEqual([...new Set(purposes)].toSorted());
      // The sender's own; the right certificate, none, three false ones and the expired one over each version.
      expect(counts.contexts).toHaveLength(1 + 2 * 6);
      // A key for each of the three false certificates, and one for each of two false authorities.
      expect(counts.keyPairs).toBe(5);
    } finally {
      await close();
    }
  });
});

describe('the sender', () => {
  it('makes one context for a target, however much it sends', async () => {
    const { partner, close } = await receiver();
    try {
      const { contexts } = counting();
      const sender = createSender(partner);
      for (let at = 0; at < 5; at++) await sender.send({ kind: 'x' } as never);
      expect(contexts).toHaveLength(1);
    } finally {
      await close();
    }
  });
});
