/** A run creates certificates and TLS contexts, which take milliseconds each, only once for a target. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import tls, { type SecureContextOptions } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Partner } from '../../../harness/index.ts';
import { buy } from '../sender/samples.ts';

let certs: typeof import('../../../certs/index.ts');
let clientMaterial: typeof import('../../certs/client-material.ts').clientMaterial;
let startReceiver: typeof import('../../../receiver/index.ts').startReceiver;
let run: typeof import('../../../harness/index.ts').run;
let sender: typeof import('../../../harness/sender/index.ts');

// The modules are loaded again, because they cache what other test files in this process have created.
beforeAll(async () => {
  vi.resetModules();
  certs = await import('../../../certs/index.ts');
  ({ clientMaterial } = await import('../../certs/client-material.ts'));
  ({ startReceiver } = await import('../../../receiver/index.ts'));
  sender = await import('../../../harness/sender/index.ts');
  ({ run } = await import('../../../harness/index.ts'));
});

const real = { createSecureContext: tls.createSecureContext, generateKeyPairSync: crypto.generateKeyPairSync };

afterEach(() => {
  Object.assign(tls, { createSecureContext: real.createSecureContext });
  Object.assign(crypto, { generateKeyPairSync: real.generateKeyPairSync });
  syncBuiltinESMExports();
});

/** Starts counting, including the contexts that Node creates for a connection without one. */
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
  const [{ cert, key, ca }, right] = await Promise.all([certs.serverFixture('p256'), clientMaterial('right')]);
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

/** Returns the certificate and the versions of a context. */
const purposeOf = ({ cert, minVersion, maxVersion }: SecureContextOptions) =>
  JSON.stringify([cert, minVersion, maxVersion]);

describe('a run over mutual TLS', () => {
  it('creates each context and each certificate once', async () => {
    const { partner, close } = await receiver();
    try {
      const [expired, { cert: clientCert }] = [await clientMaterial('expired'), await clientMaterial('right')];
      const counts = counting();
      const document = await run({
        partner,
        clientFixtures: { expired },
        selection: { suites: ['tls', 'mtls'] },
      });
      expect(document.verdict).toBe('conformant');
      expect(document.requests).toBeGreaterThan(200);
      const purposes = counts.contexts.map(purposeOf);
      expect(purposes.toSorted()).toEqual([...new Set(purposes)].toSorted());
      // Each version has contexts for the valid certificate, no certificate, four invalid ones and the expired one.
      const ofOneVersion = counts.contexts.filter(({ maxVersion }) => maxVersion !== undefined);
      expect(ofOneVersion).toHaveLength(2 * 7);
      // Contexts for both versions have the sender's certificate, or none for headers that claim one.
      const ofBoth = counts.contexts.filter(({ maxVersion }) => maxVersion === undefined);
      expect(ofBoth.map(({ cert }) => cert ?? 'none').toSorted()).toEqual([clientCert, 'none'].toSorted());
      // Each of the four invalid certificates and of the two unknown CAs has a key.
      expect(counts.keyPairs).toBe(6);
    } finally {
      await close();
    }
  });
});

describe('the sender', () => {
  it('creates one context for a target, also for several connections and several senders', async () => {
    const { partner, close } = await receiver();
    try {
      const { contexts } = counting();
      const delivery = sender.prepare(buy(), partner);
      for (let at = 0; at < 2; at++) {
        const made = sender.createSender({ ...(partner.tls && { tls: partner.tls }), keepAlive: false });
        for (let sent = 0; sent < 3; sent++) expect((await made.deliver(delivery)).answer?.status).toBe(200);
        made.close();
      }
      expect(contexts).toHaveLength(1);
    } finally {
      await close();
    }
  });
});
