/** Conformance certificates: no bytes other than the issued ones verify. */
import { sign } from 'node:crypto';
import fc from 'fast-check';
import { canonicalJson, type Json } from '../../../harness/certify/canonical-json.ts';
import { envelopeText, preAuthenticationEncoding, readEnvelope, signEnvelope } from '../../../harness/certify/dsse.ts';
import {
  keyIdOf,
  makeKeyPair,
  readPrivateKey,
  readPublicKey,
  verifyCertificate,
} from '../../../harness/certify/index.ts';
import { PAYLOAD_TYPE, readStatement } from '../../../harness/certify/statement.ts';
import { certificate, keyPair, options } from '../../harness/certify/certificates.ts';
import { edited, editedJson, type FuzzTarget, fuzzTarget, must, orRefused, printable } from './target.ts';

const { privateKey, publicKey } = keyPair();
const attacker = keyPair();
const issued = certificate(privateKey);
const envelope = readEnvelope(issued);
if (typeof envelope === 'string') throw new Error(envelope);
const statement: unknown = JSON.parse(envelope.payload.toString());

/** Other spellings of the same JSON and base64, and changes that lenient readers ignore. */
const JSON_WORDS = [
  ' ',
  '\n',
  '\t',
  '\ufeff',
  ',',
  '"payload":"",',
  '"payloadType":"x",',
  '"signatures":[],',
  '"keyid":"",',
  '"__proto__":{},',
  '\\u0061',
  '\\/',
  '=',
  '-',
  '_',
  '\0',
  '{',
  '[',
  keyIdOf(attacker.publicKey),
  Buffer.alloc(32),
];

/** Generates envelopes that an attacker signs, or that the issuer signs for other content. */
const forged = fc
  .record({
    payload: fc.oneof(
      editedJson(fc.constant(statement)).map((value) => Buffer.from(safelyCanonical(value))),
      edited(fc.constant(envelope.payload), JSON_WORDS),
    ),
    type: fc.constantFrom(PAYLOAD_TYPE, 'application/json', `${PAYLOAD_TYPE}+json`),
    byAttacker: fc.boolean(),
    keyOf: fc.boolean(),
  })
  .map(({ payload, type, byAttacker, keyOf }) => {
    const key = byAttacker ? attacker.privateKey : privateKey;
    const signature = sign(null, preAuthenticationEncoding(type, payload), key);
    const keyId = keyIdOf(keyOf ? publicKey : key);
    return { bytes: Buffer.from(envelopeText({ payload, payloadType: type, keyId, signature })), byAttacker };
  });

function safelyCanonical(value: unknown): string {
  try {
    return canonicalJson(value as Json);
  } catch {
    return JSON.stringify(value);
  }
}

/** Generates other spellings of the issued envelope, which a lenient reader considers equal. */
const respelled = fc
  .tuple(
    fc.constantFrom<(text: string) => string>(
      (text) => JSON.stringify(JSON.parse(text), null, 1),
      (text) => text.trimEnd(),
      (text) => `${text}\n`,
      (text) => JSON.stringify({ signatures: [], ...JSON.parse(text) }),
      (text) => text.replace('{"payload"', '{"payload":"","payload"'),
      (text) => text.replace('"payload"', '"\\u0070ayload"'),
      (text) => text.replaceAll('+', '-').replaceAll('/', '_'),
      (text) => text.replaceAll('=', ''),
      (text) => text.replaceAll('=', '=='),
      (text) => text.replace('"payload":"', '"payload":" '),
      (text) => text.replace('application/', 'application\\/'),
    ),
    fc.boolean(),
  )
  .map(([respell, marked]) => {
    const bytes = printable(Buffer.from(`${marked ? '\ufeff' : ''}${respell(issued.toString())}`));
    return { bytes, byAttacker: true };
  });

const envelopes = fuzzTarget(
  {
    name: 'envelope',
    shows: 'certificates: only the issued bytes verify; every other file gets reasons that repeat none of it',
    shortRuns: 200,
  },
  () => ({
    input: fc.oneof(
      respelled,
      edited(fc.constant(issued), JSON_WORDS).map((bytes) => ({ bytes, byAttacker: true })),
      editedJson(fc.constant(JSON.parse(issued.toString()))).map((value) => {
        return { bytes: Buffer.from(`${safelyCanonical(value)}\n`), byAttacker: true };
      }),
      forged,
    ),
    check({ bytes, byAttacker }) {
      const { valid, reasons, statement: read } = verifyCertificate(bytes, options(publicKey));
      const isIssued = bytes.equals(issued);
      must(valid === (reasons.length === 0), 'invalid without a reason, or valid with one');
      if (byAttacker) must(valid === isIssued && (read !== null) === isIssued, `verified: ${valid}`);
      const other = verifyCertificate(bytes, options(attacker.publicKey));
      must(!isIssued || !other.valid, 'verified with the key of another');
    },
  }),
);

const statements = fuzzTarget(
  {
    name: 'statement',
    shows: 'signed content: read only when it is canonical and complete; signing it again gives the same bytes',
    shortRuns: 200,
  },
  () => ({
    input: fc.oneof(
      edited(fc.constant(envelope.payload), JSON_WORDS),
      editedJson(fc.constant(statement)).map((value) => printable(Buffer.from(safelyCanonical(value)))),
    ),
    check(payload) {
      const read = readStatement(payload);
      const again = envelopeText(signEnvelope(PAYLOAD_TYPE, payload, privateKey));
      const opened = readEnvelope(Buffer.from(again));
      must(typeof opened === 'string' || opened.payload.equals(payload), 'the envelope changes its content');
      if (typeof read === 'string') return;
      must(canonicalJson(read as Json) === payload.toString(), 'a statement that is not canonical');
      const parsed: unknown = JSON.parse(payload.toString());
      must(canonicalJson(parsed as Json) === payload.toString(), 'a statement with two readings');
    },
  }),
);

const keys = fuzzTarget(
  {
    name: 'certify-key',
    shows: 'key files: Ed25519 keys, or CERTIFY_KEY without any part of the file',
    shortRuns: 200,
  },
  () => {
    const pair = makeKeyPair();
    const locked = makeKeyPair('open sesame');
    const word = pair.privatePem.split('\n')[1] ?? '';
    return {
      input: edited(
        fc.constantFrom(...[pair.publicPem, pair.privatePem, locked.privatePem].map((text) => Buffer.from(text))),
        ['\n', '\r', ' ', '=', 'A', '\0', '-----BEGIN PUBLIC KEY-----\n', '-----END PUBLIC KEY-----\n', '-----', 'é'],
      ),
      check(bytes) {
        const text = bytes.toString('utf8');
        for (const read of [
          () => readPublicKey(text, 'the key'),
          () => readPrivateKey(text, 'the key'),
          () => readPrivateKey(text, 'the key', 'open sesame'),
        ]) {
          const key = orRefused(read, (error) => error instanceof Error && isKeyError(error, word));
          must(key === undefined || key.asymmetricKeyType === 'ed25519', 'a key of another type');
        }
      },
    };
  },
);

function isKeyError(error: Error, word: string): boolean {
  return 'code' in error && error.code === 'CERTIFY_KEY' && !error.message.includes(word);
}

export const ENVELOPE_TARGETS: readonly FuzzTarget[] = [envelopes, statements, keys];
