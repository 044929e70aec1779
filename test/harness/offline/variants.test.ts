import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainSignature, SIGNATURE_VARIANTS, signBody } from '../../../harness/offline/index.ts';
import { ALGORITHMS, BODIES, ENCODINGS, KEYS } from '../../../harness/offline/variants/index.ts';
import { newSecret, ODD_BODY } from './inputs.ts';

const VECTORS = join(import.meta.dirname, '../../../scenarios/vectors');
const URL = 'https://partner.example/hooks?a=b';

/** The digest of what a mistaken signer feeds in, made without the variants. */
function digest(secret: string | Buffer, content: string | Buffer): Buffer {
  return createHmac('sha256', secret).update(content).digest();
}

/** The variants that no golden vector has, each made by hand. */
const BY_HAND: Record<string, (secret: string, apiKey: string) => string> = {
  'data-only-python': (secret) => {
    const data = '{"z": 1.0, "a": "caf\\u00e9/\\u00e9 e\\u0301 </>", "b": {}, "n": 12345678901234567890}';
    return digest(secret, data).toString('base64');
  },
  'id-dot-body': (secret) => digest(secret, `n-1.${ODD_BODY}`).toString('base64'),
  'url-body': (secret) => digest(secret, `${URL}${ODD_BODY}`).toString('base64'),
  'url-only': (secret) => digest(secret, URL).toString('base64'),
  'undefined-body': (secret) => digest(secret, 'undefined').toString('base64'),
  'white-space-removed-body': (secret) => digest(secret, `${ODD_BODY}`.replace(/\s/g, '')).toString('base64'),
  'utf16-body': (secret) => digest(secret, Buffer.from(`${ODD_BODY}`, 'utf16le')).toString('base64'),
  'pretty-json-4': (secret) => digest(secret, JSON.stringify(JSON.parse(`${ODD_BODY}`), null, 4)).toString('base64'),
  'pretty-json-tab': (secret) =>
    digest(secret, JSON.stringify(JSON.parse(`${ODD_BODY}`), null, '\t')).toString('base64'),
  'base64-of-text': (secret) => Buffer.from(digest(secret, ODD_BODY).toString()).toString('base64'),
  'api-key-as-secret': (_, apiKey) => digest(apiKey, ODD_BODY).toString('base64'),
};

describe('the variants', () => {
  it('have names of their own, and words for a person', () => {
    const all = [...ENCODINGS, ...KEYS, ...BODIES, ...ALGORITHMS];
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { name, title, why, fix } of all) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(title).toMatch(/^[a-z].*[^.]$/i);
      expect(why).toMatch(/^[A-Z].*\.$/);
      expect(fix).toMatch(/^[A-Z].*\.$/);
    }
  });

  it.each(Object.keys(BY_HAND))('%s is explained by its name when made by hand', (fault) => {
    const [secret, apiKey] = [newSecret(), newSecret()];
    const header = BY_HAND[fault]!(secret, apiKey);
    const report = explainSignature({ body: ODD_BODY, secret, header, apiKey, url: URL });
    expect([report.matches, report.explanation?.fault]).toEqual([false, fault]);
  });

  it('lower-case-body is explained by its name, for a body with capitals', () => {
    const [secret, body] = [newSecret(), '{"type":"CAAS"}'];
    const header = digest(secret, body.toLowerCase()).toString('base64');
    const report = explainSignature({ body: Buffer.from(body), secret, header });
    expect([report.matches, report.explanation?.fault]).toEqual([false, 'lower-case-body']);
  });

  it('are all proved: by a vector that OpenSSL made, or by hand', () => {
    const proved = new Set([...Object.keys(BY_HAND), 'lower-case-body']);
    for (const name of readdirSync(VECTORS).filter((file) => file.endsWith('.json') && !file.includes('schema'))) {
      for (const { fault } of JSON.parse(readFileSync(join(VECTORS, name), 'utf8')).vectors) proved.add(fault);
    }
    expect(SIGNATURE_VARIANTS.map(({ name }) => name).filter((name) => !proved.has(name))).toEqual([]);
  });

  it('that make no difference here are not made up', () => {
    const body = Buffer.from('{"a":1}');
    const secret = newSecret();
    const header = signBody(body, secret, 'reserialised-json'); // Compact JSON is written back as it was.
    expect(explainSignature({ body, secret, header })).toMatchObject({ matches: true, explanation: null });
  });
});
