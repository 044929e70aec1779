import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { explainSignature, mistakesNamed, SIGNING_MISTAKES, signBody } from '../../../contract/signing/index.ts';
import { lacks } from '../../setup/programs.ts';
import { newSecret } from './inputs.ts';
import { API_KEY, bodyOf, URL, VECTORS } from './vectors.ts';

const FOLDER = join(import.meta.dirname, 'vectors');
const NAMES = SIGNING_MISTAKES.map(({ name }) => name);

describe('the table of signing mistakes', () => {
  it('has one name for each mistake, and texts for a person', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
    for (const { name, title, why, fix } of SIGNING_MISTAKES) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(title).toMatch(/^[a-z].*[^.]$/i);
      expect(why).toMatch(/^[A-Z].*\.$/);
      expect(fix).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('has a vector for each mistake', () => {
    expect(VECTORS.map(({ mistake }) => mistake).toSorted()).toEqual(NAMES.toSorted());
  });

  it.each(VECTORS)('makes the mistake $mistake as OpenSSL and Python make it', (vector) => {
    const made = signBody(bodyOf(vector), vector.secret, vector.mistake, { apiKey: API_KEY, url: URL });
    expect(made).toBe(vector.signature);
  });

  it.skipIf(lacks('python3', 'openssl'))(
    'has vectors that their script writes again byte for byte',
    { timeout: 60_000 },
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'hookproof-vectors-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'mistakes.json');
      execFileSync('python3', [join(FOLDER, 'make-vectors.py'), file]);
      expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(FOLDER, 'mistakes.json'), 'utf8'));
    },
  );

  it('does not explain a correct signature by a mistake that changes nothing', () => {
    const body = Buffer.from('{"a":1}');
    const secret = newSecret();
    const header = signBody(body, secret, 'reserialised-json'); // Compact JSON is serialised as it was.
    expect(explainSignature({ body, secret, header })).toMatchObject({ matches: true, explanation: null });
  });
});

describe('mistakesNamed', () => {
  it('takes one mistake of each kind, and rejects everything else', () => {
    expect(Object.keys(mistakesNamed('hex+secret-newline+data-only+hmac-sha1') ?? {})).toHaveLength(4);
    for (const names of ['hex+upper-hex', 'unheard-of', 'hex+unheard-of']) expect(mistakesNamed(names)).toBe(undefined);
  });
});
