/** Certificates for tests, with real keys and envelopes, and a run of a few checks. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Scheme } from '../../../contract/signing/index.ts';
import { makeKeyPair } from '../../../harness/certify/index.ts';
import { issueCertificate } from '../../../harness/certify/issue.ts';
import type { VerifyOptions } from '../../../harness/certify/verify.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { documentWith, resultWith } from '../report/documents.ts';

export const URL_OF_PARTNER = 'https://partner.example/hooks?tenant=7';
export const ISSUED = new Date('2026-11-21T10:00:00.750Z');
export const DAY_MS = 86_400_000;
export const REVISION_DIGEST = 'ab'.repeat(32);
export const LEAF_KEY = '5d'.repeat(32);

export interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function keyPair(): Pair {
  const { privatePem, publicPem } = makeKeyPair();
  return { privateKey: createPrivateKey(privatePem), publicKey: createPublicKey(publicPem) };
}

/** Creates a key pair of another type. */
export function otherKind(kind: 'ed448' | 'x25519'): Pair {
  return kind === 'ed448' ? generateKeyPairSync('ed448') : generateKeyPairSync('x25519');
}

export function certifiedDocument(parts: Partial<ResultDocument> = {}): ResultDocument {
  return documentWith({
    catalogue: { digest: `sha256:${'cd'.repeat(32)}`, scenarios: 4 },
    target: {
      url: URL_OF_PARTNER,
      features: ['hmac', 'https'],
      tls: {
        protocol: 'TLSv1.3',
        cipher: 'TLS_AES_256_GCM_SHA384',
        versions: ['TLSv1.3'],
        trustedBy: 'CN=Root',
        clientCertificateRequested: null,
        requestedCas: [],
        chain: [],
      },
    },
    profile: 'staging',
    scoring: { revision: 1, digest: REVISION_DIGEST, notScored: ['valid/newer'] },
    results: [
      resultWith({ id: 'signature/missing' }),
      resultWith({ id: 'valid/plain' }),
      resultWith({ id: 'api-key/missing', verdict: 'not-applicable' }),
      resultWith({ id: 'valid/newer', verdict: 'fail' }),
    ],
    ...parts,
  });
}

export const DOCUMENT_BYTES = Buffer.from('{"the":"result document"}\n');

export function certificate(privateKey: KeyObject, document = certifiedDocument(), scheme?: Scheme): Buffer {
  return Buffer.from(
    issueCertificate({
      document,
      documentBytes: DOCUMENT_BYTES,
      url: URL_OF_PARTNER,
      scheme,
      leafKey: LEAF_KEY,
      trust: 'public',
      configurationBytes: Buffer.from('{"url":"..."}\n'),
      issuedAt: ISSUED,
      validForMs: 90 * DAY_MS,
      privateKey,
    }),
  );
}

/** Returns options with which {@link certificate} is valid. */
export function options(publicKey: KeyObject, parts: Partial<VerifyOptions> = {}): VerifyOptions {
  return {
    keys: [publicKey],
    at: new Date(ISSUED.getTime() + DAY_MS),
    revisions: { current: 1, digestOf: (revision) => (revision === 1 ? REVISION_DIGEST : null) },
    ...parts,
  };
}
