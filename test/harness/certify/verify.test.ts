import { describe, expect, it } from 'vitest';
import { SERVICE_SCHEME } from '../../../contract/signing/index.ts';
import { schemeLiteral } from '../../../contract/signing/schemes/parse-scheme.ts';
import { canonicalJson, type Json } from '../../../harness/certify/canonical-json.ts';
import { envelopeText, preAuthenticationEncoding, signEnvelope } from '../../../harness/certify/dsse.ts';
import { keyIdOf, verifyCertificate } from '../../../harness/certify/index.ts';
import { PAYLOAD_TYPE } from '../../../harness/certify/statement.ts';
import type { VerifyOptions } from '../../../harness/certify/verify.ts';
import {
  certificate,
  certifiedDocument,
  DAY_MS,
  DOCUMENT_BYTES,
  ISSUED,
  keyPair,
  options,
  otherKind,
  REVISION_DIGEST,
  URL_OF_PARTNER,
} from './certificates.ts';

const { privateKey, publicKey } = keyPair();
const other = keyPair();
const original = certificate(privateKey);

function verify(parts: Partial<VerifyOptions> = {}, bytes: Uint8Array = original) {
  const { valid, reasons, warnings } = verifyCertificate(bytes, options(publicKey, parts));
  return { valid, reasons: reasons.map(({ code }) => code), warnings: warnings.map(({ code }) => code) };
}
const GOOD = { valid: true, reasons: [], warnings: [] };
const invalidFor = (...reasons: string[]) => ({ valid: false, reasons, warnings: [] });
const sinceIssue = (ms: number) => ({ at: new Date(ISSUED.getTime() - 750 + ms) });

describe('a certificate', () => {
  it.each<[string, Partial<VerifyOptions>, object]>([
    ['as it is', {}, GOOD],
    [
      'with the correct result document, endpoint and profile',
      { result: DOCUMENT_BYTES, url: URL_OF_PARTNER, profile: 'staging' },
      GOOD,
    ],
    ['for the same URL in another spelling', { url: 'HTTPS://Partner.example:443/hooks?tenant=7#x' }, GOOD],
    ['under the old and the new key of a rotation', { keys: [other.publicKey, publicKey] }, GOOD],
    ['in its first millisecond', sinceIssue(0), GOOD],
    ['before it', sinceIssue(-1), invalidFor('not-yet-valid')],
    ['in its last millisecond', sinceIssue(90 * DAY_MS - 1), GOOD],
    ['after it', sinceIssue(90 * DAY_MS), invalidFor('expired')],
    ['with another key', { keys: [other.publicKey] }, invalidFor('unknown-key')],
    ['without any key', { keys: [] }, invalidFor('unknown-key')],
    [
      'with a key of another kind',
      { keys: [otherKind('ed448').publicKey, otherKind('x25519').publicKey] },
      invalidFor('unknown-key'),
    ],
    ['with another result document', { result: Buffer.from('{}') }, invalidFor('other-result')],
    ['with an empty result document', { result: Buffer.alloc(0) }, invalidFor('other-result')],
    ['for another path', { url: 'https://partner.example/hooks2?tenant=7' }, invalidFor('other-endpoint')],
    ['for another query', { url: 'https://partner.example/hooks?tenant=8' }, invalidFor('other-endpoint')],
    ['for another port', { url: 'https://partner.example:8443/hooks?tenant=7' }, invalidFor('other-endpoint')],
    ['for plain HTTP', { url: 'http://partner.example/hooks?tenant=7' }, invalidFor('other-endpoint')],
    ['for another profile', { profile: 'production' }, invalidFor('other-profile')],
    [
      'with every reason at once',
      { ...sinceIssue(91 * DAY_MS), result: Buffer.from('{}'), url: 'https://other.example/', profile: 'basic' },
      invalidFor('expired', 'other-result', 'other-endpoint', 'other-profile'),
    ],
    [
      'under a newer revision',
      { revisions: { current: 2, digestOf: () => REVISION_DIGEST } },
      { ...GOOD, warnings: ['superseded-revision'] },
    ],
    [
      'under a newer revision, strictly',
      { revisions: { current: 2, digestOf: () => REVISION_DIGEST }, strict: true },
      invalidFor('superseded-revision'),
    ],
    [
      'of an unknown revision',
      { revisions: { current: 0, digestOf: () => null } },
      { ...GOOD, warnings: ['unknown-revision'] },
    ],
    [
      'of a revision that differs from the local one',
      { revisions: { current: 1, digestOf: () => 'ef'.repeat(32) } },
      invalidFor('other-revision'),
    ],
  ])('%s', (_, parts, expected) => expect(verify(parts)).toEqual(expected));

  it('has a fix for every reason', () => {
    const { reasons } = verifyCertificate(
      original,
      options(publicKey, {
        ...sinceIssue(91 * DAY_MS),
        result: Buffer.from('{}'),
        url: 'https://other.example/',
        profile: 'basic',
      }),
    );
    for (const { message, fix } of reasons) expect([message.length > 20, /[.]$/.test(fix)]).toEqual([true, true]);
  });

  it('reports nothing of unsigned content', () => {
    const { statement, reasons } = verifyCertificate(original, options(other.publicKey));
    expect(statement).toBeNull();
    expect(JSON.stringify(reasons)).not.toContain('partner.example');
  });
});

describe('the evidence level of a certificate', () => {
  const { target } = certifiedDocument();
  const evidence = { level: 1 as const, statement: "answers and effects (effects are the receiver's own statement)" };
  const document = certifiedDocument({ target: { ...target, features: ['hmac', 'https', 'effects'] }, evidence });
  const certified = certificate(privateKey, document);

  it('is that of the run, with the statement that effects are of the receiver', () => {
    const { statement } = verifyCertificate(certified, options(publicKey));
    expect(statement?.predicate.hookproofCertificate.evidence).toEqual(evidence);
  });

  it('can be required', () => {
    expect(verify({ evidenceLevel: 1 }, certified)).toEqual(GOOD);
    expect(verify({ evidenceLevel: 2 }, certified)).toEqual(invalidFor('lower-evidence'));
    expect(verify({ evidenceLevel: 1 })).toEqual(invalidFor('lower-evidence'));
    expect(verify({ evidenceLevel: 0 })).toEqual(GOOD);
  });

  it('cannot be higher than the features allow', () => {
    const level = { ...evidence, level: 2 as const };
    expect(verify({}, certificate(privateKey, { ...document, evidence: level }))).toEqual(invalidFor('malformed'));
    expect(verify({}, certificate(privateKey, certifiedDocument({ evidence })))).toEqual(invalidFor('malformed'));
  });
});

describe('the scheme of a certificate', () => {
  const own = schemeLiteral.parse({
    name: 'acme',
    headers: { 'X-Time': '{timestamp}', 'X-Sig': '{signature}' },
    signed: '{timestamp}.{body}',
    algorithm: 'sha256',
    encoding: 'hex',
    'tolerance-seconds': 60,
    accepts: [204],
  });
  const document = certifiedDocument();
  const inScheme = { ...document, target: { ...document.target, scheme: 'acme' } };
  const certified = certificate(privateKey, inScheme, own);
  const reasons = (bytes: Buffer, scheme?: VerifyOptions['scheme']) =>
    verifyCertificate(bytes, options(publicKey, { ...(scheme && { scheme }) })).reasons.map(({ code }) => code);

  it('is compared by name, or by what defines it, where one is required', () => {
    expect([undefined, 'acme', own, { ...own, title: 'Other' }].map((one) => reasons(certified, one))).toEqual(
      Array(4).fill([]),
    );
    const others = ['service', 'stripe', { ...own, toleranceSeconds: 61 }, SERVICE_SCHEME];
    expect(others.map((one) => reasons(certified, one))).toEqual(Array(4).fill(['other-scheme']));
    expect(['service', SERVICE_SCHEME, 'acme'].map((one) => reasons(original, one))).toEqual([
      [],
      [],
      ['other-scheme'],
    ]);
  });

  it('is that of the run', () => {
    expect(() => certificate(privateKey, document, own)).toThrow('the run was in another scheme');
    expect(() => certificate(privateKey, inScheme)).toThrow('the run was in another scheme');
  });
});

describe('content signed with a trusted key', () => {
  const payload = JSON.parse(Buffer.from(JSON.parse(original.toString()).payload, 'base64').toString());
  const signed = (bytes: Uint8Array | string, type = PAYLOAD_TYPE) =>
    verify({}, Buffer.from(envelopeText(signEnvelope(type, Buffer.from(bytes), privateKey))));
  const changed = (change: (copy: typeof payload) => void) => {
    const copy = structuredClone(payload);
    change(copy);
    return signed(canonicalJson(copy as Json));
  };

  it('is valid if unchanged', () => expect(signed(canonicalJson(payload))).toEqual(GOOD));

  it('is invalid with another payload type', () => {
    expect(signed(canonicalJson(payload), 'application/vnd.other+json')).toEqual(invalidFor('wrong-payload-type'));
  });

  it.each<[string, (copy: typeof payload) => void]>([
    ['another statement type', (copy) => (copy._type = 'https://in-toto.io/Statement/v0.1')],
    ['another predicate type', (copy) => (copy.predicateType = 'https://slsa.dev/provenance/v1')],
    ['an unknown field', (copy) => (copy.predicate.extra = 1)],
    ['an unknown field in hookproofCertificate', (copy) => (copy.predicate.hookproofCertificate.extra = 1)],
    ['a newer format', (copy) => (copy.predicate.hookproofCertificate.format = 2)],
    ['a failed test', (copy) => copy.predicate.failedTests.push('valid/plain')],
    ['a failed result', (copy) => (copy.predicate.result = 'FAILED')],
    ['no passed test', (copy) => (copy.predicate.passedTests = [])],
    ['warnings under PASSED', (copy) => copy.predicate.warnedTests.push('valid/plain')],
    ['WARNED without warnings', (copy) => (copy.predicate.result = 'WARNED')],
    ['a missing subject', (copy) => copy.subject.pop()],
    ['another subject', (copy) => (copy.subject[1].name = 'end')],
    ['a digest of another kind', (copy) => (copy.subject[0].digest = { sha1: 'a'.repeat(40) })],
    ['an upper-case digest', (copy) => (copy.subject[0].digest.sha256 = 'AB'.repeat(32))],
    ['an invalid date', (copy) => (copy.predicate.hookproofCertificate.expiresAt = '2027-13-41T00:00:00Z')],
    ['a date in another zone', (copy) => (copy.predicate.hookproofCertificate.expiresAt = '2027-01-31T00:00:00+01:00')],
    ['an end before the start', (copy) => (copy.predicate.hookproofCertificate.expiresAt = '2026-01-31T00:00:00Z')],
    ['another key id', (copy) => (copy.predicate.hookproofCertificate.keyId = keyIdOf(other.publicKey))],
    ['no hookproofCertificate', (copy) => delete copy.predicate.hookproofCertificate],
  ])('is invalid with %s', (_, change) => expect(changed(change)).toEqual(invalidFor('malformed')));

  it.each<[string, string]>([
    ['white space', JSON.stringify(payload, null, 1)],
    ['another order', JSON.stringify({ subject: payload.subject, ...payload })],
    ['a duplicate key', canonicalJson(payload).replace('{"_type"', '{"_type":"x","_type"')],
    ['a lone surrogate', canonicalJson(payload).replace('"seed":"', '"seed":"\\ud800')],
    ['text that is not JSON', 'certificate'],
    ['nothing', ''],
  ])('is invalid with %s', (_, text) => expect(signed(text)).toEqual(invalidFor('malformed')));

  it('is invalid if it is not UTF-8', () => {
    expect(signed(Buffer.concat([Buffer.of(0xc3), Buffer.from(canonicalJson(payload))]))).toEqual(
      invalidFor('malformed'),
    );
  });
});

describe('DSSE', () => {
  it('has the pre-authentication encoding of its specification', () => {
    const pae = preAuthenticationEncoding('http://example.com/HelloWorld', Buffer.from('hello world'));
    expect(pae.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
    expect(preAuthenticationEncoding('ü', Buffer.of(0xff, 0)).toString('latin1')).toBe('DSSEv1 2 \xc3\xbc 2 \xff\0');
    expect(preAuthenticationEncoding('', Buffer.alloc(0)).toString()).toBe('DSSEv1 0  0 ');
  });
});

describe('issuing', () => {
  it('yields the same bytes for the same input', () => expect(certificate(privateKey)).toEqual(original));

  it('yields other bytes for another key, and contains its id', () => {
    const bytes = certificate(other.privateKey);
    expect(verify({ keys: [other.publicKey] }, bytes)).toEqual(GOOD);
    expect(JSON.parse(bytes.toString()).signatures[0].keyid).toBe(keyIdOf(other.publicKey));
  });

  it('describes the run', () => {
    const { statement } = verifyCertificate(original, options(publicKey));
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
      subject: [
        { name: 'result document' },
        { name: 'endpoint' },
        { name: 'endpoint key', digest: { sha256: '5d'.repeat(32) } },
      ],
      predicate: {
        result: 'PASSED',
        configuration: [
          { name: 'catalogue', digest: { sha256: 'cd'.repeat(32) } },
          { name: 'configuration' },
          { name: 'profile' },
          { name: 'revision', digest: { sha256: REVISION_DIGEST } },
        ],
        passedTests: ['signature/missing', 'valid/plain'],
        warnedTests: [],
        failedTests: [],
        hookproofCertificate: {
          endpoint: { url: 'https://partner.example/hooks', tls: 'TLSv1.3', trust: 'public' },
          issuedAt: '2026-11-21T10:00:00Z',
          expiresAt: '2027-02-19T10:00:00Z',
          features: ['hmac', 'https'],
          notApplicableTests: ['api-key/missing'],
          notScoredTests: ['valid/newer'],
          profile: 'staging',
          revision: 1,
        },
      },
    });
    expect(original.toString()).not.toContain('tenant');
  });

  it('has the result WARNED if there are warnings', () => {
    const [first, ...rest] = certifiedDocument().results;
    const document = certifiedDocument({ results: [{ ...first!, verdict: 'warn' }, ...rest] });
    const { statement } = verifyCertificate(certificate(privateKey, document), options(publicKey));
    expect(statement?.predicate).toMatchObject({ result: 'WARNED', warnedTests: ['signature/missing'] });
  });

  it('requires a run with a profile over TLS', () => {
    expect(() => certificate(privateKey, certifiedDocument({ profile: null }))).toThrow(TypeError);
    expect(() =>
      certificate(privateKey, certifiedDocument({ target: { url: 'http://a/', features: [], tls: null } })),
    ).toThrow(TypeError);
  });
});
